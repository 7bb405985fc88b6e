// Groups within a warp: tiles of a static size and sets of lanes. Source: CUDA C++ Programming Guide, "Thread Block Tile", "Coalesced Groups",
// "Group Partition".
#ifndef __CUMETAL_GROUPS_WARP_H__
#define __CUMETAL_GROUPS_WARP_H__

namespace cooperative_groups {

namespace __cumetal {
// A shuffle of any type that can be copied by its bytes, four at a time.
template <class T, class F> __cumetal_device T shuffled(const T &value, F shuffle) {
  constexpr unsigned int count = (sizeof(T) + 3) / 4;
  unsigned int words[count] = {};
  __builtin_memcpy(words, &value, sizeof(T));
#pragma unroll
  for (unsigned int i = 0; i < count; i++) words[i] = shuffle(words[i]);
  T result = value;
  __builtin_memcpy(&result, words, sizeof(T));
  return result;
}
} // namespace __cumetal

// A set of lanes; ranks count its members from the lowest lane.
class coalesced_group {
 public:
  __device__ explicit coalesced_group(unsigned int mask, unsigned int rank = 0, unsigned int groups = 1)
      : mask_(mask), metaRank_(rank), metaSize_(groups) {}
  __device__ void sync() const { __syncwarp(mask_); }
  __device__ unsigned int num_threads() const { return (unsigned int)__popc(mask_); }
  __device__ unsigned int size() const { return num_threads(); }
  __device__ unsigned int thread_rank() const { return (unsigned int)__popc(mask_ & __cumetal::lanes_below()); }
  __device__ unsigned int meta_group_rank() const { return metaRank_; }
  __device__ unsigned int meta_group_size() const { return metaSize_; }
  __device__ unsigned int __cumetal_mask() const { return mask_; }
  __device__ unsigned int __cumetal_lane(unsigned int rank) const { return mask_ == 0xffffffffu ? rank : nth(rank); }

  template <class T> __device__ T shfl(T value, unsigned int rank) const { return from(value, (int)(rank % size())); }
  template <class T> __device__ T shfl_up(T value, unsigned int delta) const {
    unsigned int rank = thread_rank();
    return from(value, (int)(rank >= delta ? rank - delta : rank));
  }
  template <class T> __device__ T shfl_down(T value, unsigned int delta) const {
    unsigned int rank = thread_rank();
    return from(value, (int)(rank + delta < size() ? rank + delta : rank));
  }
  __device__ int any(int predicate) const { return __any_sync(mask_, predicate); }
  __device__ int all(int predicate) const { return __all_sync(mask_, predicate); }
  __device__ unsigned int ballot(int predicate) const { return packed(__ballot_sync(mask_, predicate)); }
  template <class T> __device__ unsigned int match_any(T value) const { return packed(__match_any_sync(mask_, value)); }
  template <class T> __device__ unsigned int match_all(T value, int &predicate) const {
    return packed(__match_all_sync(mask_, value, &predicate));
  }

