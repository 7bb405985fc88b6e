// Atomic objects with a scope. Source: libcu++, "cuda::atomic", "cuda::atomic_ref", "cuda::atomic_thread_fence"; ISO C++, [atomics].
#ifndef __CUMETAL_LIBRARY_ATOMIC_H__
#define __CUMETAL_LIBRARY_ATOMIC_H__

#include "cumetal/library/namespace.h"

namespace cuda {

enum thread_scope { thread_scope_system = 0, thread_scope_device = 1, thread_scope_block = 2, thread_scope_thread = 10 };

namespace std {
enum memory_order : int {
  memory_order_relaxed = 0,
  memory_order_consume = 1,
  memory_order_acquire = 2,
  memory_order_release = 3,
  memory_order_acq_rel = 4,
  memory_order_seq_cst = 5,
};
} // namespace std
using std::memory_order;
using std::memory_order_acq_rel;
using std::memory_order_acquire;
using std::memory_order_consume;
using std::memory_order_relaxed;
using std::memory_order_release;
using std::memory_order_seq_cst;

namespace __cumetal {

constexpr int scope_number(thread_scope scope) {
  return scope == thread_scope_system   ? __MEMORY_SCOPE_SYSTEM
         : scope == thread_scope_device ? __MEMORY_SCOPE_DEVICE
         : scope == thread_scope_block  ? __MEMORY_SCOPE_WRKGRP
                                        : __MEMORY_SCOPE_SINGLE;
}
// What a failed exchange may be ordered by.
constexpr memory_order failure_order(memory_order order) {
  return order == memory_order_acq_rel ? memory_order_acquire : order == memory_order_release ? memory_order_relaxed : order;
}
// A number that pointers and integers are moved by.
template <class T> struct Difference {
  using Type = T;
  static constexpr ptrdiff_t unit = 1;
};
template <class T> struct Difference<T *> {
  using Type = ptrdiff_t;
  static constexpr ptrdiff_t unit = sizeof(T);
};

#define __cumetal_member __host__ __device__ __forceinline__
// The operations on an object at `self().at()`.
template <class Self, class T, thread_scope Scope> class AtomicOperations {
  static_assert(sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8, "atomic objects have 1, 2, 4 or 8 bytes");
  static constexpr int scope = scope_number(Scope);
  using Delta = typename Difference<T>::Type;
  static constexpr ptrdiff_t unit = Difference<T>::unit;
  __cumetal_member T *at() const { return const_cast<T *>(static_cast<const Self *>(this)->__cumetal_at()); }

 public:
  using value_type = T;
  static constexpr bool is_always_lock_free = true;
  __cumetal_member bool is_lock_free() const { return true; }
  __cumetal_member T load(memory_order order = memory_order_seq_cst) const {
    T value;
    __scoped_atomic_load(at(), &value, order, scope);
    return value;
  }
  __cumetal_member void store(T value, memory_order order = memory_order_seq_cst) const { __scoped_atomic_store(at(), &value, order, scope); }
  __cumetal_member T exchange(T value, memory_order order = memory_order_seq_cst) const {
    T old;
    __scoped_atomic_exchange(at(), &value, &old, order, scope);
    return old;
  }
  __cumetal_member bool compare_exchange_strong(T &expected, T value, memory_order order, memory_order failure) const {
    return __scoped_atomic_compare_exchange(at(), &expected, &value, false, order, failure, scope);
  }
  __cumetal_member bool compare_exchange_strong(T &expected, T value, memory_order order = memory_order_seq_cst) const {
    return compare_exchange_strong(expected, value, order, failure_order(order));
  }
  __cumetal_member bool compare_exchange_weak(T &expected, T value, memory_order order, memory_order failure) const {
    return __scoped_atomic_compare_exchange(at(), &expected, &value, true, order, failure, scope);
  }
  __cumetal_member bool compare_exchange_weak(T &expected, T value, memory_order order = memory_order_seq_cst) const {
    return compare_exchange_weak(expected, value, order, failure_order(order));
  }
  __cumetal_member T fetch_add(Delta delta, memory_order order = memory_order_seq_cst) const {
    return __scoped_atomic_fetch_add(at(), delta * unit, order, scope);
  }
  __cumetal_member T fetch_sub(Delta delta, memory_order order = memory_order_seq_cst) const {
    return __scoped_atomic_fetch_sub(at(), delta * unit, order, scope);
  }
  __cumetal_member T fetch_and(T value, memory_order order = memory_order_seq_cst) const {
    return __scoped_atomic_fetch_and(at(), value, order, scope);
  }
  __cumetal_member T fetch_or(T value, memory_order order = memory_order_seq_cst) const {
    return __scoped_atomic_fetch_or(at(), value, order, scope);
  }
  __cumetal_member T fetch_xor(T value, memory_order order = memory_order_seq_cst) const {
    return __scoped_atomic_fetch_xor(at(), value, order, scope);
  }
  __cumetal_member T fetch_min(T value, memory_order order = memory_order_seq_cst) const {
    return __scoped_atomic_fetch_min(at(), value, order, scope);
  }
  __cumetal_member T fetch_max(T value, memory_order order = memory_order_seq_cst) const {
    return __scoped_atomic_fetch_max(at(), value, order, scope);
  }
  // Waiting is looking again: whoever changes the value need not say so.
  __cumetal_member void wait(T old, memory_order order = memory_order_seq_cst) const {
    for (T now = load(order); __builtin_memcmp(&now, &old, sizeof(T)) == 0; now = load(order)) {}
  }
  __cumetal_member void notify_one() const {}
  __cumetal_member void notify_all() const {}
  __cumetal_member operator T() const { return load(); }
  __cumetal_member T operator++(int) const { return fetch_add(1); }
  __cumetal_member T operator--(int) const { return fetch_sub(1); }
  __cumetal_member T operator++() const { return fetch_add(1) + 1; }
  __cumetal_member T operator--() const { return fetch_sub(1) - 1; }
  __cumetal_member T operator+=(Delta delta) const { return fetch_add(delta) + delta; }
  __cumetal_member T operator-=(Delta delta) const { return fetch_sub(delta) - delta; }
  __cumetal_member T operator&=(T value) const { return fetch_and(value) & value; }
  __cumetal_member T operator|=(T value) const { return fetch_or(value) | value; }
  __cumetal_member T operator^=(T value) const { return fetch_xor(value) ^ value; }
};

} // namespace __cumetal

template <class T, thread_scope Scope = thread_scope_system>
class atomic : public __cumetal::AtomicOperations<atomic<T, Scope>, T, Scope> {
 public:
  atomic() = default;
  __host__ __device__ constexpr atomic(T value) : value_(value) {}
  atomic(const atomic &) = delete;
  atomic &operator=(const atomic &) = delete;
  __cumetal_member T operator=(T value) {
    this->store(value);
    return value;
  }
  __cumetal_member const T *__cumetal_at() const { return &value_; }

