// Conversions of formats and orders of entries. Orders are found on the host. Source: cuSPARSE Library, "cuSPARSE Format Conversion Reference".
#include "host.h"

using namespace cumetal;

static const int threads = 128;

static __global__ void identityKernel(int n, int *p) {
  const int i = blockIdx.x * threads + threadIdx.x;
  if (i < n) p[i] = i;
}
extern "C" cusparseStatus_t cusparseCreateIdentityPermutation(cusparseHandle_t handle, int n, int *p) {
  CUMETAL_NEED_HANDLE(handle);
  CUMETAL_NEED(n >= 0);
  if (n > 0) identityKernel<<<(n + threads - 1) / threads, threads, 0, handle->stream>>>(n, p);
  return launched();
}

static __global__ void rowsKernel(int m, const int *offsets, int *rows, int base) {
  const int r = blockIdx.x * threads + threadIdx.x;
  if (r >= m) return;
  for (int e = offsets[r] - base; e < offsets[r + 1] - base; e++) rows[e] = r + base;
}
extern "C" cusparseStatus_t cusparseXcsr2coo(cusparseHandle_t handle, const int *offsets, int nnz, int m, int *rows, cusparseIndexBase_t base) {
  CUMETAL_NEED_HANDLE(handle);
  CUMETAL_NEED(nnz >= 0 && m >= 0);
  if (m > 0 && nnz > 0) rowsKernel<<<(m + threads - 1) / threads, threads, 0, handle->stream>>>(m, offsets, rows, int(base));
  return launched();
}

/** The first entry of each row, in rows that are in order. */
static __global__ void offsetsKernel(int m, int nnz, const int *rows, int *offsets, int base) {
  const int r = blockIdx.x * threads + threadIdx.x;
  if (r > m) return;
  int low = 0, high = nnz;
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (rows[middle] - base < r)
      low = middle + 1;
    else
      high = middle;
  }
  offsets[r] = low + base;
}
extern "C" cusparseStatus_t cusparseXcoo2csr(cusparseHandle_t handle, const int *rows, int nnz, int m, int *offsets, cusparseIndexBase_t base) {
  CUMETAL_NEED_HANDLE(handle);
  CUMETAL_NEED(nnz >= 0 && m >= 0);
  offsetsKernel<<<m / threads + 1, threads, 0, handle->stream>>>(m, nnz, rows, offsets, int(base));
  return launched();
}

/** Puts arrays into another order, and the permutation that programs give with them. */
static cusparseStatus_t reorder(cusparseHandle_t handle, const std::vector<int> &order, std::initializer_list<int *> arrays) {
  for (int *array : arrays) {
    if (!array) continue;
    std::vector<int> from, to;
    CUMETAL_TRY(fetch(handle, from, array, order.size()));
    for (int i : order) to.push_back(from[i]);
    CUMETAL_TRY(put(handle, to, array));
  }
  return CUSPARSE_STATUS_SUCCESS;
}

