// Factors of matrices that have the pattern of one that was factored before, on the host. Source: cuSOLVER Library, "cuSolverRF: Refactorization
// Reference".
#include <cusolverRf.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "context.h"

#define CUMETAL_TRY(call)                                              \
  do {                                                                 \
    const cusolverStatus_t status_ = (call);                           \
    if (status_ != CUSOLVER_STATUS_SUCCESS) return status_;            \
  } while (0)

typedef std::vector<int> Ints;

/** P·A·Qᵀ = L·U: row k of the product is row P[k] of A, and column k is column Q[k]. */
struct cusolverRfCommon {
  cusolverRfMatrixFormat_t format = CUSOLVERRF_MATRIX_FORMAT_CSR;
  cusolverRfUnitDiagonal_t unit = CUSOLVERRF_UNIT_DIAGONAL_STORED_L;
  cusolverRfFactorization_t factorization = CUSOLVERRF_FACTORIZATION_ALG0;
  cusolverRfTriangularSolve_t solution = CUSOLVERRF_TRIANGULAR_SOLVE_ALG1;
  cusolverRfResetValuesFastMode_t mode = CUSOLVERRF_RESET_VALUES_FAST_MODE_OFF;
  double zero = 0, boost = 0;
  bool isBoosted = false, isSet = false, isFactored = false;
  int n = 0;
  /** Both factors in one matrix by rows, columns ascending; the diagonal is that of U. */
  Ints offsets, indices, diagonal;
  std::vector<double> values;
  /** The matrix: the pattern that it was set up with, and its values. */
  Ints rowsOfA, columnsOfA;
  std::vector<double> valuesOfA;
};

static cusolverStatus_t statusOf(cudaError_t error) {
  return error == cudaSuccess ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_EXECUTION_FAILED;
}
template <class V>
static cusolverStatus_t fetch(std::vector<V> &to, const V *from, size_t count) {
  CUMETAL_NEED(from || count == 0);
  to.resize(count);
  return count == 0 ? CUSOLVER_STATUS_SUCCESS : statusOf(cudaMemcpy(to.data(), from, count * sizeof(V), cudaMemcpyDeviceToHost));
}

#define CUMETAL_PAIR(Name, First, first, Second, second)                                                            \
  extern "C" cusolverStatus_t cusolverRfSet##Name(cusolverRfHandle_t handle, First a, Second b) {                   \
    CUMETAL_NEED_HANDLE(handle);                                                                                    \
    handle->first = a;                                                                                              \
    handle->second = b;                                                                                             \
    return CUSOLVER_STATUS_SUCCESS;                                                                                 \
  }                                                                                                                 \
  extern "C" cusolverStatus_t cusolverRfGet##Name(cusolverRfHandle_t handle, First *a, Second *b) {                 \
    CUMETAL_NEED_HANDLE(handle);                                                                                    \
    CUMETAL_NEED(a && b);                                                                                           \
    *a = handle->first;                                                                                             \
    *b = handle->second;                                                                                            \
    return CUSOLVER_STATUS_SUCCESS;                                                                                 \
  }
CUMETAL_PAIR(MatrixFormat, cusolverRfMatrixFormat_t, format, cusolverRfUnitDiagonal_t, unit)
CUMETAL_PAIR(NumericProperties, double, zero, double, boost)
CUMETAL_PAIR(Algs, cusolverRfFactorization_t, factorization, cusolverRfTriangularSolve_t, solution)

