/**
 * The type of a unit that is compiled once for each type: CUMETAL_LETTER is S, D, C or Z, and CUMETAL_S and so on is 1. `T` is the type in
 * computations, `Outer` that of the interface.
 */
#include "number.h"

#if CUMETAL_S
typedef float T;
typedef float Outer;
typedef float OuterReal;
#elif CUMETAL_D
typedef double T;
typedef double Outer;
typedef double OuterReal;
#elif CUMETAL_C
typedef cumetal::Complex<float> T;
typedef cuComplex Outer;
typedef float OuterReal;
#elif CUMETAL_Z
typedef cumetal::Complex<double> T;
typedef cuDoubleComplex Outer;
typedef double OuterReal;
#else
#error a unit for one type is compiled with CUMETAL_S, CUMETAL_D, CUMETAL_C or CUMETAL_Z
#endif
#define CUMETAL_IS_COMPLEX (CUMETAL_C || CUMETAL_Z)
typedef cumetal::RealOf<T> Real;

static inline T *inner(Outer *p) { return reinterpret_cast<T *>(p); }
static inline const T *inner(const Outer *p) { return reinterpret_cast<const T *>(p); }
