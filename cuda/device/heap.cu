// The heap of kernels: `malloc` and `free`, which `new` and `delete` call. `src/compile/heap.ts` has the PTX that
// `cumetal cc -rdc=true -ptx cuda/device/heap.cu` makes of this file, and says where the heap is.
// Blocks lie one behind the other, each with a head of 16 bytes: its size with the head, of which the lowest bit says whether it is used, and
// a check of its place. `malloc` takes the first block that fits, from the one behind the last it has given, and joins free neighbours.
typedef unsigned long long u64;

struct Head {
  u64 size, check;
};
struct Heap {
  unsigned int lock, unused;
  // Bytes with this head, and where the search begins; 0 before the first.
  u64 size, next;
  u64 reserved;
};
static constexpr u64 first = sizeof(Heap), secret = 0x5afe'c0de'5afe'c0d0ull;

static __device__ __forceinline__ char *heap() {
  unsigned int low, high;
  asm volatile("mov.b32 %0, %%envreg30;" : "=r"(low));
  asm volatile("mov.b32 %0, %%envreg31;" : "=r"(high));
  return (char *)((u64)high << 32 | low);
}
// Runs code with the lock, in the iteration of a loop in which a thread takes it: a thread never waits for another one of its warp, on a GPU that
// runs them in step. The loop ends when the word was 1 before the thread frees it. A compiler does not know that, so that it cannot move the code
// behind the loop. Where threads run one after the other, a fence lets others run.
template <class Code> static __device__ __forceinline__ void locked(Heap *h, Code code) {
  unsigned int state;
  do {
    __threadfence();
    unsigned int seen = atomicExch(&h->lock, 1u);
    state = seen - 1;
    if (seen == 0) {
      __threadfence();
      code();
      __threadfence();
      state = atomicExch(&h->lock, 0u);
    }
  } while (state == 0);
}

// The first block that fits, by its place behind the head; 0 if there is none.
static __device__ __forceinline__ u64 take(Heap *h, char *base, u64 size, u64 wanted) {
  if (h->next == 0) {
    h->next = first;
    ((Head *)(base + first))->size = size - first;
  }
  u64 at = h->next, found = 0;
  for (u64 walked = 0; walked < 2 * size && found == 0;) {
    Head *head = (Head *)(base + at);
    u64 own = head->size;
    if ((own & 1) == 0) {
      for (;;) {
        u64 behind = at + own;
        if (behind >= size) break;
        u64 other = ((Head *)(base + behind))->size;
        if (other & 1) break;
        own += other;
      }
      if (own >= wanted) {
        if (own - wanted >= 32) {
          ((Head *)(base + at + wanted))->size = own - wanted;
          own = wanted;
        }
        head->check = at ^ secret;
        head->size = own | 1;
        found = at + 16;
      } else head->size = own;
    }
    own &= ~1ull;
    walked += own;
    at += own;
    if (at >= size) at = first;
  }
  h->next = found ? at : first;
  return found;
}

extern "C" __device__ __noinline__ void *cumetal_malloc(u64 bytes) {
  char *base = heap();
  Heap *h = (Heap *)base;
  u64 size = h->size;
  if (bytes > size) return nullptr;
  u64 wanted = (bytes + 31) & ~15ull;
  u64 found = 0;
  locked(h, [&] { found = take(h, base, size, wanted); });
  return found ? base + found : nullptr;
}
extern "C" __device__ __noinline__ void cumetal_free(void *pointer) {
  if (pointer == nullptr) return;
  char *base = heap();
  Heap *h = (Heap *)base;
  u64 at = (u64)((char *)pointer - base) - 16;
  bool isUsed = false;
  locked(h, [&] {
    isUsed = at >= first && at < h->size && (at & 15) == 0 && ((Head *)(base + at))->check == (at ^ secret) && (((Head *)(base + at))->size & 1);
    if (isUsed) {
      ((Head *)(base + at))->check = 0;
      ((Head *)(base + at))->size &= ~1ull;
    }
  });
  if (!isUsed) __assertfail("free of a pointer that malloc has given", "heap", 0, "free", 1);
}
