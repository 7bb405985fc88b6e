// Level 1 by types that are known when the program runs. A unit is compiled for each type of vectors: CUMETAL_ENTRY is its name, CUMETAL_IN the
// type of elements and CUMETAL_SUM that of computations. Source: cuBLAS Library, "cublasAxpyEx" and others.
#include "level1-mixed.h"
#include "reduce.h"

using namespace cumetal;

typedef CUMETAL_IN In;
typedef CUMETAL_SUM Sum_;
typedef RealOf<Sum_> R;
/** The type of a norm: real, of the precision of the vector. */
typedef CUMETAL_REAL Norm;

#define EACH_ELEMENT(i, n) for (long long i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (long long)gridDim.x * blockDim.x)

static __global__ void axpyKernel(long long n, Sum_ value, const void *alpha, bool isOwn, const In *x, long long incx, In *y, long long incy, bool isScale) {
  const Sum_ a = !alpha ? value : isOwn ? Convert<Sum_>::from(*static_cast<const In *>(alpha)) : *static_cast<const Sum_ *>(alpha);
  EACH_ELEMENT(i, n) {
    Sum_ v = a * Convert<Sum_>::from(x[i * incx]);
    if (!isScale) v = v + Convert<Sum_>::from(y[i * incy]);
    y[i * incy] = Convert<In>::from(v);
  }
}
static __global__ void copyKernel(long long n, In *x, long long incx, In *y, long long incy, bool isSwap) {
  EACH_ELEMENT(i, n) {
    const In a = x[i * incx], b = y[i * incy];
    if (isSwap) x[i * incx] = b;
    y[i * incy] = a;
  }
}

struct NormOf {
  static __device__ Norm of(Squares<R> a) { return Convert<Norm>::from(RootOf::of(a)); }
};
struct RealPart {
  static __device__ Norm of(R a) { return Convert<Norm>::from(a); }
};
struct Rounded {
  static __device__ In of(Sum_ a) { return Convert<In>::from(a); }
};

cublasStatus_t cumetal::CUMETAL_ENTRY(const Level1 &p) {
  cublasHandle_t handle = p.handle;
  const int n = p.n;
  In *x = static_cast<In *>(const_cast<void *>(p.x)), *y = static_cast<In *>(p.y);
  switch (p.call) {
    case Level1::axpy:
    case Level1::scal: {
      if (n <= 0) return CUBLAS_STATUS_SUCCESS;
      Sum_ value = Sum_(0);
      const bool isHost = handle->pointerMode == CUBLAS_POINTER_MODE_HOST;
      if (isHost) value = p.isAlphaOwn ? Convert<Sum_>::from(*static_cast<const In *>(p.alpha)) : *static_cast<const Sum_ *>(p.alpha);
      const bool isScale = p.call == Level1::scal;
      axpyKernel<<<blocksFor(n), threads, 0, handle->stream>>>(n, value, isHost ? nullptr : p.alpha, p.isAlphaOwn, first(x, n, p.incx), p.incx,
                                                               isScale ? first(x, n, p.incx) : first(y, n, p.incy), isScale ? p.incx : p.incy, isScale);
      return launched();
    }
    case Level1::copy:
    case Level1::swap:
      if (n <= 0) return CUBLAS_STATUS_SUCCESS;
      copyKernel<<<blocksFor(n), threads, 0, handle->stream>>>(n, first(x, n, p.incx), p.incx, first(y, n, p.incy), p.incy, p.call == Level1::swap);
      return launched();
    case Level1::dot:
    case Level1::dotc:
      if (n <= 0) return deliverValue(handle, p.result, Convert<In>::from(Sum_(0)));
      return reduce<Sum, Rounded, In>(handle, Products<Sum_, In>{first(x, n, p.incx), first(y, n, p.incy), p.incx, p.incy, p.call == Level1::dotc}, Sum_(), n,
                                      p.result);
    case Level1::nrm2:
      if (n <= 0 || p.incx <= 0) return deliverValue(handle, p.result, Convert<Norm>::from(R(0)));
      return reduce<AddSquares, NormOf, Norm>(handle, SquaresOf<Sum_, In>{x, p.incx}, Squares<R>(), n, p.result);
    case Level1::asum:
      if (n <= 0 || p.incx <= 0) return deliverValue(handle, p.result, Convert<Norm>::from(R(0)));
      return reduce<Sum, RealPart, Norm>(handle, Sizes<Sum_, In>{x, p.incx}, R(), n, p.result);
    case Level1::amax:
      if (n <= 0 || p.incx <= 0) return deliverValue(handle, p.result, 0);
      return reduce<Largest, IndexOf, int>(handle, Places<Sum_, In>{x, p.incx}, Place<R>(), n, p.result);
    case Level1::amin:
      if (n <= 0 || p.incx <= 0) return deliverValue(handle, p.result, 0);
      return reduce<Smallest, IndexOf, int>(handle, Places<Sum_, In>{x, p.incx}, Place<R>(), n, p.result);
  }
  return CUBLAS_STATUS_NOT_SUPPORTED;
}
