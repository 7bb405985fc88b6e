// Half precision: types, conversions, arithmetic. Source: CUDA Math API, "Half Precision Intrinsics".
#ifndef __CUMETAL_CUDA_FP16_H__
#define __CUMETAL_CUDA_FP16_H__

#include "cuda_runtime.h"

#include "cumetal/odd.h"

struct __half_raw {
  unsigned short x;
};
struct alignas(4) __half2_raw {
  unsigned short x, y;
};

// Rounding to the nearest; the device has an instruction, the host computes with bits.
__cumetal_both unsigned short __cumetal_half_bits(float v) {
#ifdef __CUDA_ARCH__
  unsigned short r;
  __asm__("cvt.rn.f16.f32 %0, %1;" : "=h"(r) : "f"(v));
  return r;
#else
  unsigned int raw = __builtin_bit_cast(unsigned int, v), sign = raw >> 16 & 0x8000, a = raw & 0x7fffffff;
  if (a > 0x7f800000) return 0x7fff;
  if (a >= 0x477ff000) return sign | 0x7c00;
  if (a < 0x38800000) {
    // Subnormal: the addition of 1/2 rounds at the unit of 2^-24.
    float scaled = __builtin_bit_cast(float, a) + 0.5f;
    return sign | (__builtin_bit_cast(unsigned int, scaled) - 0x3f000000);
  }
  return sign | ((a - 0x38000000 + 0xfff + (a >> 13 & 1)) >> 13);
#endif
}
__cumetal_both float __cumetal_half_single(unsigned short raw) {
#ifdef __CUDA_ARCH__
  float r;
  __asm__("cvt.f32.f16 %0, %1;" : "=f"(r) : "h"(raw));
  return r;
#else
  unsigned int sign = (unsigned int)(raw & 0x8000) << 16, a = raw & 0x7fff;
  if (a >= 0x7c00) return __builtin_bit_cast(float, sign | 0x7f800000 | (a & 0x3ff) << 13);
  float v = __builtin_bit_cast(float, a << 13) * 0x1p112f;
  return __builtin_bit_cast(float, __builtin_bit_cast(unsigned int, v) | sign);
#endif
}

struct __half {
  unsigned short __x;
  __half() = default;
  __host__ __device__ constexpr __half(const __half_raw &raw) : __x(raw.x) {}
  __host__ __device__ __half(float v) : __x(__cumetal_half_bits(v)) {}
  // A double is rounded once: single precision keeps whether anything was cut off.
  __host__ __device__ __half(double v) : __x(__cumetal_half_bits(__cumetal_odd_single(v))) {}
  __host__ __device__ __half(short v) : __x(__cumetal_half_bits((float)v)) {}
  __host__ __device__ __half(unsigned short v) : __x(__cumetal_half_bits((float)v)) {}
  __host__ __device__ __half(int v) : __x(__cumetal_half_bits(__cumetal_odd_single(v))) {}
  __host__ __device__ __half(unsigned int v) : __x(__cumetal_half_bits(__cumetal_odd_single(v))) {}
  __host__ __device__ __half(long v) : __x(__cumetal_half_bits(__cumetal_odd_single(v))) {}
  __host__ __device__ __half(unsigned long v) : __x(__cumetal_half_bits(__cumetal_odd_single(v))) {}
  __host__ __device__ __half(long long v) : __x(__cumetal_half_bits(__cumetal_odd_single(v))) {}
  __host__ __device__ __half(unsigned long long v) : __x(__cumetal_half_bits(__cumetal_odd_single(v))) {}
  __host__ __device__ operator float() const { return __cumetal_half_single(__x); }
  __host__ __device__ operator __half_raw() const { return {__x}; }
  __host__ __device__ explicit operator bool() const { return (__x & 0x7fff) != 0; }
  template <class T> __host__ __device__ __half &operator=(T v) { return *this = __half(v); }
  __host__ __device__ __half &operator=(const __half &) = default;
};
static_assert(sizeof(__half) == 2, "two bytes");
struct alignas(4) __half2 {
  __half x, y;
  __half2() = default;
  __host__ __device__ constexpr __half2(const __half &a, const __half &b) : x(a), y(b) {}
  __half2(const __half2 &) = default;
  __host__ __device__ __half2(const __half2_raw &raw) : x(__half_raw{raw.x}), y(__half_raw{raw.y}) {}
  __host__ __device__ operator __half2_raw() const { return {x.__x, y.__x}; }
  __half2 &operator=(const __half2 &) = default;
};

