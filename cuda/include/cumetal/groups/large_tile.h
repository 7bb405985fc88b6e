// Tiles of several warps. Source: CUDA C++ Programming Guide, "Thread Block Tile".
#ifndef __CUMETAL_GROUPS_LARGE_TILE_H__
#define __CUMETAL_GROUPS_LARGE_TILE_H__

namespace cooperative_groups {

// What a program sets aside for such tiles: their barriers are hardware's here, and what they exchange is declared where it is used.
template <unsigned int MaxBlockSize = 1024> struct block_tile_memory {
  char unused;
};
template <unsigned int MaxBlockSize> __cumetal_device thread_block this_thread_block(block_tile_memory<MaxBlockSize> &) { return {}; }

namespace __cumetal {

template <unsigned int Size> struct tile_check<Size, true> {
  // Barrier 0 is that of the block, and there are 15 others.
  __cumetal_device static void run() {
    if (block_size() > 15 * Size)
      __assertfail("a block has at most 15 tiles of more than 32 threads", "cooperative_groups.h", 1, "tiled_partition", 1);
  }
};

template <unsigned int Size, class Parent> class large_tile {
  static_assert((Size & (Size - 1)) == 0 && Size <= 1024, "the size of a tile is a power of two up to 1024");

 public:
  __device__ static void sync() {
    unsigned int first = rank_in_block() & ~(Size - 1), left = block_size() - first;
    unsigned int count = left >= Size ? Size : (left + 31) & ~31u;
    asm volatile("barrier.sync %0, %1;" : : "r"(1 + first / Size), "r"(count) : "memory");
  }
  __device__ static constexpr unsigned int num_threads() { return Size; }
  __device__ static constexpr unsigned int size() { return Size; }
  __device__ static unsigned int thread_rank() { return rank_in_block() & (Size - 1); }
  __device__ static unsigned int meta_group_rank() { return tile_place<Size, Parent>::rank(); }
  __device__ static unsigned int meta_group_size() { return tile_place<Size, Parent>::count(); }
};

// All members get the sum of their warps' sums, in the order of the warps.
template <unsigned int Size, class Group, class T, class F, class OfWarp>
__cumetal_device T large_reduce(const Group &group, T value, F &f, OfWarp of_warp) {
  __shared__ alignas(T) unsigned char memory[32 * sizeof(T)];
  T *warps = (T *)memory;
  unsigned int warp = rank_in_block() / 32, first = warp & ~(Size / 32 - 1), end = first + Size / 32, all = (block_size() + 31) / 32;
  value = of_warp(coalesced_group(warp_mask()), value, f);
  if (rank_in_block() % 32 == 0) warps[warp] = value;
  group.sync();
  value = warps[first];
  for (unsigned int i = first + 1; i < (end < all ? end : all); i++) value = f(value, warps[i]);
  group.sync();
  return value;
}

} // namespace __cumetal

#define __cumetal_large_tiles(of) of(64) of(128) of(256) of(512) of(1024)
#define __cumetal_large_tile(size) \
  template <class Parent> class thread_block_tile<size, Parent> : public __cumetal::large_tile<size, Parent> { \
   public: \
    template <class Other> __device__ operator thread_block_tile<size, Other>() const { return {}; } \
  };
__cumetal_large_tiles(__cumetal_large_tile)
#undef __cumetal_large_tile

} // namespace cooperative_groups

#endif
