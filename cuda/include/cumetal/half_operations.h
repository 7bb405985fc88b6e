// Arithmetic, comparisons and functions of one 16-bit float: included by cuda_fp16.h and cuda_bf16.h with `__cumetal_H`, `__cumetal_H2` and the
// instructions' word for each. Source: CUDA Math API, "Half Precision Intrinsics", "Bfloat16 Precision Intrinsics".

// One rounding through single precision is exact for sums, products and quotients: it has more than twice the digits.
__cumetal_both __cumetal_H __cumetal_rounded(__cumetal_H, float v) { return __cumetal_H(v); }
__cumetal_both float __cumetal_single(__cumetal_H v) { return (float)v; }
__cumetal_both __cumetal_H __cumetal_bits_to(__cumetal_H, unsigned short raw) { return __builtin_bit_cast(__cumetal_H, raw); }
__cumetal_both unsigned short __cumetal_bits_of(__cumetal_H v) { return __builtin_bit_cast(unsigned short, v); }

__cumetal_both __cumetal_H __hfma(__cumetal_H a, __cumetal_H b, __cumetal_H c) {
#ifdef __CUDA_ARCH__
  unsigned short r;
  __asm__("fma.rn." __cumetal_word " %0, %1, %2, %3;" : "=h"(r) : "h"(__cumetal_bits_of(a)), "h"(__cumetal_bits_of(b)), "h"(__cumetal_bits_of(c)));
  return __cumetal_bits_to(a, r);
#else
  return __cumetal_H((double)(float)a * (double)(float)b + (double)(float)c);
#endif
}
__cumetal_both __cumetal_H2 __hfma2(__cumetal_H2 a, __cumetal_H2 b, __cumetal_H2 c) {
#ifdef __CUDA_ARCH__
  unsigned int r;
  __asm__("fma.rn." __cumetal_word "x2 %0, %1, %2, %3;"
          : "=r"(r)
          : "r"(__builtin_bit_cast(unsigned int, a)), "r"(__builtin_bit_cast(unsigned int, b)), "r"(__builtin_bit_cast(unsigned int, c)));
  return __builtin_bit_cast(__cumetal_H2, r);
#else
  return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
#endif
}

__cumetal_both __cumetal_H __hadd(__cumetal_H a, __cumetal_H b) { return __cumetal_H((float)a + (float)b); }
__cumetal_both __cumetal_H __hsub(__cumetal_H a, __cumetal_H b) { return __cumetal_H((float)a - (float)b); }
__cumetal_both __cumetal_H __hmul(__cumetal_H a, __cumetal_H b) { return __cumetal_H((float)a * (float)b); }
__cumetal_both __cumetal_H __hdiv(__cumetal_H a, __cumetal_H b) { return __cumetal_H((float)a / (float)b); }
__cumetal_both __cumetal_H __hadd_rn(__cumetal_H a, __cumetal_H b) { return __hadd(a, b); }
__cumetal_both __cumetal_H __hsub_rn(__cumetal_H a, __cumetal_H b) { return __hsub(a, b); }
__cumetal_both __cumetal_H __hmul_rn(__cumetal_H a, __cumetal_H b) { return __hmul(a, b); }
__cumetal_both __cumetal_H __hneg(__cumetal_H a) { return __cumetal_bits_to(a, __cumetal_bits_of(a) ^ 0x8000); }
__cumetal_both __cumetal_H __habs(__cumetal_H a) { return __cumetal_bits_to(a, __cumetal_bits_of(a) & 0x7fff); }
__cumetal_both bool __hisnan(__cumetal_H a) { return (float)a != (float)a; }
__cumetal_both int __hisinf(__cumetal_H a) {
  float v = (float)a;
  return v == __builtin_inff() ? 1 : v == -__builtin_inff() ? -1 : 0;
}

// Saturation is to [0, 1], and NaN becomes 0.
__cumetal_both __cumetal_H __cumetal_saturated(__cumetal_H a) {
  float v = (float)a;
  return v > 0 ? (v < 1 ? a : __cumetal_H(1.0f)) : __cumetal_H(0.0f);
}
__cumetal_both __cumetal_H __hadd_sat(__cumetal_H a, __cumetal_H b) { return __cumetal_saturated(__hadd(a, b)); }
__cumetal_both __cumetal_H __hsub_sat(__cumetal_H a, __cumetal_H b) { return __cumetal_saturated(__hsub(a, b)); }
__cumetal_both __cumetal_H __hmul_sat(__cumetal_H a, __cumetal_H b) { return __cumetal_saturated(__hmul(a, b)); }
__cumetal_both __cumetal_H __hfma_sat(__cumetal_H a, __cumetal_H b, __cumetal_H c) { return __cumetal_saturated(__hfma(a, b, c)); }
__cumetal_both __cumetal_H __hfma_relu(__cumetal_H a, __cumetal_H b, __cumetal_H c) {
  __cumetal_H r = __hfma(a, b, c);
  // -0 becomes 0 as well, and NaN stays.
  return (float)r <= 0 ? __cumetal_H(0.0f) : r;
}

