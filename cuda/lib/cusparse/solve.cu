// Triangular solutions, incomplete factors and products of sparse matrices, on the host: each row depends on those before it.
// Source: cuSPARSE Library, "cusparseSpSV", "cusparseSpSM", "cusparseSpGEMM", "cusparse<t>csrilu02", "cusparse<t>csric02".
#include <cmath>

#include "host.h"

using namespace cumetal;

struct cusparseSpSVDescr {
  void *values;
};
struct cusparseSpSMDescr {
  void *values;
};
struct cusparseSpGEMMDescr {
  std::vector<long long> offsets, indices;
  std::vector<char> values;
};

#define CUMETAL_DESCRIPTOR(Name)                                                               \
  extern "C" cusparseStatus_t cusparse##Name##_createDescr(cusparse##Name##Descr_t *to) {      \
    CUMETAL_NEED(to);                                                                          \
    *to = new cusparse##Name##Descr();                                                         \
    return CUSPARSE_STATUS_SUCCESS;                                                            \
  }                                                                                            \
  extern "C" cusparseStatus_t cusparse##Name##_destroyDescr(cusparse##Name##Descr_t descr) {   \
    delete descr;                                                                              \
    return CUSPARSE_STATUS_SUCCESS;                                                            \
  }
CUMETAL_DESCRIPTOR(SpSV)
CUMETAL_DESCRIPTOR(SpSM)
CUMETAL_DESCRIPTOR(SpGEMM)

/** Solves op(triangle of A)·x = b in place; elements of x are `step` apart. */
template <class T>
static void solve(const Rows<T> &a, bool isUpper, bool isUnit, T *x, long long step) {
  for (long long j = 0; j < a.rows; j++) {
    const long long r = isUpper ? a.rows - 1 - j : j;
    T sum = x[r * step], diagonal = T(1);
    for (long long e = a.offsets[r]; e < a.offsets[r + 1]; e++) {
      const long long c = a.indices[e];
      if (c == r)
        diagonal = a.values[e];
      else if ((c > r) == isUpper)
        sum -= a.values[e] * x[c * step];
    }
    x[r * step] = isUnit ? sum : sum / diagonal;
  }
}

/** The operand of a solution. */
template <class T>
static cusparseStatus_t operand(cusparseHandle_t handle, cusparseOperation_t op, const cusparseSpMatDescr &m, Rows<T> &a, bool *isUpper) {
  CUMETAL_NEED(m.rows == m.columns);
  CUMETAL_TRY(fetchRows(handle, m, a));
  *isUpper = (m.fill == CUSPARSE_FILL_MODE_UPPER) == isPlain(op);
  if (!isPlain(op)) a = transposed(a);
  if (op == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE)
    for (T &v : a.values) v = conj(v);
  return CUSPARSE_STATUS_SUCCESS;
}

