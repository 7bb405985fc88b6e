// Level 2 of one type: a matrix is full, a band or a packed triangle, and general, symmetric, Hermitian or triangular; products, updates and
// solutions are one kernel each over what finds an element. Source: cuBLAS Library, "cuBLAS Level-2 Function Reference".
#include "../common/types.h"
#include "gemm.h"

using namespace cumetal;

#define CUBLAS(name) CUMETAL_JOIN(cublas, CUMETAL_LETTER, name)

enum Storage { full, band, packed };

/** A matrix of rows × columns as it is stored, and the operation on it. */
struct Stored {
  int rows, columns;
  Storage storage;
  Shape shape;
  long long ld;
  /** Diagonals below and above the main one, of a band. */
  int below, above;
  bool isUpper, isUnit, isTransposed, isConjugated;
};

/** An element of op(A). */
static __device__ T elementOf(const T *a, const Stored &m, long long row, long long column) {
  long long r = m.isTransposed ? column : row, c = m.isTransposed ? row : column;
  bool isConjugated = m.isConjugated;
  const bool isStored = m.shape == general || r == c || (r < c) == m.isUpper;
  if (!isStored) {
    if (m.shape == triangular) return T(0);
    const long long other = r;
    r = c;
    c = other;
    if (m.shape == hermitian) isConjugated = !isConjugated;
  }
  if (m.shape == triangular && r == c && m.isUnit) return T(1);
  T value;
  if (m.storage == full) {
    value = a[r + c * m.ld];
  } else if (m.storage == packed) {
    value = a[m.isUpper ? r + c * (c + 1) / 2 : r + (2ll * m.rows - c - 1) * c / 2];
  } else {
    if (r - c > m.below || c - r > m.above) return T(0);
    value = a[m.above + r - c + c * m.ld];
  }
  if (m.shape == hermitian && r == c) return T(realOf(value));
  return isConjugated ? conj(value) : value;
}

/** The columns that a row of op(A) has, as a range. */
static __device__ void rangeOf(const Stored &m, long long row, long long count, long long *from, long long *to) {
  *from = 0;
  *to = count;
  if (m.storage == band) {
    const long long below = m.shape == symmetric || m.shape == hermitian ? m.below + m.above : m.isTransposed ? m.above : m.below;
    const long long above = m.shape == symmetric || m.shape == hermitian ? m.below + m.above : m.isTransposed ? m.below : m.above;
    *from = row > below ? row - below : 0;
    *to = row + above + 1 < count ? row + above + 1 : count;
  }
  if (m.shape == triangular) {
    if (m.isUpper != m.isTransposed)
      *from = *from > row ? *from : row;
    else
      *to = *to < row + 1 ? *to : row + 1;
  }
}

