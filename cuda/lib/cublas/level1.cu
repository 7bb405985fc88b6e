// Level 1 for one type. Source: cuBLAS Library, "cuBLAS Level-1 Function Reference"; C. Lawson and others, "Basic Linear Algebra
// Subprograms for Fortran Usage", 1979.
#include "../common/types.h"
#include "reduce.h"

using namespace cumetal;

#define CUBLAS(name) CUMETAL_JOIN(cublas, CUMETAL_LETTER, name)
#if CUMETAL_C
#define CUBLAS_REAL(name) cublasSc##name
#define CUBLAS_MIXED(name) cublasCs##name
#define CUBLAS_INDEX(name) cublasIc##name
#elif CUMETAL_Z
#define CUBLAS_REAL(name) cublasDz##name
#define CUBLAS_MIXED(name) cublasZd##name
#define CUBLAS_INDEX(name) cublasIz##name
#elif CUMETAL_S
#define CUBLAS_REAL(name) cublasS##name
#define CUBLAS_INDEX(name) cublasIs##name
#else
#define CUBLAS_REAL(name) cublasD##name
#define CUBLAS_INDEX(name) cublasId##name
#endif

#define EACH_ELEMENT(i, n) for (long long i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (long long)gridDim.x * blockDim.x)

static __global__ void copyKernel(long long n, const T *x, long long incx, T *y, long long incy) {
  EACH_ELEMENT(i, n) y[i * incy] = x[i * incx];
}
static __global__ void swapKernel(long long n, T *x, long long incx, T *y, long long incy) {
  EACH_ELEMENT(i, n) {
    const T a = x[i * incx];
    x[i * incx] = y[i * incy];
    y[i * incy] = a;
  }
}
static __global__ void axpyKernel(long long n, T value, const T *alpha, const T *x, long long incx, T *y, long long incy) {
  const T a = alpha ? *alpha : value;
  EACH_ELEMENT(i, n) y[i * incy] = a * x[i * incx] + y[i * incy];
}
template <class A>
static __global__ void scalKernel(long long n, A value, const A *alpha, T *x, long long incx) {
  const A a = alpha ? *alpha : value;
  EACH_ELEMENT(i, n) x[i * incx] = T(a) * x[i * incx];
}
template <class S>
static __global__ void rotKernel(long long n, T *x, long long incx, T *y, long long incy, Real cosine, const Real *cs, S sine, const S *sn) {
  const Real c = cs ? *cs : cosine;
  const S s = sn ? *sn : sine;
  EACH_ELEMENT(i, n) {
    const T a = x[i * incx], b = y[i * incy];
    x[i * incx] = T(c) * a + T(s) * b;
    y[i * incy] = T(c) * b - T(conj(s)) * a;
  }
}

extern "C" cublasStatus_t CUBLAS(copy_v2)(cublasHandle_t handle, int n, const Outer *x, int incx, Outer *y, int incy) {
  CUMETAL_NEED_HANDLE(handle);
  if (n <= 0) return CUBLAS_STATUS_SUCCESS;
  copyKernel<<<blocksFor(n), threads, 0, handle->stream>>>(n, first(inner(x), n, incx), incx, first(inner(y), n, incy), incy);
  return launched();
}

extern "C" cublasStatus_t CUBLAS(swap_v2)(cublasHandle_t handle, int n, Outer *x, int incx, Outer *y, int incy) {
  CUMETAL_NEED_HANDLE(handle);
  if (n <= 0) return CUBLAS_STATUS_SUCCESS;
  swapKernel<<<blocksFor(n), threads, 0, handle->stream>>>(n, first(inner(x), n, incx), incx, first(inner(y), n, incy), incy);
  return launched();
}

extern "C" cublasStatus_t CUBLAS(axpy_v2)(cublasHandle_t handle, int n, const Outer *alpha, const Outer *x, int incx, Outer *y, int incy) {
  CUMETAL_NEED_HANDLE(handle);
  if (n <= 0) return CUBLAS_STATUS_SUCCESS;
  const Scalar<T> a = scalarOf<T>(handle, alpha);
  axpyKernel<<<blocksFor(n), threads, 0, handle->stream>>>(n, a.value, a.pointer, first(inner(x), n, incx), incx, first(inner(y), n, incy), incy);
  return launched();
}

