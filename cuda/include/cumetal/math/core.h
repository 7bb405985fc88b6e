// What the functions share: bits of floats, exact sums and products, scaling. Source: T. J. Dekker, "A floating-point technique for extending
// the available precision", 1971; D. E. Knuth, "The Art of Computer Programming", 4.2.2.
#ifndef __CUMETAL_MATH_CORE_H__
#define __CUMETAL_MATH_CORE_H__

// A value as the sum of two floats, of which the second is at most half a unit of the first.
template <class T> struct __cumetal_pair {
  T hi, lo;
};

__cumetal_both float __cumetal_fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
__cumetal_both double __cumetal_fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
__cumetal_both float __cumetal_rint(float a) { return __builtin_rintf(a); }
__cumetal_both double __cumetal_rint(double a) { return __builtin_rint(a); }
__cumetal_both float __cumetal_sqrt(float a) { return __builtin_sqrtf(a); }
__cumetal_both double __cumetal_sqrt(double a) { return __builtin_sqrt(a); }
__cumetal_both float __cumetal_abs(float a) { return __builtin_fabsf(a); }
__cumetal_both double __cumetal_abs(double a) { return __builtin_fabs(a); }
__cumetal_both float __cumetal_sign(float a, float b) { return __builtin_copysignf(a, b); }
__cumetal_both double __cumetal_sign(double a, double b) { return __builtin_copysign(a, b); }
__cumetal_both unsigned int __cumetal_raw_of(float a) { return __builtin_bit_cast(unsigned int, a); }
__cumetal_both unsigned long long __cumetal_raw_of(double a) { return __builtin_bit_cast(unsigned long long, a); }
__cumetal_both float __cumetal_of_raw(unsigned int a) { return __builtin_bit_cast(float, a); }
__cumetal_both double __cumetal_of_raw(unsigned long long a) { return __builtin_bit_cast(double, a); }

// The format: bits of the fraction, the exponent's bias, and constants as pairs.
template <class T> struct __cumetal_format;
template <> struct __cumetal_format<float> {
  using Raw = unsigned int;
  static constexpr int fraction = 23, bias = 127;
  static constexpr float infinity = __builtin_inff(), nan = __builtin_nanf("");
  static constexpr float least = 0x1p-126f, expLimit = 105.0f;
  // ln(2) so short that multiples by an exponent are exact, and the rest.
  static constexpr float ln2 = 0x1.62e4p-1f, ln2Rest = 0x1.7f7d1cp-20f;
  static constexpr float ln2Hi = 0x1.62e43p-1f, ln2Lo = -0x1.05c61p-29f;
  static constexpr float log2e = 0x1.715476p+0f, log2eLo = 0x1.4ae0c0p-26f;
  static constexpr float ln10Hi = 0x1.26bb1cp+1f, ln10Lo = -0x1.12aabap-25f;
  static constexpr float log10e = 0x1.bcb7b2p-2f, log10eLo = -0x1.5b235ep-27f;
  static constexpr float log10Two = 0x1.344p-2f, log10TwoRest = 0x1.3509f8p-18f, log2Ten = 0x1.a934f0p+1f;
  static constexpr float halfPi = 0x1.921fb6p+0f, halfPiLo = -0x1.777a5cp-25f, halfPiLeast = -0x1.ee59dap-50f;
  static constexpr float twoOverPi = 0x1.45f306p-1f, reduceLimit = 105615.0f;
  static constexpr float twoThirds = 0x1.555556p-1f, twoThirdsLo = -0x1.555556p-26f;
};
template <> struct __cumetal_format<double> {
  using Raw = unsigned long long;
  static constexpr int fraction = 52, bias = 1023;
  static constexpr double infinity = __builtin_inf(), nan = __builtin_nan("");
  static constexpr double least = 0x1p-1022, expLimit = 746.0;
  static constexpr double ln2 = 0x1.62e42fefa38p-1, ln2Rest = 0x1.ef35793c7673p-45;
  static constexpr double ln2Hi = 0x1.62e42fefa39efp-1, ln2Lo = 0x1.abc9e3b39803fp-56;
  static constexpr double log2e = 0x1.71547652b82fep+0, log2eLo = 0x1.777d0ffda0d24p-56;
  static constexpr double ln10Hi = 0x1.26bb1bbb55516p+1, ln10Lo = -0x1.f48ad494ea3e9p-53;
  static constexpr double log10e = 0x1.bcb7b1526e50ep-2, log10eLo = 0x1.95355baaafad3p-57;
  static constexpr double log10Two = 0x1.34413509f78p-2, log10TwoRest = 0x1.fef311f12b358p-46, log2Ten = 0x1.a934f0979a371p+1;
  static constexpr double halfPi = 0x1.921fb54442d18p+0, halfPiLo = 0x1.1a62633145c07p-54, halfPiLeast = -0x1.f1976b7ed8fbcp-110;
  static constexpr double twoOverPi = 0x1.45f306dc9c883p-1, reduceLimit = 0x1p+25;
  static constexpr double twoThirds = 0x1.5555555555555p-1, twoThirdsLo = 0x1.5555555555555p-55;
};

