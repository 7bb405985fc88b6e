// Mathematics of devices, without a library: sources that are compiled with the program. Source: CUDA Math API.
#ifndef __CUMETAL_MATH_ALL_H__
#define __CUMETAL_MATH_ALL_H__

// Exact sums and products depend on each operation's own rounding, whatever the program is compiled with.
#pragma float_control(push)
#pragma float_control(precise, on)
#pragma clang fp contract(off) reassociate(off)

#include "core.h"

#include "polynomials_elementary.h"
#include "polynomials_special.h"

#include "basic.h"
#include "explog.h"
#include "trig.h"

#include "special.h"

#include "bessel.h"

#include "functions.h"

// The pop leaves contraction off, so what CUDA does by default is said again; `__CUMETAL_NO_FMAD__` goes with -ffp-contract=off.
#pragma float_control(pop)
#ifndef __CUMETAL_NO_FMAD__
#pragma clang fp contract(fast)
#endif

#endif
