// Blocks that run together and reach the shared memory of each other. Source: CUDA C++ Programming Guide, "Thread Block Clusters", "Cluster
// Group"; PTX ISA 9.0, 9.7.9.22, 9.7.9.23, 9.7.13.3.
#ifndef __CUMETAL_GROUPS_CLUSTER_H__
#define __CUMETAL_GROUPS_CLUSTER_H__
#define _CG_HAS_CLUSTER_GROUP

namespace __cumetal_cluster {
#define __cumetal_cluster_register(name, text)                                                                                             \
  __cumetal_device unsigned int name() {                                                                                                   \
    unsigned int value;                                                                                                                    \
    __asm__("mov.u32 %0, %%" text ";" : "=r"(value));                                                                                      \
    return value;                                                                                                                          \
  }
#define __cumetal_cluster_axes(name, text)                                                                                                 \
  __cumetal_cluster_register(name##_x, text ".x") __cumetal_cluster_register(name##_y, text ".y")                                          \
      __cumetal_cluster_register(name##_z, text ".z") __cumetal_device dim3 name() { return dim3(name##_x(), name##_y(), name##_z()); }
__cumetal_cluster_axes(block, "cluster_ctaid") __cumetal_cluster_axes(blocks, "cluster_nctaid") __cumetal_cluster_axes(index, "clusterid")
    __cumetal_cluster_axes(clusters, "nclusterid") __cumetal_cluster_register(rank, "cluster_ctarank")
        __cumetal_cluster_register(size, "cluster_nctarank")
#undef __cumetal_cluster_axes
#undef __cumetal_cluster_register
} // namespace __cumetal_cluster

__cumetal_device unsigned int __clusterDimIsSpecified() {
  unsigned int value;
  __asm__("{ .reg .pred p; mov.pred p, %%is_explicit_cluster; selp.u32 %0, 1, 0, p; }" : "=r"(value));
  return value;
}
__cumetal_device dim3 __clusterDim() { return __cumetal_cluster::blocks(); }
__cumetal_device dim3 __clusterRelativeBlockIdx() { return __cumetal_cluster::block(); }
__cumetal_device dim3 __clusterGridDimInClusters() { return __cumetal_cluster::clusters(); }
__cumetal_device dim3 __clusterIdx() { return __cumetal_cluster::index(); }
__cumetal_device unsigned int __clusterRelativeBlockRank() { return __cumetal_cluster::rank(); }
__cumetal_device unsigned int __clusterSizeInBlocks() { return __cumetal_cluster::size(); }
__cumetal_device void __cluster_barrier_arrive() { __asm__ volatile("barrier.cluster.arrive;" ::: "memory"); }
__cumetal_device void __cluster_barrier_arrive_relaxed() { __asm__ volatile("barrier.cluster.arrive.relaxed;" ::: "memory"); }
__cumetal_device void __cluster_barrier_wait() { __asm__ volatile("barrier.cluster.wait;" ::: "memory"); }
__cumetal_device void *__cluster_map_shared_rank(const void *address, unsigned int rank) {
  void *mapped;
  __asm__("mapa.u64 %0, %1, %2;" : "=l"(mapped) : "l"(address), "r"(rank));
  return mapped;
}
__cumetal_device unsigned int __cluster_query_shared_rank(const void *address) {
  unsigned int rank;
  __asm__("getctarank.u64 %0, %1;" : "=r"(rank) : "l"(address));
  return rank;
}

namespace cooperative_groups {

class cluster_group {
 public:
  using arrival_token = struct {};
  __device__ static void sync() {
    barrier_arrive();
    barrier_wait();
  }
  __device__ static arrival_token barrier_arrive() {
    __cluster_barrier_arrive();
    return {};
  }
  __device__ static void barrier_wait() { __cluster_barrier_wait(); }
  __device__ static void barrier_wait(arrival_token &&) { __cluster_barrier_wait(); }
  __device__ static dim3 block_index() { return __clusterRelativeBlockIdx(); }
  __device__ static unsigned int block_rank() { return __clusterRelativeBlockRank(); }
  __device__ static dim3 thread_index() {
    dim3 block = block_index();
    return dim3(block.x * blockDim.x + threadIdx.x, block.y * blockDim.y + threadIdx.y, block.z * blockDim.z + threadIdx.z);
  }
  __device__ static unsigned int thread_rank() { return block_rank() * __cumetal::block_size() + __cumetal::rank_in_block(); }
  __device__ static dim3 dim_blocks() { return __clusterDim(); }
  __device__ static unsigned int num_blocks() { return __clusterSizeInBlocks(); }
  __device__ static dim3 dim_threads() {
    dim3 blocks = dim_blocks();
    return dim3(blocks.x * blockDim.x, blocks.y * blockDim.y, blocks.z * blockDim.z);
  }
  __device__ static unsigned int num_threads() { return num_blocks() * __cumetal::block_size(); }
  __device__ static unsigned int size() { return num_threads(); }
  __device__ static unsigned int query_shared_rank(const void *addr) { return __cluster_query_shared_rank(addr); }
  template <class T> __device__ static T *map_shared_rank(T *addr, int rank) {
    return (T *)__cluster_map_shared_rank((const void *)addr, (unsigned int)rank);
  }
};
__cumetal_device cluster_group this_cluster() { return {}; }

} // namespace cooperative_groups

#endif