extern "C" cusparseStatus_t cusparseSpSV_bufferSize(cusparseHandle_t handle, cusparseOperation_t, const void *, cusparseConstSpMatDescr_t,
                                                    cusparseConstDnVecDescr_t, cusparseDnVecDescr_t, cudaDataType, cusparseSpSVAlg_t, cusparseSpSVDescr_t,
                                                    size_t *bytes) {
  CUMETAL_NEED_HANDLE(handle);
  CUMETAL_NEED(bytes);
  *bytes = 8;
  return CUSPARSE_STATUS_SUCCESS;
}
extern "C" cusparseStatus_t cusparseSpSV_analysis(cusparseHandle_t handle, cusparseOperation_t, const void *, cusparseConstSpMatDescr_t,
                                                  cusparseConstDnVecDescr_t, cusparseDnVecDescr_t, cudaDataType, cusparseSpSVAlg_t, cusparseSpSVDescr_t,
                                                  void *) {
  CUMETAL_NEED_HANDLE(handle);
  return CUSPARSE_STATUS_SUCCESS;
}
extern "C" cusparseStatus_t cusparseSpSV_updateMatrix(cusparseHandle_t handle, cusparseSpSVDescr_t descr, void *values, cusparseSpSVUpdate_t part) {
  CUMETAL_NEED_HANDLE(handle);
  CUMETAL_NEED(descr && values);
  if (part != CUSPARSE_SPSV_UPDATE_GENERAL) return CUSPARSE_STATUS_NOT_SUPPORTED;
  descr->values = values;
  return CUSPARSE_STATUS_SUCCESS;
}
extern "C" cusparseStatus_t cusparseSpSV_solve(cusparseHandle_t handle, cusparseOperation_t op, const void *alpha, cusparseConstSpMatDescr_t m,
                                               cusparseConstDnVecDescr_t x, cusparseDnVecDescr_t y, cudaDataType type, cusparseSpSVAlg_t,
                                               cusparseSpSVDescr_t descr) {
  CUMETAL_NEED_HANDLE(handle);
  CUMETAL_NEED(alpha && m && x && y && descr && x->size == m->rows && y->size == m->rows);
  if (type != m->type || type != x->type || type != y->type) return CUSPARSE_STATUS_NOT_SUPPORTED;
  cusparseSpMatDescr matrix = *m;
  if (descr->values) matrix.values = descr->values;
  return byType(type, [&](auto zero) {
    typedef decltype(zero) T;
    Rows<T> a;
    bool isUpper;
    T factor;
    std::vector<T> values;
    CUMETAL_TRY(operand(handle, op, matrix, a, &isUpper));
    CUMETAL_TRY(fetchScalar(handle, alpha, factor));
    CUMETAL_TRY(fetch(handle, values, x->values, x->size));
    for (T &v : values) v = factor * v;
    solve(a, isUpper, m->diag == CUSPARSE_DIAG_TYPE_UNIT, values.data(), 1);
    return put(handle, values, y->values);
  });
}

extern "C" cusparseStatus_t cusparseSpSM_bufferSize(cusparseHandle_t handle, cusparseOperation_t, cusparseOperation_t, const void *,
                                                    cusparseConstSpMatDescr_t, cusparseConstDnMatDescr_t, cusparseDnMatDescr_t, cudaDataType,
                                                    cusparseSpSMAlg_t, cusparseSpSMDescr_t, size_t *bytes) {
  CUMETAL_NEED_HANDLE(handle);
  CUMETAL_NEED(bytes);
  *bytes = 8;
  return CUSPARSE_STATUS_SUCCESS;
}
extern "C" cusparseStatus_t cusparseSpSM_analysis(cusparseHandle_t handle, cusparseOperation_t, cusparseOperation_t, const void *,
                                                  cusparseConstSpMatDescr_t, cusparseConstDnMatDescr_t, cusparseDnMatDescr_t, cudaDataType,
                                                  cusparseSpSMAlg_t, cusparseSpSMDescr_t, void *) {
  CUMETAL_NEED_HANDLE(handle);
  return CUSPARSE_STATUS_SUCCESS;
}
extern "C" cusparseStatus_t cusparseSpSM_solve(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB, const void *alpha,
                                               cusparseConstSpMatDescr_t m, cusparseConstDnMatDescr_t b, cusparseDnMatDescr_t c, cudaDataType type,
                                               cusparseSpSMAlg_t, cusparseSpSMDescr_t) {
  CUMETAL_NEED_HANDLE(handle);
  CUMETAL_NEED(alpha && m && b && c && c->rows == m->rows && (isPlain(opB) ? b->rows : b->columns) == c->rows &&
               (isPlain(opB) ? b->columns : b->rows) == c->columns);
  if (type != m->type || type != b->type || type != c->type) return CUSPARSE_STATUS_NOT_SUPPORTED;
  return byType(type, [&](auto zero) {
    typedef decltype(zero) T;
    Rows<T> a;
    bool isUpper;
    T factor;
    CUMETAL_TRY(operand(handle, opA, *m, a, &isUpper));
    CUMETAL_TRY(fetchScalar(handle, alpha, factor));
    const bool isFrom = (b->order == CUSPARSE_ORDER_COL) == isPlain(opB), isTo = c->order == CUSPARSE_ORDER_COL;
    std::vector<T> from, to;
    CUMETAL_TRY(fetch(handle, from, b->values, b->ld * (b->order == CUSPARSE_ORDER_COL ? b->columns : b->rows)));
    CUMETAL_TRY(fetch(handle, to, c->values, c->ld * (isTo ? c->columns : c->rows)));
    for (long long column = 0; column < c->columns; column++) {
      T *x = to.data() + (isTo ? column * c->ld : column);
      const long long step = isTo ? 1 : c->ld;
      for (long long r = 0; r < c->rows; r++) {
        const T v = from[isFrom ? r + column * b->ld : r * b->ld + column];
        x[r * step] = factor * (opB == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE ? conj(v) : v);
      }
      solve(a, isUpper, m->diag == CUSPARSE_DIAG_TYPE_UNIT, x, step);
    }
    return put(handle, to, c->values);
  });
}

