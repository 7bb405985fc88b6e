// Bfloat16: types, conversions, arithmetic. Source: CUDA Math API, "Bfloat16 Precision Intrinsics".
#ifndef __CUMETAL_CUDA_BF16_H__
#define __CUMETAL_CUDA_BF16_H__

#include "cuda_runtime.h"

#include "cumetal/odd.h"

struct __nv_bfloat16_raw {
  unsigned short x;
};
struct alignas(4) __nv_bfloat162_raw {
  unsigned short x, y;
};

// The upper half of a float's bits, rounded to the nearest.
__cumetal_both unsigned short __cumetal_bfloat_bits(float v) {
  unsigned int raw = __builtin_bit_cast(unsigned int, v);
  if (v != v) return 0x7fff;
  return (unsigned short)((raw + 0x7fff + (raw >> 16 & 1)) >> 16);
}
__cumetal_both float __cumetal_bfloat_single(unsigned short raw) { return __builtin_bit_cast(float, (unsigned int)raw << 16); }

struct __nv_bfloat16 {
  unsigned short __x;
  __nv_bfloat16() = default;
  __host__ __device__ constexpr __nv_bfloat16(const __nv_bfloat16_raw &raw) : __x(raw.x) {}
  __host__ __device__ __nv_bfloat16(float v) : __x(__cumetal_bfloat_bits(v)) {}
  // A double is rounded once: single precision keeps whether anything was cut off.
  __host__ __device__ __nv_bfloat16(double v) : __x(__cumetal_bfloat_bits(__cumetal_odd_single(v))) {}
  __host__ __device__ __nv_bfloat16(short v) : __x(__cumetal_bfloat_bits((float)v)) {}
  __host__ __device__ __nv_bfloat16(unsigned short v) : __x(__cumetal_bfloat_bits((float)v)) {}
  __host__ __device__ __nv_bfloat16(int v) : __x(__cumetal_bfloat_bits(__cumetal_odd_single(v))) {}
  __host__ __device__ __nv_bfloat16(unsigned int v) : __x(__cumetal_bfloat_bits(__cumetal_odd_single(v))) {}
  __host__ __device__ __nv_bfloat16(long v) : __x(__cumetal_bfloat_bits(__cumetal_odd_single(v))) {}
  __host__ __device__ __nv_bfloat16(unsigned long v) : __x(__cumetal_bfloat_bits(__cumetal_odd_single(v))) {}
  __host__ __device__ __nv_bfloat16(long long v) : __x(__cumetal_bfloat_bits(__cumetal_odd_single(v))) {}
  __host__ __device__ __nv_bfloat16(unsigned long long v) : __x(__cumetal_bfloat_bits(__cumetal_odd_single(v))) {}
  __host__ __device__ operator float() const { return __cumetal_bfloat_single(__x); }
  __host__ __device__ operator __nv_bfloat16_raw() const { return {__x}; }
  __host__ __device__ explicit operator bool() const { return (__x & 0x7fff) != 0; }
  template <class T> __host__ __device__ __nv_bfloat16 &operator=(T v) { return *this = __nv_bfloat16(v); }
  __host__ __device__ __nv_bfloat16 &operator=(const __nv_bfloat16 &) = default;
};
static_assert(sizeof(__nv_bfloat16) == 2, "two bytes");
struct alignas(4) __nv_bfloat162 {
  __nv_bfloat16 x, y;
  __nv_bfloat162() = default;
  __host__ __device__ constexpr __nv_bfloat162(const __nv_bfloat16 &a, const __nv_bfloat16 &b) : x(a), y(b) {}
  __nv_bfloat162(const __nv_bfloat162 &) = default;
  __host__ __device__ __nv_bfloat162(const __nv_bfloat162_raw &raw) : x(__nv_bfloat16_raw{raw.x}), y(__nv_bfloat16_raw{raw.y}) {}
  __host__ __device__ operator __nv_bfloat162_raw() const { return {x.__x, y.__x}; }
  __nv_bfloat162 &operator=(const __nv_bfloat162 &) = default;
};

