// What random CUDA C++ programs use, with one meaning in device code and in the host code that computes what is expected. Where C++ leaves a result open
// (divisions by zero, conversions of what does not fit, signs of NaNs), a function here has a defined one.
#include <cmath>
#include <cstdio>
#include <cstring>
typedef unsigned char u8;
typedef signed char i8;
typedef unsigned short u16;
typedef short i16;
typedef unsigned u32;
typedef int i32;
typedef unsigned long long u64;
typedef long long i64;
typedef float f32;
typedef double f64;
#ifdef __CUDACC__
#define SHARED_CODE __device__ __forceinline__
#define CALLED __device__ __noinline__
SHARED_CODE u32 bits_ones(u32 x) { return __popc(x); }
SHARED_CODE u32 bits_zeros(u32 x) { return __clz(x); }
SHARED_CODE u32 bits_reverse(u32 x) { return __brev(x); }
SHARED_CODE u32 bits_first(u32 x) { return __ffs(x); }
SHARED_CODE u32 bytes_of(u32 a, u32 b, u32 which) { return __byte_perm(a, b, which); }
SHARED_CODE u32 shift_left(u32 low, u32 high, u32 by) { return __funnelshift_l(low, high, by); }
SHARED_CODE u32 shift_right(u32 low, u32 high, u32 by) { return __funnelshift_rc(low, high, by); }
SHARED_CODE u32 high_product(u32 a, u32 b) { return __umulhi(a, b); }
SHARED_CODE u32 product_24(u32 a, u32 b) { return __umul24(a, b); }
SHARED_CODE u32 distance(u32 a, u32 b, u32 c) { return __usad(a, b, c); }
SHARED_CODE u32 dot_bytes(u32 a, u32 b, u32 c) { return __dp4a(a, b, c); }
SHARED_CODE u32 average(u32 a, u32 b) { return __urhadd(a, b); }
SHARED_CODE u64 bits_ones_64(u64 x) { return __popcll(x); }
SHARED_CODE u64 bits_zeros_64(u64 x) { return __clzll(x); }
SHARED_CODE u64 bits_reverse_64(u64 x) { return __brevll(x); }
SHARED_CODE u64 high_product_64(u64 a, u64 b) { return __umul64hi(a, b); }
SHARED_CODE f32 as_f32(u32 x) { return __uint_as_float(x); }
SHARED_CODE f64 as_f64(u64 x) { return __longlong_as_double(x); }
SHARED_CODE u32 bits_f32(f32 x) { return x != x ? 1u : __float_as_uint(x); }
SHARED_CODE u64 bits_f64(f64 x) { return x != x ? 1ull : (u64)__double_as_longlong(x); }
#else
#define SHARED_CODE static inline
#define CALLED static
SHARED_CODE u32 bits_ones(u32 x) { return __builtin_popcount(x); }
SHARED_CODE u32 bits_zeros(u32 x) { return x ? __builtin_clz(x) : 32; }
SHARED_CODE u32 bits_reverse(u32 x) {
  u32 reversed = 0;
  for (u32 i = 0; i < 32; i++) reversed |= (x >> i & 1) << (31 - i);
  return reversed;
}
SHARED_CODE u32 bits_first(u32 x) { return __builtin_ffs(x); }
SHARED_CODE u32 bytes_of(u32 a, u32 b, u32 which) {
  u64 both = (u64)b << 32 | a;
  u32 chosen = 0;
  for (u32 i = 0; i < 4; i++) chosen |= (u32)(both >> 8 * (which >> 4 * i & 7) & 255) << 8 * i;
  return chosen;
}
SHARED_CODE u32 shift_left(u32 low, u32 high, u32 by) { return ((u64)high << 32 | low) << (by & 31) >> 32; }
SHARED_CODE u32 shift_right(u32 low, u32 high, u32 by) { return ((u64)high << 32 | low) >> (by < 32 ? by : 32); }
SHARED_CODE u32 high_product(u32 a, u32 b) { return (u64)a * b >> 32; }
SHARED_CODE u32 product_24(u32 a, u32 b) { return (a & 0xffffff) * (b & 0xffffff); }
SHARED_CODE u32 distance(u32 a, u32 b, u32 c) { return (a > b ? a - b : b - a) + c; }
SHARED_CODE u32 dot_bytes(u32 a, u32 b, u32 c) {
  for (u32 i = 0; i < 32; i += 8) c += (a >> i & 255) * (b >> i & 255);
  return c;
}
SHARED_CODE u32 average(u32 a, u32 b) { return ((u64)a + b + 1) >> 1; }
SHARED_CODE u64 bits_ones_64(u64 x) { return __builtin_popcountll(x); }
SHARED_CODE u64 bits_zeros_64(u64 x) { return x ? __builtin_clzll(x) : 64; }
SHARED_CODE u64 bits_reverse_64(u64 x) { return (u64)bits_reverse((u32)x) << 32 | bits_reverse((u32)(x >> 32)); }
SHARED_CODE u64 high_product_64(u64 a, u64 b) { return (unsigned __int128)a * b >> 64; }
template <class To, class From> static To as(From x) {
  To to;
  memcpy(&to, &x, sizeof(to));
  return to;
}
SHARED_CODE f32 as_f32(u32 x) { return as<f32>(x); }
SHARED_CODE f64 as_f64(u64 x) { return as<f64>(x); }
SHARED_CODE u32 bits_f32(f32 x) { return x != x ? 1u : as<u32>(x); }
SHARED_CODE u64 bits_f64(f64 x) { return x != x ? 1ull : as<u64>(x); }
#endif
SHARED_CODE u32 rotate(u32 a, u32 by) { return shift_left(a, a, by); }
SHARED_CODE u32 bit_field(u32 a, u32 at, u32 length) { return a >> (at & 31) & ((1u << (length & 31)) - 1); }
SHARED_CODE u64 wide_product(u32 a, u32 b) { return (u64)a * b; }
SHARED_CODE u64 wide_signed_product(u32 a, u32 b) { return (u64)((i64)(i32)a * (i32)b); }
// A quotient, a remainder, the lesser and the greater of two integers; no quotient overflows.
#define INTEGER(T, IS_OPEN)                                                                \
  SHARED_CODE T quotient_##T(T a, T b) { return IS_OPEN ? a : (T)(a / b); }                \
  SHARED_CODE T remainder_##T(T a, T b) { return IS_OPEN ? a : (T)(a % b); }               \
  SHARED_CODE T lesser_##T(T a, T b) { return a < b ? a : b; }                             \
  SHARED_CODE T greater_##T(T a, T b) { return a > b ? a : b; }