template <class A, class B>
static cublasStatus_t scal(cublasHandle_t handle, int n, const B *alpha, Outer *x, int incx) {
  CUMETAL_NEED_HANDLE(handle);
  if (n <= 0 || incx <= 0) return CUBLAS_STATUS_SUCCESS;
  const Scalar<A> a = scalarOf<A>(handle, alpha);
  scalKernel<A><<<blocksFor(n), threads, 0, handle->stream>>>(n, a.value, a.pointer, inner(x), incx);
  return launched();
}
extern "C" cublasStatus_t CUBLAS(scal_v2)(cublasHandle_t handle, int n, const Outer *alpha, Outer *x, int incx) {
  return scal<T>(handle, n, alpha, x, incx);
}

static cublasStatus_t dot(cublasHandle_t handle, int n, const Outer *x, int incx, const Outer *y, int incy, Outer *result, bool isConjugated) {
  CUMETAL_NEED_HANDLE(handle);
  if (n <= 0) return deliverValue(handle, result, T(0));
  const Products<T, T> products = {first(inner(x), n, incx), first(inner(y), n, incy), incx, incy, isConjugated};
  return reduce<Sum, Same, T>(handle, products, T(), n, result);
}

#if CUMETAL_IS_COMPLEX
extern "C" cublasStatus_t CUBLAS(dotu_v2)(cublasHandle_t handle, int n, const Outer *x, int incx, const Outer *y, int incy, Outer *result) {
  return dot(handle, n, x, incx, y, incy, result, false);
}
extern "C" cublasStatus_t CUBLAS(dotc_v2)(cublasHandle_t handle, int n, const Outer *x, int incx, const Outer *y, int incy, Outer *result) {
  return dot(handle, n, x, incx, y, incy, result, true);
}
extern "C" cublasStatus_t CUBLAS_MIXED(scal_v2)(cublasHandle_t handle, int n, const Real *alpha, Outer *x, int incx) {
  return scal<Real>(handle, n, alpha, x, incx);
}
#else
extern "C" cublasStatus_t CUBLAS(dot_v2)(cublasHandle_t handle, int n, const Outer *x, int incx, const Outer *y, int incy, Outer *result) {
  return dot(handle, n, x, incx, y, incy, result, false);
}
#endif

extern "C" cublasStatus_t CUBLAS_REAL(nrm2_v2)(cublasHandle_t handle, int n, const Outer *x, int incx, Real *result) {
  CUMETAL_NEED_HANDLE(handle);
  if (n <= 0 || incx <= 0) return deliverValue(handle, result, Real(0));
  return reduce<AddSquares, RootOf, Real>(handle, SquaresOf<T, T>{inner(x), incx}, Squares<Real>(), n, result);
}
extern "C" cublasStatus_t CUBLAS_REAL(asum_v2)(cublasHandle_t handle, int n, const Outer *x, int incx, Real *result) {
  CUMETAL_NEED_HANDLE(handle);
  if (n <= 0 || incx <= 0) return deliverValue(handle, result, Real(0));
  return reduce<Sum, Same, Real>(handle, Sizes<T, T>{inner(x), incx}, Real(), n, result);
}
extern "C" cublasStatus_t CUBLAS_INDEX(amax_v2)(cublasHandle_t handle, int n, const Outer *x, int incx, int *result) {
  CUMETAL_NEED_HANDLE(handle);
  if (n <= 0 || incx <= 0) return deliverValue(handle, result, 0);
  return reduce<Largest, IndexOf, int>(handle, Places<T, T>{inner(x), incx}, Place<Real>(), n, result);
}
extern "C" cublasStatus_t CUBLAS_INDEX(amin_v2)(cublasHandle_t handle, int n, const Outer *x, int incx, int *result) {
  CUMETAL_NEED_HANDLE(handle);
  if (n <= 0 || incx <= 0) return deliverValue(handle, result, 0);
  return reduce<Smallest, IndexOf, int>(handle, Places<T, T>{inner(x), incx}, Place<Real>(), n, result);
}

