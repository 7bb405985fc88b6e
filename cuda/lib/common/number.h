/** Numbers of the libraries: real and complex ones under the same operators, and what is real of them. */
#ifndef CUMETAL_LIB_NUMBER_H
#define CUMETAL_LIB_NUMBER_H

#include <cuComplex.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace cumetal {

#define CUMETAL_BOTH __host__ __device__ __forceinline__

/** A complex number in the layout of `cuComplex` and `cuDoubleComplex`. */
template <class R>
struct alignas(2 * sizeof(R)) Complex {
  R re, im;
  Complex() = default;
  CUMETAL_BOTH Complex(R r) : re(r), im(0) {}
  CUMETAL_BOTH Complex(R r, R i) : re(r), im(i) {}
  CUMETAL_BOTH Complex &operator+=(Complex b) { return *this = Complex(re + b.re, im + b.im); }
  CUMETAL_BOTH Complex &operator-=(Complex b) { return *this = Complex(re - b.re, im - b.im); }
};

template <class R>
CUMETAL_BOTH Complex<R> operator+(Complex<R> a, Complex<R> b) { return Complex<R>(a.re + b.re, a.im + b.im); }
template <class R>
CUMETAL_BOTH Complex<R> operator-(Complex<R> a, Complex<R> b) { return Complex<R>(a.re - b.re, a.im - b.im); }
template <class R>
CUMETAL_BOTH Complex<R> operator-(Complex<R> a) { return Complex<R>(-a.re, -a.im); }
template <class R>
CUMETAL_BOTH Complex<R> operator*(Complex<R> a, Complex<R> b) {
  return Complex<R>(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re);
}
/** Smith's division, which does not overflow where the quotient does not. */
template <class R>
CUMETAL_BOTH Complex<R> operator/(Complex<R> a, Complex<R> b) {
  const R x = b.re < 0 ? -b.re : b.re, y = b.im < 0 ? -b.im : b.im;
  if (x >= y) {
    const R q = b.im / b.re, d = b.re + b.im * q;
    return Complex<R>((a.re + a.im * q) / d, (a.im - a.re * q) / d);
  }
  const R q = b.re / b.im, d = b.re * q + b.im;
  return Complex<R>((a.re * q + a.im) / d, (a.im * q - a.re) / d);
}
template <class R>
CUMETAL_BOTH bool operator==(Complex<R> a, Complex<R> b) { return a.re == b.re && a.im == b.im; }
template <class R>
CUMETAL_BOTH bool operator!=(Complex<R> a, Complex<R> b) { return !(a == b); }

template <class T>
struct Traits {
  typedef T Real;
  static const bool isComplex = false;
};
template <class R>
struct Traits<Complex<R>> {
  typedef R Real;
  static const bool isComplex = true;
};
template <class T>
using RealOf = typename Traits<T>::Real;

template <class R>
CUMETAL_BOTH R conj(R a) { return a; }
template <class R>
CUMETAL_BOTH Complex<R> conj(Complex<R> a) { return Complex<R>(a.re, -a.im); }
template <class R>
CUMETAL_BOTH R realOf(R a) { return a; }
template <class R>
CUMETAL_BOTH R realOf(Complex<R> a) { return a.re; }
template <class R>
CUMETAL_BOTH R imagOf(R) { return R(0); }
template <class R>
CUMETAL_BOTH R imagOf(Complex<R> a) { return a.im; }
/** |re| + |im|, by which BLAS compares complex numbers. */
template <class R>
CUMETAL_BOTH R size1(R a) { return a < 0 ? -a : a; }
template <class R>
CUMETAL_BOTH R size1(Complex<R> a) { return size1(a.re) + size1(a.im); }
template <class T>
CUMETAL_BOTH RealOf<T> squared(T a) { return realOf(a) * realOf(a) + imagOf(a) * imagOf(a); }
CUMETAL_BOTH float root(float a) { return sqrtf(a); }
CUMETAL_BOTH double root(double a) { return sqrt(a); }
template <class R>
CUMETAL_BOTH R modulus(R a) { return a < 0 ? -a : a; }
template <class R>
CUMETAL_BOTH R modulus(Complex<R> a) {
  const R x = modulus(a.re), y = modulus(a.im), big = x > y ? x : y, small = x > y ? y : x;
  if (big == 0) return 0;
  const R q = small / big;
  return big * root(1 + q * q);
}

/** A number of one type as another one. */
template <class To>
struct Convert {
  template <class From>
  static CUMETAL_BOTH To from(From a) { return To(a); }
  static CUMETAL_BOTH To from(__half a) { return To(__half2float(a)); }
  static CUMETAL_BOTH To from(__nv_bfloat16 a) { return To(__bfloat162float(a)); }
};
template <class R>
struct Convert<Complex<R>> {
  template <class S>
  static CUMETAL_BOTH Complex<R> from(Complex<S> a) { return Complex<R>(R(a.re), R(a.im)); }
  static CUMETAL_BOTH Complex<R> from(float a) { return Complex<R>(R(a)); }
  static CUMETAL_BOTH Complex<R> from(double a) { return Complex<R>(R(a)); }
};
template <>
struct Convert<__half> {
  static CUMETAL_BOTH __half from(float a) { return __float2half(a); }
  static CUMETAL_BOTH __half from(__half a) { return a; }
};
template <>
struct Convert<__nv_bfloat16> {
  static CUMETAL_BOTH __nv_bfloat16 from(float a) { return __float2bfloat16(a); }
  static CUMETAL_BOTH __nv_bfloat16 from(__nv_bfloat16 a) { return a; }
};
/** Integers of 8 bits saturate, after rounding to even. */
template <>
struct Convert<signed char> {
  static CUMETAL_BOTH signed char from(float a) { return (signed char)(a < -128 ? -128 : a > 127 ? 127 : rintf(a)); }
  static CUMETAL_BOTH signed char from(int a) { return (signed char)(a < -128 ? -128 : a > 127 ? 127 : a); }
};

#define CUMETAL_JOIN2(a, b, c) a##b##c
#define CUMETAL_JOIN(a, b, c) CUMETAL_JOIN2(a, b, c)

}  // namespace cumetal

#endif
