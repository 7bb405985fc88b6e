// Loads and stores with cache hints, fences, address spaces. Source: CUDA C++ Programming Guide, "Memory Fence Functions", "Read-Only Data
// Cache Load Function", "Load Functions Using Cache Hints", "Store Functions Using Cache Hints", "Address Space Predicate Functions".
#ifndef __CUMETAL_DEVICE_MEMORY_H__
#define __CUMETAL_DEVICE_MEMORY_H__

__cumetal_device void __threadfence_block() { __nvvm_membar_cta(); }
__cumetal_device void __threadfence() { __nvvm_membar_gl(); }
__cumetal_device void __threadfence_system() { __nvvm_membar_sys(); }

// Hints change no value: scalars and vectors go through memory of their type. The volatile ones are neither merged nor moved.
template <class T> __cumetal_device T __ldg(const T *pointer) { return *pointer; }
template <class T> __cumetal_device T __ldca(const T *pointer) { return *pointer; }
template <class T> __cumetal_device T __ldcs(const T *pointer) { return *pointer; }
template <class T> __cumetal_device T __ldlu(const T *pointer) { return *pointer; }

template <unsigned Bytes> struct __cumetal_raw;
template <> struct __cumetal_raw<1> { using Type = unsigned char; };
template <> struct __cumetal_raw<2> { using Type = unsigned short; };
template <> struct __cumetal_raw<4> { using Type = unsigned int; };
template <> struct __cumetal_raw<8> { using Type = unsigned long long; };
template <> struct __cumetal_raw<16> { using Type = ulonglong2; };

// `cg` and `cv` read what other threads wrote, as spinning loops need.
template <class T> __cumetal_device T __cumetal_fresh(const T *pointer) {
  if constexpr (sizeof(T) == 16) {
    ulonglong2 raw;
    __asm__ volatile("ld.volatile.v2.u64 {%0, %1}, [%2];" : "=l"(raw.x), "=l"(raw.y) : "l"(pointer) : "memory");
    return __builtin_bit_cast(T, raw);
  } else {
    using Raw = typename __cumetal_raw<sizeof(T)>::Type;
    return __builtin_bit_cast(T, *(const volatile Raw *)pointer);
  }
}
template <class T> __cumetal_device T __ldcg(const T *pointer) { return __cumetal_fresh(pointer); }
template <class T> __cumetal_device T __ldcv(const T *pointer) { return __cumetal_fresh(pointer); }

template <class T> struct __cumetal_same { using Type = T; };
template <class T> __cumetal_device void __stwb(T *pointer, typename __cumetal_same<T>::Type value) { *pointer = value; }
template <class T> __cumetal_device void __stcg(T *pointer, typename __cumetal_same<T>::Type value) { *pointer = value; }
template <class T> __cumetal_device void __stcs(T *pointer, typename __cumetal_same<T>::Type value) { *pointer = value; }
template <class T> __cumetal_device void __stwt(T *pointer, typename __cumetal_same<T>::Type value) { *pointer = value; }

__cumetal_device unsigned int __isGlobal(const void *pointer) { return __nvvm_isspacep_global(pointer); }
__cumetal_device unsigned int __isShared(const void *pointer) { return __nvvm_isspacep_shared(pointer); }
__cumetal_device unsigned int __isLocal(const void *pointer) { return __nvvm_isspacep_local(pointer); }
__cumetal_device unsigned int __isConstant(const void *pointer) { return __nvvm_isspacep_const(pointer); }
// Parameters of kernels are copied to local memory where their address is taken.
__cumetal_device unsigned int __isGridConstant(const void *) { return 0; }
__cumetal_device size_t __cvta_generic_to_shared(const void *pointer) {
  return (size_t)(__attribute__((address_space(3))) const void *)pointer;
}
__cumetal_device size_t __cvta_generic_to_global(const void *pointer) {
  return (size_t)(__attribute__((address_space(1))) const void *)pointer;
}
__cumetal_device void *__cvta_shared_to_generic(size_t address) { return (void *)(__attribute__((address_space(3))) void *)address; }
__cumetal_device void *__cvta_global_to_generic(size_t address) { return (void *)(__attribute__((address_space(1))) void *)address; }

// Asynchronous copies to shared memory. A copy that is finished at once keeps every promise of the interface.
__cumetal_device void __pipeline_memcpy_async(void *to, const void *from, size_t size, size_t zeroFill = 0) {
  for (size_t i = 0; i < size; i++) ((char *)to)[i] = i < size - zeroFill ? ((const char *)from)[i] : 0;
}
__cumetal_device void __pipeline_commit() {}
__cumetal_device void __pipeline_wait_prior(size_t) {}

#endif
