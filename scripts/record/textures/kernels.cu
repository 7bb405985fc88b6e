// Interprets a file of jobs: each makes a texture or surface and fetches at recorded coordinates.
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cstdint>
#include <vector>

#include "args.h"


// Each form is a kernel: c = coordinates of the fetch, r = the four words of the result.
#define FORM(NAME, STRIDE, BODY)                                         \
  extern "C" __global__ void k_##NAME(Args a) {                                     \
    int i = blockIdx.x * blockDim.x + threadIdx.x;                       \
    if (i >= a.n) return;                                                \
    const u *c = a.coords + (size_t)i * STRIDE;                          \
    u64 t = a.handle;                                                    \
    u r0 = 0, r1 = 0, r2 = 0, r3 = 0;                                    \
    BODY                                                                 \
    u r[4] = {r0, r1, r2, r3};                                           \
    for (int w = 0; w < a.words; w++) a.out[(size_t)i * a.words + w] = r[w]; \
  }

#define F(i) "f"(__uint_as_float(c[i]))
#define R(i) "r"(c[i])
#define RES "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3)
// Results of .f32 through b32 registers.
#define TEX4(OP, D, COORDS, ...)                                                              \
  asm volatile("{ .reg ." D " a, b, c, d; " OP " {a, b, c, d}, [%4, " COORDS ";\n"             \
               "mov.b32 %0, a; mov.b32 %1, b; mov.b32 %2, c; mov.b32 %3, d; }"                 \
               : RES : "l"(t), __VA_ARGS__);

