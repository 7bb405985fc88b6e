// Level 3 of one type, as products of matrices that are stored in part, and extensions. Source: cuBLAS Library, "cuBLAS Level-3 Function
// Reference" and "BLAS-like Extension".
#include "../common/types.h"
#include "gemm.h"

using namespace cumetal;

#define CUBLAS(name) CUMETAL_JOIN(cublas, CUMETAL_LETTER, name)

typedef Matrices<const T> In;
typedef Matrices<T> Out;

static Part partOf(cublasFillMode_t uplo) { return uplo == CUBLAS_FILL_MODE_UPPER ? upperPart : lowerPart; }

static cublasStatus_t symm(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, int m, int n, const Outer *alpha, const Outer *a,
                           int lda, const Outer *b, int ldb, const Outer *beta, Outer *c, int ldc, bool isHermitian) {
  CUMETAL_NEED_HANDLE(handle);
  const bool isLeft = side == CUBLAS_SIDE_LEFT;
  CUMETAL_NEED(isSide(side) && isUplo(uplo) && m >= 0 && n >= 0 && lda >= most(1, isLeft ? m : n) && ldb >= most(1, m) && ldc >= most(1, m));
  const View av = symmetricView(uplo, lda, isHermitian), bv = viewOf(CUBLAS_OP_N, ldb);
  const In pa = {inner(a), nullptr}, pb = {inner(b), nullptr};
  return multiply<T, T>(handle, Sizes3{m, n, isLeft ? m : n, 1, whole, false}, scalarOf<T>(handle, alpha), isLeft ? pa : pb, isLeft ? av : bv,
                        isLeft ? pb : pa, isLeft ? bv : av, scalarOf<T>(handle, beta), Out{inner(c), nullptr}, ldc, 0);
}

extern "C" cublasStatus_t CUBLAS(symm_v2)(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, int m, int n, const Outer *alpha,
                                          const Outer *a, int lda, const Outer *b, int ldb, const Outer *beta, Outer *c, int ldc) {
  return symm(handle, side, uplo, m, n, alpha, a, lda, b, ldb, beta, c, ldc, false);
}

/** One part of a rank-k update: C = alpha·op(A)·op(B)ᵀ + beta·C in a triangle, with the conjugate for Hermitian ones. */
static cublasStatus_t update(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, int n, int k, Scalar<T> alpha, const Outer *a,
                             int lda, const Outer *b, int ldb, Scalar<T> beta, Outer *c, int ldc, bool isHermitian) {
  const bool isPlainUpdate = trans == CUBLAS_OP_N;
  const cublasOperation_t other = isHermitian ? CUBLAS_OP_C : CUBLAS_OP_T;
  const View av = viewOf(isPlainUpdate ? CUBLAS_OP_N : other, lda), bv = viewOf(isPlainUpdate ? other : CUBLAS_OP_N, ldb);
  return multiply<T, T>(handle, Sizes3{n, n, k, 1, partOf(uplo), isHermitian}, alpha, In{inner(a), nullptr}, av, In{inner(b), nullptr}, bv, beta,
                        Out{inner(c), nullptr}, ldc, 0);
}

static bool isUpdate(cublasFillMode_t uplo, cublasOperation_t trans, int n, int k, int lda, int ldb, int ldc) {
  const int rows = most(1, trans == CUBLAS_OP_N ? n : k);
  // As in cuBLAS, either transposition stands for the one that the update has.
  return isUplo(uplo) && trans >= CUBLAS_OP_N && trans <= CUBLAS_OP_C && n >= 0 && k >= 0 && lda >= rows && ldb >= rows && ldc >= most(1, n);
}

