// Products of general matrices of one type. Source: cuBLAS Library, "cublas<t>gemm", "cublas<t>gemmBatched", "cublas<t>gemmStridedBatched".
#include "../common/types.h"
#include "gemm.h"

using namespace cumetal;

#define CUBLAS(name) CUMETAL_JOIN(cublas, CUMETAL_LETTER, name)

extern "C" cublasStatus_t CUBLAS(gemm_v2)(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k,
                                          const Outer *alpha, const Outer *a, int lda, const Outer *b, int ldb, const Outer *beta, Outer *c, int ldc) {
  return gemm<T, T, T, T>(handle, transa, transb, m, n, k, alpha, {inner(a), nullptr}, lda, 0, {inner(b), nullptr}, ldb, 0, beta,
                          {inner(c), nullptr}, ldc, 0, 1);
}

#if CUMETAL_IS_COMPLEX
extern "C" cublasStatus_t CUBLAS(gemm3m)(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k,
                                         const Outer *alpha, const Outer *a, int lda, const Outer *b, int ldb, const Outer *beta, Outer *c, int ldc) {
  return CUBLAS(gemm_v2)(handle, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
#endif

extern "C" cublasStatus_t CUBLAS(gemmBatched)(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k,
                                              const Outer *alpha, const Outer *const a[], int lda, const Outer *const b[], int ldb,
                                              const Outer *beta, Outer *const c[], int ldc, int batches) {
  return gemm<T, T, T, T>(handle, transa, transb, m, n, k, alpha, {nullptr, reinterpret_cast<const T *const *>(a)}, lda, 0,
                          {nullptr, reinterpret_cast<const T *const *>(b)}, ldb, 0, beta, {nullptr, reinterpret_cast<T *const *>(c)}, ldc, 0,
                          batches);
}

extern "C" cublasStatus_t CUBLAS(gemmStridedBatched)(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k,
                                                     const Outer *alpha, const Outer *a, int lda, long long strideA, const Outer *b, int ldb,
                                                     long long strideB, const Outer *beta, Outer *c, int ldc, long long strideC, int batches) {
  return gemm<T, T, T, T>(handle, transa, transb, m, n, k, alpha, {inner(a), nullptr}, lda, strideA, {inner(b), nullptr}, ldb, strideB, beta,
                          {inner(c), nullptr}, ldc, strideC, batches);
}
