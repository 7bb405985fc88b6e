// Loads and stores of fragments. Source: CUDA C++ Programming Guide, "Warp Matrix Functions"; PTX ISA, "wmma.load", "wmma.store".
#ifndef __CUMETAL_MATRIX_TRANSFER_H__
#define __CUMETAL_MATRIX_TRANSFER_H__

namespace nvcuda {
namespace wmma {

// A matrix in memory to `count` registers of a letter's kind; `stride` is in elements.
#define __cumetal_wmma_load(letterOf, use, m, n, k, T, Memory, layout, type, R, letter, count) \
  __cumetal_device void load_matrix_sync(fragment<use, m, n, k, T, layout##_major> &f, const Memory *from, unsigned int stride) { \
    __cumetal_registers<R, count, fragment<use, m, n, k, T, layout##_major>> d; \
    __asm__ volatile("wmma.load." letterOf ".sync.aligned." #layout ".m" #m "n" #n "k" #k "." type " " __cumetal_wmma_list_##count(d) \
                     ", [%[from]], %[stride];" \
                     : __cumetal_wmma_out_##count(d, letter) \
                     : [from] "l"(from), [stride] "r"(stride) \
                     : "memory"); \
    d.give(f); \
  }
#define __cumetal_wmma_loads(m, n, k, T, Memory, type, R, letter, countA, countB) \
  __cumetal_wmma_load("a", matrix_a, m, n, k, T, Memory, row, type, R, letter, countA) \
  __cumetal_wmma_load("a", matrix_a, m, n, k, T, Memory, col, type, R, letter, countA) \
  __cumetal_wmma_load("b", matrix_b, m, n, k, T, Memory, row, type, R, letter, countB) \
  __cumetal_wmma_load("b", matrix_b, m, n, k, T, Memory, col, type, R, letter, countB)
#define __cumetal_wmma_shapes(T, type, square, large, small) \
  __cumetal_wmma_loads(16, 16, 16, T, T, type, unsigned int, "r", square, square) \
  __cumetal_wmma_loads(32, 8, 16, T, T, type, unsigned int, "r", large, small) \
  __cumetal_wmma_loads(8, 32, 16, T, T, type, unsigned int, "r", small, large)
__cumetal_wmma_shapes(__half, "f16", 8, 8, 8)
__cumetal_wmma_shapes(__nv_bfloat16, "bf16", 4, 8, 2)
__cumetal_wmma_shapes(signed char, "s8", 2, 4, 1)
__cumetal_wmma_shapes(unsigned char, "u8", 2, 4, 1)
__cumetal_wmma_loads(16, 16, 8, precision::tf32, float, "tf32", unsigned int, "r", 4, 4)
__cumetal_wmma_loads(8, 8, 4, double, double, "f64", double, "d", 1, 1)
// Matrices of less than a byte have one layout each.
__cumetal_wmma_load("a", matrix_a, 8, 8, 32, experimental::precision::u4, void, row, "u4", unsigned int, "r", 1)
__cumetal_wmma_load("b", matrix_b, 8, 8, 32, experimental::precision::u4, void, col, "u4", unsigned int, "r", 1)
__cumetal_wmma_load("a", matrix_a, 8, 8, 32, experimental::precision::s4, void, row, "s4", unsigned int, "r", 1)
__cumetal_wmma_load("b", matrix_b, 8, 8, 32, experimental::precision::s4, void, col, "s4", unsigned int, "r", 1)
__cumetal_wmma_load("a", matrix_a, 8, 8, 128, experimental::precision::b1, void, row, "b1", unsigned int, "r", 1)
__cumetal_wmma_load("b", matrix_b, 8, 8, 128, experimental::precision::b1, void, col, "b1", unsigned int, "r", 1)
#undef __cumetal_wmma_shapes
#undef __cumetal_wmma_loads
#undef __cumetal_wmma_load

// The layout of sums is an argument.
#define __cumetal_wmma_sum(m, n, k, T, type, R, letter, count) \
  __cumetal_device void load_matrix_sync(fragment<accumulator, m, n, k, T> &f, const T *from, unsigned int stride, layout_t layout) { \
    __cumetal_registers<R, count, fragment<accumulator, m, n, k, T>> d; \
    if (layout == mem_row_major) \
      __asm__ volatile("wmma.load.c.sync.aligned.row.m" #m "n" #n "k" #k "." type " " __cumetal_wmma_list_##count(d) \
                       ", [%[from]], %[stride];" \
                       : __cumetal_wmma_out_##count(d, letter) \
                       : [from] "l"(from), [stride] "r"(stride) \
                       : "memory"); \
    else \
      __asm__ volatile("wmma.load.c.sync.aligned.col.m" #m "n" #n "k" #k "." type " " __cumetal_wmma_list_##count(d) \
                       ", [%[from]], %[stride];" \
                       : __cumetal_wmma_out_##count(d, letter) \
                       : [from] "l"(from), [stride] "r"(stride) \
                       : "memory"); \
    d.give(f); \
  } \
  __cumetal_device void store_matrix_sync(T *to, const fragment<accumulator, m, n, k, T> &f, unsigned int stride, layout_t layout) { \
    __cumetal_registers<R, count, fragment<accumulator, m, n, k, T>> d(f); \
    if (layout == mem_row_major) \
      __asm__ volatile("wmma.store.d.sync.aligned.row.m" #m "n" #n "k" #k "." type " [%[to]], " __cumetal_wmma_list_##count(d) \
                       ", %[stride];" \
                       : \
                       : [to] "l"(to), [stride] "r"(stride), __cumetal_wmma_in_##count(d, letter) \
                       : "memory"); \
    else \
      __asm__ volatile("wmma.store.d.sync.aligned.col.m" #m "n" #n "k" #k "." type " [%[to]], " __cumetal_wmma_list_##count(d) \
                       ", %[stride];" \
                       : \
                       : [to] "l"(to), [stride] "r"(stride), __cumetal_wmma_in_##count(d, letter) \
                       : "memory"); \
  }
#define __cumetal_wmma_sums(T, type, R, letter, count) \
  __cumetal_wmma_sum(16, 16, 16, T, type, R, letter, count) \
  __cumetal_wmma_sum(32, 8, 16, T, type, R, letter, count) \
  __cumetal_wmma_sum(8, 32, 16, T, type, R, letter, count)
__cumetal_wmma_sums(__half, "f16", unsigned int, "r", 4)
__cumetal_wmma_sums(float, "f32", float, "f", 8)
__cumetal_wmma_sums(int, "s32", int, "r", 8)
__cumetal_wmma_sum(16, 16, 8, float, "f32", float, "f", 8)
__cumetal_wmma_sum(8, 8, 4, double, "f64", double, "d", 2)
__cumetal_wmma_sum(8, 8, 32, int, "s32", int, "r", 2)
__cumetal_wmma_sum(8, 8, 128, int, "s32", int, "r", 2)
#undef __cumetal_wmma_sums
#undef __cumetal_wmma_sum

} // namespace wmma
} // namespace nvcuda

#endif
