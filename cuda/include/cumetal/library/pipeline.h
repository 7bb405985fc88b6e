// Asynchronous copies and pipelines: a copy is finished when the function returns, which keeps every promise of the interface.
// Source: libcu++, "cuda::memcpy_async", "cuda::pipeline".
#ifndef __CUMETAL_LIBRARY_PIPELINE_H__
#define __CUMETAL_LIBRARY_PIPELINE_H__

#include "cumetal/library/barrier.h"

namespace cuda {

template <size_t Alignment> struct aligned_size_t {
  static constexpr size_t align = Alignment;
  size_t value;
  __cumetal_member constexpr explicit aligned_size_t(size_t size) : value(size) {}
  __cumetal_member constexpr operator size_t() const { return value; }
};

enum class pipeline_role { producer, consumer };
template <thread_scope Scope, uint8_t Stages> class pipeline_shared_state {
 public:
  pipeline_shared_state() = default;
  pipeline_shared_state(const pipeline_shared_state &) = delete;
  // Phases of the stages: full ones for consumers, empty ones for producers.
  barrier<Scope> full[Stages], empty[Stages];
};

// Stages in a ring. A pipeline of one thread has nobody to wait for.
template <thread_scope Scope> class pipeline {
 public:
  __cumetal_member void producer_acquire() {
    if (empty_ && head_ >= stages_) empty_[head_ % stages_].wait_parity((head_ / stages_ + 1) & 1);
  }
  __cumetal_member void producer_commit() {
    if (full_) (void)full_[head_ % stages_].arrive();
    head_++;
  }
  __cumetal_member void consumer_wait() {
    if (full_) full_[tail_ % stages_].wait_parity(tail_ / stages_ & 1);
  }
  template <class Rep, class Period> __cumetal_member bool consumer_wait_for(const ::std::chrono::duration<Rep, Period> &) {
    consumer_wait();
    return true;
  }
  __cumetal_member void consumer_release() {
    if (empty_) (void)empty_[tail_ % stages_].arrive();
    tail_++;
  }
  __cumetal_member bool quit() { return true; }
  __cumetal_member explicit pipeline(barrier<Scope> *full = nullptr, barrier<Scope> *empty = nullptr, unsigned int stages = 1)
      : full_(full), empty_(empty), stages_(stages) {}
  pipeline(pipeline &&) = default;
  pipeline(const pipeline &) = delete;

 private:
  barrier<Scope> *full_, *empty_;
  unsigned int stages_, head_ = 0, tail_ = 0;
};
__cumetal_device pipeline<thread_scope_thread> make_pipeline() { return pipeline<thread_scope_thread>(); }
// All threads of a group, or as many producers as are named from its first rank on.
template <class Group, thread_scope Scope, uint8_t Stages>
__cumetal_device pipeline<Scope> __cumetal_pipeline(const Group &group, pipeline_shared_state<Scope, Stages> *state, size_t producers, size_t consumers) {
  if (group.thread_rank() == 0)
    for (unsigned int i = 0; i < Stages; i++) {
      init(&state->full[i], (ptrdiff_t)producers);
      init(&state->empty[i], (ptrdiff_t)consumers);
    }
  group.sync();
  return pipeline<Scope>(state->full, state->empty, Stages);
}
template <class Group, thread_scope Scope, uint8_t Stages>
__cumetal_device pipeline<Scope> make_pipeline(const Group &group, pipeline_shared_state<Scope, Stages> *state) {
  return __cumetal_pipeline(group, state, group.size(), group.size());
}
template <class Group, thread_scope Scope, uint8_t Stages>
__cumetal_device pipeline<Scope> make_pipeline(const Group &group, pipeline_shared_state<Scope, Stages> *state, size_t producers) {
  return __cumetal_pipeline(group, state, producers, group.size() - producers);
}
template <class Group, thread_scope Scope, uint8_t Stages>
__cumetal_device pipeline<Scope> make_pipeline(const Group &group, pipeline_shared_state<Scope, Stages> *state, pipeline_role role) {
  __shared__ unsigned int producers;
  if (group.thread_rank() == 0) producers = 0;
  group.sync();
  if (role == pipeline_role::producer) atomicAdd(&producers, 1u);
  group.sync();
  return __cumetal_pipeline(group, state, producers, group.size() - producers);
}
template <uint8_t Prior> __cumetal_device void pipeline_consumer_wait_prior(pipeline<thread_scope_thread> &) {}
template <thread_scope Scope> __cumetal_device void pipeline_producer_commit(pipeline<thread_scope_thread> &, barrier<Scope> &) {}

// Copies of one thread, and of the threads of a group side by side.
__cumetal_both void __cumetal_copy_bytes(void *to, const void *from, size_t size, size_t rank, size_t step) {
  if (((size_t)to | (size_t)from | size) % 4 == 0)
    for (size_t i = rank; i < size / 4; i += step) ((unsigned int *)to)[i] = ((const unsigned int *)from)[i];
  else
    for (size_t i = rank; i < size; i += step) ((char *)to)[i] = ((const char *)from)[i];
}
enum class async_contract_fulfillment { none, async };
template <class Sync> __cumetal_both async_contract_fulfillment memcpy_async(void *to, const void *from, size_t size, Sync &) {
  __cumetal_copy_bytes(to, from, size, 0, 1);
  return async_contract_fulfillment::none;
}
template <class T, class Sync> __cumetal_both async_contract_fulfillment memcpy_async(T *to, const T *from, size_t size, Sync &sync) {
  return memcpy_async((void *)to, (const void *)from, size, sync);
}
template <class Group, class Sync>
__cumetal_both async_contract_fulfillment memcpy_async(const Group &group, void *to, const void *from, size_t size, Sync &) {
  __cumetal_copy_bytes(to, from, size, group.thread_rank(), group.size());
  return async_contract_fulfillment::none;
}
template <class Group, class T, class Sync>
__cumetal_both async_contract_fulfillment memcpy_async(const Group &group, T *to, const T *from, size_t size, Sync &sync) {
  return memcpy_async(group, (void *)to, (const void *)from, size, sync);
}

} // namespace cuda

#endif
