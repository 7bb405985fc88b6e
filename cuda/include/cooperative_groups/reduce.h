// Reductions of a group. Source: CUDA C++ Programming Guide, "Group Collectives", "reduce".
#ifndef __CUMETAL_COOPERATIVE_GROUPS_REDUCE_H__
#define __CUMETAL_COOPERATIVE_GROUPS_REDUCE_H__

#include "../cooperative_groups.h"

namespace cooperative_groups {

#define __cumetal_operation(name, expression) \
  template <class T = void> struct name { \
    __device__ T operator()(T a, T b) const { return expression; } \
  }; \
  template <> struct name<void> { \
    template <class T> __device__ T operator()(T a, T b) const { return expression; } \
  };
__cumetal_operation(plus, a + b)
__cumetal_operation(less, b < a ? b : a)
__cumetal_operation(greater, a < b ? b : a)
__cumetal_operation(bit_and, a &b)
__cumetal_operation(bit_or, a | b)
__cumetal_operation(bit_xor, a ^ b)
#undef __cumetal_operation

// Halves of the ranks are folded until one is left, which all get: any count of members.
template <class Group, class T, class F> __cumetal_device T reduce(const Group &group, T value, F &&f) {
  unsigned int rank = group.thread_rank(), count = group.size();
  for (unsigned int width = count; width > 1;) {
    unsigned int half = (width + 1) / 2;
    T other = group.shfl(value, (int)(rank + half < width ? rank + half : rank));
    if (rank + half < width) value = f(value, other);
    width = half;
  }
  return group.shfl(value, 0);
}
namespace __cumetal {
struct warp_reduce {
  template <class T, class F> __device__ T operator()(const coalesced_group &warp, T value, F &f) const {
    return cooperative_groups::reduce(warp, value, f);
  }
};
} // namespace __cumetal
#define __cumetal_large_reduce(size) \
  template <class Parent, class T, class F> __cumetal_device T reduce(const thread_block_tile<size, Parent> &tile, T value, F &&f) { \
    return __cumetal::large_reduce<size>(tile, value, f, __cumetal::warp_reduce()); \
  }
__cumetal_large_tiles(__cumetal_large_reduce)
#undef __cumetal_large_reduce
template <class Group, class Address, class T, class F>
__cumetal_device void reduce_store_async(const Group &group, Address *to, T value, F &&f) {
  T total = reduce(group, value, f);
  if (group.thread_rank() == 0) *to = total;
}

} // namespace cooperative_groups

#endif
