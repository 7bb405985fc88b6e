// The part of cuFFT's extended interface that is for one device. Source: cuFFT Library, "cuFFT API Reference", cufftXt functions.
#ifndef __CUMETAL_CUFFTXT_H__
#define __CUMETAL_CUFFTXT_H__

#include "cufft.h"

#ifdef __cplusplus
extern "C" {
#endif

cufftResult cufftXtMakePlanMany(cufftHandle plan, int rank, long long int *n, long long int *inembed, long long int istride, long long int idist,
                                cudaDataType inputtype, long long int *onembed, long long int ostride, long long int odist,
                                cudaDataType outputtype, long long int batch, size_t *workSize, cudaDataType executiontype);
cufftResult cufftXtExec(cufftHandle plan, void *input, void *output, int direction);

#ifdef __cplusplus
}
#endif

#endif
