// Floats of 8 bits: types and conversions. Source: CUDA Math API, "FP8 Intrinsics"; P. Micikevicius and others, "FP8 formats for deep
// learning", 2022; OCP Microscaling Formats Specification, 1.0 (E8M0).
#ifndef __CUMETAL_CUDA_FP8_H__
#define __CUMETAL_CUDA_FP8_H__

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "device_types.h"

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short int __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;
enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE };
enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 };

// A float to the nearest code: `fraction` digits behind the point, exponents from 1 - bias, `largest` the last finite code and `beyond` what
// follows it where nothing saturates.
template <int fraction, int bias, unsigned char largest, unsigned char beyond>
__cumetal_both unsigned char __cumetal_fp8_bits(float v, __nv_saturation_t saturate) {
  unsigned int raw = __builtin_bit_cast(unsigned int, v), sign = raw >> 24 & 0x80, a = raw & 0x7fffffff;
  if (a > 0x7f800000) return 0x7f;
  constexpr unsigned int normal = (unsigned int)(128 - bias) << 23, cut = 23 - fraction;
  unsigned int code;
  if (a < normal) {
    // Subnormal: the addition rounds at the unit of the smallest ones.
    constexpr unsigned int magic = (unsigned int)(151 - bias - fraction) << 23;
    code = __builtin_bit_cast(unsigned int, __builtin_bit_cast(float, a) + __builtin_bit_cast(float, magic)) - magic;
  } else {
    code = ((a + (1u << (cut - 1)) - 1 + (a >> cut & 1)) >> cut) - ((unsigned int)(127 - bias) << fraction);
  }
  if (code > largest) code = saturate == __NV_SATFINITE ? largest : beyond;
  return (unsigned char)(sign | code);
}
__cumetal_both __nv_fp8_storage_t __nv_cvt_float_to_fp8(float x, __nv_saturation_t saturate, __nv_fp8_interpretation_t interpretation) {
  return interpretation == __NV_E4M3 ? __cumetal_fp8_bits<3, 7, 0x7e, 0x7f>(x, saturate) : __cumetal_fp8_bits<2, 15, 0x7b, 0x7c>(x, saturate);
}
// A double is rounded once: single precision keeps whether anything was cut off. Its NaN keeps the sign.
__cumetal_both __nv_fp8_storage_t __nv_cvt_double_to_fp8(double x, __nv_saturation_t saturate, __nv_fp8_interpretation_t interpretation) {
  if (x != x) return (__nv_fp8_storage_t)((__builtin_bit_cast(unsigned long long, x) >> 56 & 0x80) | (interpretation == __NV_E4M3 ? 0x7f : 0x7e));
  return __nv_cvt_float_to_fp8(__cumetal_odd_single(x), saturate, interpretation);
}
__cumetal_both __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(__half_raw x, __nv_saturation_t saturate, __nv_fp8_interpretation_t interpretation) {
  return __nv_cvt_float_to_fp8(__cumetal_half_single(x.x), saturate, interpretation);
}
__cumetal_both __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw x, __nv_saturation_t saturate,
                                                              __nv_fp8_interpretation_t interpretation) {
  return __nv_cvt_float_to_fp8(__cumetal_bfloat_single(x.x), saturate, interpretation);
}
// Pairs: the first element is in the lower byte.
#define __cumetal_fp8_pair(name, Pair, one, a, b) \
  __cumetal_both __nv_fp8x2_storage_t name(Pair x, __nv_saturation_t saturate, __nv_fp8_interpretation_t interpretation) { \
    return (__nv_fp8x2_storage_t)(one(a, saturate, interpretation) | one(b, saturate, interpretation) << 8); \
  }
__cumetal_fp8_pair(__nv_cvt_float2_to_fp8x2, float2, __nv_cvt_float_to_fp8, x.x, x.y)
__cumetal_fp8_pair(__nv_cvt_double2_to_fp8x2, double2, __nv_cvt_double_to_fp8, x.x, x.y)
__cumetal_fp8_pair(__nv_cvt_halfraw2_to_fp8x2, __half2_raw, __nv_cvt_halfraw_to_fp8, __half_raw{x.x}, __half_raw{x.y})
__cumetal_fp8_pair(__nv_cvt_bfloat16raw2_to_fp8x2, __nv_bfloat162_raw, __nv_cvt_bfloat16raw_to_fp8, __nv_bfloat16_raw{x.x},
                   __nv_bfloat16_raw{x.y})
#undef __cumetal_fp8_pair

