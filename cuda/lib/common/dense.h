/**
 * Factors of small dense matrices, each by one block: LU with pivots, Cholesky, QR, and what is solved with them. All threads of a block call
 * these functions. Matrices lie by columns. Source: G. Golub and C. Van Loan, "Matrix Computations"; LAPACK Users' Guide.
 */
#ifndef CUMETAL_LIB_DENSE_H
#define CUMETAL_LIB_DENSE_H

#include "number.h"

namespace cumetal {

static const int denseThreads = 128;

/** The row of the largest element below the diagonal of a column. */
template <class T>
static __device__ int pivotRow(const T *column, int from, int to) {
  __shared__ RealOf<T> sizes[denseThreads];
  __shared__ int rows[denseThreads];
  RealOf<T> best = -1;
  int row = from;
  for (int i = from + threadIdx.x; i < to; i += denseThreads) {
    // By their moduli, as cuBLAS and cuSOLVER compare them.
    const RealOf<T> size = modulus(column[i]);
    if (size > best) {
      best = size;
      row = i;
    }
  }
  sizes[threadIdx.x] = best;
  rows[threadIdx.x] = row;
  for (int half = denseThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x >= half) continue;
    const int other = threadIdx.x + half;
    if (sizes[other] > sizes[threadIdx.x] || (sizes[other] == sizes[threadIdx.x] && rows[other] < rows[threadIdx.x])) {
      sizes[threadIdx.x] = sizes[other];
      rows[threadIdx.x] = rows[other];
    }
  }
  __syncthreads();
  const int found = rows[0];
  __syncthreads();
  return found;
}

template <class T>
static __device__ void swapRows(T *a, long long lda, int columns, int row, int other) {
  if (row != other)
    for (int j = threadIdx.x; j < columns; j += denseThreads) {
      const T v = a[row + j * lda];
      a[row + j * lda] = a[other + j * lda];
      a[other + j * lda] = v;
    }
  __syncthreads();
}

/** L and U in place of A, and rows that were exchanged, from 1; without `pivots` none are. The first diagonal element of U that is 0 is `info`. */
template <class T>
static __device__ void factorLU(int m, int n, T *a, long long lda, int *pivots, int *info) {
  int zero = 0;
  const int steps = m < n ? m : n;
  for (int j = 0; j < steps; j++) {
    if (pivots) {
      const int row = pivotRow(a + j * lda, j, m);
      if (threadIdx.x == 0) pivots[j] = row + 1;
      swapRows(a, lda, n, j, row);
    }
    const T diagonal = a[j + j * lda];
    if (diagonal == T(0)) {
      if (zero == 0) zero = j + 1;
      continue;
    }
    for (int i = j + 1 + threadIdx.x; i < m; i += denseThreads) a[i + j * lda] = a[i + j * lda] / diagonal;
    __syncthreads();
    const int rows = m - j - 1;
    const long long count = (long long)rows * (n - j - 1);
    for (long long e = threadIdx.x; e < count; e += denseThreads) {
      const int i = j + 1 + int(e % rows), c = j + 1 + int(e / rows);
      a[i + c * lda] -= a[i + j * lda] * a[j + c * lda];
    }
    __syncthreads();
  }
  if (threadIdx.x == 0 && info) *info = zero;
  __syncthreads();
}

/** Solves op(triangle)·X = B in place. */
template <class T>
static __device__ void solveTriangle(bool isUpper, bool isTransposed, bool isConjugated, bool isUnit, int n, int sides, const T *a, long long lda, T *b,
                                     long long ldb) {
  const bool isBackward = isUpper != isTransposed;
  for (int j = 0; j < n; j++) {
    const int c = isBackward ? n - 1 - j : j;
    if (!isUnit) {
      const T d = isConjugated ? conj(a[c + c * lda]) : a[c + c * lda];
      for (int s = threadIdx.x; s < sides; s += denseThreads) b[c + s * ldb] = b[c + s * ldb] / d;
      __syncthreads();
    }
    const int rest = n - 1 - j;
    for (long long e = threadIdx.x; e < (long long)rest * sides; e += denseThreads) {
      const int r = isBackward ? c - 1 - int(e % rest) : c + 1 + int(e % rest), s = int(e / rest);
      const T v = isTransposed ? a[c + r * lda] : a[r + c * lda];
      b[r + s * ldb] -= (isConjugated ? conj(v) : v) * b[c + s * ldb];
    }
    __syncthreads();
  }
}

/** Solves op(A)·X = B in place, with the factors of A. */
template <class T>
static __device__ void solveLU(bool isTransposed, bool isConjugated, int n, int sides, const T *a, long long lda, const int *pivots, T *b, long long ldb) {
  if (!isTransposed) {
    for (int i = 0; i < n && pivots; i++) swapRows(b, ldb, sides, i, pivots[i] - 1);
    solveTriangle(false, false, false, true, n, sides, a, lda, b, ldb);
    solveTriangle(true, false, false, false, n, sides, a, lda, b, ldb);
  } else {
    solveTriangle(true, true, isConjugated, false, n, sides, a, lda, b, ldb);
    solveTriangle(false, true, isConjugated, true, n, sides, a, lda, b, ldb);
    for (int i = n - 1; i >= 0 && pivots; i--) swapRows(b, ldb, sides, i, pivots[i] - 1);
  }
}

