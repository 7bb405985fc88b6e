// Trigonometric functions and their inverses, for both precisions. Source: W. J. Cody, W. Waite, "Software Manual for the Elementary
// Functions", 1980; M. H. Payne, R. N. Hanek, "Radian reduction for trigonometric functions", 1983.
#ifndef __CUMETAL_MATH_TRIG_H__
#define __CUMETAL_MATH_TRIG_H__

// The binary digits of 2/pi behind a word of zeros, which arguments below 2^64 reach into.
static constexpr unsigned long long __cumetal_two_over_pi[] = {
    0x0000000000000000, 0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561, 0xb7246e3a424dd2e0, 0x06492eea09d1921c,
    0xfe1deb1cb129a73e, 0xe88235f52ebb4484, 0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f, 0xef2f118b5a0a6d1f,
    0x6d367ecf27cb09b7, 0x4f463f669e5fea2d, 0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab, 0xf0cfbc209af4361d};

__cumetal_both unsigned long long __cumetal_high(unsigned long long a, unsigned long long b) {
  return (unsigned long long)((unsigned __int128)a * b >> 64);
}

// A large argument times 2/pi modulo 4, in fixed point: the 192 bits that are left are exact to 2^-137.
template <class T> static __host__ __device__ __attribute__((noinline)) __cumetal_pair<T> __cumetal_reduce_large(T x, int &quadrant) {
  using F = __cumetal_format<T>;
  typename F::Raw raw = __cumetal_raw_of(__cumetal_abs(x));
  int exponent = (int)(raw >> F::fraction) - F::bias - F::fraction;
  unsigned long long m = (raw & (((typename F::Raw)1 << F::fraction) - 1)) | ((typename F::Raw)1 << F::fraction);
  int offset = exponent - 2 + 64, word = offset >> 6, shift = offset & 63;
  unsigned long long w[3];
#pragma unroll
  for (int i = 0; i < 3; i++) {
    unsigned long long high = __cumetal_two_over_pi[word + i], low = __cumetal_two_over_pi[word + i + 1];
    w[i] = shift ? high << shift | low >> (64 - shift) : high;
  }
  // m times the window, modulo 2^192.
  unsigned long long p2 = m * w[2], p1 = m * w[1], p0 = m * w[0];
  unsigned long long middle = p1 + __cumetal_high(m, w[2]);
  unsigned long long top = p0 + __cumetal_high(m, w[1]) + (middle < p1);
  quadrant = (int)(top >> 62);
  // The fraction, to the nearest multiple of a quadrant.
  top = top << 2 | middle >> 62;
  middle = middle << 2 | p2 >> 62;
  p2 <<= 2;
  bool isNegative = top >> 63;
  if (isNegative) {
    quadrant = (quadrant + 1) & 3;
    p2 = 0 - p2;
    middle = ~middle + (p2 == 0);
    top = ~top + (p2 == 0 && middle == 0);
  }
  int zeros = 0;
  if (top == 0) {
    zeros = 64;
    top = middle;
    middle = p2;
    p2 = 0;
  }
  int more = __builtin_clzll(top);
  if (more) {
    top = top << more | middle >> (64 - more);
    middle = middle << more | p2 >> (64 - more);
  }
  zeros += more;
  constexpr int bits = F::fraction + 1;
  T hi = (T)(top >> (64 - bits)), lo = (T)(top << bits >> (64 - bits));
  if (bits == 53) lo = (T)((top << 53 | middle >> 11) >> 11);
  T unit = __cumetal_power_of_two<T>(-bits - zeros > 1 - F::bias ? -bits - zeros : 1 - F::bias);
  __cumetal_pair<T> r = {hi * unit, lo * unit * __cumetal_power_of_two<T>(-bits)};
  r = __cumetal_times(__cumetal_ordered_sum(r.hi, r.lo), {F::halfPi, F::halfPiLo});
  if (isNegative != (x < 0)) r = {-r.hi, -r.lo};
  if (x < 0) quadrant = -quadrant & 3;
  return r;
}

