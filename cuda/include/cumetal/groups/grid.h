// The whole grid, of a cooperative launch. Source: CUDA C++ Programming Guide, "Grid Group", "Grid Synchronization".
#ifndef __CUMETAL_GROUPS_GRID_H__
#define __CUMETAL_GROUPS_GRID_H__

namespace cooperative_groups {

namespace __cumetal {
__cumetal_device unsigned long long grid_blocks() { return (unsigned long long)gridDim.x * gridDim.y * gridDim.z; }
// The address of the workspace of the launch, which every launch has. Its second word counts the blocks that have arrived.
__cumetal_device unsigned int *grid_workspace() {
  unsigned int high, low;
  __asm__ volatile("mov.b32 %0, %%envreg1;" : "=r"(high));
  __asm__ volatile("mov.b32 %0, %%envreg2;" : "=r"(low));
  return (unsigned int *)((unsigned long long)high << 32 | low);
}
} // namespace __cumetal

class grid_group {
 public:
  class arrival_token {
    unsigned int before_ = 0;
    friend class grid_group;
  };
  __device__ bool is_valid() const { return __cumetal::grid_workspace() != nullptr; }
  __device__ void sync() const { barrier_wait(barrier_arrive()); }
  // The blocks add up to 2^31, so that the highest bit changes with the last one: the first block adds what the others leave.
  __device__ arrival_token barrier_arrive() const {
    unsigned int *workspace = __cumetal::grid_workspace();
    if (workspace == nullptr) __trap();
    arrival_token token;
    __syncthreads();
    if (__cumetal::rank_in_block() == 0) {
      unsigned int others = (unsigned int)__cumetal::grid_blocks() - 1;
      __threadfence();
      token.before_ = atomicAdd(workspace + 1, block_rank() == 0 ? 0x80000000u - others : 1u);
    }
    return token;
  }
  __device__ void barrier_wait(arrival_token &&token) const {
    if (__cumetal::rank_in_block() == 0) {
      volatile unsigned int *arrived = __cumetal::grid_workspace() + 1;
      while (((*arrived ^ token.before_) & 0x80000000u) == 0) {}
      __threadfence();
    }
    __syncthreads();
  }
  __device__ unsigned long long block_rank() const {
    return ((unsigned long long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  }
  __device__ unsigned long long thread_rank() const { return block_rank() * __cumetal::block_size() + __cumetal::rank_in_block(); }
  __device__ unsigned long long num_threads() const { return __cumetal::grid_blocks() * __cumetal::block_size(); }
  __device__ unsigned long long size() const { return num_threads(); }
  __device__ unsigned long long num_blocks() const { return __cumetal::grid_blocks(); }
  __device__ dim3 dim_blocks() const { return dim3(gridDim.x, gridDim.y, gridDim.z); }
  __device__ dim3 group_dim() const { return dim_blocks(); }
  __device__ dim3 block_index() const { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
};
__cumetal_device grid_group this_grid() { return {}; }

} // namespace cooperative_groups

#endif
