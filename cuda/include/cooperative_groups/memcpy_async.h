// Asynchronous copies of a group, as plain copies: they are finished when the call returns, and the wait is the barrier that makes them visible.
// Source: CUDA C++ Programming Guide, "memcpy_async", "wait and wait_prior".
#ifndef __CUMETAL_COOPERATIVE_GROUPS_MEMCPY_ASYNC_H__
#define __CUMETAL_COOPERATIVE_GROUPS_MEMCPY_ASYNC_H__

#include "../cooperative_groups.h"

namespace cooperative_groups {

template <class Group, class T> __cumetal_device void memcpy_async(const Group &group, T *to, const T *from, size_t bytes) {
  size_t step = group.size(), words = bytes / 4;
  if (((size_t)to | (size_t)from) % 4 != 0) words = 0;
  for (size_t i = group.thread_rank(); i < words; i += step) ((unsigned int *)to)[i] = ((const unsigned int *)from)[i];
  for (size_t i = 4 * words + group.thread_rank(); i < bytes; i += step) ((char *)to)[i] = ((const char *)from)[i];
}
// Counts of elements: the smaller of what there is and what there is room for.
template <class Group, class T>
__cumetal_device void memcpy_async(const Group &group, T *to, size_t room, const T *from, size_t count) {
  memcpy_async(group, to, from, (room < count ? room : count) * sizeof(T));
}
template <class Group> __cumetal_device void wait(const Group &group) { group.sync(); }
template <unsigned int Stages, class Group> __cumetal_device void wait_prior(const Group &group) { group.sync(); }

} // namespace cooperative_groups

#endif
