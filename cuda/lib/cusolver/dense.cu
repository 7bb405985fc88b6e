// Factors, solutions, eigenvalues and singular values of dense matrices of one type; a block does a matrix. Eigenvalues and singular values
// come by rotations. Source: cuSOLVER Library, "cuSolverDN: dense LAPACK Function Reference"; G. Golub and C. Van Loan, "Matrix Computations",
// 8.5 (Jacobi's methods) and 8.6.3 (one-sided rotations).
#include "../common/dense.h"
#include "../common/types.h"
#include "context.h"

using namespace cumetal;

#define SOLVER(name) CUMETAL_JOIN(cusolverDn, CUMETAL_LETTER, name)
#if CUMETAL_IS_COMPLEX
#define ORGQR SOLVER(ungqr)
#define ORGQR_SIZE SOLVER(ungqr_bufferSize)
#define ORMQR SOLVER(unmqr)
#define ORMQR_SIZE SOLVER(unmqr_bufferSize)
#define SYEVD SOLVER(heevd)
#define SYEVD_SIZE SOLVER(heevd_bufferSize)
#else
#define ORGQR SOLVER(orgqr)
#define ORGQR_SIZE SOLVER(orgqr_bufferSize)
#define ORMQR SOLVER(ormqr)
#define ORMQR_SIZE SOLVER(ormqr_bufferSize)
#define SYEVD SOLVER(syevd)
#define SYEVD_SIZE SOLVER(syevd_bufferSize)
#endif

static cusolverStatus_t launched() {
  return cudaPeekAtLastError() == cudaSuccess ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_EXECUTION_FAILED;
}
static int larger(int a, int b) { return a > b ? a : b; }
static bool isUplo(cublasFillMode_t uplo) { return uplo == CUBLAS_FILL_MODE_LOWER || uplo == CUBLAS_FILL_MODE_UPPER; }

static cusolverStatus_t sized(cusolverDnHandle_t handle, long long words, int *to) {
  CUMETAL_NEED_HANDLE(handle);
  CUMETAL_NEED(to && words >= 0 && words <= 0x7fffffff);
  *to = int(larger(1, int(words)));
  return CUSOLVER_STATUS_SUCCESS;
}

static __global__ void getrfKernel(int m, int n, T *a, int lda, int *pivots, int *info) { factorLU(m, n, a, lda, pivots, info); }
extern "C" cusolverStatus_t SOLVER(getrf_bufferSize)(cusolverDnHandle_t handle, int m, int n, Outer *, int lda, int *words) {
  CUMETAL_NEED(m >= 0 && n >= 0 && lda >= larger(1, m));
  return sized(handle, 1, words);
}
extern "C" cusolverStatus_t SOLVER(getrf)(cusolverDnHandle_t handle, int m, int n, Outer *a, int lda, Outer *, int *pivots, int *info) {
  CUMETAL_NEED_HANDLE(handle);
  CUMETAL_NEED(m >= 0 && n >= 0 && lda >= larger(1, m));
  getrfKernel<<<1, denseThreads, 0, handle->stream>>>(m, n, inner(a), lda, pivots, info);
  return launched();
}
static __global__ void getrsKernel(bool isTransposed, bool isConjugated, int n, int sides, const T *a, int lda, const int *pivots, T *b, int ldb,
                                   int *info) {
  solveLU(isTransposed, isConjugated, n, sides, a, lda, pivots, b, ldb);
  if (threadIdx.x == 0 && info) *info = 0;
}
extern "C" cusolverStatus_t SOLVER(getrs)(cusolverDnHandle_t handle, cublasOperation_t op, int n, int sides, const Outer *a, int lda, const int *pivots,
                                          Outer *b, int ldb, int *info) {
  CUMETAL_NEED_HANDLE(handle);
  CUMETAL_NEED(op >= CUBLAS_OP_N && op <= CUBLAS_OP_C && n >= 0 && sides >= 0 && lda >= larger(1, n) && ldb >= larger(1, n));
  getrsKernel<<<1, denseThreads, 0, handle->stream>>>(op != CUBLAS_OP_N, op == CUBLAS_OP_C, n, sides, inner(a), lda, pivots, inner(b), ldb, info);
  return launched();
}