extern "C" cusolverStatus_t cusolverRfCreate(cusolverRfHandle_t *to) {
  CUMETAL_NEED(to);
  *to = new cusolverRfCommon();
  return CUSOLVER_STATUS_SUCCESS;
}
extern "C" cusolverStatus_t cusolverRfDestroy(cusolverRfHandle_t handle) {
  CUMETAL_NEED_HANDLE(handle);
  delete handle;
  return CUSOLVER_STATUS_SUCCESS;
}
extern "C" cusolverStatus_t cusolverRfSetResetValuesFastMode(cusolverRfHandle_t handle, cusolverRfResetValuesFastMode_t mode) {
  CUMETAL_NEED_HANDLE(handle);
  handle->mode = mode;
  return CUSOLVER_STATUS_SUCCESS;
}
extern "C" cusolverStatus_t cusolverRfGetResetValuesFastMode(cusolverRfHandle_t handle, cusolverRfResetValuesFastMode_t *mode) {
  CUMETAL_NEED_HANDLE(handle);
  CUMETAL_NEED(mode);
  *mode = handle->mode;
  return CUSOLVER_STATUS_SUCCESS;
}
extern "C" cusolverStatus_t cusolverRfGetNumericBoostReport(cusolverRfHandle_t handle, cusolverRfNumericBoostReport_t *report) {
  CUMETAL_NEED_HANDLE(handle);
  CUMETAL_NEED(report);
  *report = handle->isBoosted ? CUSOLVERRF_NUMERIC_BOOST_USED : CUSOLVERRF_NUMERIC_BOOST_NOT_USED;
  return CUSOLVER_STATUS_SUCCESS;
}

namespace {

/** A matrix by rows. */
struct Given {
  int nnz;
  const int *offsets, *indices;
};

/** Whether offsets and columns are those of a matrix, from zero. */
bool isPattern(int n, const Given &a) {
  if (a.nnz < 0 || !a.offsets || (a.nnz > 0 && !a.indices) || a.offsets[0] != 0 || a.offsets[n] != a.nnz) return false;
  return std::is_sorted(a.offsets, a.offsets + n + 1) && std::all_of(a.indices, a.indices + a.nnz, [&](int c) { return c >= 0 && c < n; });
}
bool isPermutation(int n, const int *p) {
  std::vector<bool> seen(n);
  for (int i = 0; p && i < n; i++) {
    if (p[i] < 0 || p[i] >= n || seen[p[i]]) return false;
    seen[p[i]] = true;
  }
  return p != nullptr;
}

/** Where each entry of A goes in the rows of the factors; false if one has no place. */
bool scatter(cusolverRfHandle_t handle, const Ints &offsets, const Ints &indices, const double *values, const int *p, const int *q) {
  const int n = handle->n;
  Ints columnOf(n), place(n, -1);
  for (int c = 0; c < n; c++) columnOf[q[c]] = c;
  std::fill(handle->values.begin(), handle->values.end(), 0.0);
  for (int r = 0; r < n; r++) {
    for (int e = handle->offsets[r]; e < handle->offsets[r + 1]; e++) place[handle->indices[e]] = e;
    for (int e = offsets[p[r]]; e < offsets[p[r] + 1]; e++) {
      const int to = place[columnOf[indices[e]]];
      if (to < handle->offsets[r]) return false;
      handle->values[to] += values[e];
    }
  }
  return true;
}

cusolverStatus_t setUp(cusolverRfHandle_t handle, int n, const Given &a, const double *values, const Given &l, const Given &u, const int *p,
                       const int *q) {
  CUMETAL_NEED(n > 0 && values && isPattern(n, a) && isPattern(n, l) && isPattern(n, u) && isPermutation(n, p) && isPermutation(n, q));
  // Matrices by columns, and factors whose upper one has the unit diagonal, are those of the transposed system.
  if (handle->format != CUSOLVERRF_MATRIX_FORMAT_CSR) return CUSOLVER_STATUS_NOT_SUPPORTED;
  if (handle->unit == CUSOLVERRF_UNIT_DIAGONAL_STORED_U || handle->unit == CUSOLVERRF_UNIT_DIAGONAL_ASSUMED_U) return CUSOLVER_STATUS_NOT_SUPPORTED;
  handle->n = n;
  handle->offsets.assign(1, 0);
  handle->indices.clear();
  handle->diagonal.assign(n, -1);
  for (int r = 0; r < n; r++) {
    const size_t first = handle->indices.size();
    for (int e = l.offsets[r]; e < l.offsets[r + 1]; e++)
      if (l.indices[e] != r) handle->indices.push_back(l.indices[e]);
    handle->indices.insert(handle->indices.end(), u.indices + u.offsets[r], u.indices + u.offsets[r + 1]);
    std::sort(handle->indices.begin() + first, handle->indices.end());
    const auto found = std::lower_bound(handle->indices.begin() + first, handle->indices.end(), r);
    CUMETAL_NEED(found != handle->indices.end() && *found == r);
    handle->diagonal[r] = int(found - handle->indices.begin());
    handle->offsets.push_back(int(handle->indices.size()));
  }
  handle->values.assign(handle->indices.size(), 0);
  handle->rowsOfA.assign(a.offsets, a.offsets + n + 1);
  handle->columnsOfA.assign(a.indices, a.indices + a.nnz);
  handle->isSet = scatter(handle, handle->rowsOfA, handle->columnsOfA, values, p, q);
  handle->isFactored = false;
  return handle->isSet ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_INVALID_VALUE;
}

}  // namespace

