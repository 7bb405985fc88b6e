/** Matrices and factors of calls as kernels take them. */
#ifndef CUMETAL_CUBLASLT_OPERANDS_H
#define CUMETAL_CUBLASLT_OPERANDS_H

#include <cstring>

#include "product.h"

namespace cumetal {

static inline bool isOperation(int op) { return op == CUBLAS_OP_N || op == CUBLAS_OP_T || op == CUBLAS_OP_C; }

struct Matrix {
  const Layout *layout;
  /** Of the matrix as the product has it. */
  long long rows, columns;
  Operand operand;
};

/** A matrix by its operation; false if its sizes contradict each other. */
static inline bool fill(Matrix &to, cublasLtMatrixLayout_t from, const void *first, int op) {
  const Layout &layout = *(to.layout = &layoutOf(from));
  const bool isRow = layout.order == CUBLASLT_ORDER_ROW, isPlain = op == CUBLAS_OP_N;
  const uint64_t most = 0x7fffffff;
  if (layout.rows > most || layout.cols > most || layout.ld < int64_t(isRow ? layout.cols : layout.rows) || layout.batchCount < 0) return false;
  to.rows = isPlain ? layout.rows : layout.cols;
  to.columns = isPlain ? layout.cols : layout.rows;
  const bool isDown = isRow != isPlain;
  to.operand = {const_cast<void *>(first), isDown ? 1 : layout.ld, isDown ? layout.ld : 1, layout.batchOffset, int(layout.type), op == CUBLAS_OP_C};
  return true;
}

/** Matrices with order by columns or rows, and without planes. */
static inline bool isPlainLayout(const Layout &layout) {
  return (layout.order == CUBLASLT_ORDER_COL || layout.order == CUBLASLT_ORDER_ROW) && layout.planeOffset == 0;
}

static inline size_t sizeOf(int type) { return type == CUDA_C_64F ? 16 : type == CUDA_R_64F || type == CUDA_C_32F ? 8 : type == CUDA_R_16F ? 2 : 4; }

static inline bool isZero(const Factor &factor, int type) {
  if (factor.pointer) return false;
  const char *v = factor.value;
  switch (type) {
    case CUDA_R_16F:
      return (reinterpret_cast<const uint16_t *>(v)[0] & 0x7fff) == 0;
    case CUDA_R_32F:
      return *reinterpret_cast<const float *>(v) == 0;
    case CUDA_R_64F:
      return *reinterpret_cast<const double *>(v) == 0;
    case CUDA_C_32F:
      return reinterpret_cast<const float *>(v)[0] == 0 && reinterpret_cast<const float *>(v)[1] == 0;
    case CUDA_C_64F:
      return reinterpret_cast<const double *>(v)[0] == 0 && reinterpret_cast<const double *>(v)[1] == 0;
  }
  return *reinterpret_cast<const int *>(v) == 0;
}

static inline Factor ofHost(const void *value, int type) {
  Factor factor = {};
  if (value) memcpy(factor.value, value, sizeOf(type));
  return factor;
}

}  // namespace cumetal

#endif