#define ALL(G, STRIDE, CF, ARGSF)                                                            \
  FORM(f_##G, STRIDE, TEX4("tex." #G ".v4.f32.f32", "f32", CF, ARGSF))                        \
  FORM(u_##G, STRIDE, TEX4("tex." #G ".v4.u32.f32", "u32", CF, ARGSF))                        \
  FORM(s_##G, STRIDE, TEX4("tex." #G ".v4.s32.f32", "s32", CF, ARGSF))
#define ALLI(G, STRIDE, CF, ARGSF)                                                           \
  FORM(fi_##G, STRIDE, TEX4("tex." #G ".v4.f32.s32", "f32", CF, ARGSF))                       \
  FORM(ui_##G, STRIDE, TEX4("tex." #G ".v4.u32.s32", "u32", CF, ARGSF))                       \
  FORM(si_##G, STRIDE, TEX4("tex." #G ".v4.s32.s32", "s32", CF, ARGSF))
#define C1(...) __VA_ARGS__
#define SSTORE(NAME, BODY)                                      \
  extern "C" __global__ void k_##NAME(Args a) {                            \
    u64 t = a.handle;                                           \
    for (int i = 0; i < a.n; i++) {                             \
      const u *c = a.coords + (size_t)i * 4;                    \
      u v0 = mix(4 * i), v1 = mix(4 * i + 1), v2 = mix(4 * i + 2), v3 = mix(4 * i + 3); \
      BODY                                                      \
    }                                                           \
  }
#if GROUP == 0
ALL(1d, 4, "{%5}]", F(0))
ALL(2d, 4, "{%5, %6}]", C1(F(0), F(1)))
ALL(3d, 4, "{%5, %6, %7, %7}]", C1(F(0), F(1), F(2)))
ALL(a1d, 4, "{%5, %6}]", C1(R(0), F(1)))
ALL(a2d, 4, "{%5, %6, %7, %7}]", C1(R(0), F(1), F(2)))
ALL(cube, 4, "{%5, %6, %7, %7}]", C1(F(0), F(1), F(2)))
ALL(acube, 4, "{%5, %6, %7, %8}]", C1(R(0), F(1), F(2), F(3)))
ALLI(1d, 4, "{%5}]", R(0))
ALLI(2d, 4, "{%5, %6}]", C1(R(0), R(1)))
ALLI(3d, 4, "{%5, %6, %7, %7}]", C1(R(0), R(1), R(2)))
ALLI(a1d, 4, "{%5, %6}]", C1(R(0), R(1)))
ALLI(a2d, 4, "{%5, %6, %7, %7}]", C1(R(0), R(1), R(2)))

#endif
#if GROUP == 1
#define LEVEL(G, STRIDE, CF, ARGSF) FORM(l_##G, STRIDE, TEX4("tex.level." #G ".v4.f32.f32", "f32", CF, ARGSF))
LEVEL(1d, 8, "{%5}], %6", C1(F(0), F(4)))
LEVEL(2d, 8, "{%5, %6}], %7", C1(F(0), F(1), F(4)))
LEVEL(3d, 8, "{%5, %6, %7, %7}], %8", C1(F(0), F(1), F(2), F(4)))
LEVEL(a1d, 8, "{%5, %6}], %7", C1(R(0), F(1), F(4)))
LEVEL(a2d, 8, "{%5, %6, %7, %7}], %8", C1(R(0), F(1), F(2), F(4)))
LEVEL(cube, 8, "{%5, %6, %7, %7}], %8", C1(F(0), F(1), F(2), F(4)))
#define GRAD(G, STRIDE, CF, ARGSF) FORM(g_##G, STRIDE, TEX4("tex.grad." #G ".v4.f32.f32", "f32", CF, ARGSF))
GRAD(1d, 12, "{%5}], {%6}, {%7}", C1(F(0), F(4), F(8)))
GRAD(2d, 12, "{%5, %6}], {%7, %8}, {%9, %10}", C1(F(0), F(1), F(4), F(5), F(8), F(9)))
GRAD(3d, 12, "{%5, %6, %7, %7}], {%8, %9, %10, %10}, {%11, %12, %13, %13}", C1(F(0), F(1), F(2), F(4), F(5), F(6), F(8), F(9), F(10)))
#define BASE(G, STRIDE, CF, ARGSF) FORM(b_##G, STRIDE, TEX4("tex.base." #G ".v4.f32.f32", "f32", CF, ARGSF))
BASE(1d, 4, "{%5}]", F(0))
BASE(2d, 4, "{%5, %6}]", C1(F(0), F(1)))
// Integer coordinates with a level
FORM(li_1d, 8, TEX4("tex.level.1d.v4.f32.s32", "f32", "{%5}], %6", C1(R(0), R(4))))
FORM(li_2d, 8, TEX4("tex.level.2d.v4.f32.s32", "f32", "{%5, %6}], %7", C1(R(0), R(1), R(4))))
#endif
#if GROUP == 2
// Offsets
FORM(o_2d, 4, TEX4("tex.2d.v4.f32.f32", "f32", "{%5, %6}], {3, -2}", C1(F(0), F(1))))
FORM(o_1d, 4, TEX4("tex.1d.v4.f32.f32", "f32", "{%5}], {-3}", C1(F(0))))
#endif
#if GROUP == 3
// Half results
FORM(h_2d, 4, asm volatile("{ .reg .b16 a, b, c, d; tex.2d.v4.f16.f32 {a, b, c, d}, [%4, {%5, %6}];\n"
  "cvt.u32.u16 %0, a; cvt.u32.u16 %1, b; cvt.u32.u16 %2, c; cvt.u32.u16 %3, d; }" : RES : "l"(t), F(0), F(1));)
FORM(hx_2d, 4, asm volatile("tex.2d.v2.f16x2.f32 {%0, %1}, [%2, {%3, %4}];" : "=r"(r0), "=r"(r1) : "l"(t), F(0), F(1));)
#endif
#if GROUP == 4
// Gather
#define GATHER(N, C) FORM(t##N##_2d, 4, TEX4("tld4." #C ".2d.v4.f32.f32", "f32", "{%5, %6}]", C1(F(0), F(1))))
GATHER(0, r)
GATHER(1, g)
GATHER(2, b)
GATHER(3, a)
FORM(tu_2d, 4, TEX4("tld4.r.2d.v4.u32.f32", "u32", "{%5, %6}]", C1(F(0), F(1))))
FORM(ts_2d, 4, TEX4("tld4.g.2d.v4.s32.f32", "s32", "{%5, %6}]", C1(F(0), F(1))))
FORM(ta_a2d, 4, TEX4("tld4.r.a2d.v4.f32.f32", "f32", "{%5, %6, %7, %7}]", C1(R(0), F(1), F(2))))

#endif
#if GROUP == 5
// Queries
#define Q(W, V) asm volatile("txq." V ".b32 %0, [%1];" : "=r"(W) : "l"(t));
FORM(q0, 4, Q(r0, "width") Q(r1, "height") Q(r2, "depth") Q(r3, "array_size"))
FORM(q1, 4, Q(r0, "channel_data_type") Q(r1, "channel_order") Q(r2, "normalized_coords") Q(r3, "num_mipmap_levels"))
#define SQ(W, V) asm volatile("suq." V ".b32 %0, [%1];" : "=r"(W) : "l"(t));
FORM(sq0, 4, SQ(r0, "width") SQ(r1, "height") SQ(r2, "depth") SQ(r3, "array_size"))
FORM(sq1, 4, SQ(r0, "channel_data_type") SQ(r1, "channel_order"))

#endif
#if GROUP == 6 || GROUP == 7
// Surface loads
#define SL1(M) \
  FORM(sl_1d_8_##M, 4, asm volatile("{ .reg .b16 a; suld.b.1d.b8." #M " a, [%1, {%2}]; cvt.u32.u16 %0, a; }" : "=r"(r0) : "l"(t), R(0));) \
  FORM(sl_1d_16_##M, 4, asm volatile("{ .reg .b16 a; suld.b.1d.b16." #M " a, [%1, {%2}]; cvt.u32.u16 %0, a; }" : "=r"(r0) : "l"(t), R(0));) \
  FORM(sl_1d_32_##M, 4, asm volatile("suld.b.1d.b32." #M " %0, [%1, {%2}];" : "=r"(r0) : "l"(t), R(0));) \
  FORM(sl_1d_64_##M, 4, asm volatile("suld.b.1d.v2.b32." #M " {%0, %1}, [%2, {%3}];" : "=r"(r0), "=r"(r1) : "l"(t), R(0));) \
  FORM(sl_1d_128_##M, 4, asm volatile("suld.b.1d.v4.b32." #M " {%0, %1, %2, %3}, [%4, {%5}];" : RES : "l"(t), R(0));)
#define SL2(M) \
  FORM(sl_2d_8_##M, 4, asm volatile("{ .reg .b16 a; suld.b.2d.b8." #M " a, [%1, {%2, %3}]; cvt.u32.u16 %0, a; }" : "=r"(r0) : "l"(t), R(0), R(1));) \
  FORM(sl_2d_16_##M, 4, asm volatile("{ .reg .b16 a; suld.b.2d.b16." #M " a, [%1, {%2, %3}]; cvt.u32.u16 %0, a; }" : "=r"(r0) : "l"(t), R(0), R(1));) \
  FORM(sl_2d_32_##M, 4, asm volatile("suld.b.2d.b32." #M " %0, [%1, {%2, %3}];" : "=r"(r0) : "l"(t), R(0), R(1));) \
  FORM(sl_2d_64_##M, 4, asm volatile("suld.b.2d.v2.b32." #M " {%0, %1}, [%2, {%3, %4}];" : "=r"(r0), "=r"(r1) : "l"(t), R(0), R(1));) \
  FORM(sl_2d_128_##M, 4, asm volatile("suld.b.2d.v4.b32." #M " {%0, %1, %2, %3}, [%4, {%5, %6}];" : RES : "l"(t), R(0), R(1));)
#if GROUP == 6
SL1(clamp) SL1(zero) SL2(clamp) SL2(zero)
#else
SL1(trap) SL2(trap)
#endif
#define SL3(M) \
  FORM(sl_3d_32_##M, 4, asm volatile("suld.b.3d.b32." #M " %0, [%1, {%2, %3, %4, %4}];" : "=r"(r0) : "l"(t), R(0), R(1), R(2));) \
  FORM(sl_a1d_32_##M, 4, asm volatile("suld.b.a1d.b32." #M " %0, [%1, {%2, %3}];" : "=r"(r0) : "l"(t), R(0), R(1));) \
  FORM(sl_a2d_32_##M, 4, asm volatile("suld.b.a2d.b32." #M " %0, [%1, {%2, %3, %4, %4}];" : "=r"(r0) : "l"(t), R(0), R(1), R(2));)
#if GROUP == 6
SL3(clamp) SL3(zero)
#else
SL3(trap)
#endif

#endif
#if GROUP == 8
// Stores: one thread stores all in order. The value is a hash of the number.
#define SS(M) \
  SSTORE(ss_1d_8_##M, asm volatile("{ .reg .b16 a; cvt.u16.u32 a, %2; sust.b.1d.b8." #M " [%0, {%1}], a; }" :: "l"(t), R(0), "r"(v0));) \
  SSTORE(ss_1d_32_##M, asm volatile("sust.b.1d.b32." #M " [%0, {%1}], %2;" :: "l"(t), R(0), "r"(v0));) \
  SSTORE(ss_2d_8_##M, asm volatile("{ .reg .b16 a; cvt.u16.u32 a, %3; sust.b.2d.b8." #M " [%0, {%1, %2}], a; }" :: "l"(t), R(0), R(1), "r"(v0));) \
  SSTORE(ss_2d_16_##M, asm volatile("{ .reg .b16 a; cvt.u16.u32 a, %3; sust.b.2d.b16." #M " [%0, {%1, %2}], a; }" :: "l"(t), R(0), R(1), "r"(v0));) \
  SSTORE(ss_2d_32_##M, asm volatile("sust.b.2d.b32." #M " [%0, {%1, %2}], %3;" :: "l"(t), R(0), R(1), "r"(v0));) \
  SSTORE(ss_2d_64_##M, asm volatile("sust.b.2d.v2.b32." #M " [%0, {%1, %2}], {%3, %4};" :: "l"(t), R(0), R(1), "r"(v0), "r"(v1));) \
  SSTORE(ss_2d_128_##M, asm volatile("sust.b.2d.v4.b32." #M " [%0, {%1, %2}], {%3, %4, %5, %6};" :: "l"(t), R(0), R(1), "r"(v0), "r"(v1), "r"(v2), "r"(v3));) \
  SSTORE(ss_3d_32_##M, asm volatile("sust.b.3d.b32." #M " [%0, {%1, %2, %3, %3}], %4;" :: "l"(t), R(0), R(1), R(2), "r"(v0));) \
  SSTORE(ss_a1d_32_##M, asm volatile("sust.b.a1d.b32." #M " [%0, {%1, %2}], %3;" :: "l"(t), R(0), R(1), "r"(v0));) \
  SSTORE(ss_a2d_32_##M, asm volatile("sust.b.a2d.b32." #M " [%0, {%1, %2, %3, %3}], %4;" :: "l"(t), R(0), R(1), R(2), "r"(v0));)
SS(clamp) SS(zero) SS(trap)
#endif
#if GROUP == 9
// Formatted stores
#define SP(M) \
  SSTORE(sp_1d_##M, asm volatile("sust.p.1d.v4.b32." #M " [%0, {%1}], {%2, %3, %4, %5};" :: "l"(t), R(0), "r"(v0), "r"(v1), "r"(v2), "r"(v3));) \
  SSTORE(sp_2d_##M, asm volatile("sust.p.2d.v4.b32." #M " [%0, {%1, %2}], {%3, %4, %5, %6};" :: "l"(t), R(0), R(1), "r"(v0), "r"(v1), "r"(v2), "r"(v3));)
SP(clamp) SP(zero)
#endif
#if GROUP == 10
// Reductions
SSTORE(sr_add_2d, asm volatile("sured.b.add.2d.u32.clamp [%0, {%1, %2}], %3;" :: "l"(t), R(0), R(1), "r"(v0));)
SSTORE(sr_min_2d, asm volatile("sured.b.min.2d.s32.zero [%0, {%1, %2}], %3;" :: "l"(t), R(0), R(1), "r"(v0));)

#endif
