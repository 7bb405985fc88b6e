// Level 3 of one type with matrices of the host: they are brought to the device, and the result is brought back before a function returns.
// Matrices of the device are taken as they are. Source: cuBLAS Library, "cuBLASXt API Math Functions Reference".
#include "../common/types.h"

#include <climits>

#include "xt.h"

#define CUBLAS(name) CUMETAL_JOIN(cublas, CUMETAL_LETTER, name)
#define CUBLAS_XT(name) CUMETAL_JOIN(cublasXt, CUMETAL_LETTER, name)

namespace {

cublasStatus_t ofCuda(cudaError_t error) {
  return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : error == cudaErrorMemoryAllocation ? CUBLAS_STATUS_ALLOC_FAILED : CUBLAS_STATUS_EXECUTION_FAILED;
}

/** A matrix by columns where the device reaches it, as long as the object lives. */
class Operand {
  Outer *const given;
  const size_t rows, columns, ld;
  Outer *copy = nullptr;

 public:
  /** A const operand is never written: only `back` writes. */
  Operand(const Outer *p, size_t rows, size_t columns, size_t ld) : given(const_cast<Outer *>(p)), rows(rows), columns(columns), ld(ld) {}
  Operand(const Operand &) = delete;
  ~Operand() {
    if (copy) cudaFree(copy);
  }
  Outer *device() const { return copy ? copy : given; }
  int leading() const { return int(copy ? (rows ? rows : 1) : ld); }

  cublasStatus_t bring() {
    if (rows == 0 || columns == 0 || !given || ld < rows) return CUBLAS_STATUS_SUCCESS;
    cudaPointerAttributes attributes;
    CUMETAL_TRY(ofCuda(cudaPointerGetAttributes(&attributes, given)));
    if (attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeManaged) return CUBLAS_STATUS_SUCCESS;
    CUMETAL_TRY(ofCuda(cudaMalloc(&copy, rows * columns * sizeof(Outer))));
    return ofCuda(
        cudaMemcpy2D(copy, rows * sizeof(Outer), given, ld * sizeof(Outer), rows * sizeof(Outer), columns, cudaMemcpyHostToDevice));
  }
  cublasStatus_t back() const {
    if (!copy) return ofCuda(cudaDeviceSynchronize());
    return ofCuda(
        cudaMemcpy2D(given, ld * sizeof(Outer), copy, rows * sizeof(Outer), rows * sizeof(Outer), columns, cudaMemcpyDeviceToHost));
  }
};

/** Whether sizes are those of the functions below, which count in 32 bits. */
template <class... Sizes>
bool isInRange(Sizes... sizes) {
  return ((sizes <= INT_MAX) && ...);
}

}  // namespace

#define CUMETAL_BRING(operand) CUMETAL_TRY((operand).bring())
#define CUMETAL_NEED_RANGE(...) \
  if (!isInRange(__VA_ARGS__)) return CUBLAS_STATUS_NOT_SUPPORTED

extern "C" cublasStatus_t CUBLAS_XT(gemm)(cublasXtHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, size_t m, size_t n, size_t k,
                                          const Outer *alpha, const Outer *A, size_t lda, const Outer *B, size_t ldb, const Outer *beta, Outer *C,
                                          size_t ldc) {
  CUMETAL_NEED_HANDLE(handle);
  CUMETAL_NEED_RANGE(m, n, k, lda, ldb, ldc);
  Operand a(A, transa == CUBLAS_OP_N ? m : k, transa == CUBLAS_OP_N ? k : m, lda);
  Operand b(B, transb == CUBLAS_OP_N ? k : n, transb == CUBLAS_OP_N ? n : k, ldb), c(C, m, n, ldc);
  CUMETAL_BRING(a);
  CUMETAL_BRING(b);
  CUMETAL_BRING(c);
  CUMETAL_TRY(CUBLAS(gemm_v2)(handle->blas, transa, transb, m, n, k, alpha, a.device(), a.leading(), b.device(), b.leading(), beta, c.device(),
                              c.leading()));
  return c.back();
}

/** Products with a symmetric or Hermitian matrix, updates of them, and those with two matrices; `Beta` is the type of their last factor. */
#define CUMETAL_SYMMETRIC_PRODUCT(name)                                                                                                        \
  extern "C" cublasStatus_t CUBLAS_XT(name)(cublasXtHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, size_t m, size_t n,          \
                                            const Outer *alpha, const Outer *A, size_t lda, const Outer *B, size_t ldb, const Outer *beta,     \
                                            Outer *C, size_t ldc) {                                                                            \
    CUMETAL_NEED_HANDLE(handle);                                                                                                               \
    CUMETAL_NEED_RANGE(m, n, lda, ldb, ldc);                                                                                                   \
    const size_t order = side == CUBLAS_SIDE_LEFT ? m : n;                                                                                     \
    Operand a(A, order, order, lda), b(B, m, n, ldb), c(C, m, n, ldc);                                                                         \
    CUMETAL_BRING(a);                                                                                                                          \
    CUMETAL_BRING(b);                                                                                                                          \
    CUMETAL_BRING(c);                                                                                                                          \
    CUMETAL_TRY(CUBLAS(name##_v2)(handle->blas, side, uplo, m, n, alpha, a.device(), a.leading(), b.device(), b.leading(), beta, c.device(),   \
                                  c.leading()));                                                                                               \
    return c.back();                                                                                                                           \
  }