/** C = alpha·A·B by rows: products of a row are added up in a row of all columns. Source: F. Gustavson, "Two fast algorithms for sparse matrices". */
template <class T>
static Rows<T> multiplied(const Rows<T> &a, const Rows<T> &b, T alpha) {
  Rows<T> c = {a.rows, b.columns, {0}, {}, {}};
  std::vector<T> sums(b.columns, T(0));
  std::vector<bool> isThere(b.columns);
  std::vector<long long> found;
  for (long long r = 0; r < a.rows; r++) {
    found.clear();
    for (long long e = a.offsets[r]; e < a.offsets[r + 1]; e++) {
      const long long k = a.indices[e];
      for (long long f = b.offsets[k]; f < b.offsets[k + 1]; f++) {
        const long long column = b.indices[f];
        if (!isThere[column]) found.push_back(column);
        isThere[column] = true;
        sums[column] = sums[column] + a.values[e] * b.values[f];
      }
    }
    std::sort(found.begin(), found.end());
    for (long long column : found) {
      c.indices.push_back(column);
      c.values.push_back(alpha * sums[column]);
      sums[column] = T(0);
      isThere[column] = false;
    }
    c.offsets.push_back((long long)c.indices.size());
  }
  return c;
}

extern "C" cusparseStatus_t cusparseSpGEMM_workEstimation(cusparseHandle_t handle, cusparseOperation_t, cusparseOperation_t, const void *,
                                                          cusparseConstSpMatDescr_t, cusparseConstSpMatDescr_t, const void *, cusparseSpMatDescr_t,
                                                          cudaDataType, cusparseSpGEMMAlg_t, cusparseSpGEMMDescr_t descr, size_t *bytes, void *buffer) {
  CUMETAL_NEED_HANDLE(handle);
  CUMETAL_NEED(descr && bytes);
  if (!buffer) *bytes = 8;
  return CUSPARSE_STATUS_SUCCESS;
}
extern "C" cusparseStatus_t cusparseSpGEMM_compute(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB, const void *alpha,
                                                   cusparseConstSpMatDescr_t a, cusparseConstSpMatDescr_t b, const void *, cusparseSpMatDescr_t c,
                                                   cudaDataType type, cusparseSpGEMMAlg_t, cusparseSpGEMMDescr_t descr, size_t *bytes, void *buffer) {
  CUMETAL_NEED_HANDLE(handle);
  CUMETAL_NEED(alpha && a && b && c && descr && bytes && a->columns == b->rows && c->rows == a->rows && c->columns == b->columns);
  if (!isPlain(opA) || !isPlain(opB) || type != a->type || type != b->type || type != c->type) return CUSPARSE_STATUS_NOT_SUPPORTED;
  if (!buffer) {
    *bytes = 8;
    return CUSPARSE_STATUS_SUCCESS;
  }
  return byType(type, [&](auto zero) {
    typedef decltype(zero) T;
    Rows<T> x, y;
    T factor;
    CUMETAL_TRY(fetchRows(handle, *a, x));
    CUMETAL_TRY(fetchRows(handle, *b, y));
    CUMETAL_TRY(fetchScalar(handle, alpha, factor));
    Rows<T> product = multiplied(x, y, factor);
    c->nnz = (long long)product.indices.size();
    descr->offsets = std::move(product.offsets);
    descr->indices = std::move(product.indices);
    const char *first = reinterpret_cast<const char *>(product.values.data());
    descr->values.assign(first, first + product.values.size() * sizeof(T));
    return CUSPARSE_STATUS_SUCCESS;
  });
}
extern "C" cusparseStatus_t cusparseSpGEMM_copy(cusparseHandle_t handle, cusparseOperation_t, cusparseOperation_t, const void *,
                                                cusparseConstSpMatDescr_t, cusparseConstSpMatDescr_t, const void *beta, cusparseSpMatDescr_t c,
                                                cudaDataType type, cusparseSpGEMMAlg_t, cusparseSpGEMMDescr_t descr) {
  CUMETAL_NEED_HANDLE(handle);
  CUMETAL_NEED(beta && c && descr && c->nnz == (long long)descr->indices.size());
  if (c->format != CUSPARSE_FORMAT_CSR || type != c->type) return CUSPARSE_STATUS_NOT_SUPPORTED;
  return byType(type, [&](auto zero) {
    typedef decltype(zero) T;
    T old;
    CUMETAL_TRY(fetchScalar(handle, beta, old));
    std::vector<T> values(descr->indices.size());
    std::copy(descr->values.begin(), descr->values.end(), reinterpret_cast<char *>(values.data()));
    if (old != T(0)) {
      // C has the places of the product already.
      std::vector<T> before;
      CUMETAL_TRY(fetch(handle, before, c->values, values.size()));
      for (size_t i = 0; i < values.size(); i++) values[i] = values[i] + old * before[i];
    }
    CUMETAL_TRY(putIndices(handle, descr->offsets, c->offsets, c->offsetType == CUSPARSE_INDEX_64I, int(c->base)));
    CUMETAL_TRY(putIndices(handle, descr->indices, c->indices, c->indexType == CUSPARSE_INDEX_64I, int(c->base)));
    return put(handle, values, c->values);
  });
}

