// Profiler control: both functions are part of the runtime API here. Source: CUDA Runtime API, "Profiler Control".
#ifndef __CUMETAL_CUDA_PROFILER_API_H__
#define __CUMETAL_CUDA_PROFILER_API_H__
#include "cuda_runtime_api.h"
#endif
