// cuBLAS by the names that programs use. Source: cuBLAS Library, "New and Legacy cuBLAS API".
#ifndef __CUMETAL_CUBLAS_V2_H__
#define __CUMETAL_CUBLAS_V2_H__
#ifdef CUBLAS_H_
#error "cublas.h and cublas_v2.h have the same names for other functions: a file includes one of them"
#endif
#define CUBLAS_V2_H_

#include "cublas_api.h"

#define cublasCreate cublasCreate_v2
#define cublasDestroy cublasDestroy_v2
#define cublasGetVersion cublasGetVersion_v2
#define cublasSetStream cublasSetStream_v2
#define cublasGetStream cublasGetStream_v2
#define cublasSetWorkspace cublasSetWorkspace_v2
#define cublasSetPointerMode cublasSetPointerMode_v2
#define cublasGetPointerMode cublasGetPointerMode_v2

#include "cumetal/blas/names.h"

#endif
