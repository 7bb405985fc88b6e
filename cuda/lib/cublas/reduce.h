/**
 * Sums and extremes over vectors: each block reduces what its threads see, and a second launch of one block what blocks found. The order of
 * additions depends on the length alone, so that results repeat.
 */
#ifndef CUMETAL_CUBLAS_REDUCE_H
#define CUMETAL_CUBLAS_REDUCE_H

#include "context.h"

namespace cumetal {

/** The value of a block in its first thread, from values of all threads. `Join` has `static V join(V, V)`. */
template <class Join, class V>
static __device__ V joinBlock(V value) {
  __shared__ V values[threads];
  values[threadIdx.x] = value;
  for (int half = threads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) values[threadIdx.x] = Join::join(values[threadIdx.x], values[threadIdx.x + half]);
  }
  __syncthreads();
  return values[0];
}

/** What the elements of a source join to: `Source` has `V at(long long i)` and `V zero()`. The result is written by `Finish`. */
template <class Join, class V, class Source>
static __global__ void partials(Source source, long long n, V *to) {
  V value = source.zero();
  for (long long i = blockIdx.x * threads + threadIdx.x; i < n; i += gridDim.x * threads) value = Join::join(value, source.at(i));
  value = joinBlock<Join>(value);
  if (threadIdx.x == 0) to[blockIdx.x] = value;
}

template <class Join, class V, class Finish, class R>
static __global__ void finish(const V *from, int n, R *to) {
  V value = from[threadIdx.x < n ? threadIdx.x : 0];
  for (int i = threadIdx.x + threads; i < n; i += threads) value = Join::join(value, from[i]);
  // Threads without a part have that of the first one, which is not joined.
  __shared__ V values[threads];
  const int count = n < threads ? n : threads;
  values[threadIdx.x] = value;
  for (int half = threads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half && threadIdx.x + half < count)
      values[threadIdx.x] = Join::join(values[threadIdx.x], values[threadIdx.x + half]);
  }
  __syncthreads();
  if (threadIdx.x == 0) *to = R(Finish::of(values[0]));
}

/** Reduces a source of n > 0 elements to a result of type `R`, which the caller wants at `result`. */
template <class Join, class Finish, class R, class V, class Source>
static cublasStatus_t reduce(cublasHandle_t handle, Source source, V, long long n, void *result) {
  // Blocks have enough to do for the second launch to pay.
  const long long wanted = (n + threads * 8 - 1) / (threads * 8);
  const int blocks = int(wanted > maxBlocks ? maxBlocks : wanted);
  V *parts = reinterpret_cast<V *>(handle->scratch + 64);
  partials<Join, V, Source><<<blocks, threads, 0, handle->stream>>>(source, n, parts);
  finish<Join, V, Finish, R><<<1, threads, 0, handle->stream>>>(parts, blocks, resultPlace<R>(handle, result));
  return deliver(handle, result, sizeof(R));
}

struct Sum {
  template <class V>
  static CUMETAL_BOTH V join(V a, V b) { return a + b; }
};
struct Same {
  template <class V>
  static CUMETAL_BOTH V of(V a) { return a; }
};

/** A number and where it is. Of equal numbers the first counts. */
template <class R>
struct Place {
  R size;
  int index;
};
struct Largest {
  template <class R>
  static CUMETAL_BOTH Place<R> join(Place<R> a, Place<R> b) {
    if (a.index == 0) return b;
    if (b.index == 0) return a;
    return b.size > a.size || (b.size == a.size && b.index < a.index) ? b : a;
  }
};
struct Smallest {
  template <class R>
  static CUMETAL_BOTH Place<R> join(Place<R> a, Place<R> b) {
    if (a.index == 0) return b;
    if (b.index == 0) return a;
    return b.size < a.size || (b.size == a.size && b.index < a.index) ? b : a;
  }
};
struct IndexOf {
  template <class R>
  static CUMETAL_BOTH int of(Place<R> a) { return a.index; }
};

/** A sum of squares as scale² · sum, which does not overflow where its root does not. */
template <class R>
struct Squares {
  R scale, sum;
};
struct AddSquares {
  template <class R>
  static CUMETAL_BOTH Squares<R> join(Squares<R> a, Squares<R> b) {
    if (a.scale < b.scale) {
      const Squares<R> c = a;
      a = b;
      b = c;
    }
    // Where both are 0, and where the scale is infinite, no quotient is needed.
    if (b.scale == 0) return a;
    const R q = a.scale == b.scale ? R(1) : b.scale / a.scale;
    return {a.scale, a.sum + b.sum * q * q};
  }
};
struct RootOf {
  template <class R>
  static CUMETAL_BOTH R of(Squares<R> a) { return a.scale == 0 ? a.sum : a.scale * root(a.sum); }
};

/** Elements of a vector of `In` by kind, in the type `V` of computations. */
template <class V, class In>
struct Products {
  const In *x, *y;
  long long incx, incy;
  bool isConjugated;
  __device__ V at(long long i) const {
    const V a = Convert<V>::from(x[i * incx]), b = Convert<V>::from(y[i * incy]);
    return (isConjugated ? conj(a) : a) * b;
  }
  __device__ V zero() const { return V(0); }
};
template <class V, class In>
struct Sizes {
  const In *x;
  long long incx;
  __device__ RealOf<V> at(long long i) const { return size1(Convert<V>::from(x[i * incx])); }
  __device__ RealOf<V> zero() const { return 0; }
};
template <class V, class In>
struct Places {
  const In *x;
  long long incx;
  __device__ Place<RealOf<V>> at(long long i) const { return {size1(Convert<V>::from(x[i * incx])), int(i) + 1}; }
  __device__ Place<RealOf<V>> zero() const { return {0, 0}; }
};
template <class V, class In>
struct SquaresOf {
  const In *x;
  long long incx;
  typedef RealOf<V> R;
  __device__ Squares<R> at(long long i) const {
    const V a = Convert<V>::from(x[i * incx]);
    return AddSquares::join(one(realOf(a)), one(imagOf(a)));
  }
  __device__ Squares<R> zero() const { return {0, 0}; }
  // A number that is none is kept in the sum.
  static __device__ Squares<R> one(R a) { return a == a ? Squares<R>{modulus(a), R(a == 0 ? 0 : 1)} : Squares<R>{0, a}; }
};

}  // namespace cumetal

#endif
