/** Sparse matrices on the host, where what is done one row after another is done. */
#ifndef CUMETAL_CUSPARSE_HOST_H
#define CUMETAL_CUSPARSE_HOST_H

#include <algorithm>
#include <numeric>
#include <vector>

#include "context.h"

namespace cumetal {

template <class V>
static cusparseStatus_t fetch(cusparseHandle_t handle, std::vector<V> &to, const void *from, size_t count) {
  to.resize(count);
  if (count > 0) CUMETAL_CUDA(cudaMemcpyAsync(to.data(), from, count * sizeof(V), cudaMemcpyDeviceToHost, handle->stream));
  return statusOf(cudaStreamSynchronize(handle->stream));
}
template <class V>
static cusparseStatus_t put(cusparseHandle_t handle, const std::vector<V> &from, void *to) {
  if (from.empty()) return CUSPARSE_STATUS_SUCCESS;
  CUMETAL_CUDA(cudaMemcpyAsync(to, from.data(), from.size() * sizeof(V), cudaMemcpyHostToDevice, handle->stream));
  return statusOf(cudaStreamSynchronize(handle->stream));
}

/** Whole numbers of either size, from zero. */
static inline cusparseStatus_t fetchIndices(cusparseHandle_t handle, std::vector<long long> &to, const void *from, size_t count, bool isLong, int base) {
  if (isLong) {
    CUMETAL_TRY(fetch(handle, to, from, count));
  } else {
    std::vector<int> few;
    CUMETAL_TRY(fetch(handle, few, from, count));
    to.assign(few.begin(), few.end());
  }
  for (long long &v : to) v -= base;
  return CUSPARSE_STATUS_SUCCESS;
}
static inline cusparseStatus_t putIndices(cusparseHandle_t handle, const std::vector<long long> &from, void *to, bool isLong, int base) {
  std::vector<long long> all(from);
  for (long long &v : all) v += base;
  if (isLong) return put(handle, all, to);
  return put(handle, std::vector<int>(all.begin(), all.end()), to);
}

/** A matrix by rows. */
template <class T>
struct Rows {
  long long rows, columns;
  std::vector<long long> offsets, indices;
  std::vector<T> values;
};

/** The same matrix with rows and columns exchanged; entries of a row come in the order of the rows they are from. */
template <class T>
static Rows<T> transposed(const Rows<T> &a) {
  Rows<T> to = {a.columns, a.rows, std::vector<long long>(a.columns + 1), std::vector<long long>(a.indices.size()), std::vector<T>(a.values.size())};
  for (long long c : a.indices) to.offsets[c + 1]++;
  std::partial_sum(to.offsets.begin(), to.offsets.end(), to.offsets.begin());
  std::vector<long long> next(to.offsets.begin(), to.offsets.end() - 1);
  for (long long r = 0; r < a.rows; r++)
    for (long long e = a.offsets[r]; e < a.offsets[r + 1]; e++) {
      const long long place = next[a.indices[e]]++;
      to.indices[place] = r;
      if (!a.values.empty()) to.values[place] = a.values[e];
    }
  return to;
}

/** A matrix of the device by rows, whatever its format. */
template <class T>
static cusparseStatus_t fetchRows(cusparseHandle_t handle, const cusparseSpMatDescr &m, Rows<T> &to) {
  const bool isByColumns = m.format == CUSPARSE_FORMAT_CSC, isCoordinates = m.format == CUSPARSE_FORMAT_COO;
  to.rows = isByColumns ? m.columns : m.rows;
  to.columns = isByColumns ? m.rows : m.columns;
  const int base = int(m.base);
  CUMETAL_TRY(fetchIndices(handle, to.offsets, m.offsets, isCoordinates ? m.nnz : to.rows + 1, m.offsetType == CUSPARSE_INDEX_64I, base));
  if (isCoordinates) {
    std::vector<long long> offsets(to.rows + 1);
    for (long long r : to.offsets) offsets[r + 1]++;
    std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
    to.offsets = offsets;
  }
  CUMETAL_TRY(fetchIndices(handle, to.indices, m.indices, m.nnz, m.indexType == CUSPARSE_INDEX_64I, base));
  CUMETAL_TRY(fetch(handle, to.values, m.values, m.nnz));
  if (isByColumns) to = transposed(to);
  return CUSPARSE_STATUS_SUCCESS;
}

/** A scalar, wherever it is. */
template <class T>
static cusparseStatus_t fetchScalar(cusparseHandle_t handle, const void *p, T &to) {
  if (handle->pointerMode == CUSPARSE_POINTER_MODE_HOST) {
    to = *static_cast<const T *>(p);
    return CUSPARSE_STATUS_SUCCESS;
  }
  std::vector<T> one;
  CUMETAL_TRY(fetch(handle, one, p, 1));
  to = one[0];
  return CUSPARSE_STATUS_SUCCESS;
}

/** Calls a function with a value of the type. */
template <class Function>
static cusparseStatus_t byType(cudaDataType type, Function function) {
  switch (type) {
    case CUDA_R_32F:
      return function(float());
    case CUDA_R_64F:
      return function(double());
    case CUDA_C_32F:
      return function(Complex<float>(0));
    case CUDA_C_64F:
      return function(Complex<double>(0));
    default:
      return CUSPARSE_STATUS_NOT_SUPPORTED;
  }
}

}  // namespace cumetal

#endif