/** The inverse, from the factors. */
template <class T>
static __device__ void invertLU(int n, const T *a, long long lda, const int *pivots, T *c, long long ldc) {
  for (int e = threadIdx.x; e < n * n; e += denseThreads) c[e % n + (e / n) * ldc] = T(e % n == e / n ? 1 : 0);
  __syncthreads();
  solveLU(false, false, n, n, a, lda, pivots, c, ldc);
}

/** L or U of a positive definite matrix in place of its triangle; `info` is the order of the first minor that is not positive. */
template <class T>
static __device__ void factorCholesky(bool isUpper, int n, T *a, long long lda, int *info) {
  typedef RealOf<T> R;
  const long long down = isUpper ? lda : 1, right = isUpper ? 1 : lda;
  // In steps of the lower triangle: element (i, j) is at i · down + j · right. The upper one has the conjugates.
  for (int j = 0; j < n; j++) {
    const R d = realOf(a[j * (down + right)]);
    if (!(d > 0)) {
      if (threadIdx.x == 0) *info = j + 1;
      return;
    }
    __syncthreads();
    const R diagonal = root(d);
    if (threadIdx.x == 0) a[j * (down + right)] = T(diagonal);
    for (int i = j + 1 + threadIdx.x; i < n; i += denseThreads) a[i * down + j * right] = a[i * down + j * right] / T(diagonal);
    __syncthreads();
    const int rest = n - j - 1;
    for (long long e = threadIdx.x; e < (long long)rest * rest; e += denseThreads) {
      const int i = j + 1 + int(e % rest), c = j + 1 + int(e / rest);
      if (i < c) continue;
      const T x = a[i * down + j * right], y = a[c * down + j * right];
      a[i * down + c * right] -= x * conj(y);
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) *info = 0;
}

/** Reflections whose product is Q below R in place of A. Source: LAPACK, xLARFG and xGEQR2. */
template <class T>
static __device__ void factorQR(int m, int n, T *a, long long lda, T *tau) {
  typedef RealOf<T> R;
  __shared__ T scale, factor;
  const int steps = m < n ? m : n;
  for (int j = 0; j < steps; j++) {
    if (threadIdx.x == 0) {
      const T alpha = a[j + j * lda];
      R largest = 0, sum = 0;
      for (int i = j + 1; i < m; i++) {
        const R size = size1(a[i + j * lda]);
        largest = size > largest ? size : largest;
      }
      const R own = size1(alpha), unit = largest > own ? largest : own;
      if (largest == 0 && imagOf(alpha) == 0) {
        factor = T(0);
        scale = T(0);
      } else {
        for (int i = j; i < m; i++) sum += squared(a[i + j * lda] / T(unit));
        const R norm = unit * root(sum), beta = realOf(alpha) < 0 ? norm : -norm;
        factor = (T(beta) - alpha) / T(beta);
        scale = T(1) / (alpha - T(beta));
        a[j + j * lda] = T(beta);
      }
      tau[j] = factor;
    }
    __syncthreads();
    if (factor != T(0)) {
      for (int i = j + 1 + threadIdx.x; i < m; i += denseThreads) a[i + j * lda] = a[i + j * lda] * scale;
      __syncthreads();
      for (int c = j + 1 + threadIdx.x; c < n; c += denseThreads) {
        T sum = a[j + c * lda];
        for (int i = j + 1; i < m; i++) sum += conj(a[i + j * lda]) * a[i + c * lda];
        sum = conj(factor) * sum;
        a[j + c * lda] -= sum;
        for (int i = j + 1; i < m; i++) a[i + c * lda] -= a[i + j * lda] * sum;
      }
    }
    __syncthreads();
  }
}

/** Multiplies a vector of m elements in steps by the reflections of Q, in the order that op(Q)·x has, or x·op(Q). */
template <class T>
static __device__ void reflect(bool isLeft, bool isAdjoint, int m, int k, const T *a, long long lda, const T *tau, T *x, long long step) {
  const bool isForward = isLeft == isAdjoint;
  for (int q = 0; q < k; q++) {
    const int j = isForward ? q : k - 1 - q;
    const T factor = isAdjoint ? conj(tau[j]) : tau[j];
    T sum = x[j * step];
    for (int i = j + 1; i < m; i++) sum += (isLeft ? conj(a[i + j * lda]) : a[i + j * lda]) * x[i * step];
    sum = factor * sum;
    x[j * step] -= sum;
    for (int i = j + 1; i < m; i++) x[i * step] -= (isLeft ? a[i + j * lda] : conj(a[i + j * lda])) * sum;
  }
}

}  // namespace cumetal

#endif