// x minus the nearest multiple of pi/2, as a pair.
template <class T> __cumetal_both __cumetal_pair<T> __cumetal_reduce(T x, int &quadrant) {
  using F = __cumetal_format<T>;
  if (__cumetal_abs(x) > F::reduceLimit) return __cumetal_reduce_large(x, quadrant);
  T n = __cumetal_rint(x * F::twoOverPi);
  quadrant = (int)n & 3;
  __cumetal_pair<T> p = __cumetal_two_product(n, F::halfPi), q = __cumetal_two_product(n, F::halfPiLo);
  // Nearly equal values have an exact difference.
  __cumetal_pair<T> r = __cumetal_two_sum(x - p.hi, -p.lo), s = __cumetal_two_sum(r.hi, -q.hi);
  return __cumetal_ordered_sum(s.hi, ((r.lo + s.lo) - q.lo) - n * F::halfPiLeast);
}

// Sine and cosine of |r| <= pi/4 as pairs: the second parts are the polynomials' rest.
template <class T> __cumetal_both __cumetal_pair<T> __cumetal_sin_kernel(__cumetal_pair<T> r) {
  T z = r.hi * r.hi;
  return __cumetal_ordered_sum(r.hi, __cumetal_fma(r.hi * z, __cumetal_poly_sin(z), r.lo * (1 - z / 2)));
}
template <class T> __cumetal_both __cumetal_pair<T> __cumetal_cos_kernel(__cumetal_pair<T> r) {
  __cumetal_pair<T> z = __cumetal_two_product(r.hi, r.hi);
  __cumetal_pair<T> head = __cumetal_ordered_sum((T)1, (T)-0.5 * z.hi);
  return __cumetal_ordered_sum(head.hi, head.lo + __cumetal_fma(z.hi * z.hi, __cumetal_poly_cos(z.hi), (T)-0.5 * z.lo - r.hi * r.lo));
}

template <class T> __cumetal_both T __cumetal_sin_quadrant(__cumetal_pair<T> r, int quadrant) {
  __cumetal_pair<T> v = quadrant & 1 ? __cumetal_cos_kernel(r) : __cumetal_sin_kernel(r);
  T s = v.hi + v.lo;
  return quadrant & 2 ? -s : s;
}
template <class T> __cumetal_both_library T __cumetal_sin(T x) {
  if (!__cumetal_is_finite(x)) return __cumetal_format<T>::nan;
  if (__cumetal_abs(x) < __cumetal_power_of_two<T>(-__cumetal_format<T>::fraction / 2 - 2)) return x;
  int quadrant;
  __cumetal_pair<T> r = __cumetal_reduce(x, quadrant);
  return __cumetal_sin_quadrant(r, quadrant);
}
template <class T> __cumetal_both_library T __cumetal_cos(T x) {
  if (!__cumetal_is_finite(x)) return __cumetal_format<T>::nan;
  int quadrant;
  __cumetal_pair<T> r = __cumetal_reduce(x, quadrant);
  return __cumetal_sin_quadrant(r, quadrant + 1);
}
template <class T> __cumetal_both_library void __cumetal_sincos(T x, T *sine, T *cosine) {
  if (!__cumetal_is_finite(x)) {
    *sine = *cosine = __cumetal_format<T>::nan;
    return;
  }
  int quadrant;
  __cumetal_pair<T> r = __cumetal_reduce(x, quadrant);
  __cumetal_pair<T> a = __cumetal_sin_kernel(r), b = __cumetal_cos_kernel(r);
  T s = a.hi + a.lo, c = b.hi + b.lo;
  if (__cumetal_abs(x) < __cumetal_power_of_two<T>(-__cumetal_format<T>::fraction / 2 - 2)) s = x;
  T first = quadrant & 1 ? c : s, second = quadrant & 1 ? s : c;
  *sine = quadrant & 2 ? -first : first;
  *cosine = (quadrant + 1) & 2 ? -second : second;
}
template <class T> __cumetal_both_library T __cumetal_tan(T x) {
  if (!__cumetal_is_finite(x)) return __cumetal_format<T>::nan;
  if (__cumetal_abs(x) < __cumetal_power_of_two<T>(-__cumetal_format<T>::fraction / 2 - 2)) return x;
  int quadrant;
  __cumetal_pair<T> r = __cumetal_reduce(x, quadrant);
  __cumetal_pair<T> s = __cumetal_sin_kernel(r), c = __cumetal_cos_kernel(r);
  __cumetal_pair<T> q = quadrant & 1 ? __cumetal_over(c, s) : __cumetal_over(s, c);
  return quadrant & 1 ? -(q.hi + q.lo) : q.hi + q.lo;
}