#define CUMETAL_UPDATE(name, Factor)                                                                                                           \
  extern "C" cublasStatus_t CUBLAS_XT(name)(cublasXtHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, size_t n, size_t k,        \
                                            const Factor *alpha, const Outer *A, size_t lda, const Factor *beta, Outer *C, size_t ldc) {       \
    CUMETAL_NEED_HANDLE(handle);                                                                                                               \
    CUMETAL_NEED_RANGE(n, k, lda, ldc);                                                                                                        \
    Operand a(A, trans == CUBLAS_OP_N ? n : k, trans == CUBLAS_OP_N ? k : n, lda), c(C, n, n, ldc);                                            \
    CUMETAL_BRING(a);                                                                                                                          \
    CUMETAL_BRING(c);                                                                                                                          \
    CUMETAL_TRY(CUBLAS(name##_v2)(handle->blas, uplo, trans, n, k, alpha, a.device(), a.leading(), beta, c.device(), c.leading()));            \
    return c.back();                                                                                                                           \
  }
#define CUMETAL_UPDATE_OF_TWO(name, called, Beta)                                                                                              \
  extern "C" cublasStatus_t CUBLAS_XT(name)(cublasXtHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, size_t n, size_t k,        \
                                            const Outer *alpha, const Outer *A, size_t lda, const Outer *B, size_t ldb, const Beta *beta,      \
                                            Outer *C, size_t ldc) {                                                                            \
    CUMETAL_NEED_HANDLE(handle);                                                                                                               \
    CUMETAL_NEED_RANGE(n, k, lda, ldb, ldc);                                                                                                   \
    const size_t rows = trans == CUBLAS_OP_N ? n : k, columns = trans == CUBLAS_OP_N ? k : n;                                                  \
    Operand a(A, rows, columns, lda), b(B, rows, columns, ldb), c(C, n, n, ldc);                                                               \
    CUMETAL_BRING(a);                                                                                                                          \
    CUMETAL_BRING(b);                                                                                                                          \
    CUMETAL_BRING(c);                                                                                                                          \
    CUMETAL_TRY(CUBLAS(called)(handle->blas, uplo, trans, n, k, alpha, a.device(), a.leading(), b.device(), b.leading(), beta, c.device(),     \
                               c.leading()));                                                                                                  \
    return c.back();                                                                                                                           \
  }

CUMETAL_SYMMETRIC_PRODUCT(symm)
CUMETAL_UPDATE(syrk, Outer)
CUMETAL_UPDATE_OF_TWO(syr2k, syr2k_v2, Outer)
CUMETAL_UPDATE_OF_TWO(syrkx, syrkx, Outer)
#if CUMETAL_IS_COMPLEX
CUMETAL_SYMMETRIC_PRODUCT(hemm)
CUMETAL_UPDATE(herk, OuterReal)
CUMETAL_UPDATE_OF_TWO(her2k, her2k_v2, OuterReal)
CUMETAL_UPDATE_OF_TWO(herkx, herkx, OuterReal)
#endif

extern "C" cublasStatus_t CUBLAS_XT(trmm)(cublasXtHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, cublasOperation_t trans,
                                          cublasDiagType_t diag, size_t m, size_t n, const Outer *alpha, const Outer *A, size_t lda, const Outer *B,
                                          size_t ldb, Outer *C, size_t ldc) {
  CUMETAL_NEED_HANDLE(handle);
  CUMETAL_NEED_RANGE(m, n, lda, ldb, ldc);
  const size_t order = side == CUBLAS_SIDE_LEFT ? m : n;
  Operand a(A, order, order, lda), b(B, m, n, ldb), c(C, m, n, ldc);
  CUMETAL_BRING(a);
  CUMETAL_BRING(b);
  CUMETAL_BRING(c);
  CUMETAL_TRY(CUBLAS(trmm_v2)(handle->blas, side, uplo, trans, diag, m, n, alpha, a.device(), a.leading(), b.device(), b.leading(), c.device(),
                              c.leading()));
  return c.back();
}
extern "C" cublasStatus_t CUBLAS_XT(trsm)(cublasXtHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, cublasOperation_t trans,
                                          cublasDiagType_t diag, size_t m, size_t n, const Outer *alpha, const Outer *A, size_t lda, Outer *B,
                                          size_t ldb) {
  CUMETAL_NEED_HANDLE(handle);
  CUMETAL_NEED_RANGE(m, n, lda, ldb);
  const size_t order = side == CUBLAS_SIDE_LEFT ? m : n;
  Operand a(A, order, order, lda), b(B, m, n, ldb);
  CUMETAL_BRING(a);
  CUMETAL_BRING(b);
  CUMETAL_TRY(CUBLAS(trsm_v2)(handle->blas, side, uplo, trans, diag, m, n, alpha, a.device(), a.leading(), b.device(), b.leading()));
  return b.back();
}
