// The generic interface, whose functions take values of any type. Source: cuSPARSE Library, "Generic API functions".
#include <vector>

#include "context.h"

using namespace cumetal;

static cusparseStatus_t run(const Call &call, cudaDataType type) {
  CUMETAL_NEED_HANDLE(call.handle);
  switch (type) {
    case CUDA_R_32F:
      return sparseS(call);
    case CUDA_R_64F:
      return sparseD(call);
    case CUDA_C_32F:
      return sparseC(call);
    case CUDA_C_64F:
      return sparseZ(call);
    default:
      return CUSPARSE_STATUS_NOT_SUPPORTED;
  }
}
/** Whether all types are the one of the computation. */
static bool isOne(cudaDataType type, cudaDataType a, cudaDataType b, cudaDataType c) { return type == a && type == b && type == c; }
/** Real matrices have no conjugate. */
static bool isOperation(cusparseOperation_t op, cudaDataType type) {
  return op != CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE || type == CUDA_C_32F || type == CUDA_C_64F;
}
/** What every buffer has: its size is not used, and programs may refuse one of nothing. */
static const size_t someBytes = 8;

static cusparseStatus_t sized(cusparseHandle_t handle, size_t *bytes) {
  CUMETAL_NEED_HANDLE(handle);
  CUMETAL_NEED(bytes);
  *bytes = someBytes;
  return CUSPARSE_STATUS_SUCCESS;
}

extern "C" cusparseStatus_t cusparseAxpby(cusparseHandle_t handle, const void *alpha, cusparseConstSpVecDescr_t x, const void *beta, cusparseDnVecDescr_t y) {
  CUMETAL_NEED(alpha && x && beta && y && x->type == y->type);
  Call call = {Call::axpby, handle};
  call.alpha = alpha;
  call.beta = beta;
  call.few = x;
  call.y = y;
  return run(call, y->type);
}
static cusparseStatus_t move(Call::Which which, cusparseHandle_t handle, cusparseConstSpVecDescr_t x, cusparseConstDnVecDescr_t y) {
  CUMETAL_NEED(x && y && x->type == y->type);
  Call call = {which, handle};
  call.few = x;
  call.y = y;
  return run(call, y->type);
}
extern "C" cusparseStatus_t cusparseGather(cusparseHandle_t handle, cusparseConstDnVecDescr_t y, cusparseSpVecDescr_t x) {
  return move(Call::gather, handle, x, y);
}
extern "C" cusparseStatus_t cusparseScatter(cusparseHandle_t handle, cusparseConstSpVecDescr_t x, cusparseDnVecDescr_t y) {
  return move(Call::scatter, handle, x, y);
}
extern "C" cusparseStatus_t cusparseSpVV_bufferSize(cusparseHandle_t handle, cusparseOperation_t, cusparseConstSpVecDescr_t, cusparseConstDnVecDescr_t,
                                                    const void *, cudaDataType, size_t *bytes) {
  return sized(handle, bytes);
}
extern "C" cusparseStatus_t cusparseSpVV(cusparseHandle_t handle, cusparseOperation_t op, cusparseConstSpVecDescr_t x, cusparseConstDnVecDescr_t y,
                                         void *result, cudaDataType type, void *) {
  CUMETAL_NEED(x && y && result);
  if (!isOne(type, x->type, y->type, type)) return CUSPARSE_STATUS_NOT_SUPPORTED;
  Call call = {Call::dot, handle, op};
  call.few = x;
  call.y = y;
  call.result = result;
  return run(call, type);
}

