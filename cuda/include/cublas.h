// cuBLAS without handles. Source: cuBLAS Library, "Using the cuBLAS Legacy API".
#ifndef __CUMETAL_CUBLAS_H__
#define __CUMETAL_CUBLAS_H__

#ifdef CUBLAS_V2_H_
#error "cublas.h and cublas_v2.h have the same names for other functions: a file includes one of them"
#endif
#define CUBLAS_H_

#include "cublas_api.h"

#define cublasStatus cublasStatus_t

#ifdef __cplusplus
extern "C" {
#endif

cublasStatus cublasInit(void);
cublasStatus cublasShutdown(void);
cublasStatus cublasGetError(void);
cublasStatus cublasGetVersion(int *version);
cublasStatus cublasAlloc(int n, int elemSize, void **devicePtr);
cublasStatus cublasFree(void *devicePtr);
cublasStatus cublasSetKernelStream(cudaStream_t stream);

#include "cumetal/blas/legacy.h"

#ifdef __cplusplus
}
#endif

#endif
