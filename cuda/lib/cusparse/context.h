/** What handles and descriptors of cuSPARSE are, and what its functions share. */
#ifndef CUMETAL_CUSPARSE_CONTEXT_H
#define CUMETAL_CUSPARSE_CONTEXT_H

#include <cusparse.h>

#include "../common/number.h"

struct cusparseContext {
  cudaStream_t stream;
  cusparsePointerMode_t pointerMode;
};
struct cusparseMatDescr {
  cusparseMatrixType_t type;
  cusparseFillMode_t fill;
  cusparseDiagType_t diag;
  cusparseIndexBase_t base;
};
struct cusparseSpVecDescr {
  int64_t size, nnz;
  void *indices, *values;
  cusparseIndexType_t index;
  cusparseIndexBase_t base;
  cudaDataType type;
};
struct cusparseDnVecDescr {
  int64_t size;
  void *values;
  cudaDataType type;
};
struct cusparseSpMatDescr {
  cusparseFormat_t format;
  int64_t rows, columns, nnz;
  /** Offsets of rows, or of columns of a matrix by columns; rows of a matrix by coordinates. */
  void *offsets, *indices, *values;
  cusparseIndexType_t offsetType, indexType;
  cusparseIndexBase_t base;
  cudaDataType type;
  cusparseFillMode_t fill;
  cusparseDiagType_t diag;
  int batches;
  int64_t offsetsBatch, valuesBatch;
};
struct cusparseDnMatDescr {
  int64_t rows, columns, ld;
  void *values;
  cudaDataType type;
  cusparseOrder_t order;
  int batches;
  int64_t batch;
};

namespace cumetal {

/** Whole numbers of either size, from either base. */
struct Indices {
  const void *p;
  bool isLong;
  int base;
  CUMETAL_BOTH long long raw(long long i) const { return isLong ? static_cast<const long long *>(p)[i] : static_cast<const int *>(p)[i]; }
  CUMETAL_BOTH long long at(long long i) const { return raw(i) - base; }
};

static inline Indices offsetsOf(const cusparseSpMatDescr &m) { return {m.offsets, m.offsetType == CUSPARSE_INDEX_64I, int(m.base)}; }
static inline Indices indicesOf(const cusparseSpMatDescr &m) { return {m.indices, m.indexType == CUSPARSE_INDEX_64I, int(m.base)}; }

static inline bool isPlain(cusparseOperation_t op) { return op == CUSPARSE_OPERATION_NON_TRANSPOSE; }

static inline cusparseStatus_t statusOf(cudaError_t error) {
  return error == cudaSuccess ? CUSPARSE_STATUS_SUCCESS : error == cudaErrorMemoryAllocation ? CUSPARSE_STATUS_ALLOC_FAILED : CUSPARSE_STATUS_EXECUTION_FAILED;
}
static inline cusparseStatus_t launched() { return statusOf(cudaPeekAtLastError()); }

/** What is done with values of one type; each unit of `products.cu` does it for its own. */
struct Call {
  enum Which { axpby, gather, scatter, dot, spmv, spmm, sddmm, toDense, toSparse, nonzeros } which;
  cusparseHandle_t handle;
  cusparseOperation_t opA, opB;
  const void *alpha, *beta;
  const cusparseSpMatDescr *sparse;
  const cusparseDnMatDescr *a, *b;
  const cusparseSpVecDescr *few;
  const cusparseDnVecDescr *x, *y;
  void *result;
  /** Of counting: the numbers for each row or column. */
  int *counts;
  bool isByRow;
};
cusparseStatus_t sparseS(const Call &);
cusparseStatus_t sparseD(const Call &);
cusparseStatus_t sparseC(const Call &);
cusparseStatus_t sparseZ(const Call &);

}  // namespace cumetal

#define CUMETAL_NEED_HANDLE(handle) \
  if (!(handle)) return CUSPARSE_STATUS_NOT_INITIALIZED
#define CUMETAL_NEED(condition) \
  if (!(condition)) return CUSPARSE_STATUS_INVALID_VALUE
#define CUMETAL_TRY(call)                                         \
  do {                                                            \
    const cusparseStatus_t status_ = (call);                      \
    if (status_ != CUSPARSE_STATUS_SUCCESS) return status_;       \
  } while (0)
#define CUMETAL_CUDA(call) CUMETAL_TRY(cumetal::statusOf(call))

#endif