 private:
  alignas(sizeof(T)) T value_;
};
template <class T, thread_scope Scope = thread_scope_system>
class atomic_ref : public __cumetal::AtomicOperations<atomic_ref<T, Scope>, T, Scope> {
 public:
  static constexpr size_t required_alignment = sizeof(T);
  __cumetal_member explicit atomic_ref(T &object) : at_(&object) {}
  atomic_ref(const atomic_ref &) = default;
  atomic_ref &operator=(const atomic_ref &) = delete;
  __cumetal_member T operator=(T value) const {
    this->store(value);
    return value;
  }
  __cumetal_member const T *__cumetal_at() const { return at_; }

 private:
  T *at_;
};

template <thread_scope Scope> class __cumetal_flag {
 public:
  __cumetal_flag() = default;
  __host__ __device__ constexpr __cumetal_flag(bool value) : value_(value) {}
  __cumetal_member bool test_and_set(memory_order order = memory_order_seq_cst) { return value_.exchange(1, order) != 0; }
  __cumetal_member void clear(memory_order order = memory_order_seq_cst) { value_.store(0, order); }
  __cumetal_member bool test(memory_order order = memory_order_seq_cst) const { return value_.load(order) != 0; }
  __cumetal_member void wait(bool old, memory_order order = memory_order_seq_cst) const { value_.wait(old, order); }
  __cumetal_member void notify_one() const {}
  __cumetal_member void notify_all() const {}

 private:
  atomic<unsigned int, Scope> value_;
};
template <thread_scope Scope = thread_scope_system> using atomic_flag = __cumetal_flag<Scope>;

__cumetal_both void atomic_thread_fence(memory_order order, thread_scope scope = thread_scope_system) {
  switch (scope) {
    case thread_scope_system: return __scoped_atomic_thread_fence(order, __MEMORY_SCOPE_SYSTEM);
    case thread_scope_device: return __scoped_atomic_thread_fence(order, __MEMORY_SCOPE_DEVICE);
    case thread_scope_block: return __scoped_atomic_thread_fence(order, __MEMORY_SCOPE_WRKGRP);
    default: return __scoped_atomic_thread_fence(order, __MEMORY_SCOPE_SINGLE);
  }
}
__cumetal_both void atomic_signal_fence(memory_order order) { __scoped_atomic_thread_fence(order, __MEMORY_SCOPE_SINGLE); }

namespace std {
template <class T> using atomic = ::cuda::atomic<T, thread_scope_system>;
template <class T> using atomic_ref = ::cuda::atomic_ref<T, thread_scope_system>;
using atomic_flag = ::cuda::atomic_flag<thread_scope_system>;
using atomic_bool = atomic<bool>;
using atomic_int = atomic<int>;
using atomic_uint = atomic<unsigned int>;
using atomic_long = atomic<long>;
using atomic_ulong = atomic<unsigned long>;
using atomic_llong = atomic<long long>;
using atomic_ullong = atomic<unsigned long long>;
using atomic_size_t = atomic<size_t>;
__cumetal_both void atomic_thread_fence(memory_order order) { ::cuda::atomic_thread_fence(order); }
using ::cuda::atomic_signal_fence;
} // namespace std
} // namespace cuda

#endif
