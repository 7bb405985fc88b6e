// Bessel functions. Source: CUDA Math API; Abramowitz and Stegun, chapter 9: Hankel's expansion, Miller's recurrence.
#ifndef __CUMETAL_MATH_BESSEL_H__
#define __CUMETAL_MATH_BESSEL_H__

// sqrt(2 / (pi x)) (P cos(chi) - Q sin(chi)), or with a sine for the second kind; chi = x - (2 n + 1) pi / 4.
template <int Order, bool IsSecond> __cumetal_both_library double __cumetal_hankel(double x) {
  double z = 64 / (x * x), s, c;
  double p = Order ? __cumetal_poly_p1(z) : __cumetal_poly_p0(z), q = (Order ? __cumetal_poly_q1(z) : __cumetal_poly_q0(z)) / x;
  __cumetal_sincos(x, &s, &c);
  // The sums of the angles; the factor sqrt(1/2) joins the one in front.
  double cosine = Order ? s - c : c + s, sine = Order ? -(s + c) : s - c;
  return 0.56418958354775628695 / __cumetal_sqrt(x) * (IsSecond ? p * sine + q * cosine : p * cosine - q * sine);
}
__cumetal_both_library double __cumetal_j0(double x) {
  x = __cumetal_abs(x);
  if (x <= 8) return __cumetal_poly_j0(x * x);
  return __cumetal_is_infinite(x) ? 0 : __cumetal_hankel<0, false>(x);
}
__cumetal_both_library double __cumetal_j1(double x) {
  double a = __cumetal_abs(x);
  if (a <= 8) return x * __cumetal_poly_j1(x * x);
  return __cumetal_is_infinite(a) ? 0 : __cumetal_sign(1.0, x) * __cumetal_hankel<1, false>(a);
}
__cumetal_both double __cumetal_second_special(double x) {
  return x == 0 ? -__cumetal_format<double>::infinity : __cumetal_is_infinite(x) && x > 0 ? 0 : __cumetal_format<double>::nan;
}
__cumetal_both_library double __cumetal_y0(double x) {
  if (!(x > 0 && __cumetal_is_finite(x))) return __cumetal_second_special(x);
  if (x <= 8) return 0.63661977236758134308 * (__cumetal_log(x) - 0.69314718055994530942) * __cumetal_poly_j0(x * x) + __cumetal_poly_y0(x * x);
  return __cumetal_hankel<0, true>(x);
}
__cumetal_both_library double __cumetal_y1(double x) {
  if (!(x > 0 && __cumetal_is_finite(x))) return __cumetal_second_special(x);
  if (x <= 8)
    return 0.63661977236758134308 * ((__cumetal_log(x) - 0.69314718055994530942) * x * __cumetal_poly_j1(x * x) - 1 / x) + x * __cumetal_poly_y1(x * x);
  return __cumetal_hankel<1, true>(x);
}
__cumetal_both_library double __cumetal_yn(int n, double x) {
  if (n < 0) return __cumetal_format<double>::nan;
  if (n == 0) return __cumetal_y0(x);
  double before = __cumetal_y0(x), now = __cumetal_y1(x);
  for (int k = 1; k < n && now > -__cumetal_format<double>::infinity; k++) {
    double next = 2 * k / x * now - before;
    before = now;
    now = next;
  }
  return now;
}
// Upwards while the order is below the argument; else downwards from an order where the function vanishes.
__cumetal_both_library double __cumetal_jn(int n, double x) {
  if (n < 0) return __cumetal_format<double>::nan;
  if (n == 0) return __cumetal_j0(x);
  if (n == 1) return __cumetal_j1(x);
  if (x == 0 || __cumetal_is_infinite(x)) return 0;
  double a = __cumetal_abs(x), result;
  if (a > n) {
    double before = __cumetal_j0(a), now = __cumetal_j1(a);
    for (int k = 1; k < n; k++) {
      double next = 2 * k / a * now - before;
      before = now;
      now = next;
    }
    result = now;
  } else {
    int start = 2 * ((n + (int)__cumetal_sqrt(160.0 * n) + 10) / 2);
    double after = 0, now = 1, sum = 0, wanted = 0;
    for (int k = start; k > 0; k--) {
      double next = 2 * k / a * now - after;
      after = now;
      now = next;
      if (__cumetal_abs(now) > 0x1p+500) {
        now *= 0x1p-500;
        after *= 0x1p-500;
        wanted *= 0x1p-500;
        sum *= 0x1p-500;
      }
      if (k - 1 == n) wanted = now;
      if (((k - 1) & 1) == 0) sum += k == 1 ? now : 2 * now;
    }
    result = wanted / sum;
  }
  return x < 0 && (n & 1) ? -result : result;
}
__cumetal_both_library double __cumetal_i0(double x) {
  double a = __cumetal_abs(x);
  if (a <= 8) return __cumetal_poly_i0(x * x);
  if (!__cumetal_is_finite(a)) return a;
  double half = __cumetal_exp(a * 0.5);
  return half * (__cumetal_poly_i0large(1 / a) / __cumetal_sqrt(a)) * half;
}
__cumetal_both_library double __cumetal_i1(double x) {
  double a = __cumetal_abs(x);
  if (a <= 8) return x * __cumetal_poly_i1(x * x);
  if (!__cumetal_is_finite(a)) return x;
  double half = __cumetal_exp(a * 0.5);
  return __cumetal_sign(half * (__cumetal_poly_i1large(1 / a) / __cumetal_sqrt(a)) * half, x);
}

#endif