INTEGER(u8, b == 0)
INTEGER(u16, b == 0)
INTEGER(u32, b == 0)
INTEGER(u64, b == 0)
INTEGER(i8, b == 0 || b == -1)
INTEGER(i16, b == 0 || b == -1)
INTEGER(i32, b == 0 || b == -1)
INTEGER(i64, b == 0 || b == -1)
// The lesser and the greater of two floats, the other of a NaN; and the magnitude of one with the sign of another that has one.
#define FLOAT(T)                                                                            \
  SHARED_CODE T lesser_##T(T a, T b) { return a != a ? b : b != b ? a : b < a ? b : a; }    \
  SHARED_CODE T greater_##T(T a, T b) { return a != a ? b : b != b ? a : b > a ? b : a; }   \
  SHARED_CODE T signed_like_##T(T a, T b) { return b != b ? a : copysign(a, b); }
FLOAT(f32)
FLOAT(f64)
// An integer of a float that is in the range given, else 77.
#define TO_INTEGER(F, T, LOW, HIGH) \
  SHARED_CODE T F##_to_##T(F x) { return x > (F)LOW && x < (F)HIGH ? (T)x : (T)77; }
#define TO_INTEGERS(F)                                                                                                                        \
  TO_INTEGER(F, u8, -1, 255) TO_INTEGER(F, i8, -128, 127) TO_INTEGER(F, u16, -1, 65535) TO_INTEGER(F, i16, -32768, 32767)                      \
  TO_INTEGER(F, u32, -1, 4e9) TO_INTEGER(F, i32, -2e9, 2e9) TO_INTEGER(F, u64, -1, 1.8e19) TO_INTEGER(F, i64, -9e18, 9e18)
TO_INTEGERS(f32)
TO_INTEGERS(f64)
// A digest of 64 bits, one value after the other. Source: Fowler, Noll, Vo, FNV-1a, by words.
SHARED_CODE u64 digest(u64 before, u64 value) { return (before ^ value) * 1099511628211ull; }
