/** Products of mixed types by what their units are called. */
#ifndef CUMETAL_CUBLAS_GEMM_MIXED_H
#define CUMETAL_CUBLAS_GEMM_MIXED_H

#include "gemm.h"

namespace cumetal {

struct Product {
  cublasHandle_t handle;
  cublasOperation_t transa, transb;
  int m, n, k;
  const void *alpha, *a;
  const void *aList;
  int lda;
  long long strideA;
  const void *b;
  const void *bList;
  int ldb;
  long long strideB;
  const void *beta;
  void *c;
  const void *cList;
  int ldc;
  long long strideC;
  int batches;
};

cublasStatus_t gemmHHS(const Product &);
cublasStatus_t gemmHHH(const Product &);
cublasStatus_t gemmHSS(const Product &);
cublasStatus_t gemmBBS(const Product &);
cublasStatus_t gemmBSS(const Product &);
cublasStatus_t gemmIII(const Product &);
cublasStatus_t gemmISS(const Product &);
cublasStatus_t gemmSSS(const Product &);
cublasStatus_t gemmDDD(const Product &);
cublasStatus_t gemmCCC(const Product &);
cublasStatus_t gemmZZZ(const Product &);

}  // namespace cumetal

#endif
