// Vector types and `dim3`. Source: CUDA C++ Programming Guide, "Built-in Vector Types" (the table of alignments).
#ifndef __CUMETAL_VECTOR_TYPES_H__
#define __CUMETAL_VECTOR_TYPES_H__
#define __VECTOR_TYPES_H__

#include "crt/host_defines.h"

#define __cumetal_vectors(name, element, align2, align4) \
  struct name##1 { element x; }; \
  struct alignas(align2) name##2 { element x, y; }; \
  struct name##3 { element x, y, z; }; \
  struct alignas(align4) name##4 { element x, y, z, w; };

__cumetal_vectors(char, signed char, 2, 4)
__cumetal_vectors(uchar, unsigned char, 2, 4)
__cumetal_vectors(short, short, 4, 8)
__cumetal_vectors(ushort, unsigned short, 4, 8)
__cumetal_vectors(int, int, 8, 16)
__cumetal_vectors(uint, unsigned int, 8, 16)
__cumetal_vectors(long, long, 2 * sizeof(long), 16)
__cumetal_vectors(ulong, unsigned long, 2 * sizeof(long), 16)
__cumetal_vectors(longlong, long long, 16, 16)
__cumetal_vectors(ulonglong, unsigned long long, 16, 16)
__cumetal_vectors(float, float, 8, 16)
__cumetal_vectors(double, double, 16, 16)
#undef __cumetal_vectors

// Vectors of four with the alignment in the name, since CUDA 13.
#define __cumetal_aligned(name, element) \
  struct alignas(16) name##4_16a { element x, y, z, w; }; \
  struct alignas(32) name##4_32a { element x, y, z, w; };
__cumetal_aligned(long, long)
__cumetal_aligned(ulong, unsigned long)
__cumetal_aligned(longlong, long long)
__cumetal_aligned(ulonglong, unsigned long long)
__cumetal_aligned(double, double)
#undef __cumetal_aligned

// Sizes of grids and blocks: a component that is not given is 1.
struct dim3 {
  unsigned int x, y, z;
  __host__ __device__ constexpr dim3(unsigned int vx = 1, unsigned int vy = 1, unsigned int vz = 1) : x(vx), y(vy), z(vz) {}
  __host__ __device__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  __host__ __device__ constexpr operator uint3() const { return uint3{x, y, z}; }
};

#endif
