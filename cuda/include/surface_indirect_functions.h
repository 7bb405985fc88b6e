// A part of the toolkit's headers that programs name; here it is in cuda_runtime.h.
#include "cuda_runtime.h"
