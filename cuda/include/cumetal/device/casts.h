// Type casts and conversions with a rounding. Source: CUDA Math API, "Type Casting Intrinsics"; PTX ISA, "cvt".
#ifndef __CUMETAL_DEVICE_CASTS_H__
#define __CUMETAL_DEVICE_CASTS_H__

__cumetal_device float __int_as_float(int v) { return __builtin_bit_cast(float, v); }
__cumetal_device int __float_as_int(float v) { return __builtin_bit_cast(int, v); }
__cumetal_device float __uint_as_float(unsigned int v) { return __builtin_bit_cast(float, v); }
__cumetal_device unsigned int __float_as_uint(float v) { return __builtin_bit_cast(unsigned int, v); }
__cumetal_device double __longlong_as_double(long long v) { return __builtin_bit_cast(double, v); }
__cumetal_device long long __double_as_longlong(double v) { return __builtin_bit_cast(long long, v); }
__cumetal_device int __double2hiint(double v) { return (int)(__double_as_longlong(v) >> 32); }
__cumetal_device int __double2loint(double v) { return (int)__double_as_longlong(v); }
__cumetal_device double __hiloint2double(int hi, int lo) {
  return __longlong_as_double((long long)((unsigned long long)(unsigned int)hi << 32 | (unsigned int)lo));
}

// Each by the instruction: it saturates, and NaN gives what the hardware gives, neither of which C's conversion says.
#define __cumetal_convert(name, to, toLetter, from, fromLetter, word) \
  __cumetal_device to name(from v) { \
    to r; \
    __asm__(word " %0, %1;" : "=" toLetter(r) : fromLetter(v)); \
    return r; \
  }
#define __cumetal_to_integer(prefix, name, to, toLetter, from, fromLetter, types) \
  __cumetal_convert(prefix##2##name##_rn, to, toLetter, from, fromLetter, "cvt.rni." types) \
  __cumetal_convert(prefix##2##name##_rz, to, toLetter, from, fromLetter, "cvt.rzi." types) \
  __cumetal_convert(prefix##2##name##_rd, to, toLetter, from, fromLetter, "cvt.rmi." types) \
  __cumetal_convert(prefix##2##name##_ru, to, toLetter, from, fromLetter, "cvt.rpi." types)
#define __cumetal_to_float(name, to, toLetter, from, fromLetter, types) \
  __cumetal_convert(name##_rn, to, toLetter, from, fromLetter, "cvt.rn." types) \
  __cumetal_convert(name##_rz, to, toLetter, from, fromLetter, "cvt.rz." types) \
  __cumetal_convert(name##_rd, to, toLetter, from, fromLetter, "cvt.rm." types) \
  __cumetal_convert(name##_ru, to, toLetter, from, fromLetter, "cvt.rp." types)

__cumetal_to_integer(__float, int, int, "r", float, "f", "s32.f32")
__cumetal_to_integer(__float, uint, unsigned int, "r", float, "f", "u32.f32")
__cumetal_to_integer(__float, ll, long long, "l", float, "f", "s64.f32")
__cumetal_to_integer(__float, ull, unsigned long long, "l", float, "f", "u64.f32")
__cumetal_to_integer(__double, int, int, "r", double, "d", "s32.f64")
__cumetal_to_integer(__double, uint, unsigned int, "r", double, "d", "u32.f64")
__cumetal_to_integer(__double, ll, long long, "l", double, "d", "s64.f64")
__cumetal_to_integer(__double, ull, unsigned long long, "l", double, "d", "u64.f64")
__cumetal_to_float(__int2float, float, "f", int, "r", "f32.s32")
__cumetal_to_float(__uint2float, float, "f", unsigned int, "r", "f32.u32")
__cumetal_to_float(__ll2float, float, "f", long long, "l", "f32.s64")
__cumetal_to_float(__ull2float, float, "f", unsigned long long, "l", "f32.u64")
__cumetal_to_float(__ll2double, double, "d", long long, "l", "f64.s64")
__cumetal_to_float(__ull2double, double, "d", unsigned long long, "l", "f64.u64")
__cumetal_to_float(__double2float, float, "f", double, "d", "f32.f64")
__cumetal_device double __int2double_rn(int v) { return v; }
__cumetal_device double __uint2double_rn(unsigned int v) { return v; }

#undef __cumetal_to_integer
#undef __cumetal_to_float
#undef __cumetal_convert

// Older names of the same conversions.
__cumetal_device int float2int(float v) { return __float2int_rz(v); }
__cumetal_device unsigned int float2uint(float v) { return __float2uint_rz(v); }
__cumetal_device float int2float(int v) { return __int2float_rn(v); }
__cumetal_device float int_as_float(int v) { return __int_as_float(v); }
__cumetal_device int float_as_int(float v) { return __float_as_int(v); }

#endif
