// Functions of any group. Source: CUDA C++ Programming Guide, "Synchronization", "Data Transfer", "Execution Control".
#ifndef __CUMETAL_GROUPS_FUNCTIONS_H__
#define __CUMETAL_GROUPS_FUNCTIONS_H__

namespace cooperative_groups {

// A group whose kind the callee does not know: the block, the grid, or lanes of a warp.
class thread_group {
 public:
  __device__ thread_group(const thread_block &) : kind_(0), lanes_(0) {}
  __device__ thread_group(const grid_group &) : kind_(1), lanes_(0) {}
  __device__ thread_group(const coalesced_group &group) : kind_(2), lanes_(group.__cumetal_mask()) {}
  template <unsigned int Size, class Parent>
  __device__ thread_group(const thread_block_tile<Size, Parent> &tile) : kind_(2), lanes_(tile.__cumetal_mask()) {}
  __device__ void sync() const {
    if (kind_ == 0) __syncthreads();
    else if (kind_ == 1) this_grid().sync();
    else __syncwarp(lanes_);
  }
  __device__ unsigned long long size() const {
    return kind_ == 0 ? thread_block::size() : kind_ == 1 ? this_grid().size() : (unsigned long long)__popc(lanes_);
  }
  __device__ unsigned long long num_threads() const { return size(); }
  __device__ unsigned long long thread_rank() const {
    return kind_ == 0   ? thread_block::thread_rank()
           : kind_ == 1 ? this_grid().thread_rank()
                        : (unsigned long long)__popc(lanes_ & __cumetal::lanes_below());
  }
  __device__ unsigned int __cumetal_mask() const { return lanes_; }

 private:
  int kind_;
  unsigned int lanes_;
};
__cumetal_device thread_group tiled_partition(const thread_group &group, unsigned int size) {
  if (group.__cumetal_mask() == 0) return tiled_partition(this_thread_block(), size);
  return tiled_partition(coalesced_group(group.__cumetal_mask()), size);
}

template <class Group> __cumetal_device void sync(const Group &group) { group.sync(); }
template <class Group> __cumetal_device auto thread_rank(const Group &group) { return group.thread_rank(); }
template <class Group> __cumetal_device auto group_size(const Group &group) { return group.size(); }

// One thread does it, and the others of a warp group learn the result.
template <class Group, class F> __cumetal_device void invoke_one(const Group &group, F &&f) {
  if (group.thread_rank() == 0) f();
}

} // namespace cooperative_groups

#endif