/** A real scalar of the interface as one of the type; on the device it is a value that has to be fetched. */
static cublasStatus_t realScalar(cublasHandle_t handle, const Real *p, Scalar<T> *to) {
  Real value;
  if (handle->pointerMode == CUBLAS_POINTER_MODE_HOST) {
    value = *p;
  } else if (cudaMemcpyAsync(&value, p, sizeof value, cudaMemcpyDeviceToHost, handle->stream) != cudaSuccess ||
             cudaStreamSynchronize(handle->stream) != cudaSuccess) {
    return CUBLAS_STATUS_EXECUTION_FAILED;
  }
  *to = {T(value), nullptr};
  return CUBLAS_STATUS_SUCCESS;
}

extern "C" cublasStatus_t CUBLAS(syrk_v2)(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, int n, int k, const Outer *alpha,
                                          const Outer *a, int lda, const Outer *beta, Outer *c, int ldc) {
  CUMETAL_NEED_HANDLE(handle);
  CUMETAL_NEED(isUpdate(uplo, trans, n, k, lda, lda, ldc));
  return update(handle, uplo, trans, n, k, scalarOf<T>(handle, alpha), a, lda, a, lda, scalarOf<T>(handle, beta), c, ldc, false);
}
extern "C" cublasStatus_t CUBLAS(syrkx)(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, int n, int k, const Outer *alpha,
                                        const Outer *a, int lda, const Outer *b, int ldb, const Outer *beta, Outer *c, int ldc) {
  CUMETAL_NEED_HANDLE(handle);
  CUMETAL_NEED(isUpdate(uplo, trans, n, k, lda, ldb, ldc));
  return update(handle, uplo, trans, n, k, scalarOf<T>(handle, alpha), a, lda, b, ldb, scalarOf<T>(handle, beta), c, ldc, false);
}
extern "C" cublasStatus_t CUBLAS(syr2k_v2)(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, int n, int k, const Outer *alpha,
                                           const Outer *a, int lda, const Outer *b, int ldb, const Outer *beta, Outer *c, int ldc) {
  CUMETAL_NEED_HANDLE(handle);
  CUMETAL_NEED(isUpdate(uplo, trans, n, k, lda, ldb, ldc));
  const Scalar<T> factor = scalarOf<T>(handle, alpha);
  CUMETAL_TRY(update(handle, uplo, trans, n, k, factor, a, lda, b, ldb, scalarOf<T>(handle, beta), c, ldc, false));
  return update(handle, uplo, trans, n, k, factor, b, ldb, a, lda, Scalar<T>{T(1), nullptr}, c, ldc, false);
}

#if CUMETAL_IS_COMPLEX
extern "C" cublasStatus_t CUBLAS(hemm_v2)(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, int m, int n, const Outer *alpha,
                                          const Outer *a, int lda, const Outer *b, int ldb, const Outer *beta, Outer *c, int ldc) {
  return symm(handle, side, uplo, m, n, alpha, a, lda, b, ldb, beta, c, ldc, true);
}
extern "C" cublasStatus_t CUBLAS(herk_v2)(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, int n, int k, const Real *alpha,
                                          const Outer *a, int lda, const Real *beta, Outer *c, int ldc) {
  CUMETAL_NEED_HANDLE(handle);
  CUMETAL_NEED(isUpdate(uplo, trans, n, k, lda, lda, ldc));
  Scalar<T> factor, old;
  CUMETAL_TRY(realScalar(handle, alpha, &factor));
  CUMETAL_TRY(realScalar(handle, beta, &old));
  return update(handle, uplo, trans, n, k, factor, a, lda, a, lda, old, c, ldc, true);
}
extern "C" cublasStatus_t CUBLAS(herkx)(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, int n, int k, const Outer *alpha,
                                        const Outer *a, int lda, const Outer *b, int ldb, const Real *beta, Outer *c, int ldc) {
  CUMETAL_NEED_HANDLE(handle);
  CUMETAL_NEED(isUpdate(uplo, trans, n, k, lda, ldb, ldc));
  Scalar<T> old;
  CUMETAL_TRY(realScalar(handle, beta, &old));
  return update(handle, uplo, trans, n, k, scalarOf<T>(handle, alpha), a, lda, b, ldb, old, c, ldc, true);
}
extern "C" cublasStatus_t CUBLAS(her2k_v2)(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, int n, int k, const Outer *alpha,
                                           const Outer *a, int lda, const Outer *b, int ldb, const Real *beta, Outer *c, int ldc) {
  CUMETAL_NEED_HANDLE(handle);
  CUMETAL_NEED(isUpdate(uplo, trans, n, k, lda, ldb, ldc));
  Scalar<T> factor = {T(), nullptr}, old;
  CUMETAL_TRY(realScalar(handle, beta, &old));
  if (handle->pointerMode == CUBLAS_POINTER_MODE_HOST) {
    factor.value = *inner(alpha);
  } else if (cudaMemcpyAsync(&factor.value, alpha, sizeof(T), cudaMemcpyDeviceToHost, handle->stream) != cudaSuccess ||
             cudaStreamSynchronize(handle->stream) != cudaSuccess) {
    return CUBLAS_STATUS_EXECUTION_FAILED;
  }
  CUMETAL_TRY(update(handle, uplo, trans, n, k, factor, a, lda, b, ldb, old, c, ldc, true));
  factor.value = conj(factor.value);
  return update(handle, uplo, trans, n, k, factor, b, ldb, a, lda, Scalar<T>{T(1), nullptr}, c, ldc, true);
}
#endif

