// Texture fetches of texture objects. Source: CUDA C++ Programming Guide, "Texture Functions"; PTX ISA, `tex` and `tld4`.
#ifndef __CUMETAL_TEXTURE_H__
#define __CUMETAL_TEXTURE_H__

// A texel of a type: the word that its channels have in registers, and the type made of them.
template <class T> struct __cumetal_texel;
#define __cumetal_texels(E, W, name)                                                                                   \
  template <> struct __cumetal_texel<name##1> {                                                                        \
    typedef W word;                                                                                                    \
    template <class V> static __device__ __forceinline__ name##1 of(V v) { return make_##name##1((E)v.x); }            \
  };                                                                                                                   \
  template <> struct __cumetal_texel<name##2> {                                                                        \
    typedef W word;                                                                                                    \
    template <class V> static __device__ __forceinline__ name##2 of(V v) { return make_##name##2((E)v.x, (E)v.y); }    \
  };                                                                                                                   \
  template <> struct __cumetal_texel<name##4> {                                                                        \
    typedef W word;                                                                                                    \
    template <class V> static __device__ __forceinline__ name##4 of(V v) {                                             \
      return make_##name##4((E)v.x, (E)v.y, (E)v.z, (E)v.w);                                                           \
    }                                                                                                                  \
  };
#define __cumetal_texel_of(E, W)                                                                                       \
  template <> struct __cumetal_texel<E> {                                                                              \
    typedef W word;                                                                                                    \
    template <class V> static __device__ __forceinline__ E of(V v) { return (E)v.x; }                                  \
  };
__cumetal_texels(signed char, int, char)
__cumetal_texels(unsigned char, unsigned int, uchar)
__cumetal_texels(short, int, short)
__cumetal_texels(unsigned short, unsigned int, ushort)
__cumetal_texels(int, int, int)
__cumetal_texels(unsigned int, unsigned int, uint)
__cumetal_texels(float, float, float)
__cumetal_texel_of(char, int)
__cumetal_texel_of(signed char, int)
__cumetal_texel_of(unsigned char, unsigned int)
__cumetal_texel_of(short, int)
__cumetal_texel_of(unsigned short, unsigned int)
__cumetal_texel_of(int, int)
__cumetal_texel_of(unsigned int, unsigned int)
__cumetal_texel_of(float, float)
#undef __cumetal_texels
#undef __cumetal_texel_of

#define __cumetal_list(...) __VA_ARGS__
#define __cumetal_results(r, letter) "=" letter(r.x), "=" letter(r.y), "=" letter(r.z), "=" letter(r.w)

