// Scans of a group. Source: CUDA C++ Programming Guide, "inclusive_scan and exclusive_scan".
#ifndef __CUMETAL_COOPERATIVE_GROUPS_SCAN_H__
#define __CUMETAL_COOPERATIVE_GROUPS_SCAN_H__

#include "reduce.h"

namespace cooperative_groups {

template <class Group, class T, class F> __cumetal_device T inclusive_scan(const Group &group, T value, F &&f) {
  unsigned int rank = group.thread_rank(), count = group.size();
  for (unsigned int step = 1; step < count; step *= 2) {
    T other = group.shfl_up(value, step);
    if (rank >= step) value = f(other, value);
  }
  return value;
}
template <class Group, class T> __cumetal_device T inclusive_scan(const Group &group, T value) {
  return inclusive_scan(group, value, plus<T>());
}
// The first rank has no predecessor: it gets the zero of its type.
template <class Group, class T, class F> __cumetal_device T exclusive_scan(const Group &group, T value, F &&f) {
  T before = group.shfl_up(inclusive_scan(group, value, f), 1);
  return group.thread_rank() == 0 ? T() : before;
}
template <class Group, class T> __cumetal_device T exclusive_scan(const Group &group, T value) {
  return exclusive_scan(group, value, plus<T>());
}

} // namespace cooperative_groups

#endif
