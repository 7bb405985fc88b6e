// Pipeline primitives: they are in cuda_runtime.h. Source: CUDA C++ Programming Guide, "Pipeline Primitives Interface".
#include "cuda_runtime.h"