/** The matrix of a block: of a list, or the only one. */
static __device__ T *matrixOf(T *one, T *const *list) { return list ? list[blockIdx.x] : one; }
static __global__ void potrfKernel(bool isUpper, int n, T *a, T *const *list, int lda, int *info) {
  factorCholesky(isUpper, n, matrixOf(a, list), lda, info + blockIdx.x);
}
static __global__ void potrsKernel(bool isUpper, int n, int sides, T *a, T *const *aList, int lda, T *b, T *const *bList, int ldb, int *info) {
  const T *own = matrixOf(a, aList);
  T *to = matrixOf(b, bList);
  // Uᴴ·U, or L·Lᴴ.
  solveTriangle(isUpper, isUpper, isUpper, false, n, sides, own, lda, to, ldb);
  solveTriangle(isUpper, !isUpper, !isUpper, false, n, sides, own, lda, to, ldb);
  if (threadIdx.x == 0 && info) info[blockIdx.x] = 0;
}
extern "C" cusolverStatus_t SOLVER(potrf_bufferSize)(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, Outer *, int lda, int *words) {
  CUMETAL_NEED(isUplo(uplo) && n >= 0 && lda >= larger(1, n));
  return sized(handle, 1, words);
}
extern "C" cusolverStatus_t SOLVER(potrf)(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, Outer *a, int lda, Outer *, int, int *info) {
  CUMETAL_NEED_HANDLE(handle);
  CUMETAL_NEED(isUplo(uplo) && n >= 0 && lda >= larger(1, n));
  potrfKernel<<<1, denseThreads, 0, handle->stream>>>(uplo == CUBLAS_FILL_MODE_UPPER, n, inner(a), nullptr, lda, info);
  return launched();
}
extern "C" cusolverStatus_t SOLVER(potrs)(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, int sides, const Outer *a, int lda, Outer *b, int ldb,
                                          int *info) {
  CUMETAL_NEED_HANDLE(handle);
  CUMETAL_NEED(isUplo(uplo) && n >= 0 && sides >= 0 && lda >= larger(1, n) && ldb >= larger(1, n));
  potrsKernel<<<1, denseThreads, 0, handle->stream>>>(uplo == CUBLAS_FILL_MODE_UPPER, n, sides, const_cast<T *>(inner(a)), nullptr, lda, inner(b), nullptr,
                                                      ldb, info);
  return launched();
}
extern "C" cusolverStatus_t SOLVER(potrfBatched)(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, Outer *a[], int lda, int *info, int batches) {
  CUMETAL_NEED_HANDLE(handle);
  CUMETAL_NEED(isUplo(uplo) && n >= 0 && lda >= larger(1, n) && batches >= 0);
  if (batches == 0) return CUSOLVER_STATUS_SUCCESS;
  potrfKernel<<<batches, denseThreads, 0, handle->stream>>>(uplo == CUBLAS_FILL_MODE_UPPER, n, nullptr, reinterpret_cast<T *const *>(a), lda, info);
  return launched();
}
extern "C" cusolverStatus_t SOLVER(potrsBatched)(cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, int sides, Outer *a[], int lda, Outer *b[],
                                                 int ldb, int *info, int batches) {
  CUMETAL_NEED_HANDLE(handle);
  // As in cuSOLVER, a batch has one right side each.
  CUMETAL_NEED(isUplo(uplo) && n >= 0 && sides == 1 && lda >= larger(1, n) && ldb >= larger(1, n) && batches >= 0);
  if (batches == 0) return CUSOLVER_STATUS_SUCCESS;
  potrsKernel<<<batches, denseThreads, 0, handle->stream>>>(uplo == CUBLAS_FILL_MODE_UPPER, n, sides, nullptr, reinterpret_cast<T *const *>(a), lda,
                                                            nullptr, reinterpret_cast<T *const *>(b), ldb, nullptr);
  if (info) cudaMemsetAsync(info, 0, sizeof(int), handle->stream);
  return launched();
}

static __global__ void geqrfKernel(int m, int n, T *a, int lda, T *tau, int *info) {
  factorQR(m, n, a, lda, tau);
  if (threadIdx.x == 0 && info) *info = 0;
}
extern "C" cusolverStatus_t SOLVER(geqrf_bufferSize)(cusolverDnHandle_t handle, int m, int n, Outer *, int lda, int *words) {
  CUMETAL_NEED(m >= 0 && n >= 0 && lda >= larger(1, m));
  return sized(handle, 1, words);
}
extern "C" cusolverStatus_t SOLVER(geqrf)(cusolverDnHandle_t handle, int m, int n, Outer *a, int lda, Outer *tau, Outer *, int, int *info) {
  CUMETAL_NEED_HANDLE(handle);
  CUMETAL_NEED(m >= 0 && n >= 0 && lda >= larger(1, m));
  geqrfKernel<<<1, denseThreads, 0, handle->stream>>>(m, n, inner(a), lda, inner(tau), info);
  return launched();
}

