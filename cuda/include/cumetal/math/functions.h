// The public names. A device overload has the name that C's function has on the host; nothing here is a builtin of the compiler, which would
// replace it by its own. Source: CUDA Math API, "Single Precision Mathematical Functions", "Double Precision Mathematical Functions".
#ifndef __CUMETAL_MATH_FUNCTIONS_PUBLIC_H__
#define __CUMETAL_MATH_FUNCTIONS_PUBLIC_H__

template <bool Condition, class T> struct __cumetal_when {};
template <class T> struct __cumetal_when<true, T> { using Type = T; };
template <class T> constexpr bool __cumetal_is_integral = __is_integral(T);

// `fnf(float)`, `fn(double)`, `fn(float)`, and `fn` of integers, which are converted to double.
#define __cumetal_unary(side, name, result_f, result_d, single, dbl) \
  side result_f name##f(float x) { return single; } \
  side result_d name(double x) { return dbl; } \
  side result_f name(float x) { return single; } \
  template <class T> side typename __cumetal_when<__cumetal_is_integral<T>, result_d>::Type name(T x) { return name((double)x); }
#define __cumetal_same(side, name, expression) __cumetal_unary(side, name, float, double, expression, expression)
#define __cumetal_via(side, name, expression) __cumetal_unary(side, name, float, double, (float)(expression), expression)

__cumetal_same(__cumetal_device, sin, __cumetal_sin(x))
__cumetal_same(__cumetal_device, cos, __cumetal_cos(x))
__cumetal_same(__cumetal_device, tan, __cumetal_tan(x))
__cumetal_same(__cumetal_device, asin, __cumetal_asin(x))
__cumetal_same(__cumetal_device, acos, __cumetal_acos(x))
__cumetal_same(__cumetal_device, atan, __cumetal_atan(x))
__cumetal_same(__cumetal_device, sinh, __cumetal_sinh(x))
__cumetal_same(__cumetal_device, cosh, __cumetal_cosh(x))
__cumetal_same(__cumetal_device, tanh, __cumetal_tanh(x))
__cumetal_same(__cumetal_device, asinh, __cumetal_asinh(x))
__cumetal_same(__cumetal_device, acosh, __cumetal_acosh(x))
__cumetal_same(__cumetal_device, atanh, __cumetal_atanh(x))
__cumetal_same(__cumetal_device, exp, __cumetal_exp(x))
__cumetal_same(__cumetal_device, exp2, __cumetal_exp2(x))
__cumetal_same(__cumetal_device, exp10, __cumetal_exp10(x))
__cumetal_same(__cumetal_device, expm1, __cumetal_expm1(x))
__cumetal_same(__cumetal_device, log, __cumetal_log(x))
__cumetal_same(__cumetal_device, log2, __cumetal_log2(x))
__cumetal_same(__cumetal_device, log10, __cumetal_log10(x))
__cumetal_same(__cumetal_device, log1p, __cumetal_log1p(x))
__cumetal_same(__cumetal_device, cbrt, __cumetal_cbrt(x))
__cumetal_same(__cumetal_device, erf, __cumetal_erf(x))
__cumetal_same(__cumetal_device, erfc, __cumetal_erfc(x))
__cumetal_same(__cumetal_device, logb, __cumetal_logb(x))
__cumetal_same(__cumetal_device, round, __cumetal_round(x))
__cumetal_same(__cumetal_both, sinpi, __cumetal_sinpi(x))
__cumetal_same(__cumetal_both, cospi, __cumetal_cospi(x))
__cumetal_same(__cumetal_both, rcbrt, __cumetal_rcbrt(x))
__cumetal_same(__cumetal_both, erfcx, __cumetal_erfcx(x))
__cumetal_same(__cumetal_both, rsqrt, __cumetal_rsqrt(x))
// In double precision: seldom used, and the errors that CUDA states are small.
__cumetal_via(__cumetal_device, lgamma, __cumetal_lgamma((double)x))
__cumetal_via(__cumetal_device, tgamma, __cumetal_tgamma((double)x))
__cumetal_via(__cumetal_device, j0, __cumetal_j0((double)x))
__cumetal_via(__cumetal_device, j1, __cumetal_j1((double)x))
__cumetal_via(__cumetal_device, y0, __cumetal_y0((double)x))
__cumetal_via(__cumetal_device, y1, __cumetal_y1((double)x))
__cumetal_via(__cumetal_both, normcdf, __cumetal_normcdf((double)x))
__cumetal_via(__cumetal_both, normcdfinv, __cumetal_normcdfinv((double)x))
__cumetal_via(__cumetal_both, erfinv, __cumetal_erfinv((double)x))
__cumetal_via(__cumetal_both, erfcinv, __cumetal_erfcinv((double)x))
__cumetal_via(__cumetal_both, cyl_bessel_i0, __cumetal_i0((double)x))
__cumetal_via(__cumetal_both, cyl_bessel_i1, __cumetal_i1((double)x))

