// An older name of the device functions. Source: CUDA Math API.
#include "cuda_runtime.h"
