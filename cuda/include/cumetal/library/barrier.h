// Barriers, latches and semaphores as objects. Source: libcu++, "cuda::barrier", "cuda::latch", "cuda::counting_semaphore"; ISO C++, [thread.barrier],
// [thread.latch], [thread.sema].
#ifndef __CUMETAL_LIBRARY_BARRIER_H__
#define __CUMETAL_LIBRARY_BARRIER_H__

#include <new>

#include "cumetal/library/atomic.h"

namespace cuda {

namespace __cumetal {
struct NoCompletion {
  __cumetal_member void operator()() const {}
};
} // namespace __cumetal

// A phase ends when all that are expected have arrived; the last one begins the next.
template <thread_scope Scope = thread_scope_system, class Completion = __cumetal::NoCompletion> class barrier {
 public:
  using arrival_token = unsigned int;
  barrier() = default;
  __cumetal_member constexpr barrier(ptrdiff_t expected, Completion completion = Completion())
      : expected_((int)expected), pending_((int)expected), phase_(0), completion_(completion) {}
  barrier(const barrier &) = delete;
  barrier &operator=(const barrier &) = delete;
  static constexpr ptrdiff_t max() { return 0x7fffffff; }

  [[nodiscard]] __cumetal_member arrival_token arrive(ptrdiff_t update = 1) { return arrived((int)update, 0); }
  __cumetal_member void wait(arrival_token token) const {
    while (phase_.load(memory_order_acquire) == token) {}
  }
  __cumetal_member bool try_wait(arrival_token token) const { return phase_.load(memory_order_acquire) != token; }
  __cumetal_member void wait_parity(bool parity) const {
    while ((phase_.load(memory_order_acquire) & 1) == (unsigned int)parity) {}
  }
  __cumetal_member bool try_wait_parity(bool parity) const { return (phase_.load(memory_order_acquire) & 1) != (unsigned int)parity; }
  __cumetal_member void arrive_and_wait() { wait(arrive()); }
  __cumetal_member void arrive_and_drop() { (void)arrived(1, 1); }

 private:
  atomic<int, Scope> expected_, pending_;
  atomic<unsigned int, Scope> phase_;
  [[no_unique_address]] Completion completion_;
  __cumetal_member arrival_token arrived(int update, int dropped) {
    // The phase cannot end before this arrival.
    unsigned int token = phase_.load(memory_order_acquire);
    if (dropped) expected_.fetch_sub(dropped, memory_order_relaxed);
    if (pending_.fetch_sub(update, memory_order_acq_rel) == update) {
      completion_();
      pending_.store(expected_.load(memory_order_relaxed), memory_order_relaxed);
      phase_.store(token + 1, memory_order_release);
    }
    return token;
  }
};
template <thread_scope Scope, class Completion>
__cumetal_both void init(barrier<Scope, Completion> *at, ptrdiff_t expected, Completion completion = Completion()) {
  ::new ((void *)at) barrier<Scope, Completion>(expected, completion);
}

template <thread_scope Scope = thread_scope_system> class latch {
 public:
  __cumetal_member constexpr explicit latch(ptrdiff_t count) : count_((int)count) {}
  latch(const latch &) = delete;
  latch &operator=(const latch &) = delete;
  static constexpr ptrdiff_t max() { return 0x7fffffff; }
  __cumetal_member void count_down(ptrdiff_t update = 1) { count_.fetch_sub((int)update, memory_order_release); }
  __cumetal_member bool try_wait() const { return count_.load(memory_order_acquire) == 0; }
  __cumetal_member void wait() const {
    while (!try_wait()) {}
  }
  __cumetal_member void arrive_and_wait(ptrdiff_t update = 1) {
    count_down(update);
    wait();
  }

 private:
  atomic<int, Scope> count_;
};

template <thread_scope Scope = thread_scope_system, ptrdiff_t Most = 0x7fffffff> class counting_semaphore {
 public:
  __cumetal_member constexpr explicit counting_semaphore(ptrdiff_t count) : count_((int)count) {}
  counting_semaphore(const counting_semaphore &) = delete;
  counting_semaphore &operator=(const counting_semaphore &) = delete;
  static constexpr ptrdiff_t max() { return Most; }
  __cumetal_member void release(ptrdiff_t update = 1) { count_.fetch_add((int)update, memory_order_release); }
  __cumetal_member bool try_acquire() {
    int seen = count_.load(memory_order_relaxed);
    while (seen > 0)
      if (count_.compare_exchange_weak(seen, seen - 1, memory_order_acquire, memory_order_relaxed)) return true;
    return false;
  }
  __cumetal_member void acquire() {
    while (!try_acquire()) {}
  }

 private:
  atomic<int, Scope> count_;
};
template <thread_scope Scope = thread_scope_system> using binary_semaphore = counting_semaphore<Scope, 1>;

namespace std {
template <class Completion = ::cuda::__cumetal::NoCompletion> using barrier = ::cuda::barrier<thread_scope_system, Completion>;
using latch = ::cuda::latch<thread_scope_system>;
template <ptrdiff_t Most = 0x7fffffff> using counting_semaphore = ::cuda::counting_semaphore<thread_scope_system, Most>;
using binary_semaphore = counting_semaphore<1>;
} // namespace std
} // namespace cuda

#endif
