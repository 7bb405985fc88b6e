// Exponentials, logarithms and powers, for both precisions. Source: CUDA Math API; W. J. Cody, W. Waite, "Software Manual for the Elementary
// Functions", 1980, for the reduction; polynomials by scripts/math/polynomials.py.
#ifndef __CUMETAL_MATH_EXPLOG_H__
#define __CUMETAL_MATH_EXPLOG_H__

// exp(r + c) for |r| <= ln(2)/2 and a small c, as a pair.
template <class T> __cumetal_both __cumetal_pair<T> __cumetal_exp_reduced(T r, T c) {
  __cumetal_pair<T> head = __cumetal_ordered_sum((T)1, r);
  return __cumetal_ordered_sum(head.hi, head.lo + __cumetal_fma(r * r, __cumetal_poly_exp(r), c + r * c));
}

// exp(x + low) as a pair times 2^k, for arguments whose result is near the range.
template <class T> __cumetal_both __cumetal_pair<T> __cumetal_exp_pair(T x, T low, int &k) {
  using F = __cumetal_format<T>;
  T n = __cumetal_rint(x * F::log2e);
  k = (int)n;
  __cumetal_pair<T> r = __cumetal_ordered_sum(__cumetal_fma(-n, F::ln2, x), __cumetal_fma(-n, F::ln2Rest, low));
  return __cumetal_exp_reduced(r.hi, r.lo);
}
template <class T> __cumetal_both_library T __cumetal_exp_sum(T x, T low) {
  using F = __cumetal_format<T>;
  if (__cumetal_is_nan(x)) return x;
  if (x > F::expLimit) return F::infinity;
  if (x < -F::expLimit) return 0;
  int k;
  __cumetal_pair<T> e = __cumetal_exp_pair(x, low, k);
  return __cumetal_scale(e.hi + e.lo, k);
}
template <class T> __cumetal_both T __cumetal_exp(T x) { return __cumetal_exp_sum(x, (T)0); }

template <class T> __cumetal_both_library T __cumetal_exp2(T x) {
  using F = __cumetal_format<T>;
  if (__cumetal_is_nan(x)) return x;
  if (x >= F::bias + 1) return F::infinity;
  if (x < -F::bias - F::fraction - 2) return 0;
  T n = __cumetal_rint(x), r = x - n;
  T h = r * F::ln2Hi;
  __cumetal_pair<T> e = __cumetal_exp_reduced(h, __cumetal_fma(r, F::ln2Hi, -h) + r * F::ln2Lo);
  return __cumetal_scale(e.hi + e.lo, (int)n);
}
template <class T> __cumetal_both_library T __cumetal_exp10(T x) {
  using F = __cumetal_format<T>;
  if (__cumetal_is_nan(x)) return x;
  if (x > F::bias) return F::infinity;
  if (x < -F::bias) return 0;
  T n = __cumetal_rint(x * F::log2Ten);
  __cumetal_pair<T> r = __cumetal_two_sum(__cumetal_fma(-n, F::log10Two, x), -n * F::log10TwoRest);
  r = __cumetal_times(r, {F::ln10Hi, F::ln10Lo});
  __cumetal_pair<T> e = __cumetal_exp_reduced(r.hi, r.lo);
  return __cumetal_scale(e.hi + e.lo, (int)n);
}

// exp(x) - 1 as a pair, for |x| <= 60.
template <class T> __cumetal_both __cumetal_pair<T> __cumetal_expm1_pair(T x) {
  using F = __cumetal_format<T>;
  T n = __cumetal_abs(x) < (T)0.35 ? (T)0 : __cumetal_rint(x * F::log2e);
  __cumetal_pair<T> r = __cumetal_ordered_sum(__cumetal_fma(-n, F::ln2, x), -n * F::ln2Rest);
  T rest = __cumetal_fma(r.hi * r.hi, __cumetal_poly_exp(r.hi), r.lo + r.hi * r.lo);
  T scale = __cumetal_power_of_two<T>((int)n);
  // Where 1 is below the unit of the power, it is part of the rest.
  __cumetal_pair<T> one = __cumetal_two_sum(scale, (T)-1);
  __cumetal_pair<T> s = __cumetal_two_sum(one.hi, scale * r.hi);
  return __cumetal_ordered_sum(s.hi, (s.lo + one.lo) + scale * rest);
}
template <class T> __cumetal_both_library T __cumetal_expm1(T x) {
  if (__cumetal_is_nan(x)) return x;
  if (x > 60) return __cumetal_exp(x);
  if (x < -60) return -1;
  if (__cumetal_abs(x) < __cumetal_power_of_two<T>(-__cumetal_format<T>::fraction - 2)) return x;
  __cumetal_pair<T> e = __cumetal_expm1_pair(x);
  return e.hi + e.lo;
}

