// Arithmetic with a rounding, and fast approximations. Source: CUDA Math API, "Single Precision Intrinsics", "Double Precision Intrinsics".
#ifndef __CUMETAL_DEVICE_ROUNDING_H__
#define __CUMETAL_DEVICE_ROUNDING_H__

// One instruction each, which the compiler neither fuses nor folds.
#define __cumetal_one(name, T, letter, word) \
  __cumetal_device T name(T a) { \
    T r; \
    __asm__(word " %0, %1;" : "=" letter(r) : letter(a)); \
    return r; \
  }
#define __cumetal_two(name, T, letter, word) \
  __cumetal_device T name(T a, T b) { \
    T r; \
    __asm__(word " %0, %1, %2;" : "=" letter(r) : letter(a), letter(b)); \
    return r; \
  }
#define __cumetal_three(name, T, letter, word) \
  __cumetal_device T name(T a, T b, T c) { \
    T r; \
    __asm__(word " %0, %1, %2, %3;" : "=" letter(r) : letter(a), letter(b), letter(c)); \
    return r; \
  }
#define __cumetal_roundings(shape, name, T, letter, word, type) \
  shape(name##_rn, T, letter, word ".rn." type) \
  shape(name##_rz, T, letter, word ".rz." type) \
  shape(name##_rd, T, letter, word ".rm." type) \
  shape(name##_ru, T, letter, word ".rp." type)

__cumetal_roundings(__cumetal_two, __fadd, float, "f", "add", "f32")
__cumetal_roundings(__cumetal_two, __fsub, float, "f", "sub", "f32")
__cumetal_roundings(__cumetal_two, __fmul, float, "f", "mul", "f32")
__cumetal_roundings(__cumetal_two, __fdiv, float, "f", "div", "f32")
__cumetal_roundings(__cumetal_one, __frcp, float, "f", "rcp", "f32")
__cumetal_roundings(__cumetal_one, __fsqrt, float, "f", "sqrt", "f32")
__cumetal_roundings(__cumetal_three, __fmaf, float, "f", "fma", "f32")
__cumetal_roundings(__cumetal_three, __fmaf_ieee, float, "f", "fma", "f32")
__cumetal_roundings(__cumetal_two, __dadd, double, "d", "add", "f64")
__cumetal_roundings(__cumetal_two, __dsub, double, "d", "sub", "f64")
__cumetal_roundings(__cumetal_two, __dmul, double, "d", "mul", "f64")
__cumetal_roundings(__cumetal_two, __ddiv, double, "d", "div", "f64")
__cumetal_roundings(__cumetal_one, __drcp, double, "d", "rcp", "f64")
__cumetal_roundings(__cumetal_one, __dsqrt, double, "d", "sqrt", "f64")
__cumetal_roundings(__cumetal_three, __fma, double, "d", "fma", "f64")

// Approximations. Source: CUDA C++ Programming Guide, "Intrinsic Functions"; PTX ISA gives the error of each instruction.
__cumetal_one(__frsqrt_rn, float, "f", "rsqrt.approx.f32")
__cumetal_one(__cumetal_sin_approx, float, "f", "sin.approx.f32")
__cumetal_one(__cumetal_cos_approx, float, "f", "cos.approx.f32")
__cumetal_one(__cumetal_ex2_approx, float, "f", "ex2.approx.f32")
__cumetal_one(__cumetal_lg2_approx, float, "f", "lg2.approx.f32")
__cumetal_one(__saturatef, float, "f", "cvt.sat.f32.f32")
__cumetal_two(__fdividef, float, "f", "div.approx.f32")
#undef __cumetal_roundings
#undef __cumetal_three
#undef __cumetal_two
#undef __cumetal_one

__cumetal_device float __sinf(float x) { return __cumetal_sin_approx(x); }
__cumetal_device float __cosf(float x) { return __cumetal_cos_approx(x); }
__cumetal_device void __sincosf(float x, float *sine, float *cosine) {
  *sine = __sinf(x);
  *cosine = __cosf(x);
}
__cumetal_device float __tanf(float x) { return __fdividef(__sinf(x), __cosf(x)); }
__cumetal_device float __expf(float x) { return __cumetal_ex2_approx(__fmul_rn(x, 1.4426950408889634f)); }
__cumetal_device float __exp10f(float x) { return __cumetal_ex2_approx(__fmul_rn(x, 3.3219280948873623f)); }
__cumetal_device float __log2f(float x) { return __cumetal_lg2_approx(x); }
__cumetal_device float __logf(float x) { return __fmul_rn(__cumetal_lg2_approx(x), 0.6931471805599453f); }
__cumetal_device float __log10f(float x) { return __fmul_rn(__cumetal_lg2_approx(x), 0.3010299956639812f); }
__cumetal_device float __powf(float x, float y) { return __cumetal_ex2_approx(__fmul_rn(y, __cumetal_lg2_approx(x))); }
__cumetal_device float fdividef(float a, float b) { return a / b; }
__cumetal_device float saturate(float x) { return __saturatef(x); }

#endif
