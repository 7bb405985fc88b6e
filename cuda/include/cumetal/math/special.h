// Roots, error functions, gamma functions. Source: CUDA Math API; M. M. Shepherd, J. G. Laframboise, "Chebyshev approximation of
// (1 + 2x) exp(x^2) erfc x", 1981; Abramowitz and Stegun, 6.1 and 7.1; polynomials by scripts/math/polynomials.py.
#ifndef __CUMETAL_MATH_SPECIAL_H__
#define __CUMETAL_MATH_SPECIAL_H__

// A cube root to a few bits from the exponent, two steps of Halley's method, and one of Newton's with an exact residual.
template <class T> __cumetal_both_library T __cumetal_cbrt(T x) {
  using F = __cumetal_format<T>;
  using Raw = typename F::Raw;
  if (x == 0 || !__cumetal_is_finite(x)) return x;
  T a = __cumetal_abs(x);
  int e = a < F::least ? -54 : 0;
  if (e) a = __cumetal_scale(a, 54);
  int n = (int)(__cumetal_raw_of(a) >> F::fraction) - F::bias;
  int third = (n + 3 * F::bias) / 3 - F::bias;
  a = __cumetal_scale(a, -3 * third);
  T y = __cumetal_of_raw((Raw)(__cumetal_raw_of(a) / 3 + (((Raw)F::bias << F::fraction) / 3 * 2)));
#pragma unroll
  for (int i = 0; i < (sizeof(T) == 4 ? 2 : 3); i++) {
    T cube = y * y * y;
    y = y * ((cube + 2 * a) / (2 * cube + a));
  }
  __cumetal_pair<T> square = __cumetal_two_product(y, y);
  T residual = __cumetal_fma(-square.hi, y, a) - square.lo * y;
  y = y + residual / (3 * square.hi);
  return __cumetal_sign(__cumetal_scale(y, third + e / 3), x);
}
template <class T> __cumetal_both_library T __cumetal_rcbrt(T x) {
  using F = __cumetal_format<T>;
  if (x == 0) return __cumetal_sign(F::infinity, x);
  if (__cumetal_is_infinite(x)) return __cumetal_sign((T)0, x);
  if (__cumetal_is_nan(x)) return x;
  T y = 1 / __cumetal_cbrt(x);
  // One step on y^3 x = 1 with a residual from exact products; scaled, as the cube of a subnormal's root is out of range.
  int n = ((int)(__cumetal_raw_of(__cumetal_abs(y)) >> F::fraction) - F::bias);
  T u = __cumetal_scale(y, -n), v = __cumetal_scale(__cumetal_scale(x, n), 2 * n);
  __cumetal_pair<T> p = __cumetal_times(__cumetal_two_product(u, u), __cumetal_two_product(u, v));
  u = u - u * ((p.hi - 1) + p.lo) / 3;
  return __cumetal_scale(u, n);
}

// The length of a vector: the sum of squares as a pair, with the scale of the largest component taken out.
template <class T> __cumetal_both bool __cumetal_norm_sum(const T *v, int count, int &scale, __cumetal_pair<T> &sum) {
  using F = __cumetal_format<T>;
  T largest = 0;
  bool isInfinite = false;
  for (int i = 0; i < count; i++) {
    T a = __cumetal_abs(v[i]);
    isInfinite |= __cumetal_is_infinite(a);
    largest = __cumetal_is_nan(a) || __cumetal_is_nan(largest) ? F::nan : a > largest ? a : largest;
  }
  scale = 0;
  sum = {isInfinite ? F::infinity : largest, (T)0};
  if (isInfinite || !(largest > 0)) return false;
  scale = (int)(__cumetal_raw_of(largest) >> F::fraction) - F::bias;
  sum = {(T)0, (T)0};
  for (int i = 0; i < count; i++) {
    T a = __cumetal_scale(v[i], -scale);
    sum = __cumetal_plus(sum, __cumetal_two_product(a, a));
  }
  return true;
}
template <class T> __cumetal_both_library T __cumetal_norm(const T *v, int count) {
  int n;
  __cumetal_pair<T> s;
  if (!__cumetal_norm_sum(v, count, n, s)) return s.hi;
  T root = __cumetal_sqrt(s.hi);
  root += (__cumetal_fma(-root, root, s.hi) + s.lo) / (2 * root);
  return __cumetal_scale(root, n);
}
template <class T> __cumetal_both_library T __cumetal_rnorm(const T *v, int count) {
  int n;
  __cumetal_pair<T> s;
  if (!__cumetal_norm_sum(v, count, n, s)) return 1 / s.hi;
  T root = __cumetal_sqrt(s.hi), y = 1 / root;
  T rest = (__cumetal_fma(-root, root, s.hi) + s.lo) / (2 * root);
  y += y * (__cumetal_fma(-y, root, (T)1) - y * rest);
  return __cumetal_scale(y, -n);
}
template <class T> __cumetal_both T __cumetal_rsqrt(T x) {
  using F = __cumetal_format<T>;
  T root = __cumetal_sqrt(x), y = 1 / root;
  if (!(y > 0 && y < F::infinity)) return y;
  T rest = __cumetal_fma(-root, root, x) / (2 * root);
  return y + y * (__cumetal_fma(-y, root, (T)1) - y * rest);
}

