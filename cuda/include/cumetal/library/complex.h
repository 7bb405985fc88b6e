// Complex numbers on both sides. Source: ISO C++, [complex.numbers]; R. L. Smith, "Algorithm 116: complex division", 1962.
#ifndef __CUMETAL_LIBRARY_COMPLEX_H__
#define __CUMETAL_LIBRARY_COMPLEX_H__

#include <cmath>

#include "cumetal/library/namespace.h"

namespace cuda {
namespace std {

#define __cumetal_function template <class T> __host__ __device__ __forceinline__
template <class T> class complex {
 public:
  using value_type = T;
  __host__ __device__ constexpr complex(const T &re = T(), const T &im = T()) : re_(re), im_(im) {}
  template <class U> __host__ __device__ constexpr complex(const complex<U> &z) : re_((T)z.real()), im_((T)z.imag()) {}
  __host__ __device__ constexpr T real() const { return re_; }
  __host__ __device__ constexpr T imag() const { return im_; }
  __host__ __device__ constexpr void real(T v) { re_ = v; }
  __host__ __device__ constexpr void imag(T v) { im_ = v; }
  __host__ __device__ constexpr complex &operator=(const T &v) { return re_ = v, im_ = T(), *this; }
  template <class U> __host__ __device__ constexpr complex &operator=(const complex<U> &z) {
    return re_ = (T)z.real(), im_ = (T)z.imag(), *this;
  }
  __host__ __device__ constexpr complex &operator+=(const T &v) { return re_ += v, *this; }
  __host__ __device__ constexpr complex &operator-=(const T &v) { return re_ -= v, *this; }
  __host__ __device__ constexpr complex &operator*=(const T &v) { return re_ *= v, im_ *= v, *this; }
  __host__ __device__ constexpr complex &operator/=(const T &v) { return re_ /= v, im_ /= v, *this; }
  template <class U> __host__ __device__ constexpr complex &operator+=(const complex<U> &z) {
    return re_ += (T)z.real(), im_ += (T)z.imag(), *this;
  }
  template <class U> __host__ __device__ constexpr complex &operator-=(const complex<U> &z) {
    return re_ -= (T)z.real(), im_ -= (T)z.imag(), *this;
  }
  template <class U> __host__ __device__ constexpr complex &operator*=(const complex<U> &z) {
    T a = re_, b = im_, c = (T)z.real(), d = (T)z.imag();
    return re_ = a * c - b * d, im_ = a * d + b * c, *this;
  }
  template <class U> __host__ __device__ constexpr complex &operator/=(const complex<U> &z) {
    T a = re_, b = im_, c = (T)z.real(), d = (T)z.imag();
    bool isWide = (c < 0 ? -c : c) >= (d < 0 ? -d : d);
    T ratio = isWide ? d / c : c / d, by = isWide ? c + d * ratio : c * ratio + d;
    re_ = isWide ? (a + b * ratio) / by : (a * ratio + b) / by;
    im_ = isWide ? (b - a * ratio) / by : (b * ratio - a) / by;
    return *this;
  }

 private:
  T re_, im_;
};

#define __cumetal_operator(symbol) \
  template <class T> __host__ __device__ constexpr complex<T> operator symbol(const complex<T> &a, const complex<T> &b) { \
    complex<T> r(a); \
    return r symbol##= b; \
  } \
  template <class T> __host__ __device__ constexpr complex<T> operator symbol(const complex<T> &a, const T &b) { \
    complex<T> r(a); \
    return r symbol##= b; \
  } \
  template <class T> __host__ __device__ constexpr complex<T> operator symbol(const T &a, const complex<T> &b) { \
    complex<T> r(a); \
    return r symbol##= b; \
  }
__cumetal_operator(+)
__cumetal_operator(-)
__cumetal_operator(*)
__cumetal_operator(/)
#undef __cumetal_operator
template <class T> __host__ __device__ constexpr complex<T> operator+(const complex<T> &z) { return z; }
template <class T> __host__ __device__ constexpr complex<T> operator-(const complex<T> &z) { return {-z.real(), -z.imag()}; }
template <class T> __host__ __device__ constexpr bool operator==(const complex<T> &a, const complex<T> &b) {
  return a.real() == b.real() && a.imag() == b.imag();
}
template <class T> __host__ __device__ constexpr bool operator==(const complex<T> &a, const T &b) { return a.real() == b && a.imag() == T(); }
template <class T> __host__ __device__ constexpr bool operator!=(const complex<T> &a, const complex<T> &b) { return !(a == b); }
template <class T> __host__ __device__ constexpr bool operator!=(const complex<T> &a, const T &b) { return !(a == b); }

template <class T> __host__ __device__ constexpr T real(const complex<T> &z) { return z.real(); }
template <class T> __host__ __device__ constexpr T imag(const complex<T> &z) { return z.imag(); }
template <class T> __host__ __device__ constexpr T norm(const complex<T> &z) { return z.real() * z.real() + z.imag() * z.imag(); }
template <class T> __host__ __device__ constexpr complex<T> conj(const complex<T> &z) { return {z.real(), -z.imag()}; }
__cumetal_function T abs(const complex<T> &z) { return ::hypot(z.real(), z.imag()); }
__cumetal_function T arg(const complex<T> &z) { return ::atan2(z.imag(), z.real()); }
__cumetal_function complex<T> polar(const T &length, const T &angle = T()) { return {length * ::cos(angle), length * ::sin(angle)}; }
__cumetal_function complex<T> exp(const complex<T> &z) { return polar((T)::exp(z.real()), z.imag()); }
__cumetal_function complex<T> log(const complex<T> &z) { return {(T)::log(abs(z)), arg(z)}; }
__cumetal_function complex<T> log10(const complex<T> &z) { return log(z) / (T)::log((T)10); }
__cumetal_function complex<T> sqrt(const complex<T> &z) {
  // The larger part first; the other by division.
  T length = abs(z);
  if (length == T()) return {T(), z.imag()};
  T part = ::sqrt((length + (z.real() < 0 ? -z.real() : z.real())) / 2), other = z.imag() / (2 * part);
  return z.real() >= 0 ? complex<T>(part, other) : complex<T>(other < 0 ? -other : other, z.imag() < 0 ? -part : part);
}
__cumetal_function complex<T> pow(const complex<T> &a, const complex<T> &b) { return a == T() ? complex<T>() : exp(b * log(a)); }
__cumetal_function complex<T> pow(const complex<T> &a, const T &b) { return a == T() ? complex<T>() : exp(b * log(a)); }
__cumetal_function complex<T> sinh(const complex<T> &z) {
  return {(T)(::sinh(z.real()) * ::cos(z.imag())), (T)(::cosh(z.real()) * ::sin(z.imag()))};
}
__cumetal_function complex<T> cosh(const complex<T> &z) {
  return {(T)(::cosh(z.real()) * ::cos(z.imag())), (T)(::sinh(z.real()) * ::sin(z.imag()))};
}
__cumetal_function complex<T> tanh(const complex<T> &z) { return sinh(z) / cosh(z); }
__cumetal_function complex<T> sin(const complex<T> &z) {
  return {(T)(::sin(z.real()) * ::cosh(z.imag())), (T)(::cos(z.real()) * ::sinh(z.imag()))};
}
__cumetal_function complex<T> cos(const complex<T> &z) {
  return {(T)(::cos(z.real()) * ::cosh(z.imag())), (T)(-::sin(z.real()) * ::sinh(z.imag()))};
}
__cumetal_function complex<T> tan(const complex<T> &z) { return sin(z) / cos(z); }
#undef __cumetal_function

} // namespace std
} // namespace cuda

#endif