static cusparseStatus_t sortLists(cusparseHandle_t handle, int lists, int nnz, const cusparseMatDescr_t descr, const int *offsets, int *indices, int *p) {
  CUMETAL_NEED_HANDLE(handle);
  CUMETAL_NEED(lists >= 0 && nnz >= 0 && descr);
  std::vector<int> starts, columns, order(nnz);
  CUMETAL_TRY(fetch(handle, starts, offsets, lists + 1));
  CUMETAL_TRY(fetch(handle, columns, indices, nnz));
  std::iota(order.begin(), order.end(), 0);
  const int base = int(descr->base);
  for (int r = 0; r < lists; r++)
    std::stable_sort(order.begin() + (starts[r] - base), order.begin() + (starts[r + 1] - base), [&](int a, int b) { return columns[a] < columns[b]; });
  return reorder(handle, order, {indices, p});
}
extern "C" cusparseStatus_t cusparseXcsrsort(cusparseHandle_t handle, int m, int, int nnz, const cusparseMatDescr_t descr, const int *offsets,
                                             int *indices, int *p, void *) {
  return sortLists(handle, m, nnz, descr, offsets, indices, p);
}
extern "C" cusparseStatus_t cusparseXcscsort(cusparseHandle_t handle, int, int n, int nnz, const cusparseMatDescr_t descr, const int *offsets,
                                             int *indices, int *p, void *) {
  return sortLists(handle, n, nnz, descr, offsets, indices, p);
}
static cusparseStatus_t sortPairs(cusparseHandle_t handle, int nnz, const int *first, const int *second, int *rows, int *columns, int *p) {
  CUMETAL_NEED_HANDLE(handle);
  CUMETAL_NEED(nnz >= 0);
  std::vector<int> a, b, order(nnz);
  CUMETAL_TRY(fetch(handle, a, first, nnz));
  CUMETAL_TRY(fetch(handle, b, second, nnz));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int i, int j) { return a[i] != a[j] ? a[i] < a[j] : b[i] < b[j]; });
  return reorder(handle, order, {rows, columns, p});
}
extern "C" cusparseStatus_t cusparseXcoosortByRow(cusparseHandle_t handle, int, int, int nnz, int *rows, int *columns, int *p, void *) {
  return sortPairs(handle, nnz, rows, columns, rows, columns, p);
}
extern "C" cusparseStatus_t cusparseXcoosortByColumn(cusparseHandle_t handle, int, int, int nnz, int *rows, int *columns, int *p, void *) {
  return sortPairs(handle, nnz, columns, rows, rows, columns, p);
}
#define CUMETAL_SORT_BUFFER(name)                                                                                                                  \
  extern "C" cusparseStatus_t cusparseX##name##_bufferSizeExt(cusparseHandle_t handle, int, int, int, const int *, const int *, size_t *bytes) {   \
    CUMETAL_NEED_HANDLE(handle);                                                                                                                   \
    CUMETAL_NEED(bytes);                                                                                                                           \
    *bytes = 8;                                                                                                                                    \
    return CUSPARSE_STATUS_SUCCESS;                                                                                                                \
  }
CUMETAL_SORT_BUFFER(csrsort)
CUMETAL_SORT_BUFFER(cscsort)
CUMETAL_SORT_BUFFER(coosort)

extern "C" cusparseStatus_t cusparseCsr2cscEx2_bufferSize(cusparseHandle_t handle, int, int, int, const void *, const int *, const int *, void *, int *,
                                                          int *, cudaDataType, cusparseAction_t, cusparseIndexBase_t, cusparseCsr2CscAlg_t, size_t *bytes) {
  CUMETAL_NEED_HANDLE(handle);
  CUMETAL_NEED(bytes);
  *bytes = 8;
  return CUSPARSE_STATUS_SUCCESS;
}
extern "C" cusparseStatus_t cusparseCsr2cscEx2(cusparseHandle_t handle, int m, int n, int nnz, const void *values, const int *offsets,
                                               const int *indices, void *toValues, int *toOffsets, int *toIndices, cudaDataType type,
                                               cusparseAction_t action, cusparseIndexBase_t base, cusparseCsr2CscAlg_t, void *) {
  CUMETAL_NEED_HANDLE(handle);
  CUMETAL_NEED(m >= 0 && n >= 0 && nnz >= 0);
  return byType(type, [&](auto zero) {
    typedef decltype(zero) T;
    Rows<T> a = {m, n, {}, {}, {}};
    CUMETAL_TRY(fetchIndices(handle, a.offsets, offsets, m + 1, false, int(base)));
    CUMETAL_TRY(fetchIndices(handle, a.indices, indices, nnz, false, int(base)));
    if (action == CUSPARSE_ACTION_NUMERIC) CUMETAL_TRY(fetch(handle, a.values, values, nnz));
    const Rows<T> to = transposed(a);
    CUMETAL_TRY(putIndices(handle, to.offsets, toOffsets, false, int(base)));
    CUMETAL_TRY(putIndices(handle, to.indices, toIndices, false, int(base)));
    return put(handle, to.values, toValues);
  });
}
