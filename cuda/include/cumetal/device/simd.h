// SIMD in a word: two elements of 16 bits or four of 8. Source: CUDA Math API, "SIMD Intrinsics".
#ifndef __CUMETAL_DEVICE_SIMD_H__
#define __CUMETAL_DEVICE_SIMD_H__

template <int Bits> struct __cumetal_lane;
template <> struct __cumetal_lane<16> {
  using Signed = short;
  using Unsigned = unsigned short;
};
template <> struct __cumetal_lane<8> {
  using Signed = signed char;
  using Unsigned = unsigned char;
};
template <int Bits> using __cumetal_signed = typename __cumetal_lane<Bits>::Signed;
template <int Bits> using __cumetal_unsigned = typename __cumetal_lane<Bits>::Unsigned;

// The word whose elements are those of a function of the elements, each as an `int`.
template <class T, class F> __cumetal_device unsigned int __cumetal_each(unsigned int a, unsigned int b, F f) {
  constexpr int bits = 8 * sizeof(T);
  unsigned int result = 0;
#pragma unroll
  for (int at = 0; at < 32; at += bits)
    result |= ((unsigned int)f((int)(T)(a >> at), (int)(T)(b >> at)) & ((1u << bits) - 1)) << at;
  return result;
}
template <class T, class F> __cumetal_device unsigned int __cumetal_total(unsigned int a, unsigned int b, F f) {
  unsigned int result = 0;
#pragma unroll
  for (int at = 0; at < 32; at += 8 * sizeof(T)) result += (unsigned int)f((int)(T)(a >> at), (int)(T)(b >> at));
  return result;
}
template <class T> __cumetal_device int __cumetal_clamped(int v) {
  constexpr bool isSigned = (T)-1 < (T)0;
  constexpr int high = (1 << (8 * sizeof(T) - isSigned)) - 1, low = isSigned ? -high - 1 : 0;
  return v < low ? low : v > high ? high : v;
}

#define __cumetal_binary(name, T, expression) \
  __cumetal_device unsigned int name(unsigned int a, unsigned int b) { \
    return __cumetal_each<T>(a, b, [](int x, int y) { return (int)(expression); }); \
  }
#define __cumetal_unary(name, T, expression) \
  __cumetal_device unsigned int name(unsigned int a) { \
    return __cumetal_each<T>(a, 0, [](int x, int) { return (int)(expression); }); \
  }
#define __cumetal_sum(name, T, expression) \
  __cumetal_device unsigned int name(unsigned int a, unsigned int b) { \
    return __cumetal_total<T>(a, b, [](int x, int y) { return (int)(expression); }); \
  }