// A NaN is no number for `max`, and is the result of `max_nan`; -0 is below +0.
__cumetal_both __cumetal_H __hmax(__cumetal_H a, __cumetal_H b) {
  if (__hisnan(a)) return b;
  if (__hisnan(b)) return a;
  return (float)a > (float)b || ((float)a == (float)b && !(__cumetal_bits_of(a) >> 15)) ? a : b;
}
__cumetal_both __cumetal_H __hmin(__cumetal_H a, __cumetal_H b) {
  if (__hisnan(a)) return b;
  if (__hisnan(b)) return a;
  return (float)a < (float)b || ((float)a == (float)b && __cumetal_bits_of(a) >> 15) ? a : b;
}
__cumetal_both __cumetal_H __hmax_nan(__cumetal_H a, __cumetal_H b) {
  return __hisnan(a) || __hisnan(b) ? __cumetal_bits_to(a, 0x7fff) : __hmax(a, b);
}
__cumetal_both __cumetal_H __hmin_nan(__cumetal_H a, __cumetal_H b) {
  return __hisnan(a) || __hisnan(b) ? __cumetal_bits_to(a, 0x7fff) : __hmin(a, b);
}

// The vector of a function of the elements.
#define __cumetal_pairwise(name2, name) \
  __cumetal_both __cumetal_H2 name2(__cumetal_H2 a, __cumetal_H2 b) { return {name(a.x, b.x), name(a.y, b.y)}; }
__cumetal_pairwise(__hadd2, __hadd)
__cumetal_pairwise(__hsub2, __hsub)
__cumetal_pairwise(__hmul2, __hmul)
__cumetal_pairwise(__h2div, __hdiv)
__cumetal_pairwise(__hadd2_rn, __hadd)
__cumetal_pairwise(__hsub2_rn, __hsub)
__cumetal_pairwise(__hmul2_rn, __hmul)
__cumetal_pairwise(__hadd2_sat, __hadd_sat)
__cumetal_pairwise(__hsub2_sat, __hsub_sat)
__cumetal_pairwise(__hmul2_sat, __hmul_sat)
__cumetal_pairwise(__hmax2, __hmax)
__cumetal_pairwise(__hmin2, __hmin)
__cumetal_pairwise(__hmax2_nan, __hmax_nan)
__cumetal_pairwise(__hmin2_nan, __hmin_nan)
#undef __cumetal_pairwise
__cumetal_both __cumetal_H2 __hneg2(__cumetal_H2 a) { return {__hneg(a.x), __hneg(a.y)}; }
__cumetal_both __cumetal_H2 __habs2(__cumetal_H2 a) { return {__habs(a.x), __habs(a.y)}; }
__cumetal_both __cumetal_H2 __hfma2_sat(__cumetal_H2 a, __cumetal_H2 b, __cumetal_H2 c) {
  return {__hfma_sat(a.x, b.x, c.x), __hfma_sat(a.y, b.y, c.y)};
}
__cumetal_both __cumetal_H2 __hfma2_relu(__cumetal_H2 a, __cumetal_H2 b, __cumetal_H2 c) {
  return {__hfma_relu(a.x, b.x, c.x), __hfma_relu(a.y, b.y, c.y)};
}
__cumetal_both __cumetal_H2 __hisnan2(__cumetal_H2 a) {
  return {__cumetal_H(__hisnan(a.x) ? 1.0f : 0.0f), __cumetal_H(__hisnan(a.y) ? 1.0f : 0.0f)};
}

