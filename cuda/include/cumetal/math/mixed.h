// `min` and `max` of all pairs of types, on both sides. Source: CUDA Math API, "Integer Mathematical Functions", "Single Precision
// Mathematical Functions", "Double Precision Mathematical Functions".
#ifndef __CUMETAL_MATH_MIXED_H__
#define __CUMETAL_MATH_MIXED_H__

#define __cumetal_extremes(A, B, R) \
  __cumetal_both R min(A a, B b) { return (R)b < (R)a ? (R)b : (R)a; } \
  __cumetal_both R max(A a, B b) { return (R)a < (R)b ? (R)b : (R)a; }
// Floats: NaN is no number, and the other operand is the result.
#define __cumetal_float_extremes(A, B, R, suffix) \
  __cumetal_both R min(A a, B b) { return __builtin_fmin##suffix(a, b); } \
  __cumetal_both R max(A a, B b) { return __builtin_fmax##suffix(a, b); }

__cumetal_extremes(int, int, int)
__cumetal_extremes(unsigned int, unsigned int, unsigned int)
__cumetal_extremes(int, unsigned int, unsigned int)
__cumetal_extremes(unsigned int, int, unsigned int)
__cumetal_extremes(long, long, long)
__cumetal_extremes(unsigned long, unsigned long, unsigned long)
__cumetal_extremes(long, unsigned long, unsigned long)
__cumetal_extremes(unsigned long, long, unsigned long)
__cumetal_extremes(long long, long long, long long)
__cumetal_extremes(unsigned long long, unsigned long long, unsigned long long)
__cumetal_extremes(long long, unsigned long long, unsigned long long)
__cumetal_extremes(unsigned long long, long long, unsigned long long)
__cumetal_float_extremes(float, float, float, f)
__cumetal_float_extremes(double, double, double, )
__cumetal_float_extremes(float, double, double, )
__cumetal_float_extremes(double, float, double, )
#undef __cumetal_extremes
#undef __cumetal_float_extremes

__cumetal_both unsigned int umin(unsigned int a, unsigned int b) { return a < b ? a : b; }
__cumetal_both unsigned int umax(unsigned int a, unsigned int b) { return a > b ? a : b; }
__cumetal_both long long llmin(long long a, long long b) { return a < b ? a : b; }
__cumetal_both long long llmax(long long a, long long b) { return a > b ? a : b; }
__cumetal_both unsigned long long ullmin(unsigned long long a, unsigned long long b) { return a < b ? a : b; }
__cumetal_both unsigned long long ullmax(unsigned long long a, unsigned long long b) { return a > b ? a : b; }

#endif