/** A thread has a column of C, or a row of it from the right. */
static __global__ void ormqrKernel(bool isLeft, bool isAdjoint, int m, int n, int k, const T *a, int lda, const T *tau, T *c, int ldc, int *info) {
  const int i = blockIdx.x * denseThreads + threadIdx.x;
  if (i == 0 && info) *info = 0;
  if (i < (isLeft ? n : m)) reflect(isLeft, isAdjoint, isLeft ? m : n, k, a, lda, tau, isLeft ? c + (long long)i * ldc : c + i, isLeft ? 1 : ldc);
}
static cusolverStatus_t isReflection(cublasSideMode_t side, cublasOperation_t op, int m, int n, int k, int lda, int ldc) {
  const int order = side == CUBLAS_SIDE_LEFT ? m : n;
  CUMETAL_NEED((op == CUBLAS_OP_N || op == (CUMETAL_IS_COMPLEX ? CUBLAS_OP_C : CUBLAS_OP_T)) && m >= 0 && n >= 0 && k >= 0 && k <= order &&
               lda >= larger(1, order) && ldc >= larger(1, m));
  return CUSOLVER_STATUS_SUCCESS;
}
extern "C" cusolverStatus_t ORMQR_SIZE(cusolverDnHandle_t handle, cublasSideMode_t side, cublasOperation_t op, int m, int n, int k, const Outer *, int lda,
                                       const Outer *, const Outer *, int ldc, int *words) {
  const cusolverStatus_t status = isReflection(side, op, m, n, k, lda, ldc);
  return status == CUSOLVER_STATUS_SUCCESS ? sized(handle, 1, words) : status;
}
extern "C" cusolverStatus_t ORMQR(cusolverDnHandle_t handle, cublasSideMode_t side, cublasOperation_t op, int m, int n, int k, const Outer *a, int lda,
                                  const Outer *tau, Outer *c, int ldc, Outer *, int, int *info) {
  CUMETAL_NEED_HANDLE(handle);
  const cusolverStatus_t status = isReflection(side, op, m, n, k, lda, ldc);
  if (status != CUSOLVER_STATUS_SUCCESS) return status;
  const bool isLeft = side == CUBLAS_SIDE_LEFT;
  ormqrKernel<<<(isLeft ? n : m) / denseThreads + 1, denseThreads, 0, handle->stream>>>(isLeft, op != CUBLAS_OP_N, m, n, k, inner(a), lda, inner(tau),
                                                                                        inner(c), ldc, info);
  return launched();
}

/** Columns of Q: those of the identity, reflected. Reflections are read from a copy. */
static __global__ void orgqrKernel(int m, int n, int k, T *a, int lda, const T *tau, const T *copy, int *info) {
  const int c = blockIdx.x * denseThreads + threadIdx.x;
  if (c == 0 && info) *info = 0;
  if (c >= n) return;
  T *to = a + (long long)c * lda;
  for (int i = 0; i < m; i++) to[i] = T(i == c ? 1 : 0);
  reflect(true, false, m, k, copy, m, tau, to, 1);
}
extern "C" cusolverStatus_t ORGQR_SIZE(cusolverDnHandle_t handle, int m, int n, int k, const Outer *, int lda, const Outer *, int *words) {
  CUMETAL_NEED(m >= 0 && n >= 0 && n <= m && k >= 0 && k <= n && lda >= larger(1, m));
  return sized(handle, (long long)m * k, words);
}
extern "C" cusolverStatus_t ORGQR(cusolverDnHandle_t handle, int m, int n, int k, Outer *a, int lda, const Outer *tau, Outer *work, int words, int *info) {
  CUMETAL_NEED_HANDLE(handle);
  CUMETAL_NEED(m >= 0 && n >= 0 && n <= m && k >= 0 && k <= n && lda >= larger(1, m) && words >= (long long)m * k);
  if (k > 0) cudaMemcpy2DAsync(work, m * sizeof(T), a, lda * sizeof(T), m * sizeof(T), k, cudaMemcpyDeviceToDevice, handle->stream);
  orgqrKernel<<<n / denseThreads + 1, denseThreads, 0, handle->stream>>>(m, n, k, inner(a), lda, inner(tau), inner(work), info);
  return launched();
}