// One instruction each.
__cumetal_unary(__cumetal_device, sqrt, float, double, __builtin_sqrtf(x), __builtin_sqrt(x))
__cumetal_unary(__cumetal_device, fabs, float, double, __builtin_fabsf(x), __builtin_fabs(x))
__cumetal_unary(__cumetal_device, floor, float, double, __builtin_floorf(x), __builtin_floor(x))
__cumetal_unary(__cumetal_device, ceil, float, double, __builtin_ceilf(x), __builtin_ceil(x))
__cumetal_unary(__cumetal_device, trunc, float, double, __builtin_truncf(x), __builtin_trunc(x))
__cumetal_unary(__cumetal_device, rint, float, double, __builtin_rintf(x), __builtin_rint(x))
__cumetal_unary(__cumetal_device, nearbyint, float, double, __builtin_rintf(x), __builtin_rint(x))
__cumetal_unary(__cumetal_device, lrint, long, long, (long)__float2ll_rn(x), (long)__double2ll_rn(x))
__cumetal_unary(__cumetal_device, llrint, long long, long long, __float2ll_rn(x), __double2ll_rn(x))
__cumetal_unary(__cumetal_device, lround, long, long, (long)__float2ll_rz(__cumetal_round(x)), (long)__double2ll_rz(__cumetal_round(x)))
__cumetal_unary(__cumetal_device, llround, long long, long long, __float2ll_rz(__cumetal_round(x)), __double2ll_rz(__cumetal_round(x)))
__cumetal_unary(__cumetal_device, ilogb, int, int, __cumetal_ilogb(x), __cumetal_ilogb(x))

// Two arguments: of one type, or of mixed ones, which become double.
#define __cumetal_binary(side, name, single, dbl) \
  side float name##f(float x, float y) { return single; } \
  side double name(double x, double y) { return dbl; } \
  side float name(float x, float y) { return single; } \
  template <class A, class B> \
  side typename __cumetal_when<(__is_arithmetic(A) && __is_arithmetic(B) && !(__is_same(A, B) && __is_floating_point(A))), double>::Type \
  name(A x, B y) { \
    return name((double)x, (double)y); \
  }
__cumetal_binary(__cumetal_device, pow, __cumetal_pow(x, y), __cumetal_pow(x, y))
__cumetal_binary(__cumetal_device, atan2, __cumetal_atan2(x, y), __cumetal_atan2(x, y))
__cumetal_binary(__cumetal_device, fmod, __cumetal_fmod(x, y), __cumetal_fmod(x, y))
__cumetal_binary(__cumetal_device, remainder, __cumetal_remainder(x, y), __cumetal_remainder(x, y))
__cumetal_binary(__cumetal_device, nextafter, __cumetal_nextafter(x, y), __cumetal_nextafter(x, y))
__cumetal_binary(__cumetal_device, fdim, __cumetal_fdim(x, y), __cumetal_fdim(x, y))
__cumetal_binary(__cumetal_device, copysign, __builtin_copysignf(x, y), __builtin_copysign(x, y))
__cumetal_binary(__cumetal_device, fmax, __builtin_fmaxf(x, y), __builtin_fmax(x, y))
__cumetal_binary(__cumetal_device, fmin, __builtin_fminf(x, y), __builtin_fmin(x, y))
__cumetal_both float __cumetal_hypot(float x, float y) {
  float v[] = {x, y};
  return __cumetal_norm(v, 2);
}
__cumetal_both double __cumetal_hypot(double x, double y) {
  double v[] = {x, y};
  return __cumetal_norm(v, 2);
}
template <class T> __cumetal_both T __cumetal_rhypot(T x, T y) {
  T v[] = {x, y};
  return __cumetal_rnorm(v, 2);
}
__cumetal_binary(__cumetal_device, hypot, __cumetal_hypot(x, y), __cumetal_hypot(x, y))
__cumetal_binary(__cumetal_both, rhypot, __cumetal_rhypot(x, y), __cumetal_rhypot(x, y))
__cumetal_device double pow(double x, int n) { return __cumetal_pow(x, (double)n); }
__cumetal_device float pow(float x, int n) { return __cumetal_pow(x, (float)n); }
__cumetal_device float powif(float x, int n) { return __cumetal_pow(x, (float)n); }
__cumetal_device double powi(double x, int n) { return __cumetal_pow(x, (double)n); }