extern "C" cublasStatus_t CUBLAS(trmm_v2)(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, cublasOperation_t trans,
                                          cublasDiagType_t diag, int m, int n, const Outer *alpha, const Outer *a, int lda, const Outer *b, int ldb,
                                          Outer *c, int ldc) {
  CUMETAL_NEED_HANDLE(handle);
  const bool isLeft = side == CUBLAS_SIDE_LEFT;
  CUMETAL_NEED(isSide(side) && isUplo(uplo) && isOperation(trans) && isDiag(diag) && m >= 0 && n >= 0 && lda >= most(1, isLeft ? m : n) &&
               ldb >= most(1, m) && ldc >= most(1, m));
  if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;
  // In place, B is read from a copy.
  T *copy = nullptr;
  long long ld = ldb;
  if (b == c) {
    ld = m;
    if (cudaMallocAsync(reinterpret_cast<void **>(&copy), sizeof(T) * m * size_t(n), handle->stream) != cudaSuccess) return CUBLAS_STATUS_ALLOC_FAILED;
    cudaMemcpy2DAsync(copy, sizeof(T) * m, b, sizeof(T) * ldb, sizeof(T) * m, n, cudaMemcpyDeviceToDevice, handle->stream);
  }
  const View av = triangularView(trans, uplo, diag, lda), bv = viewOf(CUBLAS_OP_N, ld);
  const In pa = {inner(a), nullptr}, pb = {copy ? copy : inner(b), nullptr};
  const cublasStatus_t status = multiply<T, T>(handle, Sizes3{m, n, isLeft ? m : n, 1, whole, false}, scalarOf<T>(handle, alpha), isLeft ? pa : pb,
                                               isLeft ? av : bv, isLeft ? pb : pa, isLeft ? bv : av, Scalar<T>{T(0), nullptr},
                                               Out{inner(c), nullptr}, ldc, 0);
  if (copy) cudaFreeAsync(copy, handle->stream);
  return status;
}

/** Solves op(A)·X = alpha·B, or X·op(A) = alpha·B as the transposed of it, in place: a thread has one right side. */
static __global__ void trsmKernel(int order, int sides, T value, const T *alphaPointer, const T *a, const T *const *aList, View view, T *b,
                                  T *const *bList, long long step, long long sideStep, int batches) {
  const T alpha = alphaPointer ? *alphaPointer : value;
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i >= (long long)sides * batches) return;
  const int batch = int(i / sides);
  const T *pa = aList ? aList[batch] : a;
  T *x = (bList ? bList[batch] : b) + (i % sides) * sideStep;
  for (int j = 0; j < order; j++) {
    const int row = view.isUpper ? order - 1 - j : j;
    T sum = alpha * x[row * step];
    for (int q = 0; q < j; q++) {
      const int column = view.isUpper ? order - 1 - q : q;
      const T e = pa[row * view.rowStep + column * view.columnStep];
      sum -= (view.isConjugated ? conj(e) : e) * x[column * step];
    }
    if (!view.isUnit) {
      const T e = pa[row * (view.rowStep + view.columnStep)];
      sum = sum / (view.isConjugated ? conj(e) : e);
    }
    x[row * step] = sum;
  }
}