template <class S, class B>
static cublasStatus_t rot(cublasHandle_t handle, int n, Outer *x, int incx, Outer *y, int incy, const Real *c, const B *s) {
  CUMETAL_NEED_HANDLE(handle);
  if (n <= 0) return CUBLAS_STATUS_SUCCESS;
  const Scalar<Real> cosine = scalarOf<Real>(handle, c);
  const Scalar<S> sine = scalarOf<S>(handle, s);
  rotKernel<S><<<blocksFor(n), threads, 0, handle->stream>>>(n, first(inner(x), n, incx), incx, first(inner(y), n, incy), incy, cosine.value,
                                                             cosine.pointer, sine.value, sine.pointer);
  return launched();
}
extern "C" cublasStatus_t CUBLAS(rot_v2)(cublasHandle_t handle, int n, Outer *x, int incx, Outer *y, int incy, const Real *c, const Outer *s) {
  return rot<T>(handle, n, x, incx, y, incy, c, s);
}

/** The rotation that makes b zero. Source: BLAS, SROTG and CROTG; E. Anderson, "Discontinuous plane rotations", 2000. */
static CUMETAL_BOTH void rotg(T *pa, T *pb, Real *pc, T *ps) {
  const T a = *pa, b = *pb;
#if CUMETAL_IS_COMPLEX
  const Real size = modulus(a);
  if (size == 0) {
    *pc = 0;
    *ps = T(1);
    *pa = b;
    return;
  }
  const Real scale = size + modulus(b), x = size / scale, y = modulus(b) / scale, norm = scale * root(x * x + y * y);
  const T alpha = T(a.re / size, a.im / size);
  *pc = size / norm;
  const T s = alpha * conj(b);
  *ps = T(s.re / norm, s.im / norm);
  *pa = alpha * T(norm);
#else
  const Real sa = modulus(a), sb = modulus(b), scale = sa + sb;
  if (scale == 0) {
    *pc = 1;
    *ps = 0;
    *pa = 0;
    *pb = 0;
    return;
  }
  const Real x = a / scale, y = b / scale, sign = (sa > sb ? a : b) < 0 ? Real(-1) : Real(1);
  const Real r = sign * scale * root(x * x + y * y), c = a / r, s = b / r;
  *pb = sa > sb ? s : c != 0 ? 1 / c : Real(1);
  *pa = r;
  *pc = c;
  *ps = s;
#endif
}
static __global__ void rotgKernel(T *a, T *b, Real *c, T *s) { rotg(a, b, c, s); }

extern "C" cublasStatus_t CUBLAS(rotg_v2)(cublasHandle_t handle, Outer *a, Outer *b, Real *c, Outer *s) {
  CUMETAL_NEED_HANDLE(handle);
  if (handle->pointerMode == CUBLAS_POINTER_MODE_HOST) {
    rotg(inner(a), inner(b), c, inner(s));
    return CUBLAS_STATUS_SUCCESS;
  }
  rotgKernel<<<1, 1, 0, handle->stream>>>(inner(a), inner(b), c, inner(s));
  return launched();
}

#if CUMETAL_IS_COMPLEX
extern "C" cublasStatus_t CUBLAS_MIXED(rot_v2)(cublasHandle_t handle, int n, Outer *x, int incx, Outer *y, int incy, const Real *c, const Real *s) {
  return rot<Real>(handle, n, x, incx, y, incy, c, s);
}
#else
/** Elements of the modified rotation by its flag: h11, h21, h12, h22. */
static CUMETAL_BOTH void modified(const T *param, T *h) {
  const T flag = param[0];
  h[0] = flag == -2 || flag == 0 ? T(1) : param[1];
  h[1] = flag == -2 ? T(0) : flag == 1 ? T(-1) : param[2];
  h[2] = flag == -2 ? T(0) : flag == 1 ? T(1) : param[3];
  h[3] = flag == -2 || flag == 0 ? T(1) : param[4];
}

