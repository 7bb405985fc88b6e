// LAPACK functions for batches of small matrices, a block for each. Source: cuBLAS Library, "cublas<t>getrfBatched" and the sections behind it.
#include "../common/dense.h"
#include "../common/types.h"
#include "context.h"

using namespace cumetal;

#define CUBLAS(name) CUMETAL_JOIN(cublas, CUMETAL_LETTER, name)

static T *const *listOf(Outer *const *list) { return reinterpret_cast<T *const *>(list); }
static const T *const *listOf(const Outer *const *list) { return reinterpret_cast<const T *const *>(list); }
static int larger(int a, int b) { return a > b ? a : b; }

static __global__ void getrfKernel(int n, T *const *a, int lda, int *pivots, int *info) {
  factorLU(n, n, a[blockIdx.x], lda, pivots ? pivots + blockIdx.x * (long long)n : nullptr, info + blockIdx.x);
}
extern "C" cublasStatus_t CUBLAS(getrfBatched)(cublasHandle_t handle, int n, Outer *const a[], int lda, int *pivots, int *info, int batches) {
  CUMETAL_NEED_HANDLE(handle);
  CUMETAL_NEED(n >= 0 && lda >= larger(1, n) && batches >= 0);
  if (n == 0 || batches == 0) return CUBLAS_STATUS_SUCCESS;
  getrfKernel<<<batches, denseThreads, 0, handle->stream>>>(n, listOf(a), lda, pivots, info);
  return launched();
}

static __global__ void getrsKernel(bool isTransposed, bool isConjugated, int n, int sides, const T *const *a, int lda, const int *pivots, T *const *b,
                                   int ldb) {
  solveLU(isTransposed, isConjugated, n, sides, a[blockIdx.x], lda, pivots ? pivots + blockIdx.x * (long long)n : nullptr, b[blockIdx.x], ldb);
}
extern "C" cublasStatus_t CUBLAS(getrsBatched)(cublasHandle_t handle, cublasOperation_t op, int n, int sides, const Outer *const a[], int lda,
                                               const int *pivots, Outer *const b[], int ldb, int *info, int batches) {
  CUMETAL_NEED_HANDLE(handle);
  CUMETAL_NEED(info);
  *info = op < CUBLAS_OP_N || op > CUBLAS_OP_C ? -1 : n < 0 ? -2 : sides < 0 ? -3 : lda < larger(1, n) ? -5 : ldb < larger(1, n) ? -8 : batches < 0 ? -10 : 0;
  CUMETAL_NEED(*info == 0);
  if (n == 0 || sides == 0 || batches == 0) return CUBLAS_STATUS_SUCCESS;
  getrsKernel<<<batches, denseThreads, 0, handle->stream>>>(op != CUBLAS_OP_N, op == CUBLAS_OP_C, n, sides, listOf(a), lda, pivots, listOf(b), ldb);
  return launched();
}

static __global__ void getriKernel(int n, const T *const *a, int lda, const int *pivots, T *const *c, int ldc, int *info) {
  __shared__ int zero;
  if (threadIdx.x == 0) {
    zero = 0;
    for (int i = n - 1; i >= 0; i--)
      if (a[blockIdx.x][i + (long long)i * lda] == T(0)) zero = i + 1;
    info[blockIdx.x] = zero;
  }
  __syncthreads();
  if (zero == 0) invertLU(n, a[blockIdx.x], lda, pivots ? pivots + blockIdx.x * (long long)n : nullptr, c[blockIdx.x], ldc);
}
extern "C" cublasStatus_t CUBLAS(getriBatched)(cublasHandle_t handle, int n, const Outer *const a[], int lda, const int *pivots, Outer *const c[],
                                               int ldc, int *info, int batches) {
  CUMETAL_NEED_HANDLE(handle);
  CUMETAL_NEED(n >= 0 && lda >= larger(1, n) && ldc >= larger(1, n) && batches >= 0);
  if (n == 0 || batches == 0) return CUBLAS_STATUS_SUCCESS;
  getriKernel<<<batches, denseThreads, 0, handle->stream>>>(n, listOf(a), lda, pivots, listOf(c), ldc, info);
  return launched();
}