static cublasStatus_t trsm(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, cublasOperation_t trans, cublasDiagType_t diag, int m,
                           int n, const Outer *alpha, In a, int lda, Out b, int ldb, int batches) {
  CUMETAL_NEED_HANDLE(handle);
  const bool isLeft = side == CUBLAS_SIDE_LEFT;
  CUMETAL_NEED(isSide(side) && isUplo(uplo) && isOperation(trans) && isDiag(diag) && m >= 0 && n >= 0 && lda >= most(1, isLeft ? m : n) &&
               ldb >= most(1, m) && batches >= 0);
  if (m == 0 || n == 0 || batches == 0) return CUBLAS_STATUS_SUCCESS;
  View view = triangularView(trans, uplo, diag, lda);
  if (!isLeft) {
    // X·op(A) = B is op(A)ᵀ·Xᵀ = Bᵀ.
    const long long rowStep = view.rowStep;
    view.rowStep = view.columnStep;
    view.columnStep = rowStep;
    view.isUpper = !view.isUpper;
  }
  const int sides = isLeft ? n : m;
  const Scalar<T> factor = scalarOf<T>(handle, alpha);
  const int size = 32;
  trsmKernel<<<unsigned((sides * (long long)batches + size - 1) / size), size, 0, handle->stream>>>(
      isLeft ? m : n, sides, factor.value, factor.pointer, a.first, a.list, view, b.first, b.list, isLeft ? 1 : ldb, isLeft ? ldb : 1, batches);
  return launched();
}
extern "C" cublasStatus_t CUBLAS(trsm_v2)(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, cublasOperation_t trans,
                                          cublasDiagType_t diag, int m, int n, const Outer *alpha, const Outer *a, int lda, Outer *b, int ldb) {
  return trsm(handle, side, uplo, trans, diag, m, n, alpha, {inner(a), nullptr}, lda, {inner(b), nullptr}, ldb, 1);
}
extern "C" cublasStatus_t CUBLAS(trsmBatched)(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, cublasOperation_t trans,
                                              cublasDiagType_t diag, int m, int n, const Outer *alpha, const Outer *const a[], int lda,
                                              Outer *const b[], int ldb, int batches) {
  return trsm(handle, side, uplo, trans, diag, m, n, alpha, {nullptr, reinterpret_cast<const T *const *>(a)}, lda,
              {nullptr, reinterpret_cast<T *const *>(b)}, ldb, batches);
}

