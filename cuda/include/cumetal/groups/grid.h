// The whole grid, of a cooperative launch. Source: CUDA C++ Programming Guide, "Grid Group", "Grid Synchronization".
#ifndef __CUMETAL_GROUPS_GRID_H__
#define __CUMETAL_GROUPS_GRID_H__

namespace cooperative_groups {

namespace __cumetal {
// Blocks that have arrived, and how often all have; of the module, as a kernel's arguments have no room for it.
__device__ unsigned int __attribute__((weak)) grid_arrived = 0;
__device__ unsigned int __attribute__((weak)) grid_passed = 0;
__cumetal_device unsigned long long grid_blocks() { return (unsigned long long)gridDim.x * gridDim.y * gridDim.z; }
} // namespace __cumetal

class grid_group {
 public:
  __device__ bool is_valid() const { return true; }
  // Every block of the grid has to run at once, as a cooperative launch promises. Its register is read so that a device without such launches
  // refuses the kernel instead of waiting for ever.
  __device__ void sync() const {
    unsigned int launch;
    __asm__ volatile("mov.b32 %0, %%envreg2;" : "=r"(launch));
    __syncthreads();
    if (__cumetal::rank_in_block() == 0) {
      __threadfence();
      unsigned int passed = *(volatile unsigned int *)&__cumetal::grid_passed;
      if (atomicAdd(&__cumetal::grid_arrived, 1u) == (unsigned int)__cumetal::grid_blocks() - 1) {
        *(volatile unsigned int *)&__cumetal::grid_arrived = 0;
        __threadfence();
        atomicAdd(&__cumetal::grid_passed, 1u);
      } else {
        while (*(volatile unsigned int *)&__cumetal::grid_passed == passed) __nanosleep(20);
      }
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