static const int mostInverted = 32;
static __global__ void matinvKernel(int n, const T *const *a, int lda, T *const *c, int ldc, int *info) {
  __shared__ T copy[mostInverted * mostInverted];
  __shared__ int pivots[mostInverted];
  for (int e = threadIdx.x; e < n * n; e += denseThreads) copy[e] = a[blockIdx.x][e % n + (long long)(e / n) * lda];
  __syncthreads();
  factorLU(n, n, copy, n, pivots, info + blockIdx.x);
  if (info[blockIdx.x] == 0) invertLU(n, copy, n, pivots, c[blockIdx.x], ldc);
}
extern "C" cublasStatus_t CUBLAS(matinvBatched)(cublasHandle_t handle, int n, const Outer *const a[], int lda, Outer *const c[], int ldc, int *info,
                                                int batches) {
  CUMETAL_NEED_HANDLE(handle);
  CUMETAL_NEED(n >= 0 && n <= mostInverted && lda >= larger(1, n) && ldc >= larger(1, n) && batches >= 0);
  if (n == 0 || batches == 0) return CUBLAS_STATUS_SUCCESS;
  matinvKernel<<<batches, denseThreads, 0, handle->stream>>>(n, listOf(a), lda, listOf(c), ldc, info);
  return launched();
}

static __global__ void geqrfKernel(int m, int n, T *const *a, int lda, T *const *tau) { factorQR(m, n, a[blockIdx.x], lda, tau[blockIdx.x]); }
extern "C" cublasStatus_t CUBLAS(geqrfBatched)(cublasHandle_t handle, int m, int n, Outer *const a[], int lda, Outer *const tau[], int *info,
                                               int batches) {
  CUMETAL_NEED_HANDLE(handle);
  CUMETAL_NEED(info);
  *info = m < 0 ? -1 : n < 0 ? -2 : lda < larger(1, m) ? -4 : batches < 0 ? -7 : 0;
  CUMETAL_NEED(*info == 0);
  if (m == 0 || n == 0 || batches == 0) return CUBLAS_STATUS_SUCCESS;
  geqrfKernel<<<batches, denseThreads, 0, handle->stream>>>(m, n, listOf(a), lda, listOf(tau));
  return launched();
}

/** Least squares by QR: a block has a matrix and its right sides. */
static __global__ void gelsKernel(int m, int n, int sides, T *const *a, int lda, T *const *c, int ldc, T *tau, int *info) {
  T *own = a[blockIdx.x], *to = c[blockIdx.x], *factors = tau + blockIdx.x * (long long)n;
  __shared__ int zero;
  factorQR(m, n, own, lda, factors);
  if (threadIdx.x == 0) {
    zero = 0;
    for (int i = n - 1; i >= 0; i--)
      if (own[i + (long long)i * lda] == T(0)) zero = i + 1;
    if (info) info[blockIdx.x] = zero;
  }
  __syncthreads();
  if (zero != 0) return;
  for (int s = threadIdx.x; s < sides; s += denseThreads) reflect(true, true, m, n, own, lda, factors, to + s * (long long)ldc, 1);
  __syncthreads();
  solveTriangle(true, false, false, false, n, sides, own, lda, to, ldc);
}
extern "C" cublasStatus_t CUBLAS(gelsBatched)(cublasHandle_t handle, cublasOperation_t op, int m, int n, int sides, Outer *const a[], int lda,
                                              Outer *const c[], int ldc, int *info, int *deviceInfo, int batches) {
  CUMETAL_NEED_HANDLE(handle);
  CUMETAL_NEED(info);
  *info = m < 0 ? -2 : n < 0 ? -3 : sides < 0 ? -4 : lda < larger(1, m) ? -6 : ldc < larger(1, m) ? -8 : batches < 0 ? -11 : 0;
  CUMETAL_NEED(*info == 0);
  // As in cuBLAS, A has as many rows as columns or more, and is not transposed.
  if (op != CUBLAS_OP_N || m < n) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (n == 0 || batches == 0) return CUBLAS_STATUS_SUCCESS;
  T *tau = nullptr;
  if (cudaMallocAsync(reinterpret_cast<void **>(&tau), sizeof(T) * n * size_t(batches), handle->stream) != cudaSuccess) return CUBLAS_STATUS_ALLOC_FAILED;
  gelsKernel<<<batches, denseThreads, 0, handle->stream>>>(m, n, sides, listOf(a), lda, listOf(c), ldc, tau, deviceInfo);
  cudaFreeAsync(tau, handle->stream);
  return launched();
}