__cumetal_device float fmaf(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
__cumetal_device double fma(double x, double y, double z) { return __builtin_fma(x, y, z); }
__cumetal_device float fma(float x, float y, float z) { return __builtin_fmaf(x, y, z); }

// Lengths of vectors.
#define __cumetal_norms(T, suffix) \
  __cumetal_both T norm3d##suffix(T a, T b, T c) { \
    T v[] = {a, b, c}; \
    return __cumetal_norm(v, 3); \
  } \
  __cumetal_both T norm4d##suffix(T a, T b, T c, T d) { \
    T v[] = {a, b, c, d}; \
    return __cumetal_norm(v, 4); \
  } \
  __cumetal_both T rnorm3d##suffix(T a, T b, T c) { \
    T v[] = {a, b, c}; \
    return __cumetal_rnorm(v, 3); \
  } \
  __cumetal_both T rnorm4d##suffix(T a, T b, T c, T d) { \
    T v[] = {a, b, c, d}; \
    return __cumetal_rnorm(v, 4); \
  } \
  __cumetal_both T norm##suffix(int count, const T *v) { return __cumetal_norm(v, count); } \
  __cumetal_both T rnorm##suffix(int count, const T *v) { return __cumetal_rnorm(v, count); }
__cumetal_norms(float, f)
__cumetal_norms(double, )
#undef __cumetal_norms

// Results through pointers, and integer arguments.
#define __cumetal_others(T, suffix) \
  __cumetal_device void sincos##suffix(T x, T *s, T *c) { __cumetal_sincos(x, s, c); } \
  __cumetal_both void sincospi##suffix(T x, T *s, T *c) { \
    *s = __cumetal_sinpi(x); \
    *c = __cumetal_cospi(x); \
  } \
  __cumetal_device T modf##suffix(T x, T *whole) { \
    *whole = trunc##suffix(x); \
    return copysign##suffix(__cumetal_is_infinite(x) ? (T)0 : x - *whole, x); \
  } \
  __cumetal_device T frexp##suffix(T x, int *e) { return __cumetal_frexp(x, e); } \
  __cumetal_device T ldexp##suffix(T x, int e) { return __cumetal_scale(x, e); } \
  __cumetal_device T scalbn##suffix(T x, int e) { return __cumetal_scale(x, e); } \
  __cumetal_device T scalbln##suffix(T x, long e) { return __cumetal_scale(x, e > 5000 ? 5000 : e < -5000 ? -5000 : (int)e); } \
  __cumetal_device T remquo##suffix(T x, T y, int *q) { return __cumetal_remquo(x, y, q); } \
  __cumetal_device T jn##suffix(int n, T x) { return (T)__cumetal_jn(n, (double)x); } \
  __cumetal_device T yn##suffix(int n, T x) { return (T)__cumetal_yn(n, (double)x); } \
  __cumetal_device T nan##suffix(const char *) { return __cumetal_format<T>::nan; }
__cumetal_others(float, f)
__cumetal_others(double, )
#undef __cumetal_others
__cumetal_device void sincos(float x, float *s, float *c) { __cumetal_sincos(x, s, c); }
__cumetal_both void sincospi(float x, float *s, float *c) { sincospif(x, s, c); }
__cumetal_device float modf(float x, float *whole) { return modff(x, whole); }
__cumetal_device float frexp(float x, int *e) { return __cumetal_frexp(x, e); }
__cumetal_device float ldexp(float x, int e) { return __cumetal_scale(x, e); }
__cumetal_device float scalbn(float x, int e) { return __cumetal_scale(x, e); }
__cumetal_device float scalbln(float x, long e) { return scalblnf(x, e); }
__cumetal_device float remquo(float x, float y, int *q) { return __cumetal_remquo(x, y, q); }

// Classes of values: `isnan` and others are C's macros and C++'s functions.
#define __cumetal_classes(T) \
  __cumetal_device bool isnan(T x) { return __cumetal_is_nan(x); } \
  __cumetal_device bool isinf(T x) { return __cumetal_is_infinite(x); } \
  __cumetal_device bool isfinite(T x) { return __cumetal_is_finite(x); } \
  __cumetal_device bool signbit(T x) { return __cumetal_raw_of(x) >> (8 * sizeof(T) - 1); }
__cumetal_classes(float)
__cumetal_classes(double)
#undef __cumetal_classes
__cumetal_device int __isnanf(float x) { return __cumetal_is_nan(x); }
__cumetal_device int __isnan(double x) { return __cumetal_is_nan(x); }
__cumetal_device int __isinff(float x) { return __cumetal_is_infinite(x); }
__cumetal_device int __isinf(double x) { return __cumetal_is_infinite(x); }
__cumetal_device int __finitef(float x) { return __cumetal_is_finite(x); }
__cumetal_device int __finite(double x) { return __cumetal_is_finite(x); }

__cumetal_device int abs(int x) { return x < 0 ? (int)(0u - (unsigned int)x) : x; }
__cumetal_device long abs(long x) { return x < 0 ? (long)(0ul - (unsigned long)x) : x; }
__cumetal_device long long abs(long long x) { return x < 0 ? (long long)(0ull - (unsigned long long)x) : x; }
__cumetal_device float abs(float x) { return __builtin_fabsf(x); }
__cumetal_device double abs(double x) { return __builtin_fabs(x); }
__cumetal_device long labs(long x) { return abs(x); }
__cumetal_device long long llabs(long long x) { return abs(x); }

#undef __cumetal_unary
#undef __cumetal_same
#undef __cumetal_via
#undef __cumetal_binary

#endif