template <class T> __cumetal_both bool __cumetal_is_nan(T x) { return x != x; }
template <class T> __cumetal_both bool __cumetal_is_infinite(T x) { return __cumetal_abs(x) == __cumetal_format<T>::infinity; }
template <class T> __cumetal_both bool __cumetal_is_finite(T x) { return __cumetal_abs(x) < __cumetal_format<T>::infinity; }

// The exact sum; `ordered` needs the first to be the larger one.
template <class T> __cumetal_both __cumetal_pair<T> __cumetal_two_sum(T a, T b) {
  T s = a + b, t = s - a;
  return {s, (a - (s - t)) + (b - t)};
}
template <class T> __cumetal_both __cumetal_pair<T> __cumetal_ordered_sum(T a, T b) {
  T s = a + b;
  return {s, b - (s - a)};
}
template <class T> __cumetal_both __cumetal_pair<T> __cumetal_two_product(T a, T b) {
  T p = a * b;
  return {p, __cumetal_fma(a, b, -p)};
}
// Products and quotients of pairs, to about twice the precision.
template <class T> __cumetal_both __cumetal_pair<T> __cumetal_times(__cumetal_pair<T> a, __cumetal_pair<T> b) {
  T p = a.hi * b.hi;
  T rest = __cumetal_fma(a.hi, b.hi, -p) + __cumetal_fma(a.hi, b.lo, a.lo * b.hi);
  return __cumetal_ordered_sum(p, rest);
}
template <class T> __cumetal_both __cumetal_pair<T> __cumetal_over(__cumetal_pair<T> a, __cumetal_pair<T> b) {
  T q = a.hi / b.hi;
  T rest = (__cumetal_fma(-q, b.hi, a.hi) + __cumetal_fma(-q, b.lo, a.lo)) / b.hi;
  return __cumetal_ordered_sum(q, rest);
}
template <class T> __cumetal_both __cumetal_pair<T> __cumetal_plus(__cumetal_pair<T> a, __cumetal_pair<T> b) {
  __cumetal_pair<T> s = __cumetal_two_sum(a.hi, b.hi);
  return __cumetal_ordered_sum(s.hi, s.lo + (a.lo + b.lo));
}

// 2^n for an exponent of normal values.
template <class T> __cumetal_both T __cumetal_power_of_two(int n) {
  using F = __cumetal_format<T>;
  return __cumetal_of_raw((typename F::Raw)(F::bias + n) << F::fraction);
}

// x times 2^n, rounded once: no step but the last can leave the normal values.
template <class T> __cumetal_both T __cumetal_scale(T x, int n) {
  using F = __cumetal_format<T>;
  constexpr int high = F::bias, low = 1 - F::bias, step = low + F::fraction + 1;
#pragma unroll
  for (int i = 0; i < 2; i++) {
    if (n > high) {
      x *= __cumetal_power_of_two<T>(high);
      n -= high;
    } else if (n < low) {
      x *= __cumetal_power_of_two<T>(step);
      n -= step;
    }
  }
  return x * __cumetal_power_of_two<T>(n > high ? high : n < low ? low : n);
}

#endif
