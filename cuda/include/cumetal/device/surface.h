// Reads and writes of surface objects. Source: CUDA C++ Programming Guide, "Surface Functions"; PTX ISA, `suld` and `sust`.
#ifndef __CUMETAL_SURFACE_H__
#define __CUMETAL_SURFACE_H__

// An element in registers, by its size: instructions name vectors of words.
template <int bytes> struct __cumetal_words;
template <> struct __cumetal_words<1> {
  unsigned short x;
};
template <> struct __cumetal_words<2> {
  unsigned short x;
};
template <> struct __cumetal_words<4> {
  unsigned int x;
};
template <> struct __cumetal_words<8> {
  unsigned int x, y;
};
template <> struct __cumetal_words<16> {
  unsigned int x, y, z, w;
};

template <class T> __device__ __forceinline__ T __cumetal_of_words(__cumetal_words<sizeof(T)> words) {
  T value;
  __builtin_memcpy(&value, &words, sizeof(T));
  return value;
}
template <class T> __device__ __forceinline__ __cumetal_words<sizeof(T)> __cumetal_to_words(const T &value) {
  __cumetal_words<sizeof(T)> words;
  words.x = 0;
  __builtin_memcpy(&words, &value, sizeof(T));
  return words;
}

#define __cumetal_list(...) __VA_ARGS__
// Loads and stores of each size for a shape and a mode. `at` are the operands of the coordinates, with the numbers behind those of the data.
#define __cumetal_surface_mode(name, mode, params, shape, at1, at2, at4, ...)                                          \
  __device__ __forceinline__ void __cumetal_load_##name##_##mode(__cumetal_words<1> &r, cudaSurfaceObject_t s, params) { \
    __asm__ volatile("suld.b." shape ".b8." #mode " %0, [%1, " at1 "];" : "=h"(r.x) : "l"(s), __VA_ARGS__ : "memory");  \
  }                                                                                                                    \
  __device__ __forceinline__ void __cumetal_load_##name##_##mode(__cumetal_words<2> &r, cudaSurfaceObject_t s, params) { \
    __asm__ volatile("suld.b." shape ".b16." #mode " %0, [%1, " at1 "];" : "=h"(r.x) : "l"(s), __VA_ARGS__ : "memory"); \
  }                                                                                                                    \
  __device__ __forceinline__ void __cumetal_load_##name##_##mode(__cumetal_words<4> &r, cudaSurfaceObject_t s, params) { \
    __asm__ volatile("suld.b." shape ".b32." #mode " %0, [%1, " at1 "];" : "=r"(r.x) : "l"(s), __VA_ARGS__ : "memory"); \
  }                                                                                                                    \
  __device__ __forceinline__ void __cumetal_load_##name##_##mode(__cumetal_words<8> &r, cudaSurfaceObject_t s, params) { \
    __asm__ volatile("suld.b." shape ".v2.b32." #mode " {%0, %1}, [%2, " at2 "];"                                      \
                     : "=r"(r.x), "=r"(r.y) : "l"(s), __VA_ARGS__ : "memory");                                         \
  }                                                                                                                    \
  __device__ __forceinline__ void __cumetal_load_##name##_##mode(__cumetal_words<16> &r, cudaSurfaceObject_t s, params) { \
    __asm__ volatile("suld.b." shape ".v4.b32." #mode " {%0, %1, %2, %3}, [%4, " at4 "];"                              \
                     : "=r"(r.x), "=r"(r.y), "=r"(r.z), "=r"(r.w) : "l"(s), __VA_ARGS__ : "memory");                   \
  }                                                                                                                    \
  __device__ __forceinline__ void __cumetal_store_##name##_##mode(__cumetal_words<1> v, cudaSurfaceObject_t s, params) { \
    __asm__ volatile("sust.b." shape ".b8." #mode " [%1, " at1 "], %0;" :: "h"(v.x), "l"(s), __VA_ARGS__ : "memory");   \
  }                                                                                                                    \
  __device__ __forceinline__ void __cumetal_store_##name##_##mode(__cumetal_words<2> v, cudaSurfaceObject_t s, params) { \
    __asm__ volatile("sust.b." shape ".b16." #mode " [%1, " at1 "], %0;" :: "h"(v.x), "l"(s), __VA_ARGS__ : "memory");  \
  }                                                                                                                    \
  __device__ __forceinline__ void __cumetal_store_##name##_##mode(__cumetal_words<4> v, cudaSurfaceObject_t s, params) { \
    __asm__ volatile("sust.b." shape ".b32." #mode " [%1, " at1 "], %0;" :: "r"(v.x), "l"(s), __VA_ARGS__ : "memory");  \
  }                                                                                                                    \
  __device__ __forceinline__ void __cumetal_store_##name##_##mode(__cumetal_words<8> v, cudaSurfaceObject_t s, params) { \
    __asm__ volatile("sust.b." shape ".v2.b32." #mode " [%2, " at2 "], {%0, %1};"                                      \
                     :: "r"(v.x), "r"(v.y), "l"(s), __VA_ARGS__ : "memory");                                           \
  }                                                                                                                    \
  __device__ __forceinline__ void __cumetal_store_##name##_##mode(__cumetal_words<16> v, cudaSurfaceObject_t s, params) { \
    __asm__ volatile("sust.b." shape ".v4.b32." #mode " [%4, " at4 "], {%0, %1, %2, %3};"                              \
                     :: "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w), "l"(s), __VA_ARGS__ : "memory");                       \
  }

#define __cumetal_surface(read, write, params, given, shape, at1, at2, at4, ...)                                       \
  __cumetal_surface_mode(read, trap, __cumetal_list(params), shape, at1, at2, at4, __VA_ARGS__)                        \
  __cumetal_surface_mode(read, clamp, __cumetal_list(params), shape, at1, at2, at4, __VA_ARGS__)                       \
  __cumetal_surface_mode(read, zero, __cumetal_list(params), shape, at1, at2, at4, __VA_ARGS__)                        \
  template <class T>                                                                                                   \
  __device__ __forceinline__ T read(cudaSurfaceObject_t s, params, cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) { \
    __cumetal_words<sizeof(T)> words;                                                                                  \
    if (mode == cudaBoundaryModeClamp) __cumetal_load_##read##_clamp(words, s, given);                                 \
    else if (mode == cudaBoundaryModeZero) __cumetal_load_##read##_zero(words, s, given);                              \
    else __cumetal_load_##read##_trap(words, s, given);                                                                \
    return __cumetal_of_words<T>(words);                                                                               \
  }                                                                                                                    \
  template <class T>                                                                                                   \
  __device__ __forceinline__ void read(T *to, cudaSurfaceObject_t s, params, cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) { \
    *to = read<T>(s, given, mode);                                                                                     \
  }                                                                                                                    \
  template <class T>                                                                                                   \
  __device__ __forceinline__ void write(T value, cudaSurfaceObject_t s, params, cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) { \
    if (mode == cudaBoundaryModeClamp) __cumetal_store_##read##_clamp(__cumetal_to_words(value), s, given);            \
    else if (mode == cudaBoundaryModeZero) __cumetal_store_##read##_zero(__cumetal_to_words(value), s, given);         \
    else __cumetal_store_##read##_trap(__cumetal_to_words(value), s, given);                                           \
  }

__cumetal_surface(surf1Dread, surf1Dwrite, int x, x, "1d", "{%2}", "{%3}", "{%5}", "r"(x))
__cumetal_surface(surf2Dread, surf2Dwrite, __cumetal_list(int x, int y), __cumetal_list(x, y), "2d", "{%2, %3}", "{%3, %4}", "{%5, %6}", "r"(x),
                  "r"(y))
__cumetal_surface(surf3Dread, surf3Dwrite, __cumetal_list(int x, int y, int z), __cumetal_list(x, y, z), "3d", "{%2, %3, %4, %4}",
                  "{%3, %4, %5, %5}", "{%5, %6, %7, %7}", "r"(x), "r"(y), "r"(z))
__cumetal_surface(surf1DLayeredread, surf1DLayeredwrite, __cumetal_list(int x, int layer), __cumetal_list(x, layer), "a1d", "{%2, %3}",
                  "{%3, %4}", "{%5, %6}", "r"(layer), "r"(x))
__cumetal_surface(surf2DLayeredread, surf2DLayeredwrite, __cumetal_list(int x, int y, int layer), __cumetal_list(x, y, layer), "a2d",
                  "{%2, %3, %4, %4}", "{%3, %4, %5, %5}", "{%5, %6, %7, %7}", "r"(layer), "r"(x), "r"(y))
__cumetal_surface(surfCubemapread, surfCubemapwrite, __cumetal_list(int x, int y, int face), __cumetal_list(x, y, face), "a2d",
                  "{%2, %3, %4, %4}", "{%3, %4, %5, %5}", "{%5, %6, %7, %7}", "r"(face), "r"(x), "r"(y))
__cumetal_surface(surfCubemapLayeredread, surfCubemapLayeredwrite, __cumetal_list(int x, int y, int layerFace),
                  __cumetal_list(x, y, layerFace), "a2d", "{%2, %3, %4, %4}", "{%3, %4, %5, %5}", "{%5, %6, %7, %7}", "r"(layerFace), "r"(x),
                  "r"(y))
#undef __cumetal_surface
#undef __cumetal_surface_mode

#endif
