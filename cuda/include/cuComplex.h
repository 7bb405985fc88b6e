// Complex numbers as vectors of two: real part in x, imaginary part in y. Source: cuBLAS and cuFFT documentation, "cuComplex".
#ifndef __CUMETAL_CU_COMPLEX_H__
#define __CUMETAL_CU_COMPLEX_H__

#include "cuda_runtime.h"

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

#ifndef __CUDA__
// Sources of the host have the functions of C, by their names for any type.
#include <math.h>
#define __cumetal_abs(x) (sizeof(x) == 4 ? fabsf(x) : fabs(x))
#define __cumetal_hypot(x, y) (sizeof(x) == 4 ? hypotf(x, y) : hypot(x, y))
#endif

#define __cumetal_complex(Complex, T, suffix) \
  __cumetal_both T cuCreal##suffix(Complex z) { return z.x; } \
  __cumetal_both T cuCimag##suffix(Complex z) { return z.y; } \
  __cumetal_both Complex cuConj##suffix(Complex z) { return {z.x, -z.y}; } \
  __cumetal_both Complex cuCadd##suffix(Complex a, Complex b) { return {a.x + b.x, a.y + b.y}; } \
  __cumetal_both Complex cuCsub##suffix(Complex a, Complex b) { return {a.x - b.x, a.y - b.y}; } \
  __cumetal_both Complex cuCmul##suffix(Complex a, Complex b) { return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; } \
  /* Scaled by the divisor's size, so that its square stays in range. */ \
  __cumetal_both Complex cuCdiv##suffix(Complex a, Complex b) { \
    T scale = 1 / (__cumetal_abs(b.x) + __cumetal_abs(b.y)); \
    T ar = a.x * scale, ai = a.y * scale, br = b.x * scale, bi = b.y * scale, over = 1 / (br * br + bi * bi); \
    return {(ar * br + ai * bi) * over, (ai * br - ar * bi) * over}; \
  } \
  __cumetal_both T cuCabs##suffix(Complex z) { return __cumetal_hypot(z.x, z.y); } \
  __cumetal_both Complex cuCfma##suffix(Complex a, Complex b, Complex c) { return cuCadd##suffix(cuCmul##suffix(a, b), c); }
__cumetal_complex(cuFloatComplex, float, f)
__cumetal_complex(cuDoubleComplex, double, )
#undef __cumetal_complex
__cumetal_both cuFloatComplex make_cuFloatComplex(float r, float i) { return {r, i}; }
__cumetal_both cuDoubleComplex make_cuDoubleComplex(double r, double i) { return {r, i}; }
__cumetal_both cuComplex make_cuComplex(float r, float i) { return {r, i}; }
__cumetal_both cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex z) { return {z.x, z.y}; }
__cumetal_both cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex z) { return {(float)z.x, (float)z.y}; }

#ifndef __CUDA__
#undef __cumetal_abs
#undef __cumetal_hypot
#endif

#endif
