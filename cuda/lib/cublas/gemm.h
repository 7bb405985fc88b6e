/**
 * The product of two matrices, C = alpha·A·B + beta·C, which all of level 3 is: a matrix is what it is stored as (transposed by its steps,
 * symmetric, triangular, conjugated), and C may be a triangle. A thread has a part of a row of C: the lanes of a processor load elements of a
 * column of A at once, and share those of B, which are in shared memory, where they are close to each other.
 */
#ifndef CUMETAL_CUBLAS_GEMM_H
#define CUMETAL_CUBLAS_GEMM_H

#include "context.h"

namespace cumetal {

enum Shape { general, symmetric, hermitian, triangular };

/** How an element (row, column) of an operand is found, beside the pointer. */
struct View {
  long long rowStep, columnStep;
  /** Elements between the matrices of a batch. */
  long long batchStep;
  Shape shape;
  /** Of the triangle that is stored, in the frame of the operand. */
  bool isUpper;
  bool isUnit;
  bool isConjugated;
};

/** An operand by its operation. */
static inline View viewOf(cublasOperation_t op, long long ld, long long batchStep = 0) {
  const bool isPlain = op == CUBLAS_OP_N || op == CUBLAS_OP_CONJG;
  return {isPlain ? 1 : ld, isPlain ? ld : 1, batchStep, general, false, false, op == CUBLAS_OP_C || op == CUBLAS_OP_CONJG};
}

static inline View triangularView(cublasOperation_t op, cublasFillMode_t uplo, cublasDiagType_t diag, long long ld) {
  View view = viewOf(op, ld);
  view.shape = triangular;
  view.isUpper = (uplo == CUBLAS_FILL_MODE_UPPER) == (op == CUBLAS_OP_N || op == CUBLAS_OP_CONJG);
  view.isUnit = diag == CUBLAS_DIAG_UNIT;
  return view;
}

static inline View symmetricView(cublasFillMode_t uplo, long long ld, bool isHermitian) {
  View view = viewOf(CUBLAS_OP_N, ld);
  view.shape = isHermitian ? hermitian : symmetric;
  view.isUpper = uplo == CUBLAS_FILL_MODE_UPPER;
  return view;
}

/** An element of an operand. */
template <class V, class In>
static __device__ __forceinline__ V element(const In *p, const View &view, long long row, long long column) {
  if (view.shape == general) {
    const V a = Convert<V>::from(p[row * view.rowStep + column * view.columnStep]);
    return view.isConjugated ? conj(a) : a;
  }
  const bool isStored = row == column || (row < column) == view.isUpper;
  if (view.shape == triangular) {
    if (!isStored) return V(0);
    if (row == column && view.isUnit) return V(1);
  }
  const V a = Convert<V>::from(isStored ? p[row * view.rowStep + column * view.columnStep] : p[column * view.rowStep + row * view.columnStep]);
  if (view.shape == hermitian && row == column) return V(realOf(a));
  return view.isConjugated != (view.shape == hermitian && !isStored) ? conj(a) : a;
}

/** Which elements of C are written. */
enum Part { whole, lowerPart, upperPart };

struct Sizes3 {
  int m, n, k;
  int batches;
  Part part;
  /** Whether the diagonal of C is real. */
  bool isReal;
};

/** Rows of C of a block, which are its threads, and columns. */
static const int blockRows = 64;
template <class Acc>
constexpr int blockColumns = sizeof(Acc) <= 4 ? 16 : sizeof(Acc) <= 8 ? 8 : 4;

/** sum + a·b, with a rounding of each: processors without a fused operation are several times as fast. */
template <class T>
static __device__ __forceinline__ void accumulate(T &sum, T a, T b) { sum += a * b; }
static __device__ __forceinline__ void accumulate(float &sum, float a, float b) { sum = __fadd_rn(sum, __fmul_rn(a, b)); }
static __device__ __forceinline__ void accumulate(double &sum, double a, double b) { sum = __dadd_rn(sum, __dmul_rn(a, b)); }
template <class R>
static __device__ __forceinline__ void accumulate(Complex<R> &sum, Complex<R> a, Complex<R> b) {
  accumulate(sum.re, a.re, b.re);
  accumulate(sum.re, -a.im, b.im);
  accumulate(sum.im, a.re, b.im);
  accumulate(sum.im, a.im, b.re);
}

/** Rows of B that a block has in shared memory. */
static const int blockDepth = 64;

/** How rows of A are read. */
enum RowKind { adjacentRows, steppedRows, shapedRows };

/** Adds the products of a row of A and of columns of B, for `count` columns of A from `k0` on. */
template <RowKind kind, class Acc, class In>
static __device__ __forceinline__ void addProducts(Acc (&sums)[blockColumns<Acc>], const In *a, const View &av, const Acc (*bs)[blockColumns<Acc>],
                                                   int row, int k0, int count) {
  for (int q = 0; q < count; q++) {
    const long long at = (kind == adjacentRows ? row : row * av.rowStep) + (k0 + q) * av.columnStep;
    const Acc x = kind == shapedRows ? element<Acc>(a, av, row, k0 + q) : Convert<Acc>::from(a[at]);
#pragma unroll
    for (int j = 0; j < blockColumns<Acc>; j++) accumulate(sums[j], x, bs[q][j]);
  }
}

/** Where C is written: steps between its rows and columns. */
struct Place {
  long long rowStep, columnStep, batchStep;
};

/** `Acc` is the type of sums and products, `S` that of alpha and beta. Lists are of matrices, where there is no step between them. */
template <class Acc, class S, class In, class Out>
static __global__ void __launch_bounds__(blockRows)
    gemmKernel(Sizes3 sizes, S alphaValue, const S *alphaPointer, const In *a, const In *const *aList, View av, const In *b,
               const In *const *bList, View bv, S betaValue, const S *betaPointer, Out *c, Out *const *cList, Place place) {
  constexpr int columns = blockColumns<Acc>;
  const int row0 = blockIdx.x * blockRows, row = row0 + threadIdx.x;
  const int parts = (sizes.n + columns - 1) / columns;
  const S alpha = alphaPointer ? *alphaPointer : alphaValue, beta = betaPointer ? *betaPointer : betaValue;
  const Acc factor = Convert<Acc>::from(alpha), old = Convert<Acc>::from(beta);
  // Nothing is read of A and B, nor of C, where the factor is zero.
  const int k = factor == Acc(0) ? 0 : sizes.k;
  // Lanes load rows at once where they are known to be adjacent, which those of the last block are not.
  const bool isFull = row0 + blockRows <= sizes.m;
  const RowKind kind = av.shape != general || av.isConjugated ? shapedRows : av.rowStep == 1 && isFull ? adjacentRows : steppedRows;
  __shared__ Acc bs[blockDepth][columns];
  // Threads behind the last row compute it too, as lanes of a group.
  const int from = row < sizes.m ? row : sizes.m - 1;
  for (int batch = blockIdx.z; batch < sizes.batches; batch += gridDim.z) {
    const In *pa = aList ? aList[batch] : a + batch * av.batchStep;
    const In *pb = bList ? bList[batch] : b + batch * bv.batchStep;
    Out *pc = cList ? cList[batch] : c + batch * place.batchStep;
    for (int part = blockIdx.y; part < parts; part += gridDim.y) {
      const int column0 = part * columns;
      if (sizes.part == lowerPart && row0 + blockRows <= column0) continue;
      if (sizes.part == upperPart && column0 + columns <= row0) continue;
      Acc sums[columns];
#pragma unroll
      for (int j = 0; j < columns; j++) sums[j] = Acc(0);
      for (int k0 = 0; k0 < k; k0 += blockDepth) {
        const int count = k - k0 < blockDepth ? k - k0 : blockDepth;
        __syncthreads();
        // Columns behind the last one repeat it.
        for (int i = threadIdx.x; i < blockDepth * columns; i += blockRows) {
          const int q = i / columns, column = column0 + i % columns;
          if (q < count) bs[q][i % columns] = element<Acc>(pb, bv, k0 + q, column < sizes.n ? column : sizes.n - 1);
        }
        __syncthreads();
        if (kind == adjacentRows) addProducts<adjacentRows>(sums, pa, av, bs, row, k0, count);
        else if (kind == steppedRows) addProducts<steppedRows>(sums, pa, av, bs, from, k0, count);
        else addProducts<shapedRows>(sums, pa, av, bs, from, k0, count);
      }
#pragma unroll
      for (int j = 0; j < columns; j++) {
        const int column = column0 + j;
        if (row >= sizes.m || column >= sizes.n) continue;
        if (sizes.part == lowerPart ? row < column : sizes.part == upperPart && row > column) continue;
        Out *to = pc + row * place.rowStep + column * place.columnStep;
        Acc value = factor * sums[j];
        if (old != Acc(0)) value = value + old * Convert<Acc>::from(*to);
        if (sizes.isReal && row == column) value = Acc(realOf(value));
        *to = Convert<Out>::from(value);
      }
    }
  }
}

/** Matrices of a batch: one behind the other, or a list. */
template <class E>
struct Matrices {
  E *first;
  E *const *list;
};

static inline View transposed(View view) {
  const long long rowStep = view.rowStep;
  view.rowStep = view.columnStep;
  view.columnStep = rowStep;
  return view;
}

template <class Acc, class S, class In, class Out>
static cublasStatus_t multiply(cublasHandle_t handle, Sizes3 sizes, Scalar<S> alpha, Matrices<const In> a, View av, Matrices<const In> b, View bv,
                               Scalar<S> beta, Matrices<Out> c, long long ldc, long long cStep) {
  if (sizes.m == 0 || sizes.n == 0 || sizes.batches == 0) return CUBLAS_STATUS_SUCCESS;
  Place place = {1, ldc, cStep};
  // Rows are lanes: a product with few of them is that of the transposed matrices.
  const bool isSwapped = sizes.m < blockRows / 2 && sizes.n > sizes.m && av.shape == general && bv.shape == general && sizes.part == whole;
  if (isSwapped) {
    sizes = Sizes3{sizes.n, sizes.m, sizes.k, sizes.batches, whole, sizes.isReal};
    place = {ldc, 1, cStep};
    const Matrices<const In> rows = a;
    a = b;
    b = rows;
    const View rowView = av;
    av = transposed(bv);
    bv = transposed(rowView);
  }
  const int columns = blockColumns<Acc>;
  const int parts = (sizes.n + columns - 1) / columns, most = 65535;
  const dim3 grid((sizes.m + blockRows - 1) / blockRows, parts < most ? parts : most, sizes.batches < most ? sizes.batches : most);
  gemmKernel<Acc, S, In, Out><<<grid, blockRows, 0, handle->stream>>>(sizes, alpha.value, alpha.pointer, a.first, a.list, av, b.first, b.list, bv,
                                                                       beta.value, beta.pointer, c.first, c.list, place);
  return launched();
}

static inline bool isOperation(cublasOperation_t op) { return op >= CUBLAS_OP_N && op <= CUBLAS_OP_CONJG; }
static inline bool isPlain(cublasOperation_t op) { return op == CUBLAS_OP_N || op == CUBLAS_OP_CONJG; }
static inline bool isUplo(cublasFillMode_t uplo) { return uplo == CUBLAS_FILL_MODE_LOWER || uplo == CUBLAS_FILL_MODE_UPPER; }
static inline bool isSide(cublasSideMode_t side) { return side == CUBLAS_SIDE_LEFT || side == CUBLAS_SIDE_RIGHT; }
static inline bool isDiag(cublasDiagType_t diag) { return diag == CUBLAS_DIAG_NON_UNIT || diag == CUBLAS_DIAG_UNIT; }
static inline int most(int a, int b) { return a > b ? a : b; }

/** Whether the sizes of a product are right. */
static inline bool isProduct(cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k, int lda, int ldb, int ldc, int batches) {
  return isOperation(transa) && isOperation(transb) && m >= 0 && n >= 0 && k >= 0 && batches >= 0 && lda >= most(1, isPlain(transa) ? m : k) &&
         ldb >= most(1, isPlain(transb) ? k : n) && ldc >= most(1, m);
}

/** A product of general matrices, in every form of the interface. */
template <class Acc, class S, class In, class Out>
static cublasStatus_t gemm(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k, const void *alpha,
                           Matrices<const In> a, int lda, long long strideA, Matrices<const In> b, int ldb, long long strideB, const void *beta,
                           Matrices<Out> c, int ldc, long long strideC, int batches) {
  CUMETAL_NEED_HANDLE(handle);
  CUMETAL_NEED(isProduct(transa, transb, m, n, k, lda, ldb, ldc, batches) && alpha && beta);
  return multiply<Acc, S>(handle, Sizes3{m, n, k, batches, whole, false}, scalarOf<S>(handle, alpha), a, viewOf(transa, lda, strideA), b,
                          viewOf(transb, ldb, strideB), scalarOf<S>(handle, beta), c, ldc, strideC);
}

}  // namespace cumetal

#endif
