// Products of half precision. Source: cuBLAS Library, "cublas<t>gemm".
#include "gemm-mixed.h"

using namespace cumetal;

extern "C" cublasStatus_t cublasHgemm(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k,
                                      const __half *alpha, const __half *a, int lda, const __half *b, int ldb, const __half *beta, __half *c,
                                      int ldc) {
  return gemmHHH({handle, transa, transb, m, n, k, alpha, a, nullptr, lda, 0, b, nullptr, ldb, 0, beta, c, nullptr, ldc, 0, 1});
}
extern "C" cublasStatus_t cublasHgemmBatched(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k,
                                             const __half *alpha, const __half *const a[], int lda, const __half *const b[], int ldb,
                                             const __half *beta, __half *const c[], int ldc, int batches) {
  return gemmHHH({handle, transa, transb, m, n, k, alpha, nullptr, a, lda, 0, nullptr, b, ldb, 0, beta, nullptr, c, ldc, 0, batches});
}
extern "C" cublasStatus_t cublasHgemmStridedBatched(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k,
                                                    const __half *alpha, const __half *a, int lda, long long strideA, const __half *b, int ldb,
                                                    long long strideB, const __half *beta, __half *c, int ldc, long long strideC, int batches) {
  return gemmHHH({handle, transa, transb, m, n, k, alpha, a, nullptr, lda, strideA, b, nullptr, ldb, strideB, beta, c, nullptr, ldc, strideC, batches});
}
