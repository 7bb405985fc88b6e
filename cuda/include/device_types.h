// Rounding of conversions. Source: CUDA Runtime API, "Data types used by CUDA Runtime", `cudaRoundMode`.
#ifndef __CUMETAL_DEVICE_TYPES_H__
#define __CUMETAL_DEVICE_TYPES_H__

enum cudaRoundMode { cudaRoundNearest = 0, cudaRoundZero = 1, cudaRoundPosInf = 2, cudaRoundMinInf = 3 };

#endif