// Every code is a half: that of E5M2 is its upper byte.
__cumetal_both __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t x, __nv_fp8_interpretation_t interpretation) {
  unsigned int a = x & 0x7f, sign = (x & 0x80) << 8;
  if (interpretation == __NV_E5M2) return {(unsigned short)(a > 0x7c ? 0x7fff : sign | a << 8)};
  if (a == 0x7f) return {0x7fff};
  if (a >= 8) return {(unsigned short)(sign | (a << 7) + (8 << 10))};
  // Subnormal: a value of up to three digits.
  if (a == 0) return {(unsigned short)sign};
  unsigned int up = a >= 4 ? 0 : a >= 2 ? 1 : 2;
  return {(unsigned short)(sign | (8 - up) << 10 | (a << (8 + up) & 0x3ff))};
}
__cumetal_both __half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t x, __nv_fp8_interpretation_t interpretation) {
  return {__nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)x, interpretation).x,
          __nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)(x >> 8), interpretation).x};
}
__cumetal_both float __cumetal_fp8_single(__nv_fp8_storage_t x, __nv_fp8_interpretation_t interpretation) {
  return __cumetal_half_single(__nv_cvt_fp8_to_halfraw(x, interpretation).x);
}

// Integers: towards zero, at most the type's limits; NaN is 0.
template <class T> __cumetal_both T __cumetal_fp8_integer(float v) {
  constexpr bool isSigned = (T)-1 < (T)0;
  constexpr T high = (T)(isSigned ? (1ull << (8 * sizeof(T) - 1)) - 1 : ~0ull >> (64 - 8 * sizeof(T))), low = (T)(isSigned ? -high - 1 : 0);
  if (v != v) return sizeof(T) == 8 ? (T)(1ull << 63) : (T)0;
  return v >= (float)high ? high : v <= (float)low ? low : (T)v;
}

#define __cumetal_fp8_type(name, format) \
  struct name { \
    __nv_fp8_storage_t __x; \
    name() = default; \
    __host__ __device__ explicit name(float v) : __x(__nv_cvt_float_to_fp8(v, __NV_SATFINITE, format)) {} \
    __host__ __device__ explicit name(double v) : __x(__nv_cvt_double_to_fp8(v, __NV_SATFINITE, format)) {} \
    __host__ __device__ explicit name(__half v) : name((float)v) {} \
    __host__ __device__ explicit name(__nv_bfloat16 v) : name((float)v) {} \
    __host__ __device__ explicit name(short v) : name((float)v) {} \
    __host__ __device__ explicit name(unsigned short v) : name((float)v) {} \
    __host__ __device__ explicit name(int v) : name((double)v) {} \
    __host__ __device__ explicit name(unsigned int v) : name((double)v) {} \
    __host__ __device__ explicit name(long v) : name((double)v) {} \
    __host__ __device__ explicit name(unsigned long v) : name((double)v) {} \
    __host__ __device__ explicit name(long long v) : name((double)v) {} \
    __host__ __device__ explicit name(unsigned long long v) : name((double)v) {} \
    __host__ __device__ explicit operator float() const { return __cumetal_fp8_single(__x, format); } \
    __host__ __device__ explicit operator double() const { return (double)(float)*this; } \
    __host__ __device__ explicit operator __half() const { return __half(__nv_cvt_fp8_to_halfraw(__x, format)); } \
    __host__ __device__ explicit operator __nv_bfloat16() const { return __nv_bfloat16((float)*this); } \
    __host__ __device__ explicit operator bool() const { return (__x & 0x7f) != 0; } \
    __host__ __device__ explicit operator char() const { return __cumetal_fp8_integer<char>((float)*this); } \
    __host__ __device__ explicit operator signed char() const { return __cumetal_fp8_integer<signed char>((float)*this); } \
    __host__ __device__ explicit operator unsigned char() const { return __cumetal_fp8_integer<unsigned char>((float)*this); } \
    __host__ __device__ explicit operator short() const { return __cumetal_fp8_integer<short>((float)*this); } \
    __host__ __device__ explicit operator unsigned short() const { return __cumetal_fp8_integer<unsigned short>((float)*this); } \
    __host__ __device__ explicit operator int() const { return __cumetal_fp8_integer<int>((float)*this); } \
    __host__ __device__ explicit operator unsigned int() const { return __cumetal_fp8_integer<unsigned int>((float)*this); } \
    __host__ __device__ explicit operator long() const { return __cumetal_fp8_integer<long>((float)*this); } \
    __host__ __device__ explicit operator unsigned long() const { return __cumetal_fp8_integer<unsigned long>((float)*this); } \
    __host__ __device__ explicit operator long long() const { return __cumetal_fp8_integer<long long>((float)*this); } \
    __host__ __device__ explicit operator unsigned long long() const { return __cumetal_fp8_integer<unsigned long long>((float)*this); } \
  };
