// The threads of a block, and of one thread. Source: CUDA C++ Programming Guide, "Implicit Groups", "Thread Block Group".
#ifndef __CUMETAL_GROUPS_BLOCK_H__
#define __CUMETAL_GROUPS_BLOCK_H__

namespace cooperative_groups {

namespace __cumetal {
__cumetal_device unsigned int rank_in_block() { return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x; }
__cumetal_device unsigned int block_size() { return blockDim.x * blockDim.y * blockDim.z; }
__cumetal_device unsigned int lane() { return __nvvm_read_ptx_sreg_laneid(); }
__cumetal_device unsigned int lanes_below() { return (1u << lane()) - 1; }
// The lanes of this warp that the block has.
__cumetal_device unsigned int warp_mask() {
  unsigned int left = block_size() - (rank_in_block() & ~31u);
  return left >= 32 ? 0xffffffffu : (1u << left) - 1;
}
} // namespace __cumetal

class thread_block {
 public:
  using arrival_token = unsigned int;
  __device__ static void sync() { __syncthreads(); }
  // A barrier of a block is one instruction here: arriving costs nothing, and waiting is the barrier.
  __device__ static arrival_token barrier_arrive() { return 0; }
  __device__ static void barrier_wait(arrival_token &&) { __syncthreads(); }
  __device__ static void barrier_wait() { __syncthreads(); }
  __device__ static unsigned int thread_rank() { return __cumetal::rank_in_block(); }
  __device__ static unsigned int num_threads() { return __cumetal::block_size(); }
  __device__ static unsigned int size() { return __cumetal::block_size(); }
  __device__ static dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
  __device__ static dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
  __device__ static dim3 group_dim() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
  __device__ static dim3 dim_threads() { return group_dim(); }
};
__cumetal_device thread_block this_thread_block() { return {}; }

} // namespace cooperative_groups

#endif