 private:
  unsigned int mask_, metaRank_, metaSize_;
  // The lane of a rank: the n-th set bit.
  __device__ unsigned int nth(unsigned int rank) const {
    unsigned int rest = mask_;
    for (unsigned int i = 0; i < rank; i++) rest &= rest - 1;
    return (unsigned int)__ffs((int)rest) - 1;
  }
  // The members' bits of a mask of lanes, side by side.
  __device__ unsigned int packed(unsigned int lanes) const {
    if (mask_ == 0xffffffffu) return lanes;
    unsigned int result = 0, rank = 0;
    for (unsigned int rest = mask_; rest; rest &= rest - 1) result |= (lanes >> (__ffs((int)rest) - 1) & 1) << rank++;
    return result;
  }
  template <class T> __device__ T from(const T &value, int rank) const {
    int lane = (int)__cumetal_lane((unsigned int)rank);
    unsigned int mask = mask_;
    return __cumetal::shuffled(value, [=](unsigned int word) { return __shfl_sync(mask, word, lane); });
  }
};
__cumetal_device coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

namespace __cumetal {
// Where a tile is among those that its parent was cut into; a tile without a parent is one of the block.
template <unsigned int Size, class Parent> struct tile_place {
  __device__ static unsigned int rank() { return (unsigned int)Parent::thread_rank() / Size; }
  __device__ static unsigned int count() { return ((unsigned int)Parent::size() + Size - 1) / Size; }
};
template <unsigned int Size> struct tile_place<Size, void> : tile_place<Size, thread_block> {};
} // namespace __cumetal

// 1, 2, 4 … 32 neighbouring threads of a block; `large_tile.h` has those of more.
template <unsigned int Size, class Parent = void> class thread_block_tile {
  static_assert(Size > 0 && Size <= 32 && (Size & (Size - 1)) == 0, "the size of a tile is a power of two up to 32");

 public:
  template <class Other> __device__ operator thread_block_tile<Size, Other>() const { return {}; }
  __device__ operator coalesced_group() const { return coalesced_group(__cumetal_mask(), meta_group_rank(), meta_group_size()); }
  __device__ static void sync() { __syncwarp(__cumetal_mask()); }
  __device__ static constexpr unsigned int num_threads() { return Size; }
  __device__ static constexpr unsigned int size() { return Size; }
  __device__ static unsigned int thread_rank() { return __cumetal::rank_in_block() & (Size - 1); }
  __device__ static unsigned int meta_group_rank() { return __cumetal::tile_place<Size, Parent>::rank(); }
  __device__ static unsigned int meta_group_size() { return __cumetal::tile_place<Size, Parent>::count(); }
  __device__ static unsigned int __cumetal_mask() {
    return Size == 32 ? 0xffffffffu : ((1u << (Size & 31)) - 1) << (__cumetal::lane() & ~(Size - 1));
  }
  __device__ static unsigned int __cumetal_lane(unsigned int rank) { return (__cumetal::lane() & ~(Size - 1)) + rank; }

  template <class T> __device__ static T shfl(T value, int rank) {
    return __cumetal::shuffled(value, [=](unsigned int word) { return __shfl_sync(__cumetal_mask(), word, rank, (int)Size); });
  }
  template <class T> __device__ static T shfl_up(T value, unsigned int delta) {
    return __cumetal::shuffled(value, [=](unsigned int word) { return __shfl_up_sync(__cumetal_mask(), word, delta, (int)Size); });
  }
  template <class T> __device__ static T shfl_down(T value, unsigned int delta) {
    return __cumetal::shuffled(value, [=](unsigned int word) { return __shfl_down_sync(__cumetal_mask(), word, delta, (int)Size); });
  }
  template <class T> __device__ static T shfl_xor(T value, unsigned int mask) {
    return __cumetal::shuffled(value, [=](unsigned int word) { return __shfl_xor_sync(__cumetal_mask(), word, (int)mask, (int)Size); });
  }
  __device__ static int any(int predicate) { return __any_sync(__cumetal_mask(), predicate); }
  __device__ static int all(int predicate) { return __all_sync(__cumetal_mask(), predicate); }
  __device__ static unsigned int ballot(int predicate) { return own(__ballot_sync(__cumetal_mask(), predicate)); }
  template <class T> __device__ static unsigned int match_any(T value) { return own(__match_any_sync(__cumetal_mask(), value)); }
  template <class T> __device__ static unsigned int match_all(T value, int &predicate) {
    return own(__match_all_sync(__cumetal_mask(), value, &predicate));
  }

 private:
  __device__ static unsigned int own(unsigned int lanes) { return (lanes & __cumetal_mask()) >> (__cumetal::lane() & ~(Size - 1) & 31); }
};

namespace __cumetal {
template <unsigned int Size, bool IsLarge = (Size > 32)> struct tile_check {
  __cumetal_device static void run() {}
};
} // namespace __cumetal
template <unsigned int Size> __cumetal_device thread_block_tile<Size, thread_block> tiled_partition(const thread_block &) {
  __cumetal::tile_check<Size>::run();
  return {};
}
template <unsigned int Size, unsigned int Outer, class Parent>
__cumetal_device thread_block_tile<Size, thread_block_tile<Outer, Parent>> tiled_partition(const thread_block_tile<Outer, Parent> &) {
  static_assert(Size <= Outer, "a tile is at most as large as what it is cut from");
  return {};
}
// A size that is known at run time only: the members with one quotient of the rank.
__cumetal_device coalesced_group __cumetal_tiles(unsigned int members, unsigned int rank, unsigned int count, unsigned int size) {
  unsigned int first = rank / size * size, lanes = 0, at = 0;
  for (unsigned int rest = members; rest; rest &= rest - 1, at++)
    if (at >= first && at < first + size) lanes |= rest & (0u - rest);
  return coalesced_group(lanes, rank / size, (count + size - 1) / size);
}
__cumetal_device coalesced_group tiled_partition(const thread_block &block, unsigned int size) {
  unsigned int lane = __cumetal::lane(), lanes = size >= 32 ? 0xffffffffu : ((1u << size) - 1) << (lane & ~(size - 1));
  return coalesced_group(lanes & __cumetal::warp_mask(), block.thread_rank() / size, (block.size() + size - 1) / size);
}
__cumetal_device coalesced_group tiled_partition(const coalesced_group &group, unsigned int size) {
  return __cumetal_tiles(group.__cumetal_mask(), group.thread_rank(), group.size(), size);
}
template <unsigned int Size> __cumetal_device coalesced_group tiled_partition(const coalesced_group &group) {
  return tiled_partition(group, Size);
}

// By a label: the groups are numbered by their lowest rank.
template <class Group, class Label> __cumetal_device coalesced_group labeled_partition(const Group &group, Label label) {
  unsigned int members = group.__cumetal_mask(), same = __match_any_sync(members, label);
  unsigned int leaders = __ballot_sync(members, (int)(__ffs((int)same) - 1 == (int)__cumetal::lane()));
  unsigned int own = (1u << (__ffs((int)same) - 1)) - 1;
  return coalesced_group(same, (unsigned int)__popc(leaders & own), (unsigned int)__popc(leaders));
}
template <class Group> __cumetal_device coalesced_group binary_partition(const Group &group, bool predicate) {
  unsigned int members = group.__cumetal_mask(), with = __ballot_sync(members, predicate) & members, without = members & ~with;
  return coalesced_group(predicate ? with : without, predicate ? 0 : 1, 2);
}

} // namespace cooperative_groups

#endif
