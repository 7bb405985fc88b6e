// Groups of threads. Source: CUDA C++ Programming Guide, "Cooperative Groups".
#ifndef __CUMETAL_COOPERATIVE_GROUPS_H__
#define __CUMETAL_COOPERATIVE_GROUPS_H__
#define _COOPERATIVE_GROUPS_H_

#include "cuda_runtime.h"

// Host code of another compiler includes this in vain.
#ifdef __CUDA__
#include "cumetal/groups/block.h"
#include "cumetal/groups/warp.h"
#include "cumetal/groups/large_tile.h"
#include "cumetal/groups/grid.h"
#include "cumetal/groups/cluster.h"
#include "cumetal/groups/functions.h"
#endif

#endif
