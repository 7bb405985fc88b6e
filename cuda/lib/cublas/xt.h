/** What a handle of cuBLASXt is: one of cuBLAS, and settings that change how work is divided, of which there is nothing here. */
#ifndef CUMETAL_CUBLAS_XT_H
#define CUMETAL_CUBLAS_XT_H

#include <cublasXt.h>

#include "context.h"

struct cublasXtContext {
  cublasHandle_t blas;
  int blockDim;
  cublasXtPinnedMemMode_t pinning;
};

#endif