struct Parameters {
  T values[5];
};
static __global__ void rotmKernel(long long n, T *x, long long incx, T *y, long long incy, Parameters values, const T *param) {
  T h[4];
  modified(param ? param : values.values, h);
  EACH_ELEMENT(i, n) {
    const T a = x[i * incx], b = y[i * incy];
    x[i * incx] = h[0] * a + h[2] * b;
    y[i * incy] = h[1] * a + h[3] * b;
  }
}

extern "C" cublasStatus_t CUBLAS(rotm_v2)(cublasHandle_t handle, int n, T *x, int incx, T *y, int incy, const T *param) {
  CUMETAL_NEED_HANDLE(handle);
  if (n <= 0) return CUBLAS_STATUS_SUCCESS;
  const bool isHost = handle->pointerMode == CUBLAS_POINTER_MODE_HOST;
  Parameters values = {};
  if (isHost)
    for (int i = 0; i < 5; i++) values.values[i] = param[i];
  rotmKernel<<<blocksFor(n), threads, 0, handle->stream>>>(n, first(x, n, incx), incx, first(y, n, incy), incy, values, isHost ? nullptr : param);
  return launched();
}

/** The modified rotation that makes the second component zero. Source: BLAS, SROTMG. */
static CUMETAL_BOTH void rotmg(T *pd1, T *pd2, T *px1, T y1, T *param) {
  const T big = 4096, bigSquared = big * big;
  T d1 = *pd1, d2 = *pd2, x1 = *px1, h[4] = {0, 0, 0, 0}, flag = -1;
  if (d1 < 0) {
    d1 = d2 = x1 = 0;
  } else {
    const T p2 = d2 * y1;
    if (p2 == 0) {
      param[0] = -2;
      return;
    }
    const T p1 = d1 * x1, q2 = p2 * y1, q1 = p1 * x1;
    if (size1(q1) > size1(q2)) {
      h[1] = -y1 / x1;
      h[2] = p2 / p1;
      const T u = 1 - h[2] * h[1];
      if (u > 0) {
        flag = 0;
        d1 /= u;
        d2 /= u;
        x1 *= u;
      } else {
        d1 = d2 = x1 = 0;
        h[1] = h[2] = 0;
      }
    } else if (q2 < 0) {
      d1 = d2 = x1 = 0;
    } else {
      flag = 1;
      h[0] = p1 / p2;
      h[3] = x1 / y1;
      const T u = 1 + h[0] * h[3], t = d2 / u;
      d2 = d1 / u;
      d1 = t;
      x1 = y1 * u;
    }
    for (int which = 0; which < 2; which++) {
      T *d = which ? &d2 : &d1;
      while (*d != 0 && (size1(*d) <= 1 / bigSquared || size1(*d) >= bigSquared)) {
        if (flag == 0) {
          h[0] = h[3] = 1;
          flag = -1;
        } else if (flag == 1) {
          h[1] = -1;
          h[2] = 1;
          flag = -1;
        }
        const bool isSmall = size1(*d) <= 1 / bigSquared;
        *d = isSmall ? *d * bigSquared : *d / bigSquared;
        const T f = isSmall ? 1 / big : big;
        if (which == 0) x1 *= f;
        h[which] *= f;
        h[which + 2] *= f;
      }
    }
  }
  if (flag != 0) {
    param[1] = h[0];
    param[4] = h[3];
  }
  if (flag != 1) {
    param[2] = h[1];
    param[3] = h[2];
  }
  param[0] = flag;
  *pd1 = d1;
  *pd2 = d2;
  *px1 = x1;
}
static __global__ void rotmgKernel(T *d1, T *d2, T *x1, const T *y1, T *param) { rotmg(d1, d2, x1, *y1, param); }

extern "C" cublasStatus_t CUBLAS(rotmg_v2)(cublasHandle_t handle, T *d1, T *d2, T *x1, const T *y1, T *param) {
  CUMETAL_NEED_HANDLE(handle);
  if (handle->pointerMode == CUBLAS_POINTER_MODE_HOST) {
    rotmg(d1, d2, x1, *y1, param);
    return CUBLAS_STATUS_SUCCESS;
  }
  rotmgKernel<<<1, 1, 0, handle->stream>>>(d1, d2, x1, y1, param);
  return launched();
}
#endif