// exp(x^2) erfc(x) for x >= 0, and exp(-x^2) by the exact square.
template <class T> __cumetal_both T __cumetal_erfcx_positive(T x) {
  T t = (x - 4) / (x + 4);
  T p = __cumetal_poly_erfcx(t);
  return x > __cumetal_power_of_two<T>(60) ? (T)0.56418958354775628695 / x : p / (1 + 2 * x);
}
template <class T> __cumetal_both T __cumetal_exp_square(T x, T sign) {
  __cumetal_pair<T> s = __cumetal_two_product(x, x);
  return __cumetal_exp_sum(sign * s.hi, sign * s.lo);
}
template <class T> __cumetal_both T __cumetal_erf_small(T x) {
  constexpr T hi = (T)0x1.20dd750429b6dp+0, lo = (T)(0x1.20dd750429b6dp+0 - (double)hi) + (T)0x1.1ae3a914fed80p-56;
  return __cumetal_fma(x, hi, x * (lo + __cumetal_poly_erf(x * x)));
}
template <class T> __cumetal_both_library T __cumetal_erfc(T x) {
  T a = __cumetal_abs(x);
  if (__cumetal_is_nan(x)) return x;
  if (a < (T)0.5) return 1 - __cumetal_erf_small(x);
  T y = a > 30 ? (T)0 : __cumetal_exp_square(a, (T)-1) * __cumetal_erfcx_positive(a);
  return x < 0 ? 2 - y : y;
}
template <class T> __cumetal_both_library T __cumetal_erf(T x) {
  T a = __cumetal_abs(x);
  if (__cumetal_is_nan(x)) return x;
  if (a < 1) return __cumetal_erf_small(x);
  return __cumetal_sign(1 - __cumetal_erfc(a), x);
}
template <class T> __cumetal_both_library T __cumetal_erfcx(T x) {
  if (__cumetal_is_nan(x)) return x;
  if (x >= 0) return __cumetal_erfcx_positive(x);
  T e = __cumetal_exp_square(x, (T)1);
  return x < -30 ? __cumetal_format<T>::infinity : 2 * e - __cumetal_erfcx_positive(-x);
}

// The inverse of erfc for 0 < q <= 1/2 by Halley's method, from the logarithm: neither erfc nor its derivative underflows.
__cumetal_both_library double __cumetal_erfcinv_tail(double q) {
  double l = __cumetal_log(q), x = __cumetal_sqrt(-l - 0.5 * __cumetal_log(1 - 1.5 * l));
  for (int i = 0; i < 5; i++) {
    double scaled = __cumetal_erfcx_positive(x);
    double step = q > 0.25 ? (__cumetal_erfc(x) - q) * __cumetal_exp_square(x, 1.0) * -0.886226925452758
                           : (1 - __cumetal_exp_sum(l + x * x, 0.0) / scaled) * scaled * -0.886226925452758;
    x -= step / (1 + x * step);
  }
  return x;
}
// The inverse of erf for 0 <= a <= 1/2.
__cumetal_both_library double __cumetal_erfinv_centre(double a) {
  double x = a * 0.886226925452758;
  for (int i = 0; i < 4; i++) {
    double step = (__cumetal_erf_small(x) - a) * __cumetal_exp_square(x, 1.0) * 0.886226925452758;
    x -= step / (1 + x * step);
  }
  return x;
}
__cumetal_both_library double __cumetal_erfcinv(double y) {
  using F = __cumetal_format<double>;
  if (!(y >= 0 && y <= 2)) return F::nan;
  if (y == 0 || y == 2) return y == 0 ? F::infinity : -F::infinity;
  double d = 1 - y;
  if (__cumetal_abs(d) <= 0.5) return __cumetal_sign(__cumetal_erfinv_centre(__cumetal_abs(d)), d);
  return y > 1 ? -__cumetal_erfcinv_tail(2 - y) : __cumetal_erfcinv_tail(y);
}
__cumetal_both_library double __cumetal_erfinv(double y) {
  using F = __cumetal_format<double>;
  double a = __cumetal_abs(y);
  if (!(a <= 1)) return F::nan;
  if (a == 1) return __cumetal_sign(F::infinity, y);
  return __cumetal_sign(a > 0.5 ? __cumetal_erfcinv_tail(1 - a) : __cumetal_erfinv_centre(a), y);
}
__cumetal_both_library double __cumetal_normcdf(double x) {
  if (__cumetal_is_nan(x)) return x;
  if (x < -38.6) return 0;
  // x / sqrt(2) as a pair: the error of the quotient would be amplified by x^2.
  __cumetal_pair<double> t = __cumetal_times(__cumetal_pair<double>{-x, 0.0}, {0x1.6a09e667f3bcdp-1, -0x1.bdd3413b26456p-55});
  double v = __cumetal_erfc(t.hi);
  if (t.hi > 0.5) v -= 2 * t.hi * t.lo * v;
  return 0.5 * v;
}
__cumetal_both_library double __cumetal_normcdfinv(double y) { return -1.4142135623730951 * __cumetal_erfcinv(2 * y); }