extern "C" cusolverStatus_t cusolverRfSetupHost(int n, int nnzA, int *offsetsA, int *indicesA, double *valuesA, int nnzL, int *offsetsL,
                                                int *indicesL, double *, int nnzU, int *offsetsU, int *indicesU, double *, int *p, int *q,
                                                cusolverRfHandle_t handle) {
  CUMETAL_NEED_HANDLE(handle);
  return setUp(handle, n, {nnzA, offsetsA, indicesA}, valuesA, {nnzL, offsetsL, indicesL}, {nnzU, offsetsU, indicesU}, p, q);
}
extern "C" cusolverStatus_t cusolverRfSetupDevice(int n, int nnzA, int *offsetsA, int *indicesA, double *valuesA, int nnzL, int *offsetsL,
                                                  int *indicesL, double *, int nnzU, int *offsetsU, int *indicesU, double *, int *p, int *q,
                                                  cusolverRfHandle_t handle) {
  CUMETAL_NEED_HANDLE(handle);
  CUMETAL_NEED(n > 0 && nnzA >= 0 && nnzL >= 0 && nnzU >= 0);
  Ints oa, ia, ol, il, ou, iu, hp, hq;
  std::vector<double> va;
  CUMETAL_TRY(fetch(oa, offsetsA, n + 1));
  CUMETAL_TRY(fetch(ia, indicesA, nnzA));
  CUMETAL_TRY(fetch(va, valuesA, nnzA));
  CUMETAL_TRY(fetch(ol, offsetsL, n + 1));
  CUMETAL_TRY(fetch(il, indicesL, nnzL));
  CUMETAL_TRY(fetch(ou, offsetsU, n + 1));
  CUMETAL_TRY(fetch(iu, indicesU, nnzU));
  CUMETAL_TRY(fetch(hp, p, n));
  CUMETAL_TRY(fetch(hq, q, n));
  return setUp(handle, n, {nnzA, oa.data(), ia.data()}, va.data(), {nnzL, ol.data(), il.data()}, {nnzU, ou.data(), iu.data()}, hp.data(),
               hq.data());
}

/** New values of the same pattern; the fast mode leaves the pattern unlooked at, which is looked at here in both. */
extern "C" cusolverStatus_t cusolverRfResetValues(int n, int nnz, int *offsets, int *indices, double *values, int *p, int *q,
                                                  cusolverRfHandle_t handle) {
  CUMETAL_NEED_HANDLE(handle);
  if (!handle->isSet) return CUSOLVER_STATUS_NOT_INITIALIZED;
  CUMETAL_NEED(n == handle->n && nnz == int(handle->columnsOfA.size()));
  Ints o, i, hp, hq;
  std::vector<double> v;
  CUMETAL_TRY(fetch(o, offsets, n + 1));
  CUMETAL_TRY(fetch(i, indices, nnz));
  CUMETAL_TRY(fetch(v, values, nnz));
  CUMETAL_TRY(fetch(hp, p, n));
  CUMETAL_TRY(fetch(hq, q, n));
  CUMETAL_NEED(o == handle->rowsOfA && i == handle->columnsOfA && isPermutation(n, hp.data()) && isPermutation(n, hq.data()));
  handle->isFactored = false;
  return scatter(handle, o, i, v.data(), hp.data(), hq.data()) ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_INVALID_VALUE;
}
extern "C" cusolverStatus_t cusolverRfAnalyze(cusolverRfHandle_t handle) {
  CUMETAL_NEED_HANDLE(handle);
  return handle->isSet ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_NOT_INITIALIZED;
}

