/** Sparse matrices of cuSOLVER: what a handle is, and how matrices come to the host, where all that is done with them is done. */
#ifndef CUMETAL_CUSOLVER_SPARSE_H
#define CUMETAL_CUSOLVER_SPARSE_H

#include <cusolverSp.h>

#include "context.h"
#include "sparse-factors.h"

struct cusolverSpContext {
  cudaStream_t stream;
};

#define CUMETAL_TRY(call)                                              \
  do {                                                                 \
    const cusolverStatus_t status_ = (call);                           \
    if (status_ != CUSOLVER_STATUS_SUCCESS) return status_;            \
  } while (0)

namespace cumetal {

enum Place { onHost, onDevice };

static inline cusolverStatus_t statusOf(cudaError_t error) {
  return error == cudaSuccess ? CUSOLVER_STATUS_SUCCESS : error == cudaErrorMemoryAllocation ? CUSOLVER_STATUS_ALLOC_FAILED : CUSOLVER_STATUS_EXECUTION_FAILED;
}
template <class V>
static cusolverStatus_t copy(cudaStream_t stream, Place place, V *to, const V *from, size_t count, cudaMemcpyKind kind) {
  if (count > 0 && (!to || !from)) return CUSOLVER_STATUS_INVALID_VALUE;
  if (place == onHost) {
    std::copy(from, from + count, to);
    return CUSOLVER_STATUS_SUCCESS;
  }
  if (count > 0) CUMETAL_TRY(statusOf(cudaMemcpyAsync(to, from, count * sizeof(V), kind, stream)));
  return statusOf(cudaStreamSynchronize(stream));
}
template <class V>
static cusolverStatus_t fetch(cudaStream_t stream, Place place, std::vector<V> &to, const V *from, size_t count) {
  to.resize(count);
  return copy(stream, place, to.data(), from, count, cudaMemcpyDeviceToHost);
}
template <class V>
static cusolverStatus_t put(cudaStream_t stream, Place place, const std::vector<V> &from, V *to) {
  return copy(stream, place, to, from.data(), from.size(), cudaMemcpyHostToDevice);
}

/** A matrix by rows as a program gives it; `values` may be missing where only the pattern counts. */
template <class T>
struct Given {
  cusolverSpHandle_t handle;
  Place place;
  int rows, columns, nnz;
  cusparseMatDescr_t description;
  const T *values;
  const int *offsets, *indices;
};

/** The matrix on the host, from zero, its rows as columns. A pattern that is none is an invalid value. */
template <class T>
static cusolverStatus_t fetchRows(const Given<T> &given, Columns<T> &to) {
  CUMETAL_NEED_HANDLE(given.handle);
  CUMETAL_NEED(given.rows >= 0 && given.columns >= 0 && given.nnz >= 0 && given.description);
  if (cusparseGetMatType(given.description) != CUSPARSE_MATRIX_TYPE_GENERAL) return CUSOLVER_STATUS_MATRIX_TYPE_NOT_SUPPORTED;
  const cudaStream_t stream = given.handle->stream;
  const int base = int(cusparseGetMatIndexBase(given.description));
  to.rows = given.columns;
  to.columns = given.rows;
  CUMETAL_TRY(fetch(stream, given.place, to.offsets, given.offsets, size_t(given.rows) + 1));
  CUMETAL_TRY(fetch(stream, given.place, to.indices, given.indices, given.nnz));
  if (given.values) CUMETAL_TRY(fetch(stream, given.place, to.values, given.values, given.nnz));
  for (int &v : to.offsets) v -= base;
  for (int &v : to.indices) v -= base;
  CUMETAL_NEED(to.offsets[0] == 0 && to.offsets[given.rows] == given.nnz && std::is_sorted(to.offsets.begin(), to.offsets.end()));
  for (int v : to.indices) CUMETAL_NEED(v >= 0 && v < given.columns);
  return CUSOLVER_STATUS_SUCCESS;
}

}  // namespace cumetal

#endif