static __global__ void geamKernel(int m, int n, T alphaValue, const T *alphaPointer, const T *a, View av, T betaValue, const T *betaPointer, const T *b,
                                  View bv, T *c, long long ldc) {
  const T alpha = alphaPointer ? *alphaPointer : alphaValue, beta = betaPointer ? *betaPointer : betaValue;
  const long long count = (long long)m * n;
  for (long long i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    const int row = int(i % m), column = int(i / m);
    T value = T(0);
    if (alpha != T(0)) value = alpha * element<T>(a, av, row, column);
    if (beta != T(0)) value = value + beta * element<T>(b, bv, row, column);
    c[row + column * ldc] = value;
  }
}
extern "C" cublasStatus_t CUBLAS(geam)(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, const Outer *alpha,
                                       const Outer *a, int lda, const Outer *beta, const Outer *b, int ldb, Outer *c, int ldc) {
  CUMETAL_NEED_HANDLE(handle);
  CUMETAL_NEED(isOperation(transa) && isOperation(transb) && m >= 0 && n >= 0 && lda >= most(1, isPlain(transa) ? m : n) &&
               ldb >= most(1, isPlain(transb) ? m : n) && ldc >= most(1, m));
  // In place, a matrix is neither transposed nor in other steps.
  CUMETAL_NEED(!(c == a && (lda != ldc || !isPlain(transa))) && !(c == b && (ldb != ldc || !isPlain(transb))));
  if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;
  const Scalar<T> x = scalarOf<T>(handle, alpha), y = scalarOf<T>(handle, beta);
  geamKernel<<<blocksFor((long long)m * n), threads, 0, handle->stream>>>(m, n, x.value, x.pointer, inner(a), viewOf(transa, lda), y.value, y.pointer,
                                                                          inner(b), viewOf(transb, ldb), inner(c), ldc);
  return launched();
}

static __global__ void dgmmKernel(int m, int n, bool isLeft, const T *a, long long lda, const T *x, long long incx, T *c, long long ldc) {
  const long long count = (long long)m * n;
  for (long long i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    const int row = int(i % m), column = int(i / m);
    c[row + column * ldc] = a[row + column * lda] * x[(isLeft ? row : column) * incx];
  }
}
extern "C" cublasStatus_t CUBLAS(dgmm)(cublasHandle_t handle, cublasSideMode_t side, int m, int n, const Outer *a, int lda, const Outer *x, int incx,
                                       Outer *c, int ldc) {
  CUMETAL_NEED_HANDLE(handle);
  CUMETAL_NEED(isSide(side) && m >= 0 && n >= 0 && lda >= most(1, m) && ldc >= most(1, m));
  if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;
  const bool isLeft = side == CUBLAS_SIDE_LEFT;
  dgmmKernel<<<blocksFor((long long)m * n), threads, 0, handle->stream>>>(m, n, isLeft, inner(a), lda, first(inner(x), isLeft ? m : n, incx), incx,
                                                                          inner(c), ldc);
  return launched();
}

/** Where an element of a packed triangle is. */
static __device__ long long packed(bool isUpper, long long n, long long row, long long column) {
  return isUpper ? row + column * (column + 1) / 2 : row + (2 * n - column - 1) * column / 2;
}
static __global__ void packKernel(bool isUpper, int n, T *full, long long lda, T *ap, bool isToFull) {
  const long long count = (long long)n * n;
  for (long long i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    const int row = int(i % n), column = int(i / n);
    if (isUpper ? row > column : row < column) continue;
    T *one = full + row + column * lda, *other = ap + packed(isUpper, n, row, column);
    if (isToFull)
      *one = *other;
    else
      *other = *one;
  }
}
static cublasStatus_t pack(cublasHandle_t handle, cublasFillMode_t uplo, int n, T *full, int lda, T *ap, bool isToFull) {
  CUMETAL_NEED_HANDLE(handle);
  CUMETAL_NEED(isUplo(uplo) && n >= 0 && lda >= most(1, n));
  if (n == 0) return CUBLAS_STATUS_SUCCESS;
  packKernel<<<blocksFor((long long)n * n), threads, 0, handle->stream>>>(uplo == CUBLAS_FILL_MODE_UPPER, n, full, lda, ap, isToFull);
  return launched();
}
extern "C" cublasStatus_t CUBLAS(tpttr)(cublasHandle_t handle, cublasFillMode_t uplo, int n, const Outer *ap, Outer *a, int lda) {
  return pack(handle, uplo, n, inner(a), lda, const_cast<T *>(inner(ap)), true);
}
extern "C" cublasStatus_t CUBLAS(trttp)(cublasHandle_t handle, cublasFillMode_t uplo, int n, const Outer *a, int lda, Outer *ap) {
  return pack(handle, uplo, n, const_cast<T *>(inner(a)), lda, inner(ap), false);
}
