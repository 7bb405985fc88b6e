// Remainders, roundings, manipulation of the parts of floats: all exact. Source: CUDA Math API; C standard, 7.12 and annex F.
#ifndef __CUMETAL_MATH_BASIC_H__
#define __CUMETAL_MATH_BASIC_H__

// A finite value's fraction as an integer times 2^exponent.
template <class T> __cumetal_both unsigned long long __cumetal_fraction(T x, int &exponent) {
  using F = __cumetal_format<T>;
  unsigned long long raw = __cumetal_raw_of(__cumetal_abs(x));
  int e = (int)(raw >> F::fraction);
  unsigned long long m = raw & (((unsigned long long)1 << F::fraction) - 1);
  if (e) m |= (unsigned long long)1 << F::fraction;
  else e = 1;
  exponent = e - F::bias - F::fraction;
  return m;
}

// The remainder of the truncated quotient and the quotient's lowest bits: long division, as many bits at a time as fit.
template <class T> __cumetal_both_library T __cumetal_fmod_quotient(T x, T y, unsigned int &quotient) {
  int ex, ey;
  unsigned long long a = __cumetal_fraction(x, ex), b = __cumetal_fraction(y, ey);
  quotient = 0;
  if (ex < ey) {
    // The divisor in the units of the dividend, if it is not larger than the dividend by its exponent alone.
    int shift = ey - ex;
    if (shift > 10 || __cumetal_abs(x) < __cumetal_abs(y)) return x;
    b <<= shift;
    ey = ex;
  }
  quotient = (unsigned int)(a / b);
  a %= b;
  int left = ex - ey;
  while (left > 0 && a) {
    int step = __builtin_clzll(a);
    if (step > left) step = left;
    a <<= step;
    quotient = (step < 32 ? quotient << step : 0) + (unsigned int)(a / b);
    a %= b;
    left -= step;
  }
  // Nothing is left to divide, also where the first division was exact: the other bits of the quotient are zeros.
  if (left > 0) quotient = left < 32 ? quotient << left : 0;
  return __cumetal_sign(__cumetal_scale((T)a, ey), x);
}
template <class T> __cumetal_both bool __cumetal_has_remainder(T x, T y) {
  return __cumetal_is_finite(x) && !__cumetal_is_nan(y) && y != 0;
}
template <class T> __cumetal_both_library T __cumetal_fmod(T x, T y) {
  unsigned int q;
  if (!__cumetal_has_remainder(x, y)) return __cumetal_is_nan(x) ? x : __cumetal_is_nan(y) ? y : __cumetal_format<T>::nan;
  return __cumetal_is_infinite(y) ? x : __cumetal_fmod_quotient(x, y, q);
}
template <class T> __cumetal_both_library T __cumetal_remquo(T x, T y, int *quotient) {
  *quotient = 0;
  if (!__cumetal_has_remainder(x, y)) return __cumetal_is_nan(x) ? x : __cumetal_is_nan(y) ? y : __cumetal_format<T>::nan;
  if (__cumetal_is_infinite(y)) return x;
  unsigned int q;
  T b = __cumetal_abs(y), r = __cumetal_abs(__cumetal_fmod_quotient(x, y, q));
  // To the nearest, halves to the even quotient; r and b - r are multiples of one unit.
  T other = b - r;
  if (r > other || (r == other && (q & 1))) {
    r = -other;
    q++;
  }
  int sign = (__cumetal_sign((T)1, x) < 0) != (__cumetal_sign((T)1, y) < 0) ? -1 : 1;
  *quotient = sign * (int)(q & 0x7fffffff);
  return r == 0 ? __cumetal_sign((T)0, x) : __cumetal_sign((T)1, x) < 0 ? -r : r;
}
template <class T> __cumetal_both_library T __cumetal_remainder(T x, T y) {
  int q;
  return __cumetal_remquo(x, y, &q);
}

template <class T> __cumetal_both_library T __cumetal_frexp(T x, int *exponent) {
  using F = __cumetal_format<T>;
  *exponent = 0;
  if (x == 0 || !__cumetal_is_finite(x)) return x;
  int e = __cumetal_abs(x) < F::least ? F::fraction + 1 : 0;
  if (e) x *= __cumetal_power_of_two<T>(e);
  int n = (int)(__cumetal_raw_of(__cumetal_abs(x)) >> F::fraction) - F::bias + 1;
  *exponent = n - e;
  return x * __cumetal_power_of_two<T>(-n / 2) * __cumetal_power_of_two<T>(-n - -n / 2);
}
template <class T> __cumetal_both_library int __cumetal_ilogb(T x) {
  if (x == 0 || __cumetal_is_nan(x)) return -2147483647 - 1;
  if (__cumetal_is_infinite(x)) return 2147483647;
  int e;
  __cumetal_frexp(x, &e);
  return e - 1;
}
template <class T> __cumetal_both T __cumetal_logb(T x) {
  if (x == 0) return -__cumetal_format<T>::infinity;
  if (!__cumetal_is_finite(x)) return x * x;
  return (T)__cumetal_ilogb(x);
}
template <class T> __cumetal_both_library T __cumetal_nextafter(T x, T y) {
  using Raw = typename __cumetal_format<T>::Raw;
  if (__cumetal_is_nan(x) || __cumetal_is_nan(y)) return x + y;
  if (x == y) return y;
  if (x == 0) return __cumetal_sign(__cumetal_of_raw((Raw)1), y);
  Raw raw = __cumetal_raw_of(x);
  return __cumetal_of_raw((Raw)((x < y) == (x > 0) ? raw + 1 : raw - 1));
}
// To the nearest integer, halves away from zero.
template <class T> __cumetal_both T __cumetal_round(T x) {
  T a = __cumetal_abs(x), whole = __cumetal_rint(a);
  if (whole - a == (T)-0.5) whole += 1;
  return __cumetal_sign(whole, x);
}
template <class T> __cumetal_both T __cumetal_fdim(T x, T y) { return x > y || __cumetal_is_nan(x) || __cumetal_is_nan(y) ? x - y : (T)0; }

#endif
