// Products, samples and conversions of sparse matrices of one type. A matrix by columns is the transposed one by rows.
// Source: cuSPARSE Library, "Generic API functions".
#include "../common/types.h"
#include "context.h"

using namespace cumetal;

static const int threads = 128;
static unsigned blocksFor(long long n) {
  const long long blocks = (n + threads - 1) / threads;
  return unsigned(blocks < 1 ? 1 : blocks > 65535 ? 65535 : blocks);
}
#define EACH(i, n) for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < (n); i += (long long)gridDim.x * blockDim.x)

/** A scalar of the host, or a pointer to one of the device. */
struct Factor {
  T value;
  const T *pointer;
  __device__ T get() const { return pointer ? *pointer : value; }
};
static Factor factorOf(const Call &call, const void *p) {
  const T *own = static_cast<const T *>(p);
  if (call.handle->pointerMode == CUSPARSE_POINTER_MODE_DEVICE) return {T(), own};
  return {*own, nullptr};
}

/** A dense matrix: element (row, column) is in two steps. */
struct Dense {
  T *p;
  long long rowStep, columnStep, batch;
  bool isConjugated;
  __device__ T &at(long long row, long long column, int b) const { return p[row * rowStep + column * columnStep + b * batch]; }
  __device__ T get(long long row, long long column, int b) const {
    const T v = at(row, column, b);
    return isConjugated ? conj(v) : v;
  }
};
static Dense denseOf(const cusparseDnMatDescr &m, cusparseOperation_t op = CUSPARSE_OPERATION_NON_TRANSPOSE) {
  const bool isByColumns = (m.order == CUSPARSE_ORDER_COL) == isPlain(op);
  return {static_cast<T *>(m.values), isByColumns ? 1 : m.ld, isByColumns ? m.ld : 1, m.batches > 1 ? m.batch : 0, op == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE};
}

/** A sparse matrix: lists of entries by rows, or an entry with its row. */
struct Sparse {
  Indices offsets, indices;
  T *values;
  long long lists, nnz;
  bool isCoordinates;
  /** Whether lists are columns of the operand. */
  bool isTransposed, isConjugated;
  long long offsetsBatch, valuesBatch;
  __device__ T value(long long i, int b) const {
    const T v = values[i + b * valuesBatch];
    return isConjugated ? conj(v) : v;
  }
};
static Sparse sparseOf(const cusparseSpMatDescr &m, cusparseOperation_t op) {
  const bool isByColumns = m.format == CUSPARSE_FORMAT_CSC;
  return {offsetsOf(m),
          indicesOf(m),
          static_cast<T *>(m.values),
          isByColumns ? m.columns : m.rows,
          m.nnz,
          m.format == CUSPARSE_FORMAT_COO,
          isByColumns == isPlain(op),
          op == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE,
          m.batches > 1 ? m.offsetsBatch : 0,
          m.batches > 1 ? m.valuesBatch : 0};
}

static __device__ void addTo(float *to, float v) { atomicAdd(to, v); }
static __device__ void addTo(double *to, double v) { atomicAdd(to, v); }
template <class R>
static __device__ void addTo(Complex<R> *to, Complex<R> v) {
  addTo(&to->re, v.re);
  addTo(&to->im, v.im);
}

/** C = beta·C. */
static __global__ void scaleKernel(long long rows, long long columns, Dense c, Factor beta) {
  const T factor = beta.get();
  const int b = blockIdx.y;
  EACH(i, rows * columns) {
    T &to = c.at(i % rows, i / rows, b);
    to = factor == T(0) ? T(0) : factor * to;
  }
}

