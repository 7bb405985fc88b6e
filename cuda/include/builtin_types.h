// The types of CUDA in one header. Source: CUDA C++ Programming Guide, "Built-in Vector Types"; CUDA Runtime API, "Data types used by CUDA Runtime".
#ifndef __CUMETAL_BUILTIN_TYPES_H__
#define __CUMETAL_BUILTIN_TYPES_H__
#include "device_types.h"
#include "driver_types.h"
#include "surface_types.h"
#include "texture_types.h"
#include "vector_types.h"
#endif
