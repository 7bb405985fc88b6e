// Products of fragments. Source: CUDA C++ Programming Guide, "Warp Matrix Functions"; PTX ISA, "wmma.mma".
#ifndef __CUMETAL_MATRIX_MULTIPLY_H__
#define __CUMETAL_MATRIX_MULTIPLY_H__

namespace nvcuda {
namespace wmma {

// d = a b + c by one instruction; `before` and `types` are its words around the shape.
#define __cumetal_wmma_product(before, types, m, n, k, A, LA, LB, D, C, RI, RD, RC, letterI, letterD, letterC, na, nb, nd, nc) \
  __cumetal_registers<RI, na, fragment<matrix_a, m, n, k, A, LA##_major>> a(fa); \
  __cumetal_registers<RI, nb, fragment<matrix_b, m, n, k, A, LB##_major>> b(fb); \
  __cumetal_registers<RC, nc, fragment<accumulator, m, n, k, C>> c(fc); \
  __cumetal_registers<RD, nd, fragment<accumulator, m, n, k, D>> d; \
  __asm__ volatile("wmma.mma" before ".sync.aligned." #LA "." #LB ".m" #m "n" #n "k" #k "." types " " __cumetal_wmma_list_##nd(d) \
                   ", " __cumetal_wmma_list_##na(a) ", " __cumetal_wmma_list_##nb(b) ", " __cumetal_wmma_list_##nc(c) ";" \
                   : __cumetal_wmma_out_##nd(d, letterD) \
                   : __cumetal_wmma_in_##na(a, letterI), __cumetal_wmma_in_##nb(b, letterI), __cumetal_wmma_in_##nc(c, letterC)); \
  d.give(fd);
#define __cumetal_wmma_head(m, n, k, A, LA, LB, D, C, ...) \
  __cumetal_device void mma_sync(fragment<accumulator, m, n, k, D> &fd, const fragment<matrix_a, m, n, k, A, LA##_major> &fa, \
                                 const fragment<matrix_b, m, n, k, A, LB##_major> &fb, \
                                 const fragment<accumulator, m, n, k, C> &fc __VA_ARGS__)
#define __cumetal_wmma_float(m, n, k, A, LA, LB, D, C, types, RD, RC, letterD, letterC, na, nb, nd, nc) \
  __cumetal_wmma_head(m, n, k, A, LA, LB, D, C) { \
    __cumetal_wmma_product("", types, m, n, k, A, LA, LB, D, C, unsigned int, RD, RC, "r", letterD, letterC, na, nb, nd, nc) \
  }
#define __cumetal_wmma_half(m, n, k, LA, LB) \
  __cumetal_wmma_float(m, n, k, __half, LA, LB, float, float, "f32.f32", float, float, "f", "f", 8, 8, 8, 8) \
  __cumetal_wmma_float(m, n, k, __half, LA, LB, __half, __half, "f16.f16", unsigned int, unsigned int, "r", "r", 8, 8, 4, 4) \
  __cumetal_wmma_float(m, n, k, __half, LA, LB, float, __half, "f32.f16", float, unsigned int, "f", "r", 8, 8, 8, 4) \
  __cumetal_wmma_float(m, n, k, __half, LA, LB, __half, float, "f16.f32", unsigned int, float, "r", "f", 8, 8, 4, 8)
#define __cumetal_wmma_bfloat(m, n, k, LA, LB, na, nb) \
  __cumetal_wmma_float(m, n, k, __nv_bfloat16, LA, LB, float, float, "f32.bf16.bf16.f32", float, float, "f", "f", na, nb, 8, 8)
// Saturation of sums is for integers alone.
#define __cumetal_wmma_integer(m, n, k, A, LA, LB, type, na, nb, nd) \
  __cumetal_wmma_head(m, n, k, A, LA, LB, int, int, , bool satf = false) { \
    if (satf) { \
      __cumetal_wmma_product("", "s32." type "." type ".s32.satfinite", m, n, k, A, LA, LB, int, int, unsigned int, int, int, "r", "r", "r", na, nb, nd, nd) \
    } else { \
      __cumetal_wmma_product("", "s32." type "." type ".s32", m, n, k, A, LA, LB, int, int, unsigned int, int, int, "r", "r", "r", na, nb, nd, nd) \
    } \
  }
#define __cumetal_wmma_layouts(LA, LB) \
  __cumetal_wmma_half(16, 16, 16, LA, LB) \
  __cumetal_wmma_half(32, 8, 16, LA, LB) \
  __cumetal_wmma_half(8, 32, 16, LA, LB) \
  __cumetal_wmma_bfloat(16, 16, 16, LA, LB, 4, 4) \
  __cumetal_wmma_bfloat(32, 8, 16, LA, LB, 8, 2) \
  __cumetal_wmma_bfloat(8, 32, 16, LA, LB, 2, 8) \
  __cumetal_wmma_integer(16, 16, 16, signed char, LA, LB, "s8", 2, 2, 8) \
  __cumetal_wmma_integer(32, 8, 16, signed char, LA, LB, "s8", 4, 1, 8) \
  __cumetal_wmma_integer(8, 32, 16, signed char, LA, LB, "s8", 1, 4, 8) \
  __cumetal_wmma_integer(16, 16, 16, unsigned char, LA, LB, "u8", 2, 2, 8) \
  __cumetal_wmma_integer(32, 8, 16, unsigned char, LA, LB, "u8", 4, 1, 8) \
  __cumetal_wmma_integer(8, 32, 16, unsigned char, LA, LB, "u8", 1, 4, 8) \
  __cumetal_wmma_float(16, 16, 8, precision::tf32, LA, LB, float, float, "f32.tf32.tf32.f32", float, float, "f", "f", 4, 4, 8, 8) \
  __cumetal_wmma_head(8, 8, 4, double, LA, LB, double, double) { \
    __cumetal_wmma_product("", "f64.f64.f64.f64", 8, 8, 4, double, LA, LB, double, double, double, double, double, "d", "d", "d", 1, 1, 2, 2) \
  }
__cumetal_wmma_layouts(row, row)
__cumetal_wmma_layouts(row, col)
__cumetal_wmma_layouts(col, row)
__cumetal_wmma_layouts(col, col)
__cumetal_wmma_integer(8, 8, 32, experimental::precision::s4, row, col, "s4", 1, 1, 2)
__cumetal_wmma_integer(8, 8, 32, experimental::precision::u4, row, col, "u4", 1, 1, 2)

// Products of bits are counted.
__cumetal_device void bmma_sync(fragment<accumulator, 8, 8, 128, int> &fd,
                                const fragment<matrix_a, 8, 8, 128, experimental::precision::b1, row_major> &fa,
                                const fragment<matrix_b, 8, 8, 128, experimental::precision::b1, col_major> &fb,
                                const fragment<accumulator, 8, 8, 128, int> &fc,
                                experimental::bmmaBitOp operation = experimental::bmmaBitOpXOR,
                                experimental::bmmaAccumulateOp = experimental::bmmaAccumulateOpPOPC) {
  using experimental::precision::b1;
  if (operation == experimental::bmmaBitOpXOR) {
    __cumetal_wmma_product(".xor.popc", "s32.b1.b1.s32", 8, 8, 128, b1, row, col, int, int, unsigned int, int, int, "r", "r", "r", 1, 1, 2, 2)
  } else {
    __cumetal_wmma_product(".and.popc", "s32.b1.b1.s32", 8, 8, 128, b1, row, col, int, int, unsigned int, int, int, "r", "r", "r", 1, 1, 2, 2)
  }
}

#undef __cumetal_wmma_layouts
#undef __cumetal_wmma_integer
#undef __cumetal_wmma_bfloat
#undef __cumetal_wmma_half
#undef __cumetal_wmma_float
#undef __cumetal_wmma_head
#undef __cumetal_wmma_product

} // namespace wmma
} // namespace nvcuda

#endif
