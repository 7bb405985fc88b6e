// Atomic functions with an order and a scope. Source: CUDA C++ Programming Guide, "Atomic Functions", "__nv_atomic functions".
#ifndef __CUMETAL_DEVICE_ORDERED_H__
#define __CUMETAL_DEVICE_ORDERED_H__

// nvcc defines these names itself.
enum {
  __NV_ATOMIC_RELAXED = 0,
  __NV_ATOMIC_CONSUME = 1,
  __NV_ATOMIC_ACQUIRE = 2,
  __NV_ATOMIC_RELEASE = 3,
  __NV_ATOMIC_ACQ_REL = 4,
  __NV_ATOMIC_SEQ_CST = 5,
};
enum {
  __NV_THREAD_SCOPE_THREAD = 0,
  __NV_THREAD_SCOPE_BLOCK = 1,
  __NV_THREAD_SCOPE_CLUSTER = 2,
  __NV_THREAD_SCOPE_DEVICE = 3,
  __NV_THREAD_SCOPE_SYSTEM = 4,
};

// The compiler's number of a scope. A cluster is one block where the hardware has none; the device is wider and correct everywhere.
__cumetal_both int __cumetal_scope(int scope) {
  return scope == __NV_THREAD_SCOPE_THREAD   ? __MEMORY_SCOPE_SINGLE
         : scope == __NV_THREAD_SCOPE_BLOCK  ? __MEMORY_SCOPE_WRKGRP
         : scope == __NV_THREAD_SCOPE_SYSTEM ? __MEMORY_SCOPE_SYSTEM
                                             : __MEMORY_SCOPE_DEVICE;
}

#define __cumetal_in_scope(scope) \
  int scope = __NV_THREAD_SCOPE_SYSTEM
template <class T> __cumetal_device T __nv_atomic_load_n(const T *from, int order, __cumetal_in_scope(scope)) {
  return __scoped_atomic_load_n(from, order, __cumetal_scope(scope));
}
template <class T> __cumetal_device void __nv_atomic_load(const T *from, T *result, int order, __cumetal_in_scope(scope)) {
  __scoped_atomic_load(from, result, order, __cumetal_scope(scope));
}
template <class T> __cumetal_device void __nv_atomic_store_n(T *to, typename __cumetal_same<T>::Type value, int order, __cumetal_in_scope(scope)) {
  __scoped_atomic_store_n(to, value, order, __cumetal_scope(scope));
}
template <class T> __cumetal_device void __nv_atomic_store(T *to, T *value, int order, __cumetal_in_scope(scope)) {
  __scoped_atomic_store(to, value, order, __cumetal_scope(scope));
}
template <class T>
__cumetal_device T __nv_atomic_exchange_n(T *at, typename __cumetal_same<T>::Type value, int order, __cumetal_in_scope(scope)) {
  return __scoped_atomic_exchange_n(at, value, order, __cumetal_scope(scope));
}
template <class T> __cumetal_device void __nv_atomic_exchange(T *at, T *value, T *result, int order, __cumetal_in_scope(scope)) {
  __scoped_atomic_exchange(at, value, result, order, __cumetal_scope(scope));
}
template <class T>
__cumetal_device bool __nv_atomic_compare_exchange_n(T *at, T *expected, typename __cumetal_same<T>::Type value, bool weak, int order,
                                                     int failure, __cumetal_in_scope(scope)) {
  return __scoped_atomic_compare_exchange_n(at, expected, value, weak, order, failure, __cumetal_scope(scope));
}
template <class T>
__cumetal_device bool __nv_atomic_compare_exchange(T *at, T *expected, T *value, bool weak, int order, int failure,
                                                   __cumetal_in_scope(scope)) {
  return __scoped_atomic_compare_exchange(at, expected, value, weak, order, failure, __cumetal_scope(scope));
}

// Each operation with and without the old value.
#define __cumetal_ordered(operation) \
  template <class T> \
  __cumetal_device T __nv_atomic_fetch_##operation(T *at, typename __cumetal_same<T>::Type value, int order, __cumetal_in_scope(scope)) { \
    return __scoped_atomic_fetch_##operation(at, value, order, __cumetal_scope(scope)); \
  } \
  template <class T> \
  __cumetal_device void __nv_atomic_##operation(T *at, typename __cumetal_same<T>::Type value, int order, __cumetal_in_scope(scope)) { \
    __scoped_atomic_fetch_##operation(at, value, order, __cumetal_scope(scope)); \
  }
__cumetal_ordered(add)
__cumetal_ordered(sub)
__cumetal_ordered(min)
__cumetal_ordered(max)
__cumetal_ordered(and)
__cumetal_ordered(or)
__cumetal_ordered(xor)
#undef __cumetal_ordered

__cumetal_device void __nv_atomic_thread_fence(int order, __cumetal_in_scope(scope)) {
  __scoped_atomic_thread_fence(order, __cumetal_scope(scope));
}
#undef __cumetal_in_scope

#endif