// Comparisons: the unordered ones hold for NaN too. Vectors give 1 and 0, masks of bits, or whether both hold.
#define __cumetal_compare(word, condition, unordered) \
  __cumetal_both bool __h##word(__cumetal_H a, __cumetal_H b) { return condition; } \
  __cumetal_both bool __h##word##u(__cumetal_H a, __cumetal_H b) { return condition || unordered; } \
  __cumetal_both __cumetal_H2 __h##word##2(__cumetal_H2 a, __cumetal_H2 b) { \
    return {__cumetal_H(__h##word(a.x, b.x) ? 1.0f : 0.0f), __cumetal_H(__h##word(a.y, b.y) ? 1.0f : 0.0f)}; \
  } \
  __cumetal_both __cumetal_H2 __h##word##u2(__cumetal_H2 a, __cumetal_H2 b) { \
    return {__cumetal_H(__h##word##u(a.x, b.x) ? 1.0f : 0.0f), __cumetal_H(__h##word##u(a.y, b.y) ? 1.0f : 0.0f)}; \
  } \
  __cumetal_both unsigned int __h##word##2_mask(__cumetal_H2 a, __cumetal_H2 b) { \
    return (__h##word(a.x, b.x) ? 0xffffu : 0) | (__h##word(a.y, b.y) ? 0xffff0000u : 0); \
  } \
  __cumetal_both unsigned int __h##word##u2_mask(__cumetal_H2 a, __cumetal_H2 b) { \
    return (__h##word##u(a.x, b.x) ? 0xffffu : 0) | (__h##word##u(a.y, b.y) ? 0xffff0000u : 0); \
  } \
  __cumetal_both bool __hb##word##2(__cumetal_H2 a, __cumetal_H2 b) { return __h##word(a.x, b.x) && __h##word(a.y, b.y); } \
  __cumetal_both bool __hb##word##u2(__cumetal_H2 a, __cumetal_H2 b) { return __h##word##u(a.x, b.x) && __h##word##u(a.y, b.y); }
__cumetal_compare(eq, (float)a == (float)b, __hisnan(a) || __hisnan(b))
__cumetal_compare(ne, ((float)a < (float)b || (float)a > (float)b), __hisnan(a) || __hisnan(b))
__cumetal_compare(lt, (float)a < (float)b, __hisnan(a) || __hisnan(b))
__cumetal_compare(le, (float)a <= (float)b, __hisnan(a) || __hisnan(b))
__cumetal_compare(gt, (float)a > (float)b, __hisnan(a) || __hisnan(b))
__cumetal_compare(ge, (float)a >= (float)b, __hisnan(a) || __hisnan(b))
#undef __cumetal_compare

#ifdef __CUDA__
// Functions through single precision, whose error is far below a unit of the result.
#define __cumetal_function(name, expression) \
  __cumetal_device __cumetal_H h##name(__cumetal_H a) { \
    float x = (float)a; \
    return __cumetal_H(expression); \
  } \
  __cumetal_device __cumetal_H2 h2##name(__cumetal_H2 a) { return {h##name(a.x), h##name(a.y)}; }
__cumetal_function(exp, __cumetal_exp(x))
__cumetal_function(exp2, __cumetal_exp2(x))
__cumetal_function(exp10, __cumetal_exp10(x))
__cumetal_function(log, __cumetal_log(x))
__cumetal_function(log2, __cumetal_log2(x))
__cumetal_function(log10, __cumetal_log10(x))
__cumetal_function(sin, __cumetal_sin(x))
__cumetal_function(cos, __cumetal_cos(x))
__cumetal_function(tanh, __cumetal_tanh(x))
__cumetal_function(sqrt, __builtin_sqrtf(x))
__cumetal_function(rsqrt, __cumetal_rsqrt(x))
__cumetal_function(rcp, 1.0f / x)
__cumetal_function(floor, __builtin_floorf(x))
__cumetal_function(ceil, __builtin_ceilf(x))
__cumetal_function(trunc, __builtin_truncf(x))
__cumetal_function(rint, __builtin_rintf(x))
#undef __cumetal_function
__cumetal_device __cumetal_H htanh_approx(__cumetal_H a) { return htanh(a); }
__cumetal_device __cumetal_H2 h2tanh_approx(__cumetal_H2 a) { return h2tanh(a); }
// Complex multiplication and addition: real part in x, imaginary part in y.
__cumetal_device __cumetal_H2 __hcmadd(__cumetal_H2 a, __cumetal_H2 b, __cumetal_H2 c) {
  return {__hfma(__hneg(a.y), b.y, __hfma(a.x, b.x, c.x)), __hfma(a.y, b.x, __hfma(a.x, b.y, c.y))};
}
#endif

// Operators.
#define __cumetal_operator(symbol, name) \
  __cumetal_both __cumetal_H operator symbol(__cumetal_H a, __cumetal_H b) { return name(a, b); } \
  __cumetal_both __cumetal_H &operator symbol##=(__cumetal_H &a, __cumetal_H b) { return a = name(a, b); }
#define __cumetal_operator2(symbol, name) \
  __cumetal_both __cumetal_H2 operator symbol(__cumetal_H2 a, __cumetal_H2 b) { return name(a, b); } \
  __cumetal_both __cumetal_H2 &operator symbol##=(__cumetal_H2 &a, __cumetal_H2 b) { return a = name(a, b); }
#define __cumetal_relation(symbol, name, name2) \
  __cumetal_both bool operator symbol(__cumetal_H a, __cumetal_H b) { return name(a, b); } \
  __cumetal_both bool operator symbol(__cumetal_H2 a, __cumetal_H2 b) { return name2(a, b); }
__cumetal_operator(+, __hadd)
__cumetal_operator(-, __hsub)
__cumetal_operator(*, __hmul)
__cumetal_operator(/, __hdiv)
__cumetal_operator2(+, __hadd2)
__cumetal_operator2(-, __hsub2)
__cumetal_operator2(*, __hmul2)
__cumetal_operator2(/, __h2div)
__cumetal_relation(==, __heq, __hbeq2)
__cumetal_relation(!=, __hneu, __hbneu2)
__cumetal_relation(<, __hlt, __hblt2)
__cumetal_relation(<=, __hle, __hble2)
__cumetal_relation(>, __hgt, __hbgt2)
__cumetal_relation(>=, __hge, __hbge2)
#undef __cumetal_operator
#undef __cumetal_operator2
#undef __cumetal_relation
__cumetal_both __cumetal_H operator-(__cumetal_H a) { return __hneg(a); }
__cumetal_both __cumetal_H operator+(__cumetal_H a) { return a; }
__cumetal_both __cumetal_H &operator++(__cumetal_H &a) { return a = __hadd(a, __cumetal_H(1.0f)); }
__cumetal_both __cumetal_H &operator--(__cumetal_H &a) { return a = __hsub(a, __cumetal_H(1.0f)); }
__cumetal_both __cumetal_H operator++(__cumetal_H &a, int) {
  __cumetal_H before = a;
  ++a;
  return before;
}
__cumetal_both __cumetal_H operator--(__cumetal_H &a, int) {
  __cumetal_H before = a;
  --a;
  return before;
}
__cumetal_both __cumetal_H2 &operator++(__cumetal_H2 &a) { return a = {__hadd(a.x, __cumetal_H(1.0f)), __hadd(a.y, __cumetal_H(1.0f))}; }
__cumetal_both __cumetal_H2 &operator--(__cumetal_H2 &a) { return a = {__hsub(a.x, __cumetal_H(1.0f)), __hsub(a.y, __cumetal_H(1.0f))}; }
__cumetal_both __cumetal_H2 operator++(__cumetal_H2 &a, int) {
  __cumetal_H2 before = a;
  ++a;
  return before;
}
__cumetal_both __cumetal_H2 operator--(__cumetal_H2 &a, int) {
  __cumetal_H2 before = a;
  --a;
  return before;
}
__cumetal_both __cumetal_H2 operator-(__cumetal_H2 a) { return __hneg2(a); }
__cumetal_both __cumetal_H2 operator+(__cumetal_H2 a) { return a; }

#ifdef __CUDA__
// Warp shuffles and atomics move bits; an addition that another thread disturbs is tried again.
#define __cumetal_shuffle(name, argument) \
  __cumetal_device __cumetal_H name(unsigned int mask, __cumetal_H v, argument lane, int width = 32) { \
    return __cumetal_bits_to(v, (unsigned short)name(mask, (int)__cumetal_bits_of(v), lane, width)); \
  } \
  __cumetal_device __cumetal_H2 name(unsigned int mask, __cumetal_H2 v, argument lane, int width = 32) { \
    return __builtin_bit_cast(__cumetal_H2, name(mask, __builtin_bit_cast(int, v), lane, width)); \
  }
__cumetal_shuffle(__shfl_sync, int)
__cumetal_shuffle(__shfl_up_sync, unsigned int)
__cumetal_shuffle(__shfl_down_sync, unsigned int)
__cumetal_shuffle(__shfl_xor_sync, int)
#undef __cumetal_shuffle
__cumetal_device __cumetal_H atomicAdd(__cumetal_H *address, __cumetal_H value) {
  unsigned short *raw = (unsigned short *)address, seen = *(volatile unsigned short *)raw, old;
  do {
    old = seen;
    seen = atomicCAS(raw, old, __cumetal_bits_of(__hadd(__cumetal_bits_to(value, old), value)));
  } while (seen != old);
  return __cumetal_bits_to(value, old);
}
__cumetal_device __cumetal_H2 atomicAdd(__cumetal_H2 *address, __cumetal_H2 value) {
  return {atomicAdd(&address->x, value.x), atomicAdd(&address->y, value.y)};
}
#endif
