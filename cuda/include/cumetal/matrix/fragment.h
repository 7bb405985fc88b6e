// The part of a matrix that a thread holds. Source: CUDA C++ Programming Guide, "Warp Matrix Functions"; PTX ISA, "Matrix Fragments for WMMA".
#ifndef __CUMETAL_MATRIX_FRAGMENT_H__
#define __CUMETAL_MATRIX_FRAGMENT_H__

namespace nvcuda {
namespace wmma {

struct row_major {};
struct col_major {};
struct matrix_a {};
struct matrix_b {};
struct accumulator {};
enum layout_t { mem_row_major, mem_col_major };
namespace precision {
struct tf32 {};
} // namespace precision
namespace experimental {
namespace precision {
struct u4 {};
struct s4 {};
struct b1 {};
} // namespace precision
enum bmmaBitOp { bmmaBitOpXOR = 1, bmmaBitOpAND = 2 };
enum bmmaAccumulateOp { bmmaAccumulateOpPOPC = 1 };
} // namespace experimental

// What an element is kept in, and how many elements share it.
template <class T, class Storage = T, int Packed = 1> struct __cumetal_element {
  using Kept = Storage;
  static constexpr int packed = Packed;
};
template <class T> struct __cumetal_kept : __cumetal_element<T> {};
template <> struct __cumetal_kept<precision::tf32> : __cumetal_element<precision::tf32, float> {};
template <> struct __cumetal_kept<experimental::precision::u4> : __cumetal_element<experimental::precision::u4, unsigned int, 8> {};
template <> struct __cumetal_kept<experimental::precision::s4> : __cumetal_element<experimental::precision::s4, int, 8> {};
template <> struct __cumetal_kept<experimental::precision::b1> : __cumetal_element<experimental::precision::b1, unsigned int, 32> {};

template <class T, int Count> struct __cumetal_fragment {
  using element_type = T;
  using storage_element_type = typename __cumetal_kept<T>::Kept;
  static constexpr int num_elements = Count * __cumetal_kept<T>::packed;
  static constexpr int num_storage_elements = Count;
  storage_element_type x[Count];
};

template <class Use, int m, int n, int k, class T, class Layout = void> class fragment;

// Elements of each fragment, by use, shape and type.
#define __cumetal_wmma_input(m, n, k, T, countA, countB) \
  template <class L> class fragment<matrix_a, m, n, k, T, L> : public __cumetal_fragment<T, countA> {}; \
  template <class L> class fragment<matrix_b, m, n, k, T, L> : public __cumetal_fragment<T, countB> {};
#define __cumetal_wmma_sum(m, n, k, T, count) \
  template <> class fragment<accumulator, m, n, k, T> : public __cumetal_fragment<T, count> {};
// Halves are held twice.
#define __cumetal_wmma_wide(T, square, large, small) \
  __cumetal_wmma_input(16, 16, 16, T, square, square) \
  __cumetal_wmma_input(32, 8, 16, T, large, small) \
  __cumetal_wmma_input(8, 32, 16, T, small, large)
__cumetal_wmma_wide(__half, 16, 16, 16)
__cumetal_wmma_wide(__nv_bfloat16, 8, 16, 4)
__cumetal_wmma_wide(signed char, 8, 16, 4)
__cumetal_wmma_wide(unsigned char, 8, 16, 4)
#undef __cumetal_wmma_wide
#define __cumetal_wmma_sums(T) \
  __cumetal_wmma_sum(16, 16, 16, T, 8) \
  __cumetal_wmma_sum(32, 8, 16, T, 8) \
  __cumetal_wmma_sum(8, 32, 16, T, 8)
__cumetal_wmma_sums(__half)
__cumetal_wmma_sums(float)
__cumetal_wmma_sums(int)
#undef __cumetal_wmma_sums
__cumetal_wmma_input(16, 16, 8, precision::tf32, 4, 4)
__cumetal_wmma_sum(16, 16, 8, float, 8)
__cumetal_wmma_input(8, 8, 4, double, 1, 1)
__cumetal_wmma_sum(8, 8, 4, double, 2)
__cumetal_wmma_input(8, 8, 32, experimental::precision::u4, 1, 1)
__cumetal_wmma_input(8, 8, 32, experimental::precision::s4, 1, 1)
__cumetal_wmma_sum(8, 8, 32, int, 2)
__cumetal_wmma_input(8, 8, 128, experimental::precision::b1, 1, 1)
__cumetal_wmma_sum(8, 8, 128, int, 2)
#undef __cumetal_wmma_input
#undef __cumetal_wmma_sum

template <class Use, int m, int n, int k, class T, class L>
__cumetal_device void fill_fragment(fragment<Use, m, n, k, T, L> &f, typename __cumetal_same<typename __cumetal_kept<T>::Kept>::Type value) {
#pragma unroll
  for (int i = 0; i < f.num_storage_elements; i++) f.x[i] = value;
}
__cumetal_device float __float_to_tf32(float v) {
  unsigned int r;
  __asm__("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(v));
  return __uint_as_float(r);
}

// Registers of a fragment: `count` of a kind, which are its elements side by side.
template <class R, int count, class F> struct __cumetal_registers {
  R r[count];
  __device__ __forceinline__ explicit __cumetal_registers(const F &f) {
    static_assert(sizeof(r) == sizeof(f.x), "all elements");
    __builtin_memcpy(r, f.x, sizeof(r));
  }
  __device__ __forceinline__ __cumetal_registers() {}
  __device__ __forceinline__ void give(F &f) const { __builtin_memcpy(f.x, r, sizeof(r)); }
};

} // namespace wmma
} // namespace nvcuda

// Operands of inline assembly by name: `p` and a number.
#define __cumetal_wmma_list_1(p) "{%[" #p "0]}"
#define __cumetal_wmma_list_2(p) "{%[" #p "0], %[" #p "1]}"
#define __cumetal_wmma_list_4(p) "{%[" #p "0], %[" #p "1], %[" #p "2], %[" #p "3]}"
#define __cumetal_wmma_list_8(p) \
  "{%[" #p "0], %[" #p "1], %[" #p "2], %[" #p "3], %[" #p "4], %[" #p "5], %[" #p "6], %[" #p "7]}"
#define __cumetal_wmma_out_1(p, letter) [p##0] "=" letter(p.r[0])
#define __cumetal_wmma_out_2(p, letter) __cumetal_wmma_out_1(p, letter), [p##1] "=" letter(p.r[1])
#define __cumetal_wmma_out_4(p, letter) __cumetal_wmma_out_2(p, letter), [p##2] "=" letter(p.r[2]), [p##3] "=" letter(p.r[3])
#define __cumetal_wmma_out_8(p, letter) \
  __cumetal_wmma_out_4(p, letter), [p##4] "=" letter(p.r[4]), [p##5] "=" letter(p.r[5]), [p##6] "=" letter(p.r[6]), [p##7] "=" letter(p.r[7])
#define __cumetal_wmma_in_1(p, letter) [p##0] letter(p.r[0])
#define __cumetal_wmma_in_2(p, letter) __cumetal_wmma_in_1(p, letter), [p##1] letter(p.r[1])
#define __cumetal_wmma_in_4(p, letter) __cumetal_wmma_in_2(p, letter), [p##2] letter(p.r[2]), [p##3] letter(p.r[3])
#define __cumetal_wmma_in_8(p, letter) \
  __cumetal_wmma_in_4(p, letter), [p##4] letter(p.r[4]), [p##5] letter(p.r[5]), [p##6] letter(p.r[6]), [p##7] letter(p.r[7])

#endif
