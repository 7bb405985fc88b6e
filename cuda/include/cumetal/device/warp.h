// Barriers, warp functions, clocks. Source: CUDA C++ Programming Guide, "Synchronization Functions", "Warp Vote Functions", "Warp Match
// Functions", "Warp Reduce Functions", "Warp Shuffle Functions", "Nanosleep Function", "Time Function".
#ifndef __CUMETAL_DEVICE_WARP_H__
#define __CUMETAL_DEVICE_WARP_H__

// Clang declares `__syncthreads` itself when it compiles for a device.
#ifndef __CUDA_ARCH__
__device__ void __syncthreads();
#endif
__cumetal_device int __syncthreads_count(int predicate) { return __nvvm_bar0_popc(predicate); }
__cumetal_device int __syncthreads_and(int predicate) { return __nvvm_bar0_and(predicate); }
__cumetal_device int __syncthreads_or(int predicate) { return __nvvm_bar0_or(predicate); }
__cumetal_device void __syncwarp(unsigned int mask = 0xffffffffu) { __nvvm_bar_warp_sync(mask); }
__cumetal_device void __barrier_sync(unsigned int id) { __nvvm_barrier_sync(id); }
__cumetal_device void __barrier_sync_count(unsigned int id, unsigned int count) { __nvvm_barrier_sync_cnt(id, count); }

__cumetal_device unsigned int __activemask() { return __nvvm_activemask(); }
__cumetal_device int __all_sync(unsigned int mask, int predicate) { return __nvvm_vote_all_sync(mask, predicate); }
__cumetal_device int __any_sync(unsigned int mask, int predicate) { return __nvvm_vote_any_sync(mask, predicate); }
__cumetal_device int __uni_sync(unsigned int mask, int predicate) { return __nvvm_vote_uni_sync(mask, predicate); }
__cumetal_device unsigned int __ballot_sync(unsigned int mask, int predicate) { return __nvvm_vote_ballot_sync(mask, predicate); }

// Match by bits, for types of four and eight bytes.
template <class T> __cumetal_device unsigned int __match_any_sync(unsigned int mask, T value) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "__match_any_sync takes types of 4 and 8 bytes");
  if constexpr (sizeof(T) == 4) return __nvvm_match_any_sync_i32(mask, __builtin_bit_cast(int, value));
  else return __nvvm_match_any_sync_i64(mask, __builtin_bit_cast(long long, value));
}
template <class T> __cumetal_device unsigned int __match_all_sync(unsigned int mask, T value, int *predicate) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "__match_all_sync takes types of 4 and 8 bytes");
  if constexpr (sizeof(T) == 4) return __nvvm_match_all_sync_i32p(mask, __builtin_bit_cast(int, value), predicate);
  else return __nvvm_match_all_sync_i64p(mask, __builtin_bit_cast(long long, value), predicate);
}

__cumetal_device unsigned int __reduce_add_sync(unsigned int mask, unsigned int v) { return __nvvm_redux_sync_add(v, mask); }
__cumetal_device int __reduce_add_sync(unsigned int mask, int v) { return __nvvm_redux_sync_add(v, mask); }
__cumetal_device unsigned int __reduce_min_sync(unsigned int mask, unsigned int v) { return __nvvm_redux_sync_umin(v, mask); }
__cumetal_device int __reduce_min_sync(unsigned int mask, int v) { return __nvvm_redux_sync_min(v, mask); }
__cumetal_device unsigned int __reduce_max_sync(unsigned int mask, unsigned int v) { return __nvvm_redux_sync_umax(v, mask); }
__cumetal_device int __reduce_max_sync(unsigned int mask, int v) { return __nvvm_redux_sync_max(v, mask); }
__cumetal_device unsigned int __reduce_and_sync(unsigned int mask, unsigned int v) { return __nvvm_redux_sync_and(v, mask); }
__cumetal_device unsigned int __reduce_or_sync(unsigned int mask, unsigned int v) { return __nvvm_redux_sync_or(v, mask); }
__cumetal_device unsigned int __reduce_xor_sync(unsigned int mask, unsigned int v) { return __nvvm_redux_sync_xor(v, mask); }

// The third operand of `shfl`: segments of `width` lanes, and how far a lane may read.
__cumetal_device int __cumetal_segment(int width, int last) { return ((32 - width) << 8) | last; }
#define __cumetal_shuffle(name, mode, argument, last) \
  __cumetal_device int name(unsigned int mask, int v, argument lane, int width = 32) { \
    return __nvvm_shfl_sync_##mode##_i32(mask, v, lane, __cumetal_segment(width, last)); \
  } \
  __cumetal_device unsigned int name(unsigned int mask, unsigned int v, argument lane, int width = 32) { \
    return (unsigned int)name(mask, (int)v, lane, width); \
  } \
  __cumetal_device float name(unsigned int mask, float v, argument lane, int width = 32) { \
    return __int_as_float(name(mask, __float_as_int(v), lane, width)); \
  } \
  __cumetal_device unsigned long long name(unsigned int mask, unsigned long long v, argument lane, int width = 32) { \
    unsigned int low = name(mask, (unsigned int)v, lane, width); \
    return (unsigned long long)name(mask, (unsigned int)(v >> 32), lane, width) << 32 | low; \
  } \
  __cumetal_device long long name(unsigned int mask, long long v, argument lane, int width = 32) { \
    return (long long)name(mask, (unsigned long long)v, lane, width); \
  } \
  __cumetal_device double name(unsigned int mask, double v, argument lane, int width = 32) { \
    return __longlong_as_double(name(mask, __double_as_longlong(v), lane, width)); \
  } \
  __cumetal_device long name(unsigned int mask, long v, argument lane, int width = 32) { \
    if constexpr (sizeof(long) == 4) return name(mask, (int)v, lane, width); \
    else return (long)name(mask, (long long)v, lane, width); \
  } \
  __cumetal_device unsigned long name(unsigned int mask, unsigned long v, argument lane, int width = 32) { \
    return (unsigned long)name(mask, (long)v, lane, width); \
  }
__cumetal_shuffle(__shfl_sync, idx, int, 31)
__cumetal_shuffle(__shfl_up_sync, up, unsigned int, 0)
__cumetal_shuffle(__shfl_down_sync, down, unsigned int, 31)
__cumetal_shuffle(__shfl_xor_sync, bfly, int, 31)
#undef __cumetal_shuffle

__cumetal_device long long clock64() { return __nvvm_read_ptx_sreg_clock64(); }
// A macro of C's `clock` on the host would be no overload.
__cumetal_device long clock() { return __nvvm_read_ptx_sreg_clock(); }
__cumetal_device void __nanosleep(unsigned int ns) { __nvvm_nanosleep(ns); }

#endif