extern "C" cusolverStatus_t cusolverRfRefactor(cusolverRfHandle_t handle) {
  CUMETAL_NEED_HANDLE(handle);
  if (!handle->isSet) return CUSOLVER_STATUS_NOT_INITIALIZED;
  CUMETAL_NEED(!handle->isFactored);
  const Ints &offsets = handle->offsets, &indices = handle->indices, &diagonal = handle->diagonal;
  std::vector<double> &values = handle->values;
  Ints place(handle->n, -1);
  handle->isBoosted = false;
  for (int r = 0; r < handle->n; r++) {
    for (int e = offsets[r]; e < offsets[r + 1]; e++) place[indices[e]] = e;
    for (int e = offsets[r]; e < diagonal[r]; e++) {
      const int k = indices[e];
      const double factor = values[e] /= values[diagonal[k]];
      for (int from = diagonal[k] + 1; from < offsets[k + 1]; from++) {
        // A product that has no place in the pattern means that the factors were those of another matrix.
        if (place[indices[from]] < offsets[r]) return CUSOLVER_STATUS_INVALID_VALUE;
        values[place[indices[from]]] -= factor * values[from];
      }
    }
    double &pivot = values[diagonal[r]];
    if (handle->boost > 0 && std::fabs(pivot) < handle->zero) {
      pivot = pivot < 0 ? -handle->boost : handle->boost;
      handle->isBoosted = true;
    }
    if (pivot == 0) return CUSOLVER_STATUS_ZERO_PIVOT;
  }
  handle->isFactored = true;
  return CUSOLVER_STATUS_SUCCESS;
}

extern "C" cusolverStatus_t cusolverRfSolve(cusolverRfHandle_t handle, int *p, int *q, int count, double *, int, double *xf, int ld) {
  CUMETAL_NEED_HANDLE(handle);
  if (!handle->isFactored) return CUSOLVER_STATUS_NOT_INITIALIZED;
  const int n = handle->n;
  CUMETAL_NEED(count >= 0 && ld >= n && xf);
  Ints hp, hq;
  CUMETAL_TRY(fetch(hp, p, n));
  CUMETAL_TRY(fetch(hq, q, n));
  CUMETAL_NEED(isPermutation(n, hp.data()) && isPermutation(n, hq.data()));
  for (int c = 0; c < count; c++) {
    std::vector<double> b, y(n);
    CUMETAL_TRY(fetch(b, xf + size_t(c) * ld, n));
    for (int r = 0; r < n; r++) {
      y[r] = b[hp[r]];
      for (int e = handle->offsets[r]; e < handle->diagonal[r]; e++) y[r] -= handle->values[e] * y[handle->indices[e]];
    }
    for (int r = n - 1; r >= 0; r--) {
      for (int e = handle->diagonal[r] + 1; e < handle->offsets[r + 1]; e++) y[r] -= handle->values[e] * y[handle->indices[e]];
      y[r] /= handle->values[handle->diagonal[r]];
    }
    for (int r = 0; r < n; r++) b[hq[r]] = y[r];
    CUMETAL_TRY(statusOf(cudaMemcpy(xf + size_t(c) * ld, b.data(), n * sizeof(double), cudaMemcpyHostToDevice)));
  }
  return CUSOLVER_STATUS_SUCCESS;
}