template <class T> __cumetal_both_library T __cumetal_cosh(T x) {
  T a = __cumetal_abs(x);
  if (__cumetal_is_nan(x)) return x;
  if (a > 60) {
    if (a > __cumetal_format<T>::expLimit + 1) return __cumetal_format<T>::infinity;
    int k;
    __cumetal_pair<T> e = __cumetal_exp_pair(a, (T)0, k);
    return __cumetal_scale(e.hi + e.lo, k - 1);
  }
  int k;
  __cumetal_pair<T> e = __cumetal_exp_pair(a, (T)0, k);
  T scale = __cumetal_power_of_two<T>(k - 1);
  e = {e.hi * scale, e.lo * scale};
  e = __cumetal_plus(e, __cumetal_over(__cumetal_pair<T>{(T)0.25, (T)0}, e));
  return e.hi + e.lo;
}
template <class T> __cumetal_both_library T __cumetal_sinh(T x) {
  T a = __cumetal_abs(x);
  if (!(a > __cumetal_power_of_two<T>(-__cumetal_format<T>::fraction / 2 - 2))) return x;
  if (a > 60) return __cumetal_sign(__cumetal_cosh(a), x);
  __cumetal_pair<T> e = __cumetal_expm1_pair(a);
  __cumetal_pair<T> half = {e.hi * (T)0.5, e.lo * (T)0.5};
  e = __cumetal_plus(half, __cumetal_over(half, __cumetal_plus(e, {(T)1, (T)0})));
  return __cumetal_sign(e.hi + e.lo, x);
}
template <class T> __cumetal_both_library T __cumetal_tanh(T x) {
  T a = __cumetal_abs(x);
  if (!(a > __cumetal_power_of_two<T>(-__cumetal_format<T>::fraction / 2 - 2))) return x;
  if (a > 22) return __cumetal_sign((T)1, x);
  __cumetal_pair<T> e = __cumetal_expm1_pair(2 * a);
  e = __cumetal_over(e, __cumetal_plus(e, {(T)2, (T)0}));
  return __cumetal_sign(e.hi + e.lo, x);
}

// log(x + low) of a positive finite x: the exponent, and the logarithm of the rest as a pair.
template <class T> __cumetal_both __cumetal_pair<T> __cumetal_log_pair(T x, T low, int &exponent) {
  using F = __cumetal_format<T>;
  using Raw = typename F::Raw;
  int e = 0;
  if (x < F::least) {
    x *= __cumetal_power_of_two<T>(F::fraction + 1);
    low *= __cumetal_power_of_two<T>(F::fraction + 1);
    e = -F::fraction - 1;
  }
  constexpr Raw half = sizeof(T) == 4 ? (Raw)0x3f3504f3u : (Raw)0x3fe6a09e667f3bcdull;
  Raw raw = __cumetal_raw_of(x);
  int n = sizeof(T) == 4 ? (int)(raw - half) >> F::fraction : (int)((long long)(raw - half) >> F::fraction);
  T m = __cumetal_of_raw((Raw)(raw - ((Raw)n << F::fraction)));
  if (low != 0) low = __cumetal_scale(low, -n);
  exponent = n + e;
  T f = m - 1;
  __cumetal_pair<T> g = __cumetal_two_sum(m, (T)1);
  g.lo += low;
  __cumetal_pair<T> s;
  s.hi = (f + low) / g.hi;
  s.lo = ((__cumetal_fma(-s.hi, g.hi, f) + low) - s.hi * g.lo) / g.hi;
  __cumetal_pair<T> z;
  z.hi = s.hi * s.hi;
  z.lo = __cumetal_fma(s.hi, s.hi, -z.hi) + 2 * s.hi * s.lo;
  __cumetal_pair<T> t = __cumetal_ordered_sum(F::twoThirds, z.hi * __cumetal_poly_log(z.hi));
  t.lo += F::twoThirdsLo;
  __cumetal_pair<T> v = __cumetal_times(__cumetal_times(s, z), t);
  __cumetal_pair<T> r = __cumetal_ordered_sum(2 * s.hi, v.hi);
  return __cumetal_ordered_sum(r.hi, r.lo + (2 * s.lo + v.lo));
}
template <class T> __cumetal_both __cumetal_pair<T> __cumetal_log_sum(T x, T low) {
  using F = __cumetal_format<T>;
  int e;
  __cumetal_pair<T> m = __cumetal_log_pair(x, low, e);
  __cumetal_pair<T> r = __cumetal_two_sum(e * F::ln2, m.hi);
  return __cumetal_ordered_sum(r.hi, r.lo + (m.lo + e * F::ln2Rest));
}
// What is not a positive finite number.
template <class T> __cumetal_both T __cumetal_log_special(T x) {
  using F = __cumetal_format<T>;
  return x == 0 ? -F::infinity : x < 0 ? F::nan : x + x;
}
template <class T> __cumetal_both_library T __cumetal_log(T x) {
  if (!(x > 0 && __cumetal_is_finite(x))) return __cumetal_log_special(x);
  __cumetal_pair<T> r = __cumetal_log_sum(x, (T)0);
  return r.hi + r.lo;
}
template <class T> __cumetal_both_library T __cumetal_log2(T x) {
  using F = __cumetal_format<T>;
  if (!(x > 0 && __cumetal_is_finite(x))) return __cumetal_log_special(x);
  int e;
  __cumetal_pair<T> m = __cumetal_times(__cumetal_log_pair(x, (T)0, e), {F::log2e, F::log2eLo});
  __cumetal_pair<T> r = __cumetal_two_sum((T)e, m.hi);
  return r.hi + (r.lo + m.lo);
}
template <class T> __cumetal_both_library T __cumetal_log10(T x) {
  using F = __cumetal_format<T>;
  if (!(x > 0 && __cumetal_is_finite(x))) return __cumetal_log_special(x);
  int e;
  __cumetal_pair<T> m = __cumetal_times(__cumetal_log_pair(x, (T)0, e), {F::log10e, F::log10eLo});
  __cumetal_pair<T> r = __cumetal_two_sum(e * F::log10Two, m.hi);
  return r.hi + (r.lo + (m.lo + e * F::log10TwoRest));
}
template <class T> __cumetal_both_library T __cumetal_log1p(T x) {
  using F = __cumetal_format<T>;
  if (__cumetal_abs(x) < __cumetal_power_of_two<T>(-F::fraction - 2)) return x;
  if (!(x > -1 && __cumetal_is_finite(x))) return x == -1 ? -F::infinity : __cumetal_log_special(x);
  __cumetal_pair<T> a = __cumetal_two_sum((T)1, x);
  __cumetal_pair<T> r = __cumetal_log_sum(a.hi, a.lo);
  return r.hi + r.lo;
}