/** The pair of a round in which every two of `count` meet once; `count` is even. */
static __device__ void pairOf(int round, int i, int count, int *p, int *q) {
  const int turns = count - 1;
  const int a = i == 0 ? turns : (round + i) % turns, b = (round + turns - i) % turns;
  *p = a < b ? a : b;
  *q = a < b ? b : a;
}

/** The rotation that makes the off-diagonal element of [[x, z], [conj(z), y]] zero: cosine, and sine with the phase of z. */
static __device__ void rotation(Real x, Real y, T z, Real *c, T *s) {
  const Real size = modulus(z);
  if (size == 0) {
    *c = 1;
    *s = T(0);
    return;
  }
  const Real theta = (y - x) / (2 * size), t = (theta < 0 ? Real(-1) : Real(1)) / (modulus(theta) + root(theta * theta + 1));
  *c = 1 / root(t * t + 1);
  *s = z / T(size) * T(t * *c);
}

static const int mostSweeps = 60;
static __device__ Real epsilon() { return sizeof(Real) == 4 ? Real(1e-7) : Real(2e-16); }

/** Puts numbers into ascending order, or descending, with columns of two matrices. */
static __device__ void sortColumns(int n, Real *values, bool isDescending, int rows, T *a, long long lda, int moreRows, T *b, long long ldb) {
  for (int i = 0; i < n; i++) {
    int best = i;
    for (int j = i + 1; j < n; j++)
      if (isDescending ? values[j] > values[best] : values[j] < values[best]) best = j;
    __syncthreads();
    if (best != i) {
      if (threadIdx.x == 0) {
        const Real v = values[i];
        values[i] = values[best];
        values[best] = v;
      }
      for (int r = threadIdx.x; r < rows; r += denseThreads) {
        const T v = a[r + i * lda];
        a[r + i * lda] = a[r + best * lda];
        a[r + best * lda] = v;
      }
      for (int r = threadIdx.x; b && r < moreRows; r += denseThreads) {
        const T v = b[r + i * ldb];
        b[r + i * ldb] = b[r + best * ldb];
        b[r + best * ldb] = v;
      }
    }
    __syncthreads();
  }
}

