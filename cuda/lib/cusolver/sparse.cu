// Solvers of sparse matrices of one type, in one call and in steps. Matrices of the device come to the host, where they are factored. Source:
// cuSOLVER Library, "cuSolverSP High Level Function Reference".
#include "../common/types.h"

#include <cusolverSp_LOWLEVEL_PREVIEW.h>

#include "sparse-info.h"
#include "sparse.h"

using namespace cumetal;

#define CUSOLVER(name) CUMETAL_JOIN(cusolverSp, CUMETAL_LETTER, name)
#define CUMETAL_TEXT2(word) #word
#define CUMETAL_TEXT(word) CUMETAL_TEXT2(word)
/** The letter of the type as a character. */
static const char ownType = CUMETAL_TEXT(CUMETAL_LETTER)[0];

namespace {

/** Bytes of working memory that programs are told to bring: none is needed, and some of them stop at a size of zero. */
const size_t workBytes = 512;

typedef Given<T> Source;

Source sourceOf(cusolverSpHandle_t handle, Place place, int m, int n, int nnz, cusparseMatDescr_t description, const Outer *values,
                const int *offsets, const int *indices) {
  return {handle, place, m, n, nnz, description, inner(values), offsets, indices};
}

/** The matrix with rows and columns in another order. */
Columns<T> ordered(const Columns<T> &a, const Ints &order) {
  Ints place(order.size());
  for (size_t i = 0; i < order.size(); i++) place[order[i]] = int(i);
  Columns<T> to = {a.rows, a.columns, {0}, {}, {}};
  for (int from : order) {
    for (int e = a.offsets[from]; e < a.offsets[from + 1]; e++) to.add(place[a.indices[e]], a.values[e]);
    to.end();
  }
  return to;
}

/** Solves a system of a matrix by rows; the place of the first pivot that is too small, or -1. */
int solved(Cholesky<T> &&f, const Columns<T> &a, Real bound, std::vector<T> &x) {
  f.factor(a);
  const int place = firstSmall(f.diagonal, bound);
  if (place < 0) f.solve(x);
  return place;
}
int solved(Lu<T> &&f, const Columns<T> &a, Real bound, std::vector<T> &x) {
  f.factor(transposed(a), 1);
  const int place = firstSmall(f.diagonal, bound);
  if (place < 0) f.solve(x);
  return place;
}
int solved(Qr<T> &&f, const Columns<T> &a, Real bound, std::vector<T> &x) {
  f.factor(transposed(a));
  const int place = firstSmall(f.diagonal, bound);
  if (place < 0) x = f.solve(x);
  return place;
}

template <class Factors>
cusolverStatus_t solve(const Source &source, const Outer *b, Real bound, int reorder, Outer *x, int *singularity) {
  CUMETAL_NEED(source.values && singularity && reorder >= 0 && reorder <= 3);
  Columns<T> a;
  CUMETAL_TRY(fetchRows(source, a));
  std::vector<T> given;
  CUMETAL_TRY(fetch(source.handle->stream, source.place, given, inner(b), source.rows));
  Ints order(source.rows);
  std::iota(order.begin(), order.end(), 0);
  if (reorder > 0) {
    const std::vector<Ints> graph = graphOf(source.rows, a.offsets, a.indices);
    order = reorder == 1 ? reverseCuthillMcKee(graph) : minimumDegree(graph);
    a = ordered(a, order);
  }
  std::vector<T> y(source.rows), to(source.rows);
  for (int i = 0; i < source.rows; i++) y[i] = given[order[i]];
  *singularity = solved(Factors(), a, bound, y);
  if (*singularity >= 0) {
    *singularity = order[*singularity];
    return CUSOLVER_STATUS_SUCCESS;
  }
  for (int i = 0; i < source.rows; i++) to[order[i]] = y[i];
  return put(source.handle->stream, source.place, to, inner(x));
}

#define CUMETAL_SOLVER(name, Factors, place)                                                                                                    \
  extern "C" cusolverStatus_t CUSOLVER(name)(cusolverSpHandle_t handle, int n, int nnz, const cusparseMatDescr_t description,                   \
                                             const Outer *values, const int *offsets, const int *indices, const Outer *b, OuterReal bound,       \
                                             int reorder, Outer *x, int *singularity) {                                                          \
    return solve<Factors>(sourceOf(handle, place, n, n, nnz, description, values, offsets, indices), b, bound, reorder, x, singularity);         \
  }

/** The factors that an object has of this type; null if there are none. */
template <class Factors>
Factors *heldBy(Held *held) {
  typedef HeldFactors<Factors> Own;
  return held && held->type == ownType ? &static_cast<Own *>(held)->factors : nullptr;
}
template <class Factors, class Info>
Factors &hold(Info *info) {
  auto *held = new HeldFactors<Factors>(ownType);
  info->held.reset(held);
  return held->factors;
}
template <class Factors, class Info>
cusolverStatus_t zeroPivot(cusolverSpHandle_t handle, Info *info, Real bound, int *position) {
  CUMETAL_NEED_HANDLE(handle);
  CUMETAL_NEED(info && position && heldBy<Factors>(info->held.get()));
  *position = firstSmall(heldBy<Factors>(info->held.get())->diagonal, bound);
  return CUSOLVER_STATUS_SUCCESS;
}
template <class Info>
cusolverStatus_t bufferInfo(const Source &source, Info *info, size_t *internal, size_t *work) {
  CUMETAL_NEED_HANDLE(source.handle);
  CUMETAL_NEED(info && internal && work);
  *internal = size_t(source.nnz) * (sizeof(T) + sizeof(int));
  *work = workBytes;
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cholFactor(const Source &source, CsrInfo *info) {
  CUMETAL_NEED(info && source.values);
  Columns<T> a;
  CUMETAL_TRY(fetchRows(source, a));
  hold<Cholesky<T>>(info).factor(a);
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cholSolve(cusolverSpHandle_t handle, Place place, int n, const Outer *b, Outer *x, CsrInfo *info) {
  CUMETAL_NEED_HANDLE(handle);
  const auto *factors = info ? heldBy<Cholesky<T>>(info->held.get()) : nullptr;
  CUMETAL_NEED(factors && factors->l.columns == n);
  std::vector<T> y;
  CUMETAL_TRY(fetch(handle->stream, place, y, inner(b), n));
  factors->solve(y);
  return put(handle->stream, place, y, inner(x));
}
/** Keeps A - mu·I, which is factored later. */
cusolverStatus_t qrSetup(const Source &source, T mu, CsrInfo *info) {
  CUMETAL_NEED(info && source.values);
  if (source.rows < source.columns) return CUSOLVER_STATUS_NOT_SUPPORTED;
  Columns<T> a;
  CUMETAL_TRY(fetchRows(source, a));
  a = transposed(a);
  if (mu != T(0)) {
    Columns<T> shifted = {a.rows, a.columns, {0}, {}, {}};
    for (int c = 0; c < a.columns; c++) {
      for (int e = a.offsets[c]; e < a.offsets[c + 1]; e++) shifted.add(a.indices[e], a.values[e]);
      shifted.add(c, -mu);
      shifted.end();
    }
    a = shifted;
  }
  hold<Prepared<T>>(info).matrix = a;
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t qrSolve(cusolverSpHandle_t handle, Place place, int m, int n, Outer *b, Outer *x, CsrInfo *info) {
  CUMETAL_NEED_HANDLE(handle);
  const auto *prepared = info ? heldBy<Prepared<T>>(info->held.get()) : nullptr;
  CUMETAL_NEED(prepared && prepared->isFactored && prepared->matrix.rows == m && prepared->matrix.columns == n);
  std::vector<T> y;
  CUMETAL_TRY(fetch(handle->stream, place, y, inner(b), m));
  return put(handle->stream, place, prepared->factors.solve(y), inner(x));
}
cusolverStatus_t qrFactor(cusolverSpHandle_t handle, Place place, int m, int n, Outer *b, Outer *x, CsrInfo *info) {
  CUMETAL_NEED_HANDLE(handle);
  auto *prepared = info ? heldBy<Prepared<T>>(info->held.get()) : nullptr;
  CUMETAL_NEED(prepared && prepared->matrix.rows == m && prepared->matrix.columns == n);
  prepared->factors.factor(prepared->matrix);
  prepared->diagonal = prepared->factors.diagonal;
  prepared->isFactored = true;
  return b && x ? qrSolve(handle, place, m, n, b, x, info) : CUSOLVER_STATUS_SUCCESS;
}
/** Writes a matrix by rows. */
void write(const Columns<T> &byRows, int base, Outer *values, int *offsets, int *indices) {
  for (int r = 0; r <= byRows.columns; r++) offsets[r] = byRows.offsets[r] + base;
  for (size_t e = 0; e < byRows.indices.size(); e++) indices[e] = byRows.indices[e] + base;
  std::copy(byRows.values.begin(), byRows.values.end(), inner(values));
}

}  // namespace

CUMETAL_SOLVER(csrlsvluHost, Lu<T>, onHost)
CUMETAL_SOLVER(csrlsvqr, Qr<T>, onDevice)
CUMETAL_SOLVER(csrlsvqrHost, Qr<T>, onHost)
CUMETAL_SOLVER(csrlsvchol, Cholesky<T>, onDevice)
CUMETAL_SOLVER(csrlsvcholHost, Cholesky<T>, onHost)

extern "C" cusolverStatus_t CUSOLVER(csrluBufferInfoHost)(cusolverSpHandle_t handle, int n, int nnz, const cusparseMatDescr_t description,
                                                          const Outer *values, const int *offsets, const int *indices, csrluInfoHost_t info,
                                                          size_t *internal, size_t *work) {
  return bufferInfo(sourceOf(handle, onHost, n, n, nnz, description, values, offsets, indices), info, internal, work);
}
extern "C" cusolverStatus_t CUSOLVER(csrluFactorHost)(cusolverSpHandle_t handle, int n, int nnz, const cusparseMatDescr_t description,
                                                      const Outer *values, const int *offsets, const int *indices, csrluInfoHost_t info,
                                                      OuterReal threshold, void *) {
  CUMETAL_NEED(info && values && threshold >= 0 && threshold <= 1);
  Columns<T> a;
  CUMETAL_TRY(fetchRows(sourceOf(handle, onHost, n, n, nnz, description, values, offsets, indices), a));
  Lu<T> &factors = hold<Lu<T>>(info);
  factors.factor(transposed(a), threshold);
  info->nnzL = int(factors.l.indices.size());
  info->nnzU = int(factors.u.indices.size()) + n;
  return CUSOLVER_STATUS_SUCCESS;
}
extern "C" cusolverStatus_t CUSOLVER(csrluZeroPivotHost)(cusolverSpHandle_t handle, csrluInfoHost_t info, OuterReal bound, int *position) {
  return zeroPivot<Lu<T>>(handle, info, bound, position);
}
extern "C" cusolverStatus_t CUSOLVER(csrluSolveHost)(cusolverSpHandle_t handle, int n, const Outer *b, Outer *x, csrluInfoHost_t info, void *) {
  CUMETAL_NEED_HANDLE(handle);
  const auto *factors = info ? heldBy<Lu<T>>(info->held.get()) : nullptr;
  CUMETAL_NEED(factors && factors->l.columns == n && b && x);
  std::vector<T> y(inner(b), inner(b) + n);
  factors->solve(y);
  return put(handle->stream, onHost, y, inner(x));
}
extern "C" cusolverStatus_t CUSOLVER(csrluExtractHost)(cusolverSpHandle_t handle, int *p, int *q, const cusparseMatDescr_t descriptionL,
                                                       Outer *valuesL, int *offsetsL, int *indicesL, const cusparseMatDescr_t descriptionU,
                                                       Outer *valuesU, int *offsetsU, int *indicesU, csrluInfoHost_t info, void *) {
  CUMETAL_NEED_HANDLE(handle);
  const auto *factors = info ? heldBy<Lu<T>>(info->held.get()) : nullptr;
  CUMETAL_NEED(factors && p && q && descriptionL && descriptionU && offsetsL && offsetsU);
  const int n = factors->l.columns;
  std::copy(factors->rows.begin(), factors->rows.end(), p);
  std::iota(q, q + n, 0);
  Columns<T> u = {n, n, {0}, {}, {}};
  for (int c = 0; c < n; c++) {
    for (int e = factors->u.offsets[c]; e < factors->u.offsets[c + 1]; e++) u.add(factors->u.indices[e], factors->u.values[e]);
    u.add(c, factors->diagonal[c]);
    u.end();
  }
  write(transposed(factors->l), int(cusparseGetMatIndexBase(descriptionL)), valuesL, offsetsL, indicesL);
  write(transposed(u), int(cusparseGetMatIndexBase(descriptionU)), valuesU, offsetsU, indicesU);
  return CUSOLVER_STATUS_SUCCESS;
}

/** The steps of QR and of Cholesky, with matrices and vectors of the host and of the device. */
#define CUMETAL_STEPS(End, place)                                                                                                               \
  extern "C" cusolverStatus_t CUSOLVER(csrqrBufferInfo##End)(cusolverSpHandle_t handle, int m, int n, int nnz, const cusparseMatDescr_t d,      \
                                                             const Outer *values, const int *offsets, const int *indices,                       \
                                                             csrqrInfo##End##_t info, size_t *internal, size_t *work) {                         \
    return bufferInfo(sourceOf(handle, place, m, n, nnz, d, values, offsets, indices), info, internal, work);                                   \
  }                                                                                                                                             \
  extern "C" cusolverStatus_t CUSOLVER(csrqrSetup##End)(cusolverSpHandle_t handle, int m, int n, int nnz, const cusparseMatDescr_t d,           \
                                                        const Outer *values, const int *offsets, const int *indices, Outer mu,                  \
                                                        csrqrInfo##End##_t info) {                                                              \
    return qrSetup(sourceOf(handle, place, m, n, nnz, d, values, offsets, indices), *inner(&mu), info);                                         \
  }                                                                                                                                             \
  extern "C" cusolverStatus_t CUSOLVER(csrqrFactor##End)(cusolverSpHandle_t handle, int m, int n, int, Outer *b, Outer *x,                      \
                                                         csrqrInfo##End##_t info, void *) {                                                     \
    return qrFactor(handle, place, m, n, b, x, info);                                                                                           \
  }                                                                                                                                             \
  extern "C" cusolverStatus_t CUSOLVER(csrqrZeroPivot##End)(cusolverSpHandle_t handle, csrqrInfo##End##_t info, OuterReal bound,                \
                                                            int *position) {                                                                    \
    return zeroPivot<Prepared<T>>(handle, info, bound, position);                                                                               \
  }                                                                                                                                             \
  extern "C" cusolverStatus_t CUSOLVER(csrqrSolve##End)(cusolverSpHandle_t handle, int m, int n, Outer *b, Outer *x, csrqrInfo##End##_t info,   \
                                                        void *) {                                                                               \
    return qrSolve(handle, place, m, n, b, x, info);                                                                                            \
  }                                                                                                                                             \
  extern "C" cusolverStatus_t CUSOLVER(csrcholBufferInfo##End)(cusolverSpHandle_t handle, int n, int nnz, const cusparseMatDescr_t d,           \
                                                               const Outer *values, const int *offsets, const int *indices,                     \
                                                               csrcholInfo##End##_t info, size_t *internal, size_t *work) {                     \
    return bufferInfo(sourceOf(handle, place, n, n, nnz, d, values, offsets, indices), info, internal, work);                                   \
  }                                                                                                                                             \
  extern "C" cusolverStatus_t CUSOLVER(csrcholFactor##End)(cusolverSpHandle_t handle, int n, int nnz, const cusparseMatDescr_t d,               \
                                                           const Outer *values, const int *offsets, const int *indices,                         \
                                                           csrcholInfo##End##_t info, void *) {                                                 \
    return cholFactor(sourceOf(handle, place, n, n, nnz, d, values, offsets, indices), info);                                                   \
  }                                                                                                                                             \
  extern "C" cusolverStatus_t CUSOLVER(csrcholZeroPivot##End)(cusolverSpHandle_t handle, csrcholInfo##End##_t info, OuterReal bound,            \
                                                              int *position) {                                                                  \
    return zeroPivot<Cholesky<T>>(handle, info, bound, position);                                                                               \
  }                                                                                                                                             \
  extern "C" cusolverStatus_t CUSOLVER(csrcholSolve##End)(cusolverSpHandle_t handle, int n, const Outer *b, Outer *x,                           \
                                                          csrcholInfo##End##_t info, void *) {                                                  \
    return cholSolve(handle, place, n, b, x, info);                                                                                             \
  }
CUMETAL_STEPS(Host, onHost)
CUMETAL_STEPS(, onDevice)