/** C = alpha·A·B + beta·C, a thread for an element, with lists that are rows of A. */
static __global__ void gatherKernel(long long columns, Sparse a, Dense x, Dense c, Factor alpha, Factor beta) {
  const T factor = alpha.get(), old = beta.get();
  const int b = blockIdx.y;
  EACH(i, a.lists * columns) {
    const long long row = i % a.lists, column = i / a.lists;
    const long long from = a.offsets.at(row + b * a.offsetsBatch), to = a.offsets.at(row + 1 + b * a.offsetsBatch);
    T sum = T(0);
    for (long long e = from; e < to; e++) sum += a.value(e, b) * x.get(a.indices.at(e + b * a.valuesBatch), column, b);
    sum = factor * sum;
    T &place = c.at(row, column, b);
    place = old == T(0) ? sum : sum + old * place;
  }
}
/** C += alpha·A·B, with lists that are columns of A, or with entries. */
static __global__ void scatterKernel(long long columns, Sparse a, Dense x, Dense c, Factor alpha) {
  const T factor = alpha.get();
  const int b = blockIdx.y;
  const long long count = a.isCoordinates ? a.nnz : a.lists;
  EACH(i, count * columns) {
    const long long list = i % count, column = i / count;
    long long from = list, to = list + 1, own = list;
    if (a.isCoordinates) {
      own = a.offsets.at(list);
    } else {
      from = a.offsets.at(list + b * a.offsetsBatch);
      to = a.offsets.at(list + 1 + b * a.offsetsBatch);
    }
    for (long long e = from; e < to; e++) {
      const long long other = a.indices.at(e + b * a.valuesBatch);
      const long long row = a.isTransposed ? other : own, middle = a.isTransposed ? own : other;
      addTo(&c.at(row, column, b), factor * a.value(e, b) * x.get(middle, column, b));
    }
  }
}

static cusparseStatus_t product(const Call &call, const Sparse &a, const Dense &x, const Dense &c, long long rows, long long columns, int batches) {
  const Factor alpha = factorOf(call, call.alpha), beta = factorOf(call, call.beta);
  const cudaStream_t stream = call.handle->stream;
  if (rows == 0 || columns == 0) return CUSPARSE_STATUS_SUCCESS;
  if (!a.isTransposed && !a.isCoordinates) {
    gatherKernel<<<dim3(blocksFor(a.lists * columns), batches), threads, 0, stream>>>(columns, a, x, c, alpha, beta);
    return launched();
  }
  scaleKernel<<<dim3(blocksFor(rows * columns), batches), threads, 0, stream>>>(rows, columns, c, beta);
  const long long count = a.isCoordinates ? a.nnz : a.lists;
  if (count > 0) scatterKernel<<<dim3(blocksFor(count * columns), batches), threads, 0, stream>>>(columns, a, x, c, alpha);
  return launched();
}

static cusparseStatus_t spmv(const Call &call) {
  const cusparseSpMatDescr &m = *call.sparse;
  const long long rows = isPlain(call.opA) ? m.rows : m.columns, columns = isPlain(call.opA) ? m.columns : m.rows;
  CUMETAL_NEED(call.x->size == columns && call.y->size == rows);
  const Dense x = {static_cast<T *>(call.x->values), 1, 0, 0, false}, y = {static_cast<T *>(call.y->values), 1, 0, 0, false};
  return product(call, sparseOf(m, call.opA), x, y, rows, 1, 1);
}

static cusparseStatus_t spmm(const Call &call) {
  const cusparseSpMatDescr &m = *call.sparse;
  const long long rows = isPlain(call.opA) ? m.rows : m.columns, inner = isPlain(call.opA) ? m.columns : m.rows;
  const cusparseDnMatDescr &x = *call.a, &c = *call.b;
  CUMETAL_NEED(c.rows == rows && (isPlain(call.opB) ? x.rows : x.columns) == inner && (isPlain(call.opB) ? x.columns : x.rows) == c.columns);
  return product(call, sparseOf(m, call.opA), denseOf(x, call.opB), denseOf(c), rows, c.columns, c.batches);
}

/** The row of an entry, of a matrix by lists. */
static __device__ long long listOf(const Sparse &a, long long entry, int b) {
  if (a.isCoordinates) return a.offsets.at(entry);
  long long low = 0, high = a.lists;
  while (high - low > 1) {
    const long long middle = (low + high) / 2;
    if (a.offsets.at(middle + b * a.offsetsBatch) <= entry)
      low = middle;
    else
      high = middle;
  }
  return low;
}

