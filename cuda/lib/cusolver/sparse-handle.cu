// Handles, patterns and orders of sparse matrices. Source: cuSOLVER Library, "cuSolverSP Helper Function Reference" and "cuSolverSP Low Level
// Function Reference".
#include "sparse.h"

using namespace cumetal;

extern "C" cusolverStatus_t cusolverSpCreate(cusolverSpHandle_t *to) {
  CUMETAL_NEED(to);
  *to = new cusolverSpContext();
  return CUSOLVER_STATUS_SUCCESS;
}
extern "C" cusolverStatus_t cusolverSpDestroy(cusolverSpHandle_t handle) {
  CUMETAL_NEED_HANDLE(handle);
  delete handle;
  return CUSOLVER_STATUS_SUCCESS;
}
extern "C" cusolverStatus_t cusolverSpSetStream(cusolverSpHandle_t handle, cudaStream_t stream) {
  CUMETAL_NEED_HANDLE(handle);
  handle->stream = stream;
  return CUSOLVER_STATUS_SUCCESS;
}
extern "C" cusolverStatus_t cusolverSpGetStream(cusolverSpHandle_t handle, cudaStream_t *stream) {
  CUMETAL_NEED_HANDLE(handle);
  CUMETAL_NEED(stream);
  *stream = handle->stream;
  return CUSOLVER_STATUS_SUCCESS;
}

static cusolverStatus_t fetchPattern(cusolverSpHandle_t handle, int m, int n, int nnz, cusparseMatDescr_t description, const int *offsets,
                                     const int *indices, Columns<float> &to) {
  return fetchRows(Given<float>{handle, onHost, m, n, nnz, description, nullptr, offsets, indices}, to);
}

extern "C" cusolverStatus_t cusolverSpXcsrissymHost(cusolverSpHandle_t handle, int m, int nnz, const cusparseMatDescr_t description,
                                                    const int *offsets, const int *ends, const int *indices, int *isSymmetric) {
  CUMETAL_NEED_HANDLE(handle);
  CUMETAL_NEED(m >= 0 && nnz >= 0 && description && offsets && ends && indices && isSymmetric);
  const int base = int(cusparseGetMatIndexBase(description));
  // Rows may end before the next one begins.
  Columns<float> a = {m, m, {0}, {}, {}};
  for (int r = 0; r < m; r++) {
    CUMETAL_NEED(offsets[r] >= base && ends[r] >= offsets[r]);
    for (int e = offsets[r] - base; e < ends[r] - base; e++) {
      CUMETAL_NEED(indices[e] >= base && indices[e] < m + base);
      a.indices.push_back(indices[e] - base);
    }
    std::sort(a.indices.begin() + a.offsets.back(), a.indices.end());
    a.end();
  }
  const Columns<float> b = transposed(a);
  *isSymmetric = a.offsets == b.offsets && a.indices == b.indices;
  return CUSOLVER_STATUS_SUCCESS;
}

static cusolverStatus_t orderOf(cusolverSpHandle_t handle, int n, int nnz, cusparseMatDescr_t description, const int *offsets, const int *indices,
                                int *to, bool isByBand) {
  Columns<float> a;
  CUMETAL_TRY(fetchPattern(handle, n, n, nnz, description, offsets, indices, a));
  CUMETAL_NEED(to);
  const std::vector<Ints> graph = graphOf(n, a.offsets, a.indices);
  const Ints order = isByBand ? reverseCuthillMcKee(graph) : minimumDegree(graph);
  std::copy(order.begin(), order.end(), to);
  return CUSOLVER_STATUS_SUCCESS;
}
extern "C" cusolverStatus_t cusolverSpXcsrsymrcmHost(cusolverSpHandle_t handle, int n, int nnz, const cusparseMatDescr_t description,
                                                     const int *offsets, const int *indices, int *p) {
  return orderOf(handle, n, nnz, description, offsets, indices, p, true);
}
extern "C" cusolverStatus_t cusolverSpXcsrsymmdqHost(cusolverSpHandle_t handle, int n, int nnz, const cusparseMatDescr_t description,
                                                     const int *offsets, const int *indices, int *p) {
  return orderOf(handle, n, nnz, description, offsets, indices, p, false);
}
extern "C" cusolverStatus_t cusolverSpXcsrsymamdHost(cusolverSpHandle_t handle, int n, int nnz, const cusparseMatDescr_t description,
                                                     const int *offsets, const int *indices, int *p) {
  return orderOf(handle, n, nnz, description, offsets, indices, p, false);
}
// Nested dissection is another way to the same end: an order that leaves few entries.
extern "C" cusolverStatus_t cusolverSpXcsrmetisndHost(cusolverSpHandle_t handle, int n, int nnz, const cusparseMatDescr_t description,
                                                      const int *offsets, const int *indices, const int64_t *, int *p) {
  return orderOf(handle, n, nnz, description, offsets, indices, p, false);
}

extern "C" cusolverStatus_t cusolverSpXcsrperm_bufferSizeHost(cusolverSpHandle_t handle, int m, int n, int nnz, const cusparseMatDescr_t description,
                                                              const int *, const int *, const int *p, const int *q, size_t *bytes) {
  CUMETAL_NEED_HANDLE(handle);
  CUMETAL_NEED(m >= 0 && n >= 0 && nnz >= 0 && description && p && q && bytes);
  *bytes = (size_t(m) + n + nnz + 1) * sizeof(int);
  return CUSOLVER_STATUS_SUCCESS;
}
extern "C" cusolverStatus_t cusolverSpXcsrpermHost(cusolverSpHandle_t handle, int m, int n, int nnz, const cusparseMatDescr_t description, int *offsets,
                                                   int *indices, const int *p, const int *q, int *map, void *) {
  Columns<float> a;
  CUMETAL_TRY(fetchPattern(handle, m, n, nnz, description, offsets, indices, a));
  CUMETAL_NEED(p && q && map);
  const int base = int(cusparseGetMatIndexBase(description));
  const Ints before(map, map + nnz);
  Ints columnOf(n, -1);
  for (int c = 0; c < n; c++) {
    CUMETAL_NEED(q[c] >= 0 && q[c] < n && columnOf[q[c]] < 0);
    columnOf[q[c]] = c;
  }
  Ints row;
  int place = 0;
  for (int r = 0; r < m; r++) {
    CUMETAL_NEED(p[r] >= 0 && p[r] < m);
    offsets[r] = place + base;
    row.resize(a.offsets[p[r] + 1] - a.offsets[p[r]]);
    std::iota(row.begin(), row.end(), a.offsets[p[r]]);
    std::stable_sort(row.begin(), row.end(), [&](int x, int y) { return columnOf[a.indices[x]] < columnOf[a.indices[y]]; });
    for (int e : row) {
      CUMETAL_NEED(place < nnz);
      indices[place] = columnOf[a.indices[e]] + base;
      map[place++] = before[e];
    }
  }
  offsets[m] = place + base;
  return CUSOLVER_STATUS_SUCCESS;
}
