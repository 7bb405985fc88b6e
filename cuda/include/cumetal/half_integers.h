// Conversions between integers and one 16-bit float: included by cuda_fp16.h and cuda_bf16.h with `__cumetal_H` and the word of names for it.
// Source: CUDA Math API, "Half Precision Conversion and Data Movement", "Bfloat16 Precision Conversion and Data Movement".
#define __cumetal_paste(a, b, c, d) a##b##c##d
#define __cumetal_name(a, b, c, d) __cumetal_paste(a, b, c, d)

// To the nearest, down, up and towards zero. Small integers saturate as large ones do, and NaN is 0.
#define __cumetal_to(T, word, single, rounding) \
  __cumetal_device T __cumetal_name(__, __cumetal_format_word, 2##word##_, rounding)(__cumetal_H v) { return single##rounding((float)v); }
#define __cumetal_to_all(T, word, single) \
  __cumetal_to(T, word, single, rn) __cumetal_to(T, word, single, rd) __cumetal_to(T, word, single, ru) __cumetal_to(T, word, single, rz)
#define __cumetal_to_small(T, word, rounding, low, high) \
  __cumetal_device T __cumetal_name(__, __cumetal_format_word, 2##word##_, rounding)(__cumetal_H v) { \
    int n = __float2int_##rounding((float)v); \
    return (T)(n < low ? low : n > high ? high : n); \
  }
__cumetal_to_all(int, int, __float2int_)
__cumetal_to_all(unsigned int, uint, __float2uint_)
__cumetal_to_all(long long, ll, __float2ll_)
__cumetal_to_all(unsigned long long, ull, __float2ull_)
__cumetal_to_small(short, short, rn, -32768, 32767)
__cumetal_to_small(short, short, rd, -32768, 32767)
__cumetal_to_small(short, short, ru, -32768, 32767)
__cumetal_to_small(short, short, rz, -32768, 32767)
__cumetal_to_small(unsigned short, ushort, rn, 0, 65535)
__cumetal_to_small(unsigned short, ushort, rd, 0, 65535)
__cumetal_to_small(unsigned short, ushort, ru, 0, 65535)
__cumetal_to_small(unsigned short, ushort, rz, 0, 65535)
__cumetal_to_small(signed char, char, rz, -128, 127)
__cumetal_to_small(unsigned char, uchar, rz, 0, 255)

// An integer is rounded once: single precision keeps whether anything was cut off.
#define __cumetal_from(T, word, rounding) \
  __cumetal_both __cumetal_H __cumetal_name(__##word##2, __cumetal_format_word, _, rounding)(T v) { \
    return __cumetal_name(__float2, __cumetal_format_word, _, rounding)(__cumetal_odd_single(v)); \
  }
#define __cumetal_from_all(T, word) \
  __cumetal_from(T, word, rn) __cumetal_from(T, word, rd) __cumetal_from(T, word, ru) __cumetal_from(T, word, rz)
__cumetal_from_all(short, short)
__cumetal_from_all(unsigned short, ushort)
__cumetal_from_all(int, int)
__cumetal_from_all(unsigned int, uint)
__cumetal_from_all(long long, ll)
__cumetal_from_all(unsigned long long, ull)

#undef __cumetal_paste
#undef __cumetal_name
#undef __cumetal_to
#undef __cumetal_to_all
#undef __cumetal_to_small
#undef __cumetal_from
#undef __cumetal_from_all