// sin(pi x) of |x| <= 1/4 and cos(pi x), with pi as a pair.
template <class T> __cumetal_both T __cumetal_sinpi_kernel(T x) {
  using F = __cumetal_format<T>;
  T z = x * x;
  __cumetal_pair<T> p = __cumetal_two_product(x, 2 * F::halfPi);
  return p.hi + (p.lo + __cumetal_fma(x * z, __cumetal_poly_sinpi(z), x * (2 * F::halfPiLo)));
}
template <class T> __cumetal_both T __cumetal_cospi_kernel(T x) {
  __cumetal_pair<T> z = __cumetal_two_product(x, x);
  // The first coefficient, -pi^2/2, apart from the rest of the polynomial.
  constexpr T first = (T)-0x1.3bd3cc9be45dep+2;
  __cumetal_pair<T> p = __cumetal_two_product(z.hi, first);
  T tail = __cumetal_fma(z.hi, __cumetal_poly_cospi(z.hi) - first, p.lo + z.lo * first);
  __cumetal_pair<T> head = __cumetal_ordered_sum((T)1, p.hi);
  return head.hi + (head.lo + tail);
}
// The remainder of halves is exact.
template <class T> __cumetal_both T __cumetal_half_turns(T x, int &quadrant) {
  quadrant = 0;
  // From here on every value is an even integer.
  if (__cumetal_abs(x) >= __cumetal_power_of_two<T>(__cumetal_format<T>::fraction + 1)) return 0;
  T n = __cumetal_rint(2 * x);
  quadrant = (int)((long long)n & 3);
  return __cumetal_fma(n, (T)-0.5, x);
}
template <class T> __cumetal_both_library T __cumetal_sinpi(T x) {
  if (!__cumetal_is_finite(x)) return __cumetal_format<T>::nan;
  int q;
  T r = __cumetal_half_turns(x, q);
  T v = q & 1 ? __cumetal_cospi_kernel(r) : __cumetal_sinpi_kernel(r);
  return v == 0 ? __cumetal_sign((T)0, x) : q & 2 ? -v : v;
}
template <class T> __cumetal_both_library T __cumetal_cospi(T x) {
  if (!__cumetal_is_finite(x)) return __cumetal_format<T>::nan;
  int q;
  T r = __cumetal_half_turns(x, q);
  T v = q & 1 ? __cumetal_sinpi_kernel(r) : __cumetal_cospi_kernel(r);
  return v == 0 ? (T)0 : (q + 1) & 2 ? -v : v;
}

