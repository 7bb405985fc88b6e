/** Level 1 by the type of vectors. */
#ifndef CUMETAL_CUBLAS_LEVEL1_MIXED_H
#define CUMETAL_CUBLAS_LEVEL1_MIXED_H

#include "context.h"

namespace cumetal {

struct Level1 {
  enum Call { axpy, scal, copy, swap, dot, dotc, nrm2, asum, amax, amin } call;
  cublasHandle_t handle;
  int n;
  const void *alpha;
  /** Whether alpha has the type of the vectors, and not that of computations. */
  bool isAlphaOwn;
  const void *x;
  int incx;
  void *y;
  int incy;
  void *result;
};

cublasStatus_t level1H(const Level1 &);
cublasStatus_t level1B(const Level1 &);
cublasStatus_t level1S(const Level1 &);
cublasStatus_t level1D(const Level1 &);
cublasStatus_t level1C(const Level1 &);
cublasStatus_t level1Z(const Level1 &);

}  // namespace cumetal

#endif