/** C = alpha·(A·B at the places of C) + beta·C. */
static __global__ void sampleKernel(long long inner, Dense a, Dense x, Sparse c, Factor alpha, Factor beta) {
  const T factor = alpha.get(), old = beta.get();
  const int b = blockIdx.y;
  EACH(e, c.nnz) {
    const long long list = listOf(c, e, b), other = c.indices.at(e + b * c.valuesBatch);
    const long long row = c.isTransposed ? other : list, column = c.isTransposed ? list : other;
    T sum = T(0);
    for (long long k = 0; k < inner; k++) sum += a.get(row, k, b) * x.get(k, column, b);
    T &to = c.values[e + b * c.valuesBatch];
    sum = factor * sum;
    to = old == T(0) ? sum : sum + old * to;
  }
}
static cusparseStatus_t sddmm(const Call &call) {
  const cusparseSpMatDescr &c = *call.sparse;
  const long long inner = isPlain(call.opA) ? call.a->columns : call.a->rows;
  CUMETAL_NEED((isPlain(call.opB) ? call.b->rows : call.b->columns) == inner && (isPlain(call.opA) ? call.a->rows : call.a->columns) == c.rows &&
               (isPlain(call.opB) ? call.b->columns : call.b->rows) == c.columns);
  if (c.nnz == 0) return CUSPARSE_STATUS_SUCCESS;
  sampleKernel<<<dim3(blocksFor(c.nnz), c.batches), threads, 0, call.handle->stream>>>(
      inner, denseOf(*call.a, call.opA), denseOf(*call.b, call.opB), sparseOf(c, CUSPARSE_OPERATION_NON_TRANSPOSE), factorOf(call, call.alpha),
      factorOf(call, call.beta));
  return launched();
}

static __global__ void clearKernel(long long rows, long long columns, Dense c) {
  EACH(i, rows * columns) c.at(i % rows, i / rows, 0) = T(0);
}
static __global__ void spreadKernel(Sparse a, Dense c) {
  EACH(e, a.nnz) {
    const long long list = listOf(a, e, 0), other = a.indices.at(e);
    c.at(a.isTransposed ? other : list, a.isTransposed ? list : other, 0) = a.values[e];
  }
}
static cusparseStatus_t toDense(const Call &call) {
  const cusparseDnMatDescr &to = *call.a;
  CUMETAL_NEED(to.rows == call.sparse->rows && to.columns == call.sparse->columns);
  if (to.rows == 0 || to.columns == 0) return CUSPARSE_STATUS_SUCCESS;
  clearKernel<<<blocksFor(to.rows * to.columns), threads, 0, call.handle->stream>>>(to.rows, to.columns, denseOf(to));
  if (call.sparse->nnz > 0)
    spreadKernel<<<blocksFor(call.sparse->nnz), threads, 0, call.handle->stream>>>(sparseOf(*call.sparse, CUSPARSE_OPERATION_NON_TRANSPOSE), denseOf(to));
  return launched();
}

/** How many elements of a row, or of a column, are not zero. */
static __global__ void countKernel(long long lists, long long length, bool isByRow, Dense a, int *counts) {
  EACH(i, lists) {
    int count = 0;
    for (long long k = 0; k < length; k++) count += (isByRow ? a.at(i, k, 0) : a.at(k, i, 0)) != T(0);
    counts[i] = count;
  }
}
static cusparseStatus_t nonzeros(const Call &call) {
  const cusparseDnMatDescr &a = *call.a;
  const long long lists = call.isByRow ? a.rows : a.columns, length = call.isByRow ? a.columns : a.rows;
  if (lists == 0) return CUSPARSE_STATUS_SUCCESS;
  countKernel<<<blocksFor(lists), threads, 0, call.handle->stream>>>(lists, length, call.isByRow, denseOf(a), call.counts);
  return launched();
}

/** Writes the entries of each row, or of each column, from where its list begins. */
static __global__ void collectKernel(long long lists, long long length, bool isByRow, Dense a, const long long *starts, void *offsets, bool isLongOffset,
                                     void *indices, bool isLongIndex, bool isCoordinates, int base, T *values) {
  EACH(i, lists + 1) {
    const long long start = starts[i];
    if (!isCoordinates) {
      if (isLongOffset)
        static_cast<long long *>(offsets)[i] = start + base;
      else
        static_cast<int *>(offsets)[i] = int(start) + base;
    }
    if (i == lists) continue;
    long long e = start;
    for (long long k = 0; k < length; k++) {
      const T v = isByRow ? a.at(i, k, 0) : a.at(k, i, 0);
      if (v == T(0)) continue;
      values[e] = v;
      if (isLongIndex)
        static_cast<long long *>(indices)[e] = k + base;
      else
        static_cast<int *>(indices)[e] = int(k) + base;
      if (isCoordinates && isLongOffset)
        static_cast<long long *>(offsets)[e] = i + base;
      else if (isCoordinates)
        static_cast<int *>(offsets)[e] = int(i) + base;
      e++;
    }
  }
}
static cusparseStatus_t toSparse(const Call &call) {
  const cusparseDnMatDescr &a = *call.a;
  const cusparseSpMatDescr &to = *call.sparse;
  const bool isByRow = to.format != CUSPARSE_FORMAT_CSC;
  const long long lists = isByRow ? a.rows : a.columns, length = isByRow ? a.columns : a.rows;
  collectKernel<<<blocksFor(lists + 1), threads, 0, call.handle->stream>>>(
      lists, length, isByRow, denseOf(a), static_cast<const long long *>(call.result), to.offsets, to.offsetType == CUSPARSE_INDEX_64I, to.indices,
      to.indexType == CUSPARSE_INDEX_64I, to.format == CUSPARSE_FORMAT_COO, int(to.base), static_cast<T *>(to.values));
  return launched();
}

