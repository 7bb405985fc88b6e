// Minimax polynomials, written by scripts/math/polynomials.py.
#ifndef __CUMETAL_MATH_POLYNOMIALS_ELEMENTARY_H__
#define __CUMETAL_MATH_POLYNOMIALS_ELEMENTARY_H__

// sin(x) = x + x z p(z), z = x^2, |x| <= pi/4.
__cumetal_both double __cumetal_poly_sin(double x) {
  double p = 0x1.5d8106245203dp-33;
  p = __builtin_fma(p, x, -0x1.ae5e29bd6c755p-26);
  p = __builtin_fma(p, x, 0x1.71de352ca9b72p-19);
  p = __builtin_fma(p, x, -0x1.a01a019bbdf4ep-13);
  p = __builtin_fma(p, x, 0x1.111111110f5f8p-7);
  p = __builtin_fma(p, x, -0x1.5555555555547p-3);
  return p;
}

__cumetal_both float __cumetal_poly_sin(float x) {
  float p = -0x1.992ba60000000p-13f;
  p = __builtin_fmaf(p, x, 0x1.1106fa0000000p-7f);
  p = __builtin_fmaf(p, x, -0x1.5555440000000p-3f);
  return p;
}

// cos(x) = 1 - z/2 + z^2 p(z).
__cumetal_both double __cumetal_poly_cos(double x) {
  double p = -0x1.8f9af4482f196p-37;
  p = __builtin_fma(p, x, 0x1.1ee9c6ecd8687p-29);
  p = __builtin_fma(p, x, -0x1.27e4f7d51ce3bp-22);
  p = __builtin_fma(p, x, 0x1.a01a019c6b0c4p-16);
  p = __builtin_fma(p, x, -0x1.6c16c16c14ec5p-10);
  p = __builtin_fma(p, x, 0x1.555555555554ap-5);
  return p;
}

__cumetal_both float __cumetal_poly_cos(float x) {
  float p = 0x1.99e35e0000000p-16f;
  p = __builtin_fmaf(p, x, -0x1.6c0c220000000p-10f);
  p = __builtin_fmaf(p, x, 0x1.55554a0000000p-5f);
  return p;
}

// sin(pi x) = pi x + x z p(z), |x| <= 1/4.
__cumetal_both double __cumetal_poly_sinpi(double x) {
  double p = -0x1.6c63c3eb4ce68p-16;
  p = __builtin_fma(p, x, 0x1.e8eeeff5af19ap-12);
  p = __builtin_fma(p, x, -0x1.e3074b7de413fp-8);
  p = __builtin_fma(p, x, 0x1.50783485eeb2cp-4);
  p = __builtin_fma(p, x, -0x1.32d2cce62ade6p-1);
  p = __builtin_fma(p, x, 0x1.466bc6775aadbp+1);
  p = __builtin_fma(p, x, -0x1.4abbce625be53p+2);
  return p;
}

__cumetal_both float __cumetal_poly_sinpi(float x) {
  float p = 0x1.4be6880000000p-4f;
  p = __builtin_fmaf(p, x, -0x1.32cb240000000p-1f);
  p = __builtin_fmaf(p, x, 0x1.466bbc0000000p+1f);
  p = __builtin_fmaf(p, x, -0x1.4abbce0000000p+2f);
  return p;
}

// cos(pi x) = 1 + z p(z), |x| <= 1/4.
__cumetal_both double __cumetal_poly_cospi(double x) {
  double p = -0x1.b26fddf91c6e8p-14;
  p = __builtin_fma(p, x, 0x1.f9cc6ab3e44f2p-10);
  p = __builtin_fma(p, x, -0x1.a6d1ecb728564p-6);
  p = __builtin_fma(p, x, 0x1.e1f50683b4255p-3);
  p = __builtin_fma(p, x, -0x1.55d3c7e3c95bdp+0);
  p = __builtin_fma(p, x, 0x1.03c1f081b5ab0p+2);
  p = __builtin_fma(p, x, -0x1.3bd3cc9be45dep+2);
  return p;
}

__cumetal_both float __cumetal_poly_cospi(float x) {
  float p = 0x1.d9f7b00000000p-3f;
  p = __builtin_fmaf(p, x, -0x1.55c6640000000p+0f);
  p = __builtin_fmaf(p, x, 0x1.03c1de0000000p+2f);
  p = __builtin_fmaf(p, x, -0x1.3bd3cc0000000p+2f);
  return p;
}

// exp(r) = 1 + r + r^2 p(r), |r| <= ln(2)/2.
__cumetal_both double __cumetal_poly_exp(double x) {
  double p = 0x1.1fa10cd2e4cbdp-29;
  p = __builtin_fma(p, x, 0x1.af72058b2bfdfp-26);
  p = __builtin_fma(p, x, 0x1.27e4bd04d8e4ep-22);
  p = __builtin_fma(p, x, 0x1.71ddec98c0f22p-19);
  p = __builtin_fma(p, x, 0x1.a01a01b5760c8p-16);
  p = __builtin_fma(p, x, 0x1.a01a01b4eab76p-13);
  p = __builtin_fma(p, x, 0x1.6c16c16c13144p-10);
  p = __builtin_fma(p, x, 0x1.111111110e8a8p-7);
  p = __builtin_fma(p, x, 0x1.555555555555fp-5);
  p = __builtin_fma(p, x, 0x1.555555555555cp-3);
  p = __builtin_fma(p, x, 0x1.0000000000000p-1);
  return p;
}