extern "C" cusparseStatus_t cusparseSpMV_bufferSize(cusparseHandle_t handle, cusparseOperation_t op, const void *, cusparseConstSpMatDescr_t,
                                                    cusparseConstDnVecDescr_t, const void *, cusparseDnVecDescr_t, cudaDataType type, cusparseSpMVAlg_t,
                                                    size_t *bytes) {
  CUMETAL_NEED(isOperation(op, type));
  return sized(handle, bytes);
}
extern "C" cusparseStatus_t cusparseSpMV_preprocess(cusparseHandle_t handle, cusparseOperation_t, const void *, cusparseConstSpMatDescr_t,
                                                    cusparseConstDnVecDescr_t, const void *, cusparseDnVecDescr_t, cudaDataType, cusparseSpMVAlg_t,
                                                    void *) {
  CUMETAL_NEED_HANDLE(handle);
  return CUSPARSE_STATUS_SUCCESS;
}
extern "C" cusparseStatus_t cusparseSpMV(cusparseHandle_t handle, cusparseOperation_t op, const void *alpha, cusparseConstSpMatDescr_t a,
                                         cusparseConstDnVecDescr_t x, const void *beta, cusparseDnVecDescr_t y, cudaDataType type, cusparseSpMVAlg_t,
                                         void *) {
  CUMETAL_NEED(alpha && a && x && beta && y);
  if (!isOne(type, a->type, x->type, y->type)) return CUSPARSE_STATUS_NOT_SUPPORTED;
  CUMETAL_NEED(isOperation(op, type));
  Call call = {Call::spmv, handle, op};
  call.alpha = alpha;
  call.beta = beta;
  call.sparse = a;
  call.x = x;
  call.y = y;
  return run(call, type);
}
extern "C" cusparseStatus_t cusparseSpMM_bufferSize(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB, const void *,
                                                    cusparseConstSpMatDescr_t, cusparseConstDnMatDescr_t, const void *, cusparseDnMatDescr_t,
                                                    cudaDataType type, cusparseSpMMAlg_t, size_t *bytes) {
  CUMETAL_NEED(isOperation(opA, type) && isOperation(opB, type));
  return sized(handle, bytes);
}
extern "C" cusparseStatus_t cusparseSpMM_preprocess(cusparseHandle_t handle, cusparseOperation_t, cusparseOperation_t, const void *,
                                                    cusparseConstSpMatDescr_t, cusparseConstDnMatDescr_t, const void *, cusparseDnMatDescr_t, cudaDataType,
                                                    cusparseSpMMAlg_t, void *) {
  CUMETAL_NEED_HANDLE(handle);
  return CUSPARSE_STATUS_SUCCESS;
}
extern "C" cusparseStatus_t cusparseSpMM(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB, const void *alpha,
                                         cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b, const void *beta, cusparseDnMatDescr_t c,
                                         cudaDataType type, cusparseSpMMAlg_t, void *) {
  CUMETAL_NEED(alpha && a && b && beta && c);
  if (!isOne(type, a->type, b->type, c->type)) return CUSPARSE_STATUS_NOT_SUPPORTED;
  CUMETAL_NEED(isOperation(opA, type) && isOperation(opB, type));
  Call call = {Call::spmm, handle, opA, opB, alpha, beta, a, b, c};
  return run(call, type);
}
extern "C" cusparseStatus_t cusparseSDDMM_bufferSize(cusparseHandle_t handle, cusparseOperation_t, cusparseOperation_t, const void *,
                                                     cusparseConstDnMatDescr_t, cusparseConstDnMatDescr_t, const void *, cusparseSpMatDescr_t, cudaDataType,
                                                     cusparseSDDMMAlg_t, size_t *bytes) {
  return sized(handle, bytes);
}
extern "C" cusparseStatus_t cusparseSDDMM_preprocess(cusparseHandle_t handle, cusparseOperation_t, cusparseOperation_t, const void *,
                                                     cusparseConstDnMatDescr_t, cusparseConstDnMatDescr_t, const void *, cusparseSpMatDescr_t, cudaDataType,
                                                     cusparseSDDMMAlg_t, void *) {
  CUMETAL_NEED_HANDLE(handle);
  return CUSPARSE_STATUS_SUCCESS;
}
extern "C" cusparseStatus_t cusparseSDDMM(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB, const void *alpha,
                                          cusparseConstDnMatDescr_t a, cusparseConstDnMatDescr_t b, const void *beta, cusparseSpMatDescr_t c,
                                          cudaDataType type, cusparseSDDMMAlg_t, void *) {
  CUMETAL_NEED(alpha && a && b && beta && c);
  if (!isOne(type, a->type, b->type, c->type)) return CUSPARSE_STATUS_NOT_SUPPORTED;
  Call call = {Call::sddmm, handle, opA, opB, alpha, beta, c, a, b};
  return run(call, type);
}

extern "C" cusparseStatus_t cusparseSparseToDense_bufferSize(cusparseHandle_t handle, cusparseConstSpMatDescr_t, cusparseDnMatDescr_t,
                                                             cusparseSparseToDenseAlg_t, size_t *bytes) {
  return sized(handle, bytes);
}
extern "C" cusparseStatus_t cusparseSparseToDense(cusparseHandle_t handle, cusparseConstSpMatDescr_t a, cusparseDnMatDescr_t b, cusparseSparseToDenseAlg_t,
                                                  void *) {
  CUMETAL_NEED(a && b && a->type == b->type);
  Call call = {Call::toDense, handle};
  call.sparse = a;
  call.a = b;
  return run(call, a->type);
}

/** The buffer of a conversion: where the list of each row begins, then the count of each row. */
static long long listsOf(cusparseConstDnMatDescr_t a, cusparseConstSpMatDescr_t b) { return b->format == CUSPARSE_FORMAT_CSC ? a->columns : a->rows; }