static __global__ void scaleVectorKernel(long long n, T *y, Factor beta) {
  const T factor = beta.get();
  EACH(i, n) y[i] = factor == T(0) ? T(0) : factor * y[i];
}
static __global__ void addFewKernel(long long n, Indices indices, const T *few, T *y, Factor alpha) {
  const T factor = alpha.get();
  EACH(i, n) {
    T &to = y[indices.at(i)];
    to = to + factor * few[i];
  }
}
static __global__ void gatherFewKernel(long long n, Indices indices, T *few, T *y, bool isScatter) {
  EACH(i, n) {
    if (isScatter)
      y[indices.at(i)] = few[i];
    else
      few[i] = y[indices.at(i)];
  }
}
static __global__ void dotFewKernel(long long n, Indices indices, const T *few, const T *y, bool isConjugated, T *result) {
  __shared__ T sums[threads];
  T sum = T(0);
  for (long long i = threadIdx.x; i < n; i += threads) sum += (isConjugated ? conj(few[i]) : few[i]) * y[indices.at(i)];
  sums[threadIdx.x] = sum;
  for (int half = threads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
  }
  if (threadIdx.x == 0) *result = sums[0];
}
static cusparseStatus_t vectors(const Call &call) {
  const cusparseSpVecDescr &few = *call.few;
  const Indices indices = {few.indices, few.index == CUSPARSE_INDEX_64I, int(few.base)};
  T *values = static_cast<T *>(few.values), *y = static_cast<T *>(call.y->values);
  const cudaStream_t stream = call.handle->stream;
  CUMETAL_NEED(call.y->size == few.size);
  if (call.which == Call::axpby) {
    if (call.y->size > 0) scaleVectorKernel<<<blocksFor(call.y->size), threads, 0, stream>>>(call.y->size, y, factorOf(call, call.beta));
    if (few.nnz > 0) addFewKernel<<<blocksFor(few.nnz), threads, 0, stream>>>(few.nnz, indices, values, y, factorOf(call, call.alpha));
    return launched();
  }
  if (call.which != Call::dot) {
    if (few.nnz > 0) gatherFewKernel<<<blocksFor(few.nnz), threads, 0, stream>>>(few.nnz, indices, values, y, call.which == Call::scatter);
    return launched();
  }
  const bool isHost = call.handle->pointerMode == CUSPARSE_POINTER_MODE_HOST;
  void *place = call.result;
  if (isHost) CUMETAL_CUDA(cudaMallocAsync(&place, sizeof(T), stream));
  dotFewKernel<<<1, threads, 0, stream>>>(few.nnz, indices, values, y, !isPlain(call.opA), static_cast<T *>(place));
  if (isHost) {
    CUMETAL_CUDA(cudaMemcpyAsync(call.result, place, sizeof(T), cudaMemcpyDeviceToHost, stream));
    CUMETAL_CUDA(cudaFreeAsync(place, stream));
    CUMETAL_CUDA(cudaStreamSynchronize(stream));
  }
  return launched();
}

cusparseStatus_t cumetal::CUMETAL_JOIN(sparse, CUMETAL_LETTER, )(const Call &call) {
  switch (call.which) {
    case Call::spmv:
      return spmv(call);
    case Call::spmm:
      return spmm(call);
    case Call::sddmm:
      return sddmm(call);
    case Call::toDense:
      return toDense(call);
    case Call::toSparse:
      return toSparse(call);
    case Call::nonzeros:
      return nonzeros(call);
    default:
      return vectors(call);
  }
}