// The other roundings step from the nearest value by its bits.
__cumetal_both __nv_bfloat16 __cumetal_bfloat16_step(__nv_bfloat16 r, bool up) {
  unsigned short raw = r.__x;
  if ((raw & 0x7fff) == 0) return __nv_bfloat16_raw{(unsigned short)(up ? 1 : 0x8001)};
  return __nv_bfloat16_raw{(unsigned short)((raw >> 15 != 0) == up ? raw - 1 : raw + 1)};
}
__cumetal_both __nv_bfloat16 __float2bfloat16(float v) { return __nv_bfloat16(v); }
__cumetal_both __nv_bfloat16 __float2bfloat16_rn(float v) { return __nv_bfloat16(v); }
__cumetal_both __nv_bfloat16 __float2bfloat16_rd(float v) {
  __nv_bfloat16 r(v);
  return (float)r > v ? __cumetal_bfloat16_step(r, false) : r;
}
__cumetal_both __nv_bfloat16 __float2bfloat16_ru(float v) {
  __nv_bfloat16 r(v);
  return (float)r < v ? __cumetal_bfloat16_step(r, true) : r;
}
__cumetal_both __nv_bfloat16 __float2bfloat16_rz(float v) { return v > 0 ? __float2bfloat16_rd(v) : v < 0 ? __float2bfloat16_ru(v) : __nv_bfloat16(v); }
__cumetal_both __nv_bfloat16 __double2bfloat16(double v) { return __nv_bfloat16(v); }
__cumetal_both float __bfloat162float(__nv_bfloat16 v) { return (float)v; }
__cumetal_both __nv_bfloat162 __float2bfloat162_rn(float v) { return {__nv_bfloat16(v), __nv_bfloat16(v)}; }
__cumetal_both __nv_bfloat162 __floats2bfloat162_rn(float a, float b) { return {__nv_bfloat16(a), __nv_bfloat16(b)}; }
__cumetal_both __nv_bfloat162 __float22bfloat162_rn(float2 v) { return {__nv_bfloat16(v.x), __nv_bfloat16(v.y)}; }
__cumetal_both float2 __bfloat1622float2(__nv_bfloat162 v) { return {(float)v.x, (float)v.y}; }
__cumetal_both float __low2float(__nv_bfloat162 v) { return (float)v.x; }
__cumetal_both float __high2float(__nv_bfloat162 v) { return (float)v.y; }
__cumetal_both __nv_bfloat16 __low2bfloat16(__nv_bfloat162 v) { return v.x; }
__cumetal_both __nv_bfloat16 __high2bfloat16(__nv_bfloat162 v) { return v.y; }
__cumetal_both __nv_bfloat162 __low2bfloat162(__nv_bfloat162 v) { return {v.x, v.x}; }
__cumetal_both __nv_bfloat162 __high2bfloat162(__nv_bfloat162 v) { return {v.y, v.y}; }
__cumetal_both __nv_bfloat162 __lows2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) { return {a.x, b.x}; }
__cumetal_both __nv_bfloat162 __highs2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) { return {a.y, b.y}; }
__cumetal_both __nv_bfloat162 __lowhigh2highlow(__nv_bfloat162 v) { return {v.y, v.x}; }
__cumetal_both __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 v) { return {v, v}; }
__cumetal_both __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return {a, b}; }
__cumetal_both __nv_bfloat162 make_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return {a, b}; }
__cumetal_both short __bfloat16_as_short(__nv_bfloat16 v) { return (short)v.__x; }
__cumetal_both unsigned short __bfloat16_as_ushort(__nv_bfloat16 v) { return v.__x; }
__cumetal_both __nv_bfloat16 __short_as_bfloat16(short v) { return __nv_bfloat16_raw{(unsigned short)v}; }
__cumetal_both __nv_bfloat16 __ushort_as_bfloat16(unsigned short v) { return __nv_bfloat16_raw{v}; }

#define __cumetal_H __nv_bfloat16
#define __cumetal_H2 __nv_bfloat162
#define __cumetal_word "bf16"
#define __cumetal_format_word bfloat16
#include "cumetal/half_operations.h"
#ifdef __CUDA__
#include "cumetal/half_integers.h"
#endif
#undef __cumetal_format_word
#undef __cumetal_H
#undef __cumetal_H2
#undef __cumetal_word

typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;
#define CUDART_INF_BF16 __ushort_as_bfloat16(0x7f80)
#define CUDART_NAN_BF16 __ushort_as_bfloat16(0x7fff)
#define CUDART_ZERO_BF16 __ushort_as_bfloat16(0x0000)
#define CUDART_ONE_BF16 __ushort_as_bfloat16(0x3f80)
#define CUDART_MAX_NORMAL_BF16 __ushort_as_bfloat16(0x7f7f)

#endif