/** Where the first pivot was zero, or -1. */
struct csrilu02Info {
  int pivot;
};
struct csric02Info {
  int pivot;
};

/** L and U in the places of A. Source: Y. Saad, "Iterative Methods for Sparse Linear Systems", algorithm 10.4. */
template <class T>
static int factorILU(Rows<T> &a) {
  int zero = -1;
  std::vector<long long> place(a.columns, -1), diagonal(a.rows, -1);
  for (long long r = 0; r < a.rows; r++)
    for (long long e = a.offsets[r]; e < a.offsets[r + 1]; e++)
      if (a.indices[e] == r) diagonal[r] = e;
  for (long long r = 0; r < a.rows; r++) {
    for (long long e = a.offsets[r]; e < a.offsets[r + 1]; e++) place[a.indices[e]] = e;
    for (long long e = a.offsets[r]; e < a.offsets[r + 1] && a.indices[e] < r; e++) {
      const long long k = a.indices[e];
      if (diagonal[k] < 0) continue;
      a.values[e] = a.values[e] / a.values[diagonal[k]];
      for (long long f = diagonal[k] + 1; f < a.offsets[k + 1]; f++)
        if (place[a.indices[f]] >= 0) a.values[place[a.indices[f]]] -= a.values[e] * a.values[f];
    }
    if (zero < 0 && (diagonal[r] < 0 || a.values[diagonal[r]] == T(0))) zero = int(r);
    for (long long e = a.offsets[r]; e < a.offsets[r + 1]; e++) place[a.indices[e]] = -1;
  }
  return zero;
}
/** L in the places of the lower triangle of A. */
template <class T>
static int factorIC(Rows<T> &a) {
  int zero = -1;
  std::vector<T> row(a.columns, T(0));
  std::vector<long long> diagonal(a.rows, -1);
  for (long long r = 0; r < a.rows; r++) {
    T sum = T(0);
    for (long long e = a.offsets[r]; e < a.offsets[r + 1] && a.indices[e] <= r; e++) {
      const long long k = a.indices[e];
      T v = a.values[e];
      if (k == r) {
        diagonal[r] = e;
        const RealOf<T> square = realOf(v - sum);
        if (!(square > 0) && zero < 0) zero = int(r);
        a.values[e] = T(root(square));
        continue;
      }
      for (long long f = a.offsets[k]; f < a.offsets[k + 1] && a.indices[f] < k; f++) v -= row[a.indices[f]] * conj(a.values[f]);
      if (diagonal[k] >= 0) v = v / a.values[diagonal[k]];
      a.values[e] = row[k] = v;
      sum += v * conj(v);
    }
    if (diagonal[r] < 0 && zero < 0) zero = int(r);
    for (long long e = a.offsets[r]; e < a.offsets[r + 1]; e++) row[a.indices[e]] = T(0);
  }
  return zero;
}

