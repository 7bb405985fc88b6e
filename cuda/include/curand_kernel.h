// Random numbers in kernels. Source: cuRAND Library, "Device API"; G. Marsaglia, "Xorshift RNGs", 2003; J. Salmon and others, "Parallel random
// numbers: as easy as 1, 2, 3", 2011; P. L'Ecuyer, "Good parameters and implementations for combined multiple recursive random number
// generators", 1999.
#ifndef __CUMETAL_CURAND_KERNEL_H__
#define __CUMETAL_CURAND_KERNEL_H__

#include "cuda_runtime.h"

#include "cumetal/random/xorwow.h"
#include "cumetal/random/philox.h"
#include "cumetal/random/mrg32k3a.h"
#include "cumetal/random/distributions.h"
#include "cumetal/random/sobol.h"

#endif