__cumetal_both float __cumetal_poly_exp(float x) {
  float p = 0x1.6dbd020000000p-10f;
  p = __builtin_fmaf(p, x, 0x1.1241320000000p-7f);
  p = __builtin_fmaf(p, x, 0x1.5554540000000p-5f);
  p = __builtin_fmaf(p, x, 0x1.5554880000000p-3f);
  p = __builtin_fmaf(p, x, 0x1.0000000000000p-1f);
  return p;
}

// log((1+s)/(1-s)) = 2 s + 2/3 s^3 + s^5 p(s^2).
__cumetal_both double __cumetal_poly_log(double x) {
  double p = 0x1.eb345d7ca6cb7p-4;
  p = __builtin_fma(p, x, 0x1.de2f3670384b9p-4);
  p = __builtin_fma(p, x, 0x1.1120d041a2d16p-3);
  p = __builtin_fma(p, x, 0x1.3b13620534f25p-3);
  p = __builtin_fma(p, x, 0x1.745d1834e84a6p-3);
  p = __builtin_fma(p, x, 0x1.c71c71c57b0b2p-3);
  p = __builtin_fma(p, x, 0x1.2492492493062p-2);
  p = __builtin_fma(p, x, 0x1.9999999999995p-2);
  return p;
}

__cumetal_both float __cumetal_poly_log(float x) {
  float p = 0x1.dfab420000000p-3f;
  p = __builtin_fmaf(p, x, 0x1.24524e0000000p-2f);
  p = __builtin_fmaf(p, x, 0x1.999a000000000p-2f);
  return p;
}

// atan(x) = x + x z p(z), |x| <= 7/16.
__cumetal_both double __cumetal_poly_atan(double x) {
  double p = 0x1.c0abd463c72acp-7;
  p = __builtin_fma(p, x, -0x1.0574cf54ec152p-5);
  p = __builtin_fma(p, x, 0x1.6b265061027dep-5);
  p = __builtin_fma(p, x, -0x1.a9fdca134a484p-5);
  p = __builtin_fma(p, x, 0x1.e1330eb7bd91dp-5);
  p = __builtin_fma(p, x, -0x1.11090d4c1360fp-4);
  p = __builtin_fma(p, x, 0x1.3b132fe781a70p-4);
  p = __builtin_fma(p, x, -0x1.745d11cf9b96fp-4);
  p = __builtin_fma(p, x, 0x1.c71c71a1661bep-4);
  p = __builtin_fma(p, x, -0x1.2492492445d50p-3);
  p = __builtin_fma(p, x, 0x1.9999999998fdfp-3);
  p = __builtin_fma(p, x, -0x1.5555555555552p-2);
  return p;
}

__cumetal_both float __cumetal_poly_atan(float x) {
  float p = -0x1.dd16640000000p-5f;
  p = __builtin_fmaf(p, x, 0x1.adcbb20000000p-4f);
  p = __builtin_fmaf(p, x, -0x1.236dee0000000p-3f);
  p = __builtin_fmaf(p, x, 0x1.998dde0000000p-3f);
  p = __builtin_fmaf(p, x, -0x1.5555420000000p-2f);
  return p;
}

// asin(x) = x + x z p(z), |x| <= 1/2.
__cumetal_both double __cumetal_poly_asin(double x) {
  double p = 0x1.0be5f6ad63223p-5;
  p = __builtin_fma(p, x, -0x1.59fb2fdbf55f5p-6);
  p = __builtin_fma(p, x, 0x1.6504fcebf8bb9p-6);
  p = __builtin_fma(p, x, 0x1.e152df6739cecp-9);
  p = __builtin_fma(p, x, 0x1.618b28a7c66a8p-7);
  p = __builtin_fma(p, x, 0x1.757780fc47b1cp-7);
  p = __builtin_fma(p, x, 0x1.ca214498d704fp-7);
  p = __builtin_fma(p, x, 0x1.1c49de0e50c65p-6);
  p = __builtin_fma(p, x, 0x1.6e8bdfe4c8430p-6);
  p = __builtin_fma(p, x, 0x1.f1c71a8bb8e93p-6);
  p = __builtin_fma(p, x, 0x1.6db6db722af80p-5);
  p = __builtin_fma(p, x, 0x1.333333332df21p-4);
  p = __builtin_fma(p, x, 0x1.5555555555578p-3);
  return p;
}

__cumetal_both float __cumetal_poly_asin(float x) {
  float p = 0x1.59f18a0000000p-5f;
  p = __builtin_fmaf(p, x, 0x1.8b8a2a0000000p-6f);
  p = __builtin_fmaf(p, x, 0x1.748e900000000p-5f);
  p = __builtin_fmaf(p, x, 0x1.33013c0000000p-4f);
  p = __builtin_fmaf(p, x, 0x1.5555ca0000000p-3f);
  return p;
}

#endif
