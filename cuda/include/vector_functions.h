// Constructors of the vector types. Source: CUDA C++ Programming Guide, "Built-in Vector Types".
#ifndef __CUMETAL_VECTOR_FUNCTIONS_H__
#define __CUMETAL_VECTOR_FUNCTIONS_H__

#include "vector_types.h"

#define __cumetal_make(name, element) \
  __cumetal_both name##1 make_##name##1(element x) { return {x}; } \
  __cumetal_both name##2 make_##name##2(element x, element y) { return {x, y}; } \
  __cumetal_both name##3 make_##name##3(element x, element y, element z) { return {x, y, z}; } \
  __cumetal_both name##4 make_##name##4(element x, element y, element z, element w) { return {x, y, z, w}; }

__cumetal_make(char, signed char)
__cumetal_make(uchar, unsigned char)
__cumetal_make(short, short)
__cumetal_make(ushort, unsigned short)
__cumetal_make(int, int)
__cumetal_make(uint, unsigned int)
__cumetal_make(long, long)
__cumetal_make(ulong, unsigned long)
__cumetal_make(longlong, long long)
__cumetal_make(ulonglong, unsigned long long)
__cumetal_make(float, float)
__cumetal_make(double, double)
#undef __cumetal_make

#endif