template <class T, class Outer, class Factor>
static cusparseStatus_t incomplete(cusparseHandle_t handle, int m, int nnz, const cusparseMatDescr_t descr, Outer *values, const int *offsets,
                                   const int *indices, int *pivot, Factor factor) {
  CUMETAL_NEED_HANDLE(handle);
  CUMETAL_NEED(m >= 0 && nnz >= 0 && descr && pivot);
  const int base = int(descr->base);
  Rows<T> a = {m, m, {}, {}, {}};
  CUMETAL_TRY(fetchIndices(handle, a.offsets, offsets, m + 1, false, base));
  CUMETAL_TRY(fetchIndices(handle, a.indices, indices, nnz, false, base));
  CUMETAL_TRY(fetch(handle, a.values, values, nnz));
  const int zero = factor(a);
  *pivot = zero < 0 ? -1 : zero + base;
  return put(handle, a.values, values);
}
#define CUMETAL_INCOMPLETE(L, T, Outer, name, factor)                                                                                              \
  extern "C" cusparseStatus_t cusparse##L##name##_bufferSize(cusparseHandle_t handle, int, int, const cusparseMatDescr_t, Outer *, const int *,    \
                                                             const int *, name##Info_t, int *bytes) {                                              \
    CUMETAL_NEED_HANDLE(handle);                                                                                                                   \
    CUMETAL_NEED(bytes);                                                                                                                           \
    *bytes = 8;                                                                                                                                    \
    return CUSPARSE_STATUS_SUCCESS;                                                                                                                \
  }                                                                                                                                                \
  extern "C" cusparseStatus_t cusparse##L##name##_analysis(cusparseHandle_t handle, int, int, const cusparseMatDescr_t, const Outer *,             \
                                                           const int *, const int *, name##Info_t info, cusparseSolvePolicy_t, void *) {           \
    CUMETAL_NEED_HANDLE(handle);                                                                                                                   \
    CUMETAL_NEED(info);                                                                                                                            \
    info->pivot = -1;                                                                                                                              \
    return CUSPARSE_STATUS_SUCCESS;                                                                                                                \
  }                                                                                                                                                \
  extern "C" cusparseStatus_t cusparse##L##name(cusparseHandle_t handle, int m, int nnz, const cusparseMatDescr_t descr, Outer *values,            \
                                                const int *offsets, const int *indices, name##Info_t info, cusparseSolvePolicy_t, void *) {        \
    CUMETAL_NEED(info);                                                                                                                            \
    return incomplete<T>(handle, m, nnz, descr, values, offsets, indices, &info->pivot, [](Rows<T> &a) { return factor(a); });                     \
  }
#define CUMETAL_INCOMPLETES(name, Name, factor)                                                                      \
  CUMETAL_INCOMPLETE(S, float, float, name, factor)                                                                  \
  CUMETAL_INCOMPLETE(D, double, double, name, factor)                                                                \
  CUMETAL_INCOMPLETE(C, Complex<float>, cuComplex, name, factor)                                                     \
  CUMETAL_INCOMPLETE(Z, Complex<double>, cuDoubleComplex, name, factor)                                              \
  extern "C" cusparseStatus_t cusparseCreate##Name##Info(name##Info_t *to) {                                         \
    CUMETAL_NEED(to);                                                                                                \
    *to = new name##Info{-1};                                                                                        \
    return CUSPARSE_STATUS_SUCCESS;                                                                                  \
  }                                                                                                                  \
  extern "C" cusparseStatus_t cusparseDestroy##Name##Info(name##Info_t info) {                                       \
    delete info;                                                                                                     \
    return CUSPARSE_STATUS_SUCCESS;                                                                                  \
  }                                                                                                                  \
  extern "C" cusparseStatus_t cusparseX##name##_zeroPivot(cusparseHandle_t handle, name##Info_t info, int *position) { \
    CUMETAL_NEED_HANDLE(handle);                                                                                     \
    CUMETAL_NEED(info && position);                                                                                  \
    *position = info->pivot;                                                                                         \
    return info->pivot < 0 ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_ZERO_PIVOT;                                   \
  }
CUMETAL_INCOMPLETES(csrilu02, Csrilu02, factorILU)
CUMETAL_INCOMPLETES(csric02, Csric02, factorIC)