extern "C" cusparseStatus_t cusparseDenseToSparse_bufferSize(cusparseHandle_t handle, cusparseConstDnMatDescr_t a, cusparseSpMatDescr_t b,
                                                             cusparseDenseToSparseAlg_t, size_t *bytes) {
  CUMETAL_NEED_HANDLE(handle);
  CUMETAL_NEED(a && b && bytes);
  *bytes = size_t(listsOf(a, b) + 1) * (sizeof(long long) + sizeof(int));
  return CUSPARSE_STATUS_SUCCESS;
}
/** Counts by row or by column, and sums of them in front of each, on the host. */
static cusparseStatus_t counted(Call &call, cudaDataType type, long long lists, std::vector<long long> &starts) {
  CUMETAL_TRY(run(call, type));
  std::vector<int> counts(lists);
  if (lists > 0) CUMETAL_CUDA(cudaMemcpyAsync(counts.data(), call.counts, lists * sizeof(int), cudaMemcpyDeviceToHost, call.handle->stream));
  CUMETAL_CUDA(cudaStreamSynchronize(call.handle->stream));
  starts.assign(1, 0);
  for (int count : counts) starts.push_back(starts.back() + count);
  return CUSPARSE_STATUS_SUCCESS;
}
extern "C" cusparseStatus_t cusparseDenseToSparse_analysis(cusparseHandle_t handle, cusparseConstDnMatDescr_t a, cusparseSpMatDescr_t b,
                                                           cusparseDenseToSparseAlg_t, void *buffer) {
  CUMETAL_NEED_HANDLE(handle);
  CUMETAL_NEED(a && b && buffer && a->type == b->type && a->rows == b->rows && a->columns == b->columns);
  const long long lists = listsOf(a, b);
  Call call = {Call::nonzeros, handle};
  call.a = a;
  call.counts = reinterpret_cast<int *>(static_cast<long long *>(buffer) + lists + 1);
  call.isByRow = b->format != CUSPARSE_FORMAT_CSC;
  std::vector<long long> starts;
  CUMETAL_TRY(counted(call, a->type, lists, starts));
  CUMETAL_CUDA(cudaMemcpy(buffer, starts.data(), starts.size() * sizeof(long long), cudaMemcpyHostToDevice));
  b->nnz = starts.back();
  return CUSPARSE_STATUS_SUCCESS;
}
extern "C" cusparseStatus_t cusparseDenseToSparse_convert(cusparseHandle_t handle, cusparseConstDnMatDescr_t a, cusparseSpMatDescr_t b,
                                                          cusparseDenseToSparseAlg_t, void *buffer) {
  CUMETAL_NEED(a && b && buffer && a->type == b->type);
  Call call = {Call::toSparse, handle};
  call.a = a;
  call.sparse = b;
  call.result = buffer;
  return run(call, a->type);
}

template <class T>
static cusparseStatus_t nnz(cusparseHandle_t handle, cusparseDirection_t direction, int m, int n, const T *a, int lda, int *counts, int *total,
                            cudaDataType type) {
  CUMETAL_NEED_HANDLE(handle);
  CUMETAL_NEED(m >= 0 && n >= 0 && lda >= m && total);
  const cusparseDnMatDescr dense = {m, n, lda, const_cast<T *>(a), type, CUSPARSE_ORDER_COL, 1, 0};
  Call call = {Call::nonzeros, handle};
  call.a = &dense;
  call.counts = counts;
  call.isByRow = direction == CUSPARSE_DIRECTION_ROW;
  std::vector<long long> starts;
  CUMETAL_TRY(counted(call, type, call.isByRow ? m : n, starts));
  const int sum = int(starts.back());
  if (handle->pointerMode == CUSPARSE_POINTER_MODE_HOST)
    *total = sum;
  else
    CUMETAL_CUDA(cudaMemcpy(total, &sum, sizeof sum, cudaMemcpyHostToDevice));
  return CUSPARSE_STATUS_SUCCESS;
}
#define CUMETAL_NNZ(L, T, type)                                                                                                            \
  extern "C" cusparseStatus_t cusparse##L##nnz(cusparseHandle_t handle, cusparseDirection_t direction, int m, int n, const cusparseMatDescr_t, \
                                               const T *a, int lda, int *counts, int *total) {                                             \
    return nnz(handle, direction, m, n, a, lda, counts, total, type);                                                                      \
  }
CUMETAL_NNZ(S, float, CUDA_R_32F)
CUMETAL_NNZ(D, double, CUDA_R_64F)
CUMETAL_NNZ(C, cuComplex, CUDA_C_32F)
CUMETAL_NNZ(Z, cuDoubleComplex, CUDA_C_64F)