// A function: its name, its parameters and how they are passed on, and the instruction with its operands and inputs. The instruction has
// the type of its results for its first `#`, which is what the three overloads differ in.
#define __cumetal_fetch(name, params, given, before, after, operands, ...)                                             \
  __device__ __forceinline__ float4 __cumetal_##name(float, cudaTextureObject_t t, params) {                           \
    float4 r;                                                                                                          \
    __asm__(before ".v4.f32" after " {%0, %1, %2, %3}, " operands ";" : __cumetal_results(r, "f") : "l"(t), __VA_ARGS__); \
    return r;                                                                                                          \
  }                                                                                                                    \
  __device__ __forceinline__ int4 __cumetal_##name(int, cudaTextureObject_t t, params) {                               \
    int4 r;                                                                                                            \
    __asm__(before ".v4.s32" after " {%0, %1, %2, %3}, " operands ";" : __cumetal_results(r, "r") : "l"(t), __VA_ARGS__); \
    return r;                                                                                                          \
  }                                                                                                                    \
  __device__ __forceinline__ uint4 __cumetal_##name(unsigned int, cudaTextureObject_t t, params) {                     \
    uint4 r;                                                                                                           \
    __asm__(before ".v4.u32" after " {%0, %1, %2, %3}, " operands ";" : __cumetal_results(r, "r") : "l"(t), __VA_ARGS__); \
    return r;                                                                                                          \
  }                                                                                                                    \
  template <class T> __device__ __forceinline__ T name(cudaTextureObject_t t, params) {                                \
    return __cumetal_texel<T>::of(__cumetal_##name(typename __cumetal_texel<T>::word(), t, given));                    \
  }                                                                                                                    \
  template <class T> __device__ __forceinline__ void name(T *to, cudaTextureObject_t t, params) { *to = name<T>(t, given); }

// The same with a form that says whether the texels are in memory, where they always are.
#define __cumetal_sparse(name, params, given, ...)                                                                     \
  __cumetal_fetch(name, __cumetal_list(params), __cumetal_list(given), __VA_ARGS__)                                    \
  template <class T> __device__ __forceinline__ T name(cudaTextureObject_t t, params, bool *isResident) {              \
    *isResident = true;                                                                                                \
    return name<T>(t, given);                                                                                          \
  }                                                                                                                    \
  template <class T> __device__ __forceinline__ void name(T *to, cudaTextureObject_t t, params, bool *isResident) {    \
    *to = name<T>(t, given, isResident);                                                                               \
  }

#define __cumetal_xy "f"(x), "f"(y)
#define __cumetal_xyz "f"(x), "f"(y), "f"(z)
__cumetal_fetch(tex1Dfetch, int x, x, "tex.1d", ".s32", "[%4, {%5}]", "r"(x))
__cumetal_fetch(tex1D, float x, x, "tex.1d", ".f32", "[%4, {%5}]", "f"(x))
__cumetal_sparse(tex2D, __cumetal_list(float x, float y), __cumetal_list(x, y), "tex.2d", ".f32", "[%4, {%5, %6}]", __cumetal_xy)
__cumetal_sparse(tex3D, __cumetal_list(float x, float y, float z), __cumetal_list(x, y, z), "tex.3d", ".f32", "[%4, {%5, %6, %7, %7}]",
                 __cumetal_xyz)
__cumetal_fetch(tex1DLayered, __cumetal_list(float x, int layer), __cumetal_list(x, layer), "tex.a1d", ".f32", "[%4, {%5, %6}]", "r"(layer),
                "f"(x))
__cumetal_sparse(tex2DLayered, __cumetal_list(float x, float y, int layer), __cumetal_list(x, y, layer), "tex.a2d", ".f32",
                 "[%4, {%5, %6, %7, %7}]", "r"(layer), __cumetal_xy)
__cumetal_fetch(texCubemap, __cumetal_list(float x, float y, float z), __cumetal_list(x, y, z), "tex.cube", ".f32",
                "[%4, {%5, %6, %7, %7}]", __cumetal_xyz)
__cumetal_fetch(texCubemapLayered, __cumetal_list(float x, float y, float z, int layer), __cumetal_list(x, y, z, layer), "tex.acube", ".f32",
                "[%4, {%5, %6, %7, %8}]", "r"(layer), __cumetal_xyz)

__cumetal_fetch(tex1DLod, __cumetal_list(float x, float level), __cumetal_list(x, level), "tex.level.1d", ".f32", "[%4, {%5}], %6", "f"(x),
                "f"(level))
__cumetal_sparse(tex2DLod, __cumetal_list(float x, float y, float level), __cumetal_list(x, y, level), "tex.level.2d", ".f32",
                 "[%4, {%5, %6}], %7", __cumetal_xy, "f"(level))
__cumetal_sparse(tex3DLod, __cumetal_list(float x, float y, float z, float level), __cumetal_list(x, y, z, level), "tex.level.3d", ".f32",
                 "[%4, {%5, %6, %7, %7}], %8", __cumetal_xyz, "f"(level))
__cumetal_fetch(tex1DLayeredLod, __cumetal_list(float x, int layer, float level), __cumetal_list(x, layer, level), "tex.level.a1d", ".f32",
                "[%4, {%5, %6}], %7", "r"(layer), "f"(x), "f"(level))
__cumetal_sparse(tex2DLayeredLod, __cumetal_list(float x, float y, int layer, float level), __cumetal_list(x, y, layer, level),
                 "tex.level.a2d", ".f32", "[%4, {%5, %6, %7, %7}], %8", "r"(layer), __cumetal_xy, "f"(level))
__cumetal_fetch(texCubemapLod, __cumetal_list(float x, float y, float z, float level), __cumetal_list(x, y, z, level), "tex.level.cube", ".f32",
                "[%4, {%5, %6, %7, %7}], %8", __cumetal_xyz, "f"(level))
__cumetal_fetch(texCubemapLayeredLod, __cumetal_list(float x, float y, float z, int layer, float level),
                __cumetal_list(x, y, z, layer, level), "tex.level.acube", ".f32", "[%4, {%5, %6, %7, %8}], %9", "r"(layer), __cumetal_xyz,
                "f"(level))

__cumetal_fetch(tex1DGrad, __cumetal_list(float x, float dx, float dy), __cumetal_list(x, dx, dy), "tex.grad.1d", ".f32",
                "[%4, {%5}], {%6}, {%7}", "f"(x), "f"(dx), "f"(dy))
__cumetal_sparse(tex2DGrad, __cumetal_list(float x, float y, float2 dx, float2 dy), __cumetal_list(x, y, dx, dy), "tex.grad.2d", ".f32",
                 "[%4, {%5, %6}], {%7, %8}, {%9, %10}", __cumetal_xy, "f"(dx.x), "f"(dx.y), "f"(dy.x), "f"(dy.y))
__cumetal_sparse(tex3DGrad, __cumetal_list(float x, float y, float z, float4 dx, float4 dy), __cumetal_list(x, y, z, dx, dy), "tex.grad.3d",
                 ".f32", "[%4, {%5, %6, %7, %7}], {%8, %9, %10, %10}, {%11, %12, %13, %13}", __cumetal_xyz, "f"(dx.x), "f"(dx.y), "f"(dx.z),
                 "f"(dy.x), "f"(dy.y), "f"(dy.z))
__cumetal_fetch(tex1DLayeredGrad, __cumetal_list(float x, int layer, float dx, float dy), __cumetal_list(x, layer, dx, dy), "tex.grad.a1d",
                ".f32", "[%4, {%5, %6}], {%7}, {%8}", "r"(layer), "f"(x), "f"(dx), "f"(dy))
__cumetal_sparse(tex2DLayeredGrad, __cumetal_list(float x, float y, int layer, float2 dx, float2 dy), __cumetal_list(x, y, layer, dx, dy),
                 "tex.grad.a2d", ".f32", "[%4, {%5, %6, %7, %7}], {%8, %9}, {%10, %11}", "r"(layer), __cumetal_xy, "f"(dx.x), "f"(dx.y),
                 "f"(dy.x), "f"(dy.y))

// The four texels that filtering would mix, one channel of each.
#define __cumetal_gather(comp, letter)                                                                                 \
  __cumetal_fetch(gather_##letter, __cumetal_list(float x, float y), __cumetal_list(x, y), "tld4." #letter ".2d", ".f32", "[%4, {%5, %6}]", \
                  __cumetal_xy)
namespace __cumetal_textures {
__cumetal_gather(0, r)
__cumetal_gather(1, g)
__cumetal_gather(2, b)
__cumetal_gather(3, a)
} // namespace __cumetal_textures
template <class T> __device__ __forceinline__ T tex2Dgather(cudaTextureObject_t t, float x, float y, int comp = 0) {
  if (comp == 1) return __cumetal_textures::gather_g<T>(t, x, y);
  if (comp == 2) return __cumetal_textures::gather_b<T>(t, x, y);
  if (comp == 3) return __cumetal_textures::gather_a<T>(t, x, y);
  return __cumetal_textures::gather_r<T>(t, x, y);
}
template <class T> __device__ __forceinline__ void tex2Dgather(T *to, cudaTextureObject_t t, float x, float y, int comp = 0) {
  *to = tex2Dgather<T>(t, x, y, comp);
}
template <class T> __device__ __forceinline__ T tex2Dgather(cudaTextureObject_t t, float x, float y, bool *isResident, int comp = 0) {
  *isResident = true;
  return tex2Dgather<T>(t, x, y, comp);
}

#undef __cumetal_gather
#undef __cumetal_sparse
#undef __cumetal_fetch
#undef __cumetal_results
#undef __cumetal_xy
#undef __cumetal_xyz

#endif