/** Work: a copy of A with both halves, the vectors, and for each pair of a round a cosine and a sine. */
static __global__ void syevdKernel(bool isUpper, bool isVectors, int n, T *a, int lda, Real *values, T *work, int *info) {
  T *m = work, *v = work + (long long)n * n, *sines = v + (long long)n * n, *cosines = sines + n;
  __shared__ Real largest;
  __shared__ int isChanged;
  for (long long e = threadIdx.x; e < (long long)n * n; e += denseThreads) {
    const int r = int(e % n), c = int(e / n);
    const bool isStored = r == c || (r < c) == isUpper;
    const T x = isStored ? a[r + (long long)c * lda] : conj(a[c + (long long)r * lda]);
    m[e] = r == c ? T(realOf(x)) : x;
    v[e] = T(r == c ? 1 : 0);
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    largest = 0;
    for (long long e = 0; e < (long long)n * n; e++) largest = size1(m[e]) > largest ? size1(m[e]) : largest;
  }
  __syncthreads();
  const int count = n + n % 2;
  int sweep = 0;
  for (; sweep < mostSweeps; sweep++) {
    if (threadIdx.x == 0) isChanged = 0;
    for (int round = 0; round < count - 1; round++) {
      __syncthreads();
      for (int i = threadIdx.x; i < count / 2; i += denseThreads) {
        int p, q;
        pairOf(round, i, count, &p, &q);
        Real c = 1;
        T s = T(0);
        if (q < n) {
          const T z = m[p + (long long)q * n];
          if (size1(z) > epsilon() * epsilon() * largest) {
            const Real x = realOf(m[p + (long long)p * n]), y = realOf(m[q + (long long)q * n]);
            rotation(x, y, z, &c, &s);
            if (size1(z) > epsilon() * Real(0.01) * largest) isChanged = 1;
          }
        }
        cosines[i] = T(c);
        sines[i] = s;
      }
      __syncthreads();
      // Columns p and q of the matrix and of the vectors, then rows of the matrix.
      for (long long e = threadIdx.x; e < (long long)(count / 2) * n; e += denseThreads) {
        const int i = int(e / n), r = int(e % n);
        int p, q;
        pairOf(round, i, count, &p, &q);
        if (q >= n) continue;
        const T c = cosines[i], s = sines[i];
        for (T *each : {m, v}) {
          const T x = each[r + (long long)p * n], y = each[r + (long long)q * n];
          each[r + (long long)p * n] = c * x - conj(s) * y;
          each[r + (long long)q * n] = s * x + c * y;
        }
      }
      __syncthreads();
      for (long long e = threadIdx.x; e < (long long)(count / 2) * n; e += denseThreads) {
        const int i = int(e / n), r = int(e % n);
        int p, q;
        pairOf(round, i, count, &p, &q);
        if (q >= n) continue;
        const T c = cosines[i], s = sines[i], x = m[p + (long long)r * n], y = m[q + (long long)r * n];
        m[p + (long long)r * n] = c * x - s * y;
        m[q + (long long)r * n] = conj(s) * x + c * y;
      }
    }
    __syncthreads();
    if (!isChanged) break;
    __syncthreads();
  }
  for (int i = threadIdx.x; i < n; i += denseThreads) values[i] = realOf(m[i + (long long)i * n]);
  __syncthreads();
  sortColumns(n, values, false, n, v, n, 0, nullptr, 0);
  for (long long e = threadIdx.x; isVectors && e < (long long)n * n; e += denseThreads) a[e % n + (e / n) * lda] = v[e];
  if (threadIdx.x == 0 && info) *info = sweep < mostSweeps ? 0 : n;
}
extern "C" cusolverStatus_t SYEVD_SIZE(cusolverDnHandle_t handle, cusolverEigMode_t, cublasFillMode_t uplo, int n, const Outer *, int lda, const Real *,
                                       int *words) {
  CUMETAL_NEED(isUplo(uplo) && n >= 0 && lda >= larger(1, n));
  return sized(handle, 2ll * n * n + 2 * n, words);
}
extern "C" cusolverStatus_t SYEVD(cusolverDnHandle_t handle, cusolverEigMode_t mode, cublasFillMode_t uplo, int n, Outer *a, int lda, Real *values,
                                  Outer *work, int words, int *info) {
  CUMETAL_NEED_HANDLE(handle);
  CUMETAL_NEED(isUplo(uplo) && n >= 0 && lda >= larger(1, n) && words >= 2ll * n * n + 2 * n);
  syevdKernel<<<1, denseThreads, 0, handle->stream>>>(uplo == CUBLAS_FILL_MODE_UPPER, mode == CUSOLVER_EIG_MODE_VECTOR, n, inner(a), lda, values,
                                                      inner(work), info);
  return launched();
}

/**
 * Rotates pairs of columns of A until all are orthogonal: their lengths are the singular values, and the rotations together V. Columns of U
 * beyond those are found from unit vectors. Work: A, V.
 */