/** y = alpha·op(A)·x + beta·y; a group of threads has a row. Vectors begin at their first elements. */
template <int Group>
static __global__ void __launch_bounds__(threads)
    productKernel(Stored m, T alphaValue, const T *alphaPointer, const T *a, const T *const *aList, long long aStep, const T *x,
                  const T *const *xList, long long xStep, long long incx, T betaValue, const T *betaPointer, T *y, T *const *yList,
                  long long yStep, long long incy) {
  const T alpha = alphaPointer ? *alphaPointer : alphaValue, beta = betaPointer ? *betaPointer : betaValue;
  const int batch = blockIdx.y, part = threadIdx.x % Group;
  const long long rows = m.isTransposed ? m.columns : m.rows, columns = m.isTransposed ? m.rows : m.columns;
  const long long row = blockIdx.x * (long long)(threads / Group) + threadIdx.x / Group;
  __shared__ T sums[threads];
  T sum = T(0);
  if (row < rows && alpha != T(0)) {
    const T *pa = aList ? aList[batch] : a + batch * aStep;
    const T *px = xList ? first(xList[batch], columns, incx) : x + batch * xStep;
    long long from, to;
    rangeOf(m, row, columns, &from, &to);
    if (m.shape == general && m.storage == full) {
      const long long step = m.isTransposed ? 1 : m.ld;
      const T *pr = pa + row * (m.isTransposed ? m.ld : 1);
      for (long long c = from + part; c < to; c += Group) sum += (m.isConjugated ? conj(pr[c * step]) : pr[c * step]) * px[c * incx];
    } else {
      for (long long c = from + part; c < to; c += Group) sum += elementOf(pa, m, row, c) * px[c * incx];
    }
  }
  if (Group > 1) {
    sums[threadIdx.x] = sum;
    for (int half = Group / 2; half > 0; half /= 2) {
      __syncthreads();
      if (part < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    }
    sum = sums[threadIdx.x];
  }
  if (row >= rows || part != 0) return;
  T *to = (yList ? first(yList[batch], rows, incy) : y + batch * yStep) + row * incy;
  T value = alpha * sum;
  if (beta != T(0)) value = value + beta * *to;
  *to = value;
}

struct Vectors {
  const T *first;
  const T *const *list;
  long long step;
};

static cublasStatus_t product(cublasHandle_t handle, const Stored &m, Scalar<T> alpha, Vectors a, Vectors x, int incx, Scalar<T> beta, T *y,
                              T *const *yList, long long yStep, int incy, int batches) {
  const int rows = m.isTransposed ? m.columns : m.rows, columns = m.isTransposed ? m.rows : m.columns;
  if (rows == 0 || batches == 0 || columns == 0) return CUBLAS_STATUS_SUCCESS;
  const T *px = x.first ? first(x.first, columns, incx) : nullptr;
  T *py = y ? first(y, rows, incy) : nullptr;
  // Lanes that read neighbours: of rows for columns in memory, and of parts of a row otherwise.
  if (m.isTransposed || rows < 64)
    productKernel<32><<<dim3((rows + 7) / 8, batches), threads, 0, handle->stream>>>(
        m, alpha.value, alpha.pointer, a.first, a.list, a.step, px, x.list, x.step, incx, beta.value, beta.pointer, py, yList, yStep, incy);
  else
    productKernel<1><<<dim3((rows + threads - 1) / threads, batches), threads, 0, handle->stream>>>(
        m, alpha.value, alpha.pointer, a.first, a.list, a.step, px, x.list, x.step, incx, beta.value, beta.pointer, py, yList, yStep, incy);
  return launched();
}

static Stored generalOf(cublasOperation_t op, int rows, int columns, int ld) {
  return {rows, columns, full, general, ld, 0, 0, false, false, op == CUBLAS_OP_T || op == CUBLAS_OP_C, op == CUBLAS_OP_C || op == CUBLAS_OP_CONJG};
}
static Stored halfOf(Shape shape, Storage storage, cublasFillMode_t uplo, int n, int ld, int k) {
  const bool isUpper = uplo == CUBLAS_FILL_MODE_UPPER;
  return {n, n, storage, shape, ld, isUpper ? 0 : k, isUpper ? k : 0, isUpper, false, false, false};
}
static Stored triangleOf(Storage storage, cublasFillMode_t uplo, cublasOperation_t op, cublasDiagType_t diag, int n, int ld, int k) {
  Stored m = halfOf(triangular, storage, uplo, n, ld, k);
  m.isUnit = diag == CUBLAS_DIAG_UNIT;
  m.isTransposed = op == CUBLAS_OP_T || op == CUBLAS_OP_C;
  m.isConjugated = op == CUBLAS_OP_C || op == CUBLAS_OP_CONJG;
  return m;
}

extern "C" cublasStatus_t CUBLAS(gemv_v2)(cublasHandle_t handle, cublasOperation_t op, int m, int n, const Outer *alpha, const Outer *a, int lda,
                                          const Outer *x, int incx, const Outer *beta, Outer *y, int incy) {
  CUMETAL_NEED_HANDLE(handle);
  CUMETAL_NEED(isOperation(op) && m >= 0 && n >= 0 && lda >= most(1, m) && incx && incy);
  return product(handle, generalOf(op, m, n, lda), scalarOf<T>(handle, alpha), {inner(a), nullptr, 0}, {inner(x), nullptr, 0}, incx,
                 scalarOf<T>(handle, beta), inner(y), nullptr, 0, incy, 1);
}
extern "C" cublasStatus_t CUBLAS(gemvBatched)(cublasHandle_t handle, cublasOperation_t op, int m, int n, const Outer *alpha, const Outer *const a[],
                                              int lda, const Outer *const x[], int incx, const Outer *beta, Outer *const y[], int incy, int batches) {
  CUMETAL_NEED_HANDLE(handle);
  CUMETAL_NEED(isOperation(op) && m >= 0 && n >= 0 && lda >= most(1, m) && incx && incy && batches >= 0 && batches < 65536);
  return product(handle, generalOf(op, m, n, lda), scalarOf<T>(handle, alpha), {nullptr, reinterpret_cast<const T *const *>(a), 0},
                 {nullptr, reinterpret_cast<const T *const *>(x), 0}, incx, scalarOf<T>(handle, beta), nullptr,
                 reinterpret_cast<T *const *>(y), 0, incy, batches);
}
extern "C" cublasStatus_t CUBLAS(gemvStridedBatched)(cublasHandle_t handle, cublasOperation_t op, int m, int n, const Outer *alpha, const Outer *a,
                                                     int lda, long long strideA, const Outer *x, int incx, long long strideX, const Outer *beta,
                                                     Outer *y, int incy, long long strideY, int batches) {
  CUMETAL_NEED_HANDLE(handle);
  CUMETAL_NEED(isOperation(op) && m >= 0 && n >= 0 && lda >= most(1, m) && incx && incy && batches >= 0 && batches < 65536);
  return product(handle, generalOf(op, m, n, lda), scalarOf<T>(handle, alpha), {inner(a), nullptr, strideA}, {inner(x), nullptr, strideX}, incx,
                 scalarOf<T>(handle, beta), inner(y), nullptr, strideY, incy, batches);
}
extern "C" cublasStatus_t CUBLAS(gbmv_v2)(cublasHandle_t handle, cublasOperation_t op, int m, int n, int kl, int ku, const Outer *alpha,
                                          const Outer *a, int lda, const Outer *x, int incx, const Outer *beta, Outer *y, int incy) {
  CUMETAL_NEED_HANDLE(handle);
  CUMETAL_NEED(isOperation(op) && m >= 0 && n >= 0 && kl >= 0 && ku >= 0 && lda >= kl + ku + 1 && incx && incy);
  Stored matrix = generalOf(op, m, n, lda);
  matrix.storage = band;
  matrix.below = kl;
  matrix.above = ku;
  return product(handle, matrix, scalarOf<T>(handle, alpha), {inner(a), nullptr, 0}, {inner(x), nullptr, 0}, incx, scalarOf<T>(handle, beta),
                 inner(y), nullptr, 0, incy, 1);
}

static cublasStatus_t symmetricProduct(cublasHandle_t handle, Shape shape, Storage storage, cublasFillMode_t uplo, int n, int k, const Outer *alpha,
                                       const Outer *a, int lda, const Outer *x, int incx, const Outer *beta, Outer *y, int incy) {
  CUMETAL_NEED_HANDLE(handle);
  CUMETAL_NEED(isUplo(uplo) && n >= 0 && k >= 0 && incx && incy);
  CUMETAL_NEED(storage == packed || lda >= (storage == band ? k + 1 : most(1, n)));
  return product(handle, halfOf(shape, storage, uplo, n, lda, k), scalarOf<T>(handle, alpha), {inner(a), nullptr, 0}, {inner(x), nullptr, 0}, incx,
                 scalarOf<T>(handle, beta), inner(y), nullptr, 0, incy, 1);
}
#define FULL_PRODUCT(name, shape)                                                                                                               \
  extern "C" cublasStatus_t CUBLAS(name)(cublasHandle_t handle, cublasFillMode_t uplo, int n, const Outer *alpha, const Outer *a, int lda,      \
                                         const Outer *x, int incx, const Outer *beta, Outer *y, int incy) {                                     \
    return symmetricProduct(handle, shape, full, uplo, n, 0, alpha, a, lda, x, incx, beta, y, incy);                                            \
  }
#define BAND_PRODUCT(name, shape)                                                                                                               \
  extern "C" cublasStatus_t CUBLAS(name)(cublasHandle_t handle, cublasFillMode_t uplo, int n, int k, const Outer *alpha, const Outer *a,        \
                                         int lda, const Outer *x, int incx, const Outer *beta, Outer *y, int incy) {                            \
    return symmetricProduct(handle, shape, band, uplo, n, k, alpha, a, lda, x, incx, beta, y, incy);                                            \
  }
#define PACKED_PRODUCT(name, shape)                                                                                                             \
  extern "C" cublasStatus_t CUBLAS(name)(cublasHandle_t handle, cublasFillMode_t uplo, int n, const Outer *alpha, const Outer *ap,              \
                                         const Outer *x, int incx, const Outer *beta, Outer *y, int incy) {                                     \
    return symmetricProduct(handle, shape, packed, uplo, n, 0, alpha, ap, 0, x, incx, beta, y, incy);                                           \
  }
FULL_PRODUCT(symv_v2, symmetric)
#if CUMETAL_IS_COMPLEX
FULL_PRODUCT(hemv_v2, hermitian)
BAND_PRODUCT(hbmv_v2, hermitian)
PACKED_PRODUCT(hpmv_v2, hermitian)
#else
BAND_PRODUCT(sbmv_v2, symmetric)
PACKED_PRODUCT(spmv_v2, symmetric)
#endif

/** A += alpha·x·yᵀ, and conj(alpha)·y·xᵀ with `isDouble`; of a triangle, or of all of A. */
static __global__ void updateKernel(int m, int n, bool isPacked, Part part, bool isHermitian, bool isConjugated, bool isDouble, T alphaValue,
                                    const T *alphaPointer, bool isRealAlpha, const T *x, long long incx, const T *y, long long incy, T *a,
                                    long long lda) {
  const T alpha = !alphaPointer ? alphaValue : isRealAlpha ? T(*reinterpret_cast<const Real *>(alphaPointer)) : *alphaPointer;
  if (alpha == T(0)) return;
  const long long count = (long long)m * n;
  for (long long i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    const long long row = i % m, column = i / m;
    if (part == lowerPart ? row < column : part == upperPart && row > column) continue;
    T *to = a + (!isPacked ? row + column * lda : part == upperPart ? row + column * (column + 1) / 2 : row + (2ll * n - column - 1) * column / 2);
    const T other = y[column * incy];
    T value = *to + alpha * x[row * incx] * (isConjugated ? conj(other) : other);
    if (isDouble) {
      const T own = x[column * incx];
      value = value + (isHermitian ? conj(alpha) : alpha) * y[row * incy] * (isConjugated ? conj(own) : own);
    }
    *to = isHermitian && row == column ? T(realOf(value)) : value;
  }
}

static cublasStatus_t update(cublasHandle_t handle, int m, int n, bool isPacked, Part part, bool isHermitian, bool isConjugated, bool isDouble,
                             Scalar<T> alpha, bool isRealAlpha, const T *x, int incx, const T *y, int incy, T *a, int lda) {
  CUMETAL_NEED(m >= 0 && n >= 0 && incx && incy && (isPacked || lda >= most(1, m)));
  if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;
  updateKernel<<<blocksFor((long long)m * n), threads, 0, handle->stream>>>(m, n, isPacked, part, isHermitian, isConjugated, isDouble, alpha.value,
                                                                            alpha.pointer, isRealAlpha, first(x, m, incx), incx,
                                                                            first(y, n, incy), incy, a, lda);
  return launched();
}

static Part partOf(cublasFillMode_t uplo) { return uplo == CUBLAS_FILL_MODE_UPPER ? upperPart : lowerPart; }

#define GENERAL_UPDATE(name, isConjugated)                                                                                                      \
  extern "C" cublasStatus_t CUBLAS(name)(cublasHandle_t handle, int m, int n, const Outer *alpha, const Outer *x, int incx, const Outer *y,     \
                                         int incy, Outer *a, int lda) {                                                                         \
    CUMETAL_NEED_HANDLE(handle);                                                                                                                \
    return update(handle, m, n, false, whole, false, isConjugated, false, scalarOf<T>(handle, alpha), false, inner(x), incx, inner(y), incy,    \
                  inner(a), lda);                                                                                                               \
  }
#define UPDATE(name, Alpha, ld, ldValue, isPacked, isHermitian, isReal)                                                                         \
  extern "C" cublasStatus_t CUBLAS(name)(cublasHandle_t handle, cublasFillMode_t uplo, int n, const Alpha *alpha, const Outer *x, int incx,     \
                                         Outer *a ld) {                                                                                         \
    CUMETAL_NEED_HANDLE(handle);                                                                                                                \
    CUMETAL_NEED(isUplo(uplo));                                                                                                                 \
    Scalar<T> factor = {T(), reinterpret_cast<const T *>(alpha)};                                                                               \
    if (handle->pointerMode == CUBLAS_POINTER_MODE_HOST) factor = {numberOf(*alpha), nullptr};                                                  \
    return update(handle, n, n, isPacked, partOf(uplo), isHermitian, isHermitian, false, factor, isReal, inner(x), incx, inner(x), incx,        \
                  inner(a), ldValue);                                                                                                           \
  }
#define DOUBLE_UPDATE(name, ld, ldValue, isPacked, isHermitian)                                                                                 \
  extern "C" cublasStatus_t CUBLAS(name)(cublasHandle_t handle, cublasFillMode_t uplo, int n, const Outer *alpha, const Outer *x, int incx,     \
                                         const Outer *y, int incy, Outer *a ld) {                                                               \
    CUMETAL_NEED_HANDLE(handle);                                                                                                                \
    CUMETAL_NEED(isUplo(uplo));                                                                                                                 \
    return update(handle, n, n, isPacked, partOf(uplo), isHermitian, isHermitian, true, scalarOf<T>(handle, alpha), false, inner(x), incx,      \
                  inner(y), incy, inner(a), ldValue);                                                                                           \
  }
#define WITH_LD , int lda
#define WITHOUT_LD
static T numberOf(Outer a) { return *inner(&a); }
#if CUMETAL_IS_COMPLEX
static T numberOf(Real a) { return T(a); }
GENERAL_UPDATE(geru_v2, false)
GENERAL_UPDATE(gerc_v2, true)
UPDATE(her_v2, Real, WITH_LD, lda, false, true, true)
UPDATE(hpr_v2, Real, WITHOUT_LD, 0, true, true, true)
DOUBLE_UPDATE(her2_v2, WITH_LD, lda, false, true)
DOUBLE_UPDATE(hpr2_v2, WITHOUT_LD, 0, true, true)
#else
GENERAL_UPDATE(ger_v2, false)
UPDATE(spr_v2, Outer, WITHOUT_LD, 0, true, false, false)
DOUBLE_UPDATE(spr2_v2, WITHOUT_LD, 0, true, false)
#endif
UPDATE(syr_v2, Outer, WITH_LD, lda, false, false, false)
DOUBLE_UPDATE(syr2_v2, WITH_LD, lda, false, false)

/** Solves op(A)·x = b in place, in one block: each element, as soon as it is known, is taken out of those that follow. */
static __global__ void solveKernel(Stored m, const T *a, T *x, long long incx) {
  const int n = m.rows;
  const bool isUpper = m.isUpper != m.isTransposed;
  for (int j = 0; j < n; j++) {
    const long long c = isUpper ? n - 1 - j : j;
    if (threadIdx.x == 0 && !m.isUnit) x[c * incx] = x[c * incx] / elementOf(a, m, c, c);
    __syncthreads();
    const T known = x[c * incx];
    const long long reach = m.storage == band ? m.below + m.above : n;
    const long long rest = n - 1 - j < reach ? n - 1 - j : reach;
    for (long long i = threadIdx.x; i < rest; i += threads) {
      const long long r = isUpper ? c - 1 - i : c + 1 + i;
      x[r * incx] -= elementOf(a, m, r, c) * known;
    }
    __syncthreads();
  }
}

static cublasStatus_t triangle(cublasHandle_t handle, bool isSolved, Storage storage, cublasFillMode_t uplo, cublasOperation_t op,
                               cublasDiagType_t diag, int n, int k, const Outer *a, int lda, Outer *x, int incx) {
  CUMETAL_NEED_HANDLE(handle);
  CUMETAL_NEED(isUplo(uplo) && isOperation(op) && isDiag(diag) && n >= 0 && k >= 0 && incx);
  CUMETAL_NEED(storage == packed || lda >= (storage == band ? k + 1 : most(1, n)));
  if (n == 0) return CUBLAS_STATUS_SUCCESS;
  const Stored m = triangleOf(storage, uplo, op, diag, n, lda, k);
  T *px = inner(x);
  if (isSolved) {
    solveKernel<<<1, threads, 0, handle->stream>>>(m, inner(a), first(px, n, incx), incx);
    return launched();
  }
  // The product reads a copy of the vector.
  T *copy = nullptr;
  if (cudaMallocAsync(reinterpret_cast<void **>(&copy), sizeof(T) * n, handle->stream) != cudaSuccess) return CUBLAS_STATUS_ALLOC_FAILED;
  const long long step = incx < 0 ? -(long long)incx : incx;
  cudaMemcpy2DAsync(copy, sizeof(T), px, sizeof(T) * step, sizeof(T), n, cudaMemcpyDeviceToDevice, handle->stream);
  const cublasStatus_t status = product(handle, m, {T(1), nullptr}, {inner(a), nullptr, 0}, {copy, nullptr, 0}, incx < 0 ? -1 : 1, {T(0), nullptr}, px,
                                        nullptr, 0, incx, 1);
  cudaFreeAsync(copy, handle->stream);
  return status;
}
#define TRIANGLE(name, isSolved, storage, k, kValue, A, ld, ldValue)                                                                            \
  extern "C" cublasStatus_t CUBLAS(name)(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t op, cublasDiagType_t diag, int n k,    \
                                         const Outer *a ld, Outer *x, int incx) {                                                               \
    return triangle(handle, isSolved, storage, uplo, op, diag, n, kValue, a, ldValue, x, incx);                                                 \
  }
#define WITH_K , int k
TRIANGLE(trmv_v2, false, full, WITHOUT_LD, 0, A, WITH_LD, lda)
TRIANGLE(tbmv_v2, false, band, WITH_K, k, A, WITH_LD, lda)
TRIANGLE(tpmv_v2, false, packed, WITHOUT_LD, 0, AP, WITHOUT_LD, 0)
TRIANGLE(trsv_v2, true, full, WITHOUT_LD, 0, A, WITH_LD, lda)
TRIANGLE(tbsv_v2, true, band, WITH_K, k, A, WITH_LD, lda)
TRIANGLE(tpsv_v2, true, packed, WITHOUT_LD, 0, AP, WITHOUT_LD, 0)