// Stirling's series for x >= 10, with the logarithm as a pair.
__cumetal_both __cumetal_pair<double> __cumetal_stirling(double x) {
  __cumetal_pair<double> l = __cumetal_log_sum(x, 0.0);
  __cumetal_pair<double> r = __cumetal_plus(__cumetal_times(l, __cumetal_two_sum(x, -0.5)), {-x, 0.0});
  double z = 1 / (x * x);
  return __cumetal_plus(r, __cumetal_ordered_sum(0x1.d67f1c864beb5p-1, -0x1.65b5a1b7ff5dfp-55 + __cumetal_poly_stirling(z) / x));
}
__cumetal_both_library double __cumetal_lgamma_positive(double x) {
  if (x > 1e306) return x * (__cumetal_log(x) - 1);
  if (x >= 10) {
    __cumetal_pair<double> r = __cumetal_stirling(x);
    return r.hi + r.lo;
  }
  // Down or up to [3/2, 5/2], where lgamma(2 + t) = t (1 + t) p(t).
  double product = 1, y = x;
  while (y > 2.5) {
    y -= 1;
    product *= y;
  }
  if (y < 0.5) {
    double t = y;
    return t * (1 + t) * __cumetal_poly_lgamma(t) - __cumetal_log1p(t) - __cumetal_log(t);
  }
  if (y < 1.5) {
    double t = y - 1;
    return t * (1 + t) * __cumetal_poly_lgamma(t) - __cumetal_log1p(t);
  }
  double t = y - 2, v = t * (1 + t) * __cumetal_poly_lgamma(t);
  return product == 1 ? v : v + __cumetal_log(product);
}
__cumetal_both_library double __cumetal_lgamma(double x) {
  using F = __cumetal_format<double>;
  if (__cumetal_is_nan(x)) return x;
  if (__cumetal_is_infinite(x)) return F::infinity;
  if (x > 0) return __cumetal_lgamma_positive(x);
  if (__cumetal_rint(x) == x) return F::infinity;
  // Reflection: the sine of the distance to the nearest integer.
  double a = -x;
  if (a < 0x1p-60) return -__cumetal_log(a);
  return __cumetal_log(3.14159265358979323846 / __cumetal_abs(__cumetal_sinpi(a) * a)) - __cumetal_lgamma_positive(a);
}
__cumetal_both_library double __cumetal_tgamma(double x) {
  using F = __cumetal_format<double>;
  if (__cumetal_is_nan(x)) return x;
  if (x == 0) return __cumetal_sign(F::infinity, x);
  if (__cumetal_is_infinite(x)) return x > 0 ? x : F::nan;
  if (x < 0 && __cumetal_rint(x) == x) return F::nan;
  if (x > 172) return F::infinity;
  if (x < -184) return __cumetal_sign(0.0, __cumetal_sinpi(x));
  double a = __cumetal_abs(x);
  if (x >= 10 || x <= -10) {
    __cumetal_pair<double> r = __cumetal_stirling(a);
    if (x > 0) return __cumetal_exp_sum(r.hi, r.lo);
    // Reflection, in two factors: the gamma function of -x may be out of range.
    double half = __cumetal_exp_sum(r.hi * 0.5, r.lo * 0.5);
    return -3.14159265358979323846 / (a * __cumetal_sinpi(a)) / half / half;
  }
  double product = 1, y = x;
  while (y > 2.5) {
    y -= 1;
    product *= y;
  }
  double divisor = 1;
  while (y < 1.5) {
    divisor *= y;
    y += 1;
  }
  double t = y - 2;
  return __cumetal_exp(t * (1 + t) * __cumetal_poly_lgamma(t)) * product / divisor;
}

#endif