// `vcmp` gives all bits of an element, `vset` its lowest.
#define __cumetal_compare(word, N, T, operation) \
  __cumetal_binary(__vcmp##word##N, T, -(x operation y)) \
  __cumetal_binary(__vset##word##N, T, x operation y)

#define __cumetal_simd(N, S, U) \
  __cumetal_unary(__vabs##N, S, x < 0 ? -x : x) \
  __cumetal_unary(__vabsss##N, S, __cumetal_clamped<S>(x < 0 ? -x : x)) \
  __cumetal_unary(__vneg##N, S, -x) \
  __cumetal_unary(__vnegss##N, S, __cumetal_clamped<S>(-x)) \
  __cumetal_binary(__vabsdiffs##N, S, x < y ? y - x : x - y) \
  __cumetal_binary(__vabsdiffu##N, U, x < y ? y - x : x - y) \
  __cumetal_binary(__vadd##N, U, x + y) \
  __cumetal_binary(__vaddss##N, S, __cumetal_clamped<S>(x + y)) \
  __cumetal_binary(__vaddus##N, U, __cumetal_clamped<U>(x + y)) \
  __cumetal_binary(__vsub##N, U, x - y) \
  __cumetal_binary(__vsubss##N, S, __cumetal_clamped<S>(x - y)) \
  __cumetal_binary(__vsubus##N, U, __cumetal_clamped<U>(x - y)) \
  __cumetal_binary(__vavgs##N, S, x + y < 0 ? (x + y) >> 1 : (x + y + 1) >> 1) \
  __cumetal_binary(__vavgu##N, U, (x + y + 1) >> 1) \
  __cumetal_binary(__vhaddu##N, U, (x + y) >> 1) \
  __cumetal_binary(__vmaxs##N, S, x > y ? x : y) \
  __cumetal_binary(__vmaxu##N, U, x > y ? x : y) \
  __cumetal_binary(__vmins##N, S, x < y ? x : y) \
  __cumetal_binary(__vminu##N, U, x < y ? x : y) \
  __cumetal_sum(__vsads##N, S, x < y ? y - x : x - y) \
  __cumetal_sum(__vsadu##N, U, x < y ? y - x : x - y) \
  __cumetal_compare(eq, N, U, ==) \
  __cumetal_compare(ne, N, U, !=) \
  __cumetal_compare(ges, N, S, >=) \
  __cumetal_compare(geu, N, U, >=) \
  __cumetal_compare(gts, N, S, >) \
  __cumetal_compare(gtu, N, U, >) \
  __cumetal_compare(les, N, S, <=) \
  __cumetal_compare(leu, N, U, <=) \
  __cumetal_compare(lts, N, S, <) \
  __cumetal_compare(ltu, N, U, <)

__cumetal_simd(2, short, unsigned short)
__cumetal_simd(4, signed char, unsigned char)

// Fused additions, minima and maxima; `relu` clamps at zero.
#define __cumetal_extremes(suffix, R, max2, min2, add2) \
  __cumetal_device R __viaddmax_##suffix(R a, R b, R c) { return max2(add2(a, b), c); } \
  __cumetal_device R __viaddmin_##suffix(R a, R b, R c) { return min2(add2(a, b), c); } \
  __cumetal_device R __vimax3_##suffix(R a, R b, R c) { return max2(max2(a, b), c); } \
  __cumetal_device R __vimin3_##suffix(R a, R b, R c) { return min2(min2(a, b), c); }
#define __cumetal_relus(suffix, R, max2, min2, add2) \
  __cumetal_device R __viaddmax_##suffix##_relu(R a, R b, R c) { return max2(max2(add2(a, b), c), (R)0); } \
  __cumetal_device R __viaddmin_##suffix##_relu(R a, R b, R c) { return max2(min2(add2(a, b), c), (R)0); } \
  __cumetal_device R __vimax3_##suffix##_relu(R a, R b, R c) { return max2(max2(max2(a, b), c), (R)0); } \
  __cumetal_device R __vimin3_##suffix##_relu(R a, R b, R c) { return max2(min2(min2(a, b), c), (R)0); } \
  __cumetal_device R __vimax_##suffix##_relu(R a, R b) { return max2(max2(a, b), (R)0); } \
  __cumetal_device R __vimin_##suffix##_relu(R a, R b) { return max2(min2(a, b), (R)0); }
__cumetal_device int __cumetal_max_s32(int a, int b) { return a > b ? a : b; }
__cumetal_device int __cumetal_min_s32(int a, int b) { return a < b ? a : b; }
__cumetal_device int __cumetal_add_s32(int a, int b) { return (int)((unsigned int)a + (unsigned int)b); }
__cumetal_device unsigned int __cumetal_max_u32(unsigned int a, unsigned int b) { return a > b ? a : b; }
__cumetal_device unsigned int __cumetal_min_u32(unsigned int a, unsigned int b) { return a < b ? a : b; }
__cumetal_device unsigned int __cumetal_add_u32(unsigned int a, unsigned int b) { return a + b; }
__cumetal_extremes(s32, int, __cumetal_max_s32, __cumetal_min_s32, __cumetal_add_s32)
__cumetal_extremes(u32, unsigned int, __cumetal_max_u32, __cumetal_min_u32, __cumetal_add_u32)
__cumetal_extremes(s16x2, unsigned int, __vmaxs2, __vmins2, __vadd2)
__cumetal_extremes(u16x2, unsigned int, __vmaxu2, __vminu2, __vadd2)
__cumetal_relus(s32, int, __cumetal_max_s32, __cumetal_min_s32, __cumetal_add_s32)
__cumetal_relus(s16x2, unsigned int, __vmaxs2, __vmins2, __vadd2)

// An extreme and which operand it was; equal operands name the first.
#define __cumetal_which(suffix, R) \
  __cumetal_device R __vibmax_##suffix(R a, R b, bool *pred) { return (*pred = a >= b) ? a : b; } \
  __cumetal_device R __vibmin_##suffix(R a, R b, bool *pred) { return (*pred = a <= b) ? a : b; }
__cumetal_which(s32, int)
__cumetal_which(u32, unsigned int)

// The same for each element: two predicates, that of the upper element first.
#define __cumetal_which_pair(name, T, operation) \
  __cumetal_device unsigned int name(unsigned int a, unsigned int b, bool *high, bool *low) { \
    *high = (T)(a >> 16) operation (T)(b >> 16); \
    *low = (T)a operation (T)b; \
    return ((*high ? a : b) & 0xffff0000u) | ((*low ? a : b) & 0xffffu); \
  }
__cumetal_which_pair(__vibmax_s16x2, short, >=)
__cumetal_which_pair(__vibmax_u16x2, unsigned short, >=)
__cumetal_which_pair(__vibmin_s16x2, short, <=)
__cumetal_which_pair(__vibmin_u16x2, unsigned short, <=)
#undef __cumetal_which_pair
#undef __cumetal_which
#undef __cumetal_extremes
#undef __cumetal_relus
#undef __cumetal_simd
#undef __cumetal_compare
#undef __cumetal_sum
#undef __cumetal_unary
#undef __cumetal_binary

#endif