// The other roundings step from the nearest value by its bits.
__cumetal_both __half __cumetal_half_step(__half r, bool up) {
  unsigned short raw = r.__x;
  if ((raw & 0x7fff) == 0) return __half_raw{(unsigned short)(up ? 1 : 0x8001)};
  return __half_raw{(unsigned short)((raw >> 15 != 0) == up ? raw - 1 : raw + 1)};
}
__cumetal_both __half __float2half(float v) { return __half(v); }
__cumetal_both __half __float2half_rn(float v) { return __half(v); }
__cumetal_both __half __float2half_rd(float v) {
  __half r(v);
  return (float)r > v ? __cumetal_half_step(r, false) : r;
}
__cumetal_both __half __float2half_ru(float v) {
  __half r(v);
  return (float)r < v ? __cumetal_half_step(r, true) : r;
}
__cumetal_both __half __float2half_rz(float v) { return v > 0 ? __float2half_rd(v) : v < 0 ? __float2half_ru(v) : __half(v); }
__cumetal_both __half __double2half(double v) { return __half(v); }
__cumetal_both float __half2float(__half v) { return (float)v; }
__cumetal_both __half2 __float2half2_rn(float v) { return {__half(v), __half(v)}; }
__cumetal_both __half2 __floats2half2_rn(float a, float b) { return {__half(a), __half(b)}; }
__cumetal_both __half2 __float22half2_rn(float2 v) { return {__half(v.x), __half(v.y)}; }
__cumetal_both float2 __half22float2(__half2 v) { return {(float)v.x, (float)v.y}; }
__cumetal_both float __low2float(__half2 v) { return (float)v.x; }
__cumetal_both float __high2float(__half2 v) { return (float)v.y; }
__cumetal_both __half __low2half(__half2 v) { return v.x; }
__cumetal_both __half __high2half(__half2 v) { return v.y; }
__cumetal_both __half2 __low2half2(__half2 v) { return {v.x, v.x}; }
__cumetal_both __half2 __high2half2(__half2 v) { return {v.y, v.y}; }
__cumetal_both __half2 __lows2half2(__half2 a, __half2 b) { return {a.x, b.x}; }
__cumetal_both __half2 __highs2half2(__half2 a, __half2 b) { return {a.y, b.y}; }
__cumetal_both __half2 __lowhigh2highlow(__half2 v) { return {v.y, v.x}; }
__cumetal_both __half2 __half2half2(__half v) { return {v, v}; }
__cumetal_both __half2 __halves2half2(__half a, __half b) { return {a, b}; }
__cumetal_both __half2 make_half2(__half a, __half b) { return {a, b}; }
__cumetal_both short __half_as_short(__half v) { return (short)v.__x; }
__cumetal_both unsigned short __half_as_ushort(__half v) { return v.__x; }
__cumetal_both __half __short_as_half(short v) { return __half_raw{(unsigned short)v}; }
__cumetal_both __half __ushort_as_half(unsigned short v) { return __half_raw{v}; }

#define __cumetal_H __half
#define __cumetal_H2 __half2
#define __cumetal_word "f16"
#define __cumetal_format_word half
#include "cumetal/half_operations.h"
#ifdef __CUDA__
#include "cumetal/half_integers.h"
#endif
#undef __cumetal_format_word
#undef __cumetal_H
#undef __cumetal_H2
#undef __cumetal_word

typedef __half half;
typedef __half2 half2;
typedef __half __nv_half;
typedef __half2 __nv_half2;
#define CUDART_INF_FP16 __ushort_as_half(0x7c00)
#define CUDART_NAN_FP16 __ushort_as_half(0x7fff)
#define CUDART_ZERO_FP16 __ushort_as_half(0x0000)
#define CUDART_NEG_ZERO_FP16 __ushort_as_half(0x8000)
#define CUDART_ONE_FP16 __ushort_as_half(0x3c00)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half(0x7bff)
#define CUDART_MIN_DENORM_FP16 __ushort_as_half(0x0001)

#endif