// atan of a ratio that is given as a pair: the argument is moved to |t| <= 7/16 by one of five points whose arcs are known.
template <class T> __cumetal_both __cumetal_pair<T> __cumetal_atan_pair(__cumetal_pair<T> a) {
  using F = __cumetal_format<T>;
  __cumetal_pair<T> base = {(T)0, (T)0}, t = a;
  T point = a.hi < (T)0.4375 ? 0 : a.hi < (T)0.6875 ? (T)0.5 : a.hi < (T)1.1875 ? (T)1 : (T)1.5;
  if (a.hi >= (T)2.4375) {
    base = {F::halfPi, F::halfPiLo};
    t = __cumetal_over(__cumetal_pair<T>{(T)-1, (T)0}, a);
  } else if (point != 0) {
    if (point == (T)0.5)
      base = sizeof(T) == 4 ? __cumetal_pair<T>{(T)0x1.dac670p-2, (T)0x1.586ed4p-28}
                            : __cumetal_pair<T>{(T)0x1.dac670561bb4fp-2, (T)0x1.a2b7f222f65e2p-56};
    else if (point == (T)1) base = {F::halfPi / 2, F::halfPiLo / 2};
    else
      base = sizeof(T) == 4 ? __cumetal_pair<T>{(T)0x1.f730bep-1, (T)-0x1.afc12cp-26}
                            : __cumetal_pair<T>{(T)0x1.f730bd281f69bp-1, (T)0x1.007887af0cbbdp-56};
    __cumetal_pair<T> product = __cumetal_times(a, {point, (T)0});
    t = __cumetal_over(__cumetal_plus(a, {-point, (T)0}), __cumetal_plus(product, {(T)1, (T)0}));
  }
  T z = t.hi * t.hi;
  __cumetal_pair<T> r = __cumetal_ordered_sum(t.hi, __cumetal_fma(t.hi * z, __cumetal_poly_atan(z), t.lo * (1 - z)));
  return __cumetal_plus(base, r);
}
template <class T> __cumetal_both_library T __cumetal_atan(T x) {
  if (__cumetal_is_nan(x)) return x;
  T a = __cumetal_abs(x);
  if (a < __cumetal_power_of_two<T>(-__cumetal_format<T>::fraction / 2 - 2)) return x;
  if (a > __cumetal_power_of_two<T>(__cumetal_format<T>::fraction + 8)) return __cumetal_sign(__cumetal_format<T>::halfPi, x);
  __cumetal_pair<T> r = __cumetal_atan_pair(__cumetal_pair<T>{a, (T)0});
  return __cumetal_sign(r.hi + r.lo, x);
}
// Source of the cases: C standard, annex F.
template <class T> __cumetal_both_library T __cumetal_atan2(T y, T x) {
  using F = __cumetal_format<T>;
  if (__cumetal_is_nan(x) || __cumetal_is_nan(y)) return x + y;
  bool isLeft = __cumetal_raw_of(x) >> (8 * sizeof(T) - 1);
  T a = __cumetal_abs(y), b = __cumetal_abs(x);
  __cumetal_pair<T> r;
  if (a == 0 || (__cumetal_is_infinite(b) && !__cumetal_is_infinite(a))) r = {(T)0, (T)0};
  else if (b == 0 || (__cumetal_is_infinite(a) && !__cumetal_is_infinite(b))) r = {F::halfPi, F::halfPiLo};
  else if (__cumetal_is_infinite(a)) r = {F::halfPi / 2, F::halfPiLo / 2};
  else {
    // Equal scales keep the quotient's parts in the normal values.
    T larger = a > b ? a : b;
    int down = (int)(__cumetal_raw_of(larger) >> F::fraction) - F::bias;
    T sa = __cumetal_scale(a, -down), sb = __cumetal_scale(b, -down), q = sa / sb;
    if (q < __cumetal_power_of_two<T>(-F::fraction - 8)) {
      if (!isLeft) return __cumetal_sign(a / b, y);
      r = {(T)0, (T)0};
    } else if (!(q < __cumetal_power_of_two<T>(F::fraction + 8))) r = {F::halfPi, F::halfPiLo};
    else r = __cumetal_atan_pair(__cumetal_over(__cumetal_pair<T>{sa, (T)0}, __cumetal_pair<T>{sb, (T)0}));
  }
  if (isLeft) r = __cumetal_plus(__cumetal_pair<T>{2 * F::halfPi, 2 * F::halfPiLo}, {-r.hi, -r.lo});
  return __cumetal_sign(r.hi + r.lo, y);
}

// asin of 1/2 <= a <= 1 by the half angle: pi/2 - 2 asin(sqrt((1 - a) / 2)), here the second term as a pair.
template <class T> __cumetal_both __cumetal_pair<T> __cumetal_half_angle(T a) {
  T z = (1 - a) * (T)0.5, s = __cumetal_sqrt(z);
  T rest = s > 0 ? __cumetal_fma(-s, s, z) / (2 * s) : (T)0;
  return __cumetal_ordered_sum(2 * s, 2 * (rest + s * z * __cumetal_poly_asin(z)));
}
template <class T> __cumetal_both_library T __cumetal_asin(T x) {
  using F = __cumetal_format<T>;
  T a = __cumetal_abs(x);
  if (!(a <= 1)) return F::nan;
  if (a < __cumetal_power_of_two<T>(-F::fraction / 2 - 2)) return x;
  T z = a * a;
  if (a < (T)0.5) return __cumetal_sign(__cumetal_fma(a * z, __cumetal_poly_asin(z), a), x);
  __cumetal_pair<T> h = __cumetal_half_angle(a), r = __cumetal_plus(__cumetal_pair<T>{F::halfPi, F::halfPiLo}, {-h.hi, -h.lo});
  return __cumetal_sign(r.hi + r.lo, x);
}
template <class T> __cumetal_both_library T __cumetal_acos(T x) {
  using F = __cumetal_format<T>;
  T a = __cumetal_abs(x);
  if (!(a <= 1)) return F::nan;
  __cumetal_pair<T> r;
  if (a < (T)0.5) {
    T z = x * x;
    r = __cumetal_plus(__cumetal_pair<T>{F::halfPi, F::halfPiLo}, __cumetal_ordered_sum(-x, -x * z * __cumetal_poly_asin(z)));
  } else {
    r = __cumetal_half_angle(a);
    if (x < 0) r = __cumetal_plus(__cumetal_pair<T>{2 * F::halfPi, 2 * F::halfPiLo}, {-r.hi, -r.lo});
  }
  return r.hi + r.lo;
}

#endif