static __global__ void gesvdKernel(signed char jobU, signed char jobV, int m, int n, const T *a, int lda, Real *values, T *u, int ldu, T *vt, int ldvt,
                                   T *work, int *info) {
  T *w = work, *v = work + (long long)m * n;
  __shared__ int isChanged;
  for (long long e = threadIdx.x; e < (long long)m * n; e += denseThreads) w[e] = a[e % m + (e / m) * lda];
  for (long long e = threadIdx.x; e < (long long)n * n; e += denseThreads) v[e] = T(e % n == e / n ? 1 : 0);
  const int count = n + n % 2;
  int sweep = 0;
  for (; sweep < mostSweeps; sweep++) {
    __syncthreads();
    if (threadIdx.x == 0) isChanged = 0;
    for (int round = 0; round < count - 1; round++) {
      __syncthreads();
      for (int i = threadIdx.x; i < count / 2; i += denseThreads) {
        int p, q;
        pairOf(round, i, count, &p, &q);
        if (q >= n) continue;
        T *x = w + (long long)p * m, *y = w + (long long)q * m;
        Real xx = 0, yy = 0;
        T xy = T(0);
        for (int r = 0; r < m; r++) {
          xx += squared(x[r]);
          yy += squared(y[r]);
          xy += conj(x[r]) * y[r];
        }
        if (modulus(xy) <= epsilon() * root(xx) * root(yy)) continue;
        isChanged = 1;
        Real c;
        T s;
        rotation(xx, yy, xy, &c, &s);
        for (int r = 0; r < m; r++) {
          const T f = x[r], g = y[r];
          x[r] = T(c) * f - conj(s) * g;
          y[r] = s * f + T(c) * g;
        }
        x = v + (long long)p * n;
        y = v + (long long)q * n;
        for (int r = 0; r < n; r++) {
          const T f = x[r], g = y[r];
          x[r] = T(c) * f - conj(s) * g;
          y[r] = s * f + T(c) * g;
        }
      }
    }
    __syncthreads();
    if (!isChanged) break;
  }
  for (int c = threadIdx.x; c < n; c += denseThreads) {
    Real sum = 0, unit = 0;
    for (int r = 0; r < m; r++) unit = size1(w[r + (long long)c * m]) > unit ? size1(w[r + (long long)c * m]) : unit;
    for (int r = 0; r < m && unit > 0; r++) sum += squared(w[r + (long long)c * m] / T(unit));
    values[c] = unit * root(sum);
  }
  __syncthreads();
  sortColumns(n, values, true, m, w, m, n, v, n);
  if (jobV == 'A' || jobV == 'S')
    for (long long e = threadIdx.x; e < (long long)n * n; e += denseThreads) vt[e / n + (e % n) * ldvt] = conj(v[e]);
  const int columns = jobU == 'A' ? m : jobU == 'S' ? n : 0;
  int unitRow = 0;
  for (int c = 0; c < columns; c++) {
    T *to = u + (long long)c * ldu;
    __syncthreads();
    if (c < n && values[c] > epsilon() * values[0]) {
      for (int r = threadIdx.x; r < m; r += denseThreads) to[r] = w[r + (long long)c * m] / T(values[c]);
      continue;
    }
    // A unit vector without the columns before, twice for precision; one that vanishes is another one.
    if (threadIdx.x == 0) {
      for (; unitRow < m; unitRow++) {
        for (int r = 0; r < m; r++) to[r] = T(r == unitRow ? 1 : 0);
        for (int twice = 0; twice < 2; twice++)
          for (int k = 0; k < c; k++) {
            const T *other = u + (long long)k * ldu;
            T sum = T(0);
            for (int r = 0; r < m; r++) sum += conj(other[r]) * to[r];
            for (int r = 0; r < m; r++) to[r] -= sum * other[r];
          }
        Real length = 0;
        for (int r = 0; r < m; r++) length += squared(to[r]);
        length = root(length);
        if (length < Real(0.1) / m) continue;
        for (int r = 0; r < m; r++) to[r] = to[r] / T(length);
        unitRow++;
        break;
      }
    }
  }
  if (threadIdx.x == 0 && info) *info = sweep < mostSweeps ? 0 : n;
}
extern "C" cusolverStatus_t SOLVER(gesvd_bufferSize)(cusolverDnHandle_t handle, int m, int n, int *words) {
  CUMETAL_NEED(m >= n && n >= 0);
  return sized(handle, (long long)m * n + (long long)n * n, words);
}
extern "C" cusolverStatus_t SOLVER(gesvd)(cusolverDnHandle_t handle, signed char jobU, signed char jobV, int m, int n, Outer *a, int lda, Real *values,
                                          Outer *u, int ldu, Outer *vt, int ldvt, Outer *work, int words, Real *, int *info) {
  CUMETAL_NEED_HANDLE(handle);
  const auto isJob = [](signed char job) { return job == 'A' || job == 'S' || job == 'N'; };
  // As in cuSOLVER, A has as many rows as columns or more. Vectors in place of A are not made.
  CUMETAL_NEED(m >= n && n >= 0 && lda >= larger(1, m) && words >= (long long)m * n + (long long)n * n);
  if (!isJob(jobU) || !isJob(jobV)) return CUSOLVER_STATUS_NOT_SUPPORTED;
  gesvdKernel<<<1, denseThreads, 0, handle->stream>>>(jobU, jobV, m, n, inner(a), lda, values, inner(u), ldu, inner(vt), ldvt, inner(work), info);
  return launched();
}
