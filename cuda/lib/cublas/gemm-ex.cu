// Products by types that are known when the program runs. Source: cuBLAS Library, "cublasGemmEx", tables of supported types.
#include "gemm-mixed.h"

using namespace cumetal;

/** The product of a list of types; null for one that is not there. */
static cublasStatus_t (*functionFor(cudaDataType a, cudaDataType b, cudaDataType c, cublasComputeType_t type))(const Product &) {
  if (a != b) return nullptr;
  const bool isHalf = type == CUBLAS_COMPUTE_16F || type == CUBLAS_COMPUTE_16F_PEDANTIC;
  const bool isInteger = type == CUBLAS_COMPUTE_32I || type == CUBLAS_COMPUTE_32I_PEDANTIC;
  const bool isDouble = type == CUBLAS_COMPUTE_64F || type == CUBLAS_COMPUTE_64F_PEDANTIC;
  const bool isSingle = type == CUBLAS_COMPUTE_32F || type == CUBLAS_COMPUTE_32F_PEDANTIC || type == CUBLAS_COMPUTE_32F_FAST_16F ||
                        type == CUBLAS_COMPUTE_32F_FAST_16BF || type == CUBLAS_COMPUTE_32F_FAST_TF32;
  if (isHalf) return a == CUDA_R_16F && c == CUDA_R_16F ? gemmHHH : nullptr;
  if (isInteger) return a == CUDA_R_8I && c == CUDA_R_32I ? gemmIII : nullptr;
  if (isDouble) return a != c ? nullptr : a == CUDA_R_64F ? gemmDDD : a == CUDA_C_64F ? gemmZZZ : nullptr;
  if (!isSingle) return nullptr;
  switch (a) {
    case CUDA_R_16F:
      return c == CUDA_R_16F ? gemmHHS : c == CUDA_R_32F ? gemmHSS : nullptr;
    case CUDA_R_16BF:
      return c == CUDA_R_16BF ? gemmBBS : c == CUDA_R_32F ? gemmBSS : nullptr;
    case CUDA_R_8I:
      return c == CUDA_R_32F ? gemmISS : nullptr;
    case CUDA_R_32F:
      return c == CUDA_R_32F ? gemmSSS : nullptr;
    case CUDA_C_32F:
      return c == CUDA_C_32F ? gemmCCC : nullptr;
    default:
      return nullptr;
  }
}

static cublasStatus_t run(const Product &p, cudaDataType a, cudaDataType b, cudaDataType c, cublasComputeType_t type) {
  CUMETAL_NEED_HANDLE(p.handle);
  const auto function = functionFor(a, b, c, type);
  return function ? function(p) : CUBLAS_STATUS_NOT_SUPPORTED;
}

extern "C" cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k,
                                       const void *alpha, const void *a, cudaDataType aType, int lda, const void *b, cudaDataType bType, int ldb,
                                       const void *beta, void *c, cudaDataType cType, int ldc, cublasComputeType_t type, cublasGemmAlgo_t) {
  return run({handle, transa, transb, m, n, k, alpha, a, nullptr, lda, 0, b, nullptr, ldb, 0, beta, c, nullptr, ldc, 0, 1}, aType, bType, cType, type);
}
extern "C" cublasStatus_t cublasGemmBatchedEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k,
                                              const void *alpha, const void *const a[], cudaDataType aType, int lda, const void *const b[],
                                              cudaDataType bType, int ldb, const void *beta, void *const c[], cudaDataType cType, int ldc, int batches,
                                              cublasComputeType_t type, cublasGemmAlgo_t) {
  return run({handle, transa, transb, m, n, k, alpha, nullptr, a, lda, 0, nullptr, b, ldb, 0, beta, nullptr, c, ldc, 0, batches}, aType, bType, cType,
             type);
}
extern "C" cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k,
                                                     const void *alpha, const void *a, cudaDataType aType, int lda, long long strideA, const void *b,
                                                     cudaDataType bType, int ldb, long long strideB, const void *beta, void *c, cudaDataType cType,
                                                     int ldc, long long strideC, int batches, cublasComputeType_t type, cublasGemmAlgo_t) {
  return run({handle, transa, transb, m, n, k, alpha, a, nullptr, lda, strideA, b, nullptr, ldb, strideB, beta, c, nullptr, ldc, strideC, batches},
             aType, bType, cType, type);
}
extern "C" cublasStatus_t cublasSgemmEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k,
                                        const float *alpha, const void *a, cudaDataType aType, int lda, const void *b, cudaDataType bType, int ldb,
                                        const float *beta, void *c, cudaDataType cType, int ldc) {
  return cublasGemmEx(handle, transa, transb, m, n, k, alpha, a, aType, lda, b, bType, ldb, beta, c, cType, ldc, CUBLAS_COMPUTE_32F,
                      CUBLAS_GEMM_DEFAULT);
}
extern "C" cublasStatus_t cublasCgemmEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k,
                                        const cuComplex *alpha, const void *a, cudaDataType aType, int lda, const void *b, cudaDataType bType,
                                        int ldb, const cuComplex *beta, void *c, cudaDataType cType, int ldc) {
  return cublasGemmEx(handle, transa, transb, m, n, k, alpha, a, aType, lda, b, bType, ldb, beta, c, cType, ldc, CUBLAS_COMPUTE_32F,
                      CUBLAS_GEMM_DEFAULT);
}