template <class T> __cumetal_both bool __cumetal_is_integer(T y) { return __cumetal_is_finite(y) && __cumetal_rint(y) == y; }
template <class T> __cumetal_both bool __cumetal_is_odd(T y) {
  return __cumetal_is_integer(y) && __cumetal_abs(y) < __cumetal_power_of_two<T>(__cumetal_format<T>::fraction + 1) && ((long long)y & 1);
}
// The magnitude of x^y for a finite x > 0 and a finite y.
template <class T> __cumetal_both T __cumetal_pow_positive(T x, T y) {
  using F = __cumetal_format<T>;
  __cumetal_pair<T> l = __cumetal_log_sum(x, (T)0);
  T p = y * l.hi;
  if (p > F::expLimit) return F::infinity;
  if (p < -F::expLimit) return 0;
  return __cumetal_exp_sum(p, __cumetal_fma(y, l.hi, -p) + y * l.lo);
}
// Source of the cases: C standard, annex F.
template <class T> __cumetal_both_library T __cumetal_pow(T x, T y) {
  using F = __cumetal_format<T>;
  if (y == 0 || x == 1) return 1;
  if (__cumetal_is_nan(x) || __cumetal_is_nan(y)) return x + y;
  T a = __cumetal_abs(x);
  if (__cumetal_is_infinite(y)) return a == 1 ? (T)1 : (a > 1) == (y > 0) ? F::infinity : (T)0;
  bool negates = __cumetal_raw_of(x) >> (8 * sizeof(T) - 1) && __cumetal_is_odd(y);
  T result;
  if (a == 0 || __cumetal_is_infinite(a)) result = (a == 0) == (y > 0) ? (T)0 : F::infinity;
  else if (x < 0 && !__cumetal_is_integer(y)) return F::nan;
  else result = __cumetal_pow_positive(a, y);
  return negates ? -result : result;
}

template <class T> __cumetal_both_library T __cumetal_asinh(T x) {
  T a = __cumetal_abs(x);
  if (!__cumetal_is_finite(x) || a < __cumetal_power_of_two<T>(-__cumetal_format<T>::fraction / 2 - 2)) return x;
  if (a > __cumetal_power_of_two<T>(30)) return __cumetal_sign(__cumetal_log(a) + __cumetal_format<T>::ln2Hi, x);
  T square = a * a;
  return __cumetal_sign(__cumetal_log1p(a + square / (1 + __cumetal_sqrt(square + 1))), x);
}
template <class T> __cumetal_both_library T __cumetal_acosh(T x) {
  if (x < 1) return __cumetal_format<T>::nan;
  if (!__cumetal_is_finite(x)) return x;
  if (x > __cumetal_power_of_two<T>(30)) return __cumetal_log(x) + __cumetal_format<T>::ln2Hi;
  T t = x - 1;
  return __cumetal_log1p(t + __cumetal_sqrt(2 * t + t * t));
}
template <class T> __cumetal_both_library T __cumetal_atanh(T x) {
  using F = __cumetal_format<T>;
  T a = __cumetal_abs(x);
  if (!(a < 1)) return a == 1 ? __cumetal_sign(F::infinity, x) : F::nan;
  if (a < __cumetal_power_of_two<T>(-F::fraction / 2 - 2)) return x;
  __cumetal_pair<T> q = __cumetal_over(__cumetal_pair<T>{2 * a, (T)0}, __cumetal_two_sum((T)1, -a));
  __cumetal_pair<T> sum = __cumetal_plus(q, {(T)1, (T)0});
  __cumetal_pair<T> r = __cumetal_log_sum(sum.hi, sum.lo);
  return __cumetal_sign((T)0.5 * (r.hi + r.lo), x);
}

#endif
