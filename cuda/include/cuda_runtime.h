// What every CUDA program sees, as nvcc includes it before the first line. Source: CUDA C++ Programming Guide; CUDA Math API; CUDA Runtime
// API. Device functions come before the C and C++ libraries: their overloads of the same names are for the host alone.
#ifndef __CUMETAL_CUDA_RUNTIME_H__
#define __CUMETAL_CUDA_RUNTIME_H__
#define __CUDA_RUNTIME_H__

#include "crt/host_defines.h"

#include <stddef.h>

#include "vector_functions.h"
#include "vector_types.h"

#ifdef __CUDA__
#include "device_launch_parameters.h"
#include "cumetal/device/casts.h"
#include "cumetal/device/integers.h"
#include "cumetal/device/simd.h"
#include "cumetal/device/rounding.h"
#include "cumetal/device/memory.h"
#include "cumetal/device/warp.h"
#include "cumetal/device/system.h"
#include "cumetal/device/atomics.h"
#include "cumetal/device/ordered.h"
#include "cumetal/math/all.h"
#endif

// nvcc includes these as well, and programs rely on it.
#include <assert.h>
#ifdef __cplusplus
#include <cmath>
#include <cstdlib>
#include <utility>
#endif
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>

// Names that glibc's <stdlib.h> has.
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;

#ifdef __CUDA__
#include "cumetal/math/mixed.h"
#endif
#include "cuda_runtime_api.h"
#include "cuda_device_runtime_api.h"
#ifdef __CUDA__
#include "cumetal/device/texture.h"
#include "cumetal/device/surface.h"
#endif

#endif
