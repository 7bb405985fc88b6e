/**
 * The product of two matrices, C = alpha·A·B + beta·C, which all of level 3 is: a matrix is what it is stored as (transposed by its steps,
 * symmetric, triangular, conjugated), and C may be a triangle. A block has 32 columns and rows of C, and a thread four elements, which the
 * lanes of a processor compute faster than larger parts.
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

static const int tileSide = 32;

/** Blocks for a batch of matrices. */
static inline dim3 tiles(int m, int n, int batches) {
  return dim3((m + tileSide - 1) / tileSide, (n + tileSide - 1) / tileSide, batches > 65535 ? 65535 : batches);
}

/** `Acc` is the type of sums and products, `S` that of alpha and beta. Lists are of matrices, where there is no step between them. */
template <class Acc, class S, class In, class Out>
static __global__ void __launch_bounds__(threads)
    gemmKernel(Sizes3 sizes, S alphaValue, const S *alphaPointer, const In *a, const In *const *aList, View av, const In *b,
               const In *const *bList, View bv, S betaValue, const S *betaPointer, Out *c, Out *const *cList, long long ldc, long long cStep) {
  constexpr int side = tileSide, depth = sizeof(Acc) > 8 ? 16 : 32;
  __shared__ Acc as[depth][side], bs[depth][side];
  const int t = threadIdx.x, tx = t % 16, ty = t / 16;
  const int row0 = blockIdx.x * side, column0 = blockIdx.y * side;
  if (sizes.part == lowerPart && row0 + side <= column0) return;
  if (sizes.part == upperPart && column0 + side <= row0) return;
  const S alpha = alphaPointer ? *alphaPointer : alphaValue, beta = betaPointer ? *betaPointer : betaValue;
  const Acc factor = Convert<Acc>::from(alpha), old = Convert<Acc>::from(beta);
  // Nothing is read of A and B, nor of C, where the factor is zero.
  const int k = factor == Acc(0) ? 0 : sizes.k;
  for (int batch = blockIdx.z; batch < sizes.batches; batch += gridDim.z) {
    const In *pa = aList ? aList[batch] : a + batch * av.batchStep;
    const In *pb = bList ? bList[batch] : b + batch * bv.batchStep;
    Out *pc = cList ? cList[batch] : c + batch * cStep;
    Acc s00 = Acc(0), s01 = Acc(0), s10 = Acc(0), s11 = Acc(0);
    for (int k0 = 0; k0 < k; k0 += depth) {
      for (int i = t; i < side * depth; i += threads) {
        const int r = i % side, q = i / side;
        as[q][r] = row0 + r < sizes.m && k0 + q < k ? element<Acc>(pa, av, row0 + r, k0 + q) : Acc(0);
      }
      for (int i = t; i < side * depth; i += threads) {
        const int q = i % depth, r = i / depth;
        bs[q][r] = column0 + r < sizes.n && k0 + q < k ? element<Acc>(pb, bv, k0 + q, column0 + r) : Acc(0);
      }
      __syncthreads();
#pragma unroll
      for (int q = 0; q < depth; q++) {
        const Acc x0 = as[q][tx], x1 = as[q][tx + 16], y0 = bs[q][ty * 2], y1 = bs[q][ty * 2 + 1];
        s00 += x0 * y0;
        s01 += x0 * y1;
        s10 += x1 * y0;
        s11 += x1 * y1;
      }
      __syncthreads();
    }
    const Acc sums[4] = {s00, s01, s10, s11};
#pragma unroll
    for (int i = 0; i < 4; i++) {
      const int row = row0 + tx + (i / 2) * 16, column = column0 + ty * 2 + i % 2;
      if (row >= sizes.m || column >= sizes.n) continue;
      if (sizes.part == lowerPart ? row < column : sizes.part == upperPart && row > column) continue;
      Out *to = pc + row + column * ldc;
      Acc value = factor * sums[i];
      if (old != Acc(0)) value = value + old * Convert<Acc>::from(*to);
      if (sizes.isReal && row == column) value = Acc(realOf(value));
      *to = Convert<Out>::from(value);
    }
  }
}

/** Matrices of a batch: one behind the other, or a list. */
template <class E>
struct Matrices {
  E *first;
  E *const *list;
};

template <class Acc, class S, class In, class Out>
static cublasStatus_t multiply(cublasHandle_t handle, Sizes3 sizes, Scalar<S> alpha, Matrices<const In> a, View av, Matrices<const In> b, View bv,
                               Scalar<S> beta, Matrices<Out> c, long long ldc, long long cStep) {
  if (sizes.m == 0 || sizes.n == 0 || sizes.batches == 0) return CUBLAS_STATUS_SUCCESS;
  gemmKernel<Acc, S, In, Out><<<tiles(sizes.m, sizes.n, sizes.batches), threads, 0, handle->stream>>>(
      sizes, alpha.value, alpha.pointer, a.first, a.list, av, b.first, b.list, bv, beta.value, beta.pointer, c.first, c.list, ldc, cStep);
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