__cumetal_fp8_type(__nv_fp8_e4m3, __NV_E4M3)
__cumetal_fp8_type(__nv_fp8_e5m2, __NV_E5M2)
#undef __cumetal_fp8_type

#define __cumetal_fp8_vectors(format, kind) \
  struct alignas(2) __nv_fp8x2_##format { \
    __nv_fp8x2_storage_t __x; \
    __nv_fp8x2_##format() = default; \
    __host__ __device__ explicit __nv_fp8x2_##format(float2 v) : __x(__nv_cvt_float2_to_fp8x2(v, __NV_SATFINITE, kind)) {} \
    __host__ __device__ explicit __nv_fp8x2_##format(double2 v) : __x(__nv_cvt_double2_to_fp8x2(v, __NV_SATFINITE, kind)) {} \
    __host__ __device__ explicit __nv_fp8x2_##format(__half2 v) : __nv_fp8x2_##format(float2{(float)v.x, (float)v.y}) {} \
    __host__ __device__ explicit __nv_fp8x2_##format(__nv_bfloat162 v) : __nv_fp8x2_##format(float2{(float)v.x, (float)v.y}) {} \
    __host__ __device__ explicit operator __half2() const { return __half2(__nv_cvt_fp8x2_to_halfraw2(__x, kind)); } \
    __host__ __device__ explicit operator float2() const { \
      return {__cumetal_fp8_single((__nv_fp8_storage_t)__x, kind), __cumetal_fp8_single((__nv_fp8_storage_t)(__x >> 8), kind)}; \
    } \
    __host__ __device__ explicit operator __nv_bfloat162() const { \
      float2 v = (float2)*this; \
      return {__nv_bfloat16(v.x), __nv_bfloat16(v.y)}; \
    } \
  }; \
  struct alignas(4) __nv_fp8x4_##format { \
    __nv_fp8x4_storage_t __x; \
    __nv_fp8x4_##format() = default; \
    __host__ __device__ explicit __nv_fp8x4_##format(__half2 low, __half2 high) \
        : __x(__nv_fp8x2_##format(low).__x | (unsigned int)__nv_fp8x2_##format(high).__x << 16) {} \
    __host__ __device__ explicit __nv_fp8x4_##format(__nv_bfloat162 low, __nv_bfloat162 high) \
        : __x(__nv_fp8x2_##format(low).__x | (unsigned int)__nv_fp8x2_##format(high).__x << 16) {} \
    __host__ __device__ explicit __nv_fp8x4_##format(float4 v) \
        : __x(__nv_fp8x2_##format(float2{v.x, v.y}).__x | (unsigned int)__nv_fp8x2_##format(float2{v.z, v.w}).__x << 16) {} \
    __host__ __device__ explicit __nv_fp8x4_##format(double4 v) \
        : __x(__nv_fp8x2_##format(double2{v.x, v.y}).__x | (unsigned int)__nv_fp8x2_##format(double2{v.z, v.w}).__x << 16) {} \
    __host__ __device__ explicit operator float4() const { \
      __nv_fp8x2_##format low, high; \
      low.__x = (__nv_fp8x2_storage_t)__x; \
      high.__x = (__nv_fp8x2_storage_t)(__x >> 16); \
      float2 a = (float2)low, b = (float2)high; \
      return {a.x, a.y, b.x, b.y}; \
    } \
  };
__cumetal_fp8_vectors(e4m3, __NV_E4M3)
__cumetal_fp8_vectors(e5m2, __NV_E5M2)
#undef __cumetal_fp8_vectors

// Powers of two: the exponent of a float, 0xff for NaN.
__cumetal_both __nv_fp8_storage_t __nv_cvt_float_to_e8m0(float x, __nv_saturation_t saturate, cudaRoundMode rounding) {
  unsigned int raw = __builtin_bit_cast(unsigned int, x) & 0x7fffffff;
  if (raw > 0x7f800000) return 0xff;
  if (raw == 0x7f800000) return saturate == __NV_SATFINITE ? 0xfe : 0xff;
  unsigned int code = raw >> 23, rest = raw & 0x7fffff;
  // Code 0 is 2^-127, half of the smallest normal value.
  if (rounding == cudaRoundPosInf && (code > 0 ? rest > 0 : rest > 0x400000)) code++;
  return (__nv_fp8_storage_t)(code == 0xff && saturate == __NV_SATFINITE ? 0xfe : code);
}
__cumetal_both __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_e8m0(__nv_bfloat16_raw x, __nv_saturation_t saturate, cudaRoundMode rounding) {
  return __nv_cvt_float_to_e8m0(__cumetal_bfloat_single(x.x), saturate, rounding);
}
// A double's exponents go further: those outside of the codes are 0 and the largest.
__cumetal_both __nv_fp8_storage_t __nv_cvt_double_to_e8m0(double x, __nv_saturation_t saturate, cudaRoundMode rounding) {
  unsigned long long raw = __builtin_bit_cast(unsigned long long, x) & 0x7fffffffffffffff, infinite = 0x7ff0000000000000;
  if (raw > infinite) return 0xff;
  // 2^-127 is code 0.
  constexpr unsigned long long smallest = (unsigned long long)(1023 - 127) << 52;
  unsigned long long code = raw <= smallest ? 0 : (raw - smallest) >> 52;
  if (rounding == cudaRoundPosInf && raw > smallest && (raw & 0xfffffffffffff)) code++;
  bool stays = saturate == __NV_SATFINITE || (rounding != cudaRoundPosInf && raw != infinite);
  return (__nv_fp8_storage_t)(code > 0xfe ? stays ? 0xfe : 0xff : code);
}
__cumetal_both __nv_fp8x2_storage_t __nv_cvt_float2_to_e8m0x2(float2 x, __nv_saturation_t saturate, cudaRoundMode rounding) {
  return (__nv_fp8x2_storage_t)(__nv_cvt_float_to_e8m0(x.x, saturate, rounding) | __nv_cvt_float_to_e8m0(x.y, saturate, rounding) << 8);
}
__cumetal_both __nv_fp8x2_storage_t __nv_cvt_double2_to_e8m0x2(double2 x, __nv_saturation_t saturate, cudaRoundMode rounding) {
  return (__nv_fp8x2_storage_t)(__nv_cvt_double_to_e8m0(x.x, saturate, rounding) | __nv_cvt_double_to_e8m0(x.y, saturate, rounding) << 8);
}
__cumetal_both __nv_fp8x2_storage_t __nv_cvt_bfloat162raw_to_e8m0x2(__nv_bfloat162_raw x, __nv_saturation_t saturate, cudaRoundMode rounding) {
  return __nv_cvt_float2_to_e8m0x2({__cumetal_bfloat_single(x.x), __cumetal_bfloat_single(x.y)}, saturate, rounding);
}
__cumetal_both __nv_bfloat16_raw __nv_cvt_e8m0_to_bf16raw(__nv_fp8_storage_t x) {
  return {(unsigned short)(x == 0xff ? 0x7fff : x == 0 ? 0x40 : x << 7)};
}

__cumetal_both __nv_bfloat162_raw __nv_cvt_e8m0x2_to_bf162raw(__nv_fp8x2_storage_t x) {
  return {__nv_cvt_e8m0_to_bf16raw((__nv_fp8_storage_t)x).x, __nv_cvt_e8m0_to_bf16raw((__nv_fp8_storage_t)(x >> 8)).x};
}
struct __nv_fp8_e8m0 {
  __nv_fp8_storage_t __x;
  __nv_fp8_e8m0() = default;
  __host__ __device__ explicit __nv_fp8_e8m0(float v) : __x(__nv_cvt_float_to_e8m0(v, __NV_SATFINITE, cudaRoundPosInf)) {}
  __host__ __device__ explicit __nv_fp8_e8m0(double v) : __x(__nv_cvt_double_to_e8m0(v, __NV_SATFINITE, cudaRoundPosInf)) {}
  __host__ __device__ explicit __nv_fp8_e8m0(__half v) : __nv_fp8_e8m0((float)v) {}
  __host__ __device__ explicit __nv_fp8_e8m0(__nv_bfloat16 v) : __nv_fp8_e8m0((float)v) {}
  __host__ __device__ explicit operator float() const { return __cumetal_bfloat_single(__nv_cvt_e8m0_to_bf16raw(__x).x); }
  __host__ __device__ explicit operator double() const { return (double)(float)*this; }
  __host__ __device__ explicit operator __nv_bfloat16() const { return __nv_bfloat16(__nv_cvt_e8m0_to_bf16raw(__x)); }
  __host__ __device__ explicit operator __half() const { return __half((float)*this); }
};
struct alignas(2) __nv_fp8x2_e8m0 {
  __nv_fp8x2_storage_t __x;
  __nv_fp8x2_e8m0() = default;
  __host__ __device__ explicit __nv_fp8x2_e8m0(float2 v) : __x(__nv_cvt_float2_to_e8m0x2(v, __NV_SATFINITE, cudaRoundPosInf)) {}
};
struct alignas(4) __nv_fp8x4_e8m0 {
  __nv_fp8x4_storage_t __x;
  __nv_fp8x4_e8m0() = default;
};

#endif
