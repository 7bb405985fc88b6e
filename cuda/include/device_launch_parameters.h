// Built-in variables. Source: CUDA C++ Programming Guide, "Built-in Variables"; PTX ISA, "Special Registers".
#ifndef __CUMETAL_DEVICE_LAUNCH_PARAMETERS_H__
#define __CUMETAL_DEVICE_LAUNCH_PARAMETERS_H__

#include "vector_types.h"

#ifdef __CUDA__

// Each component is a property that reads its special register: no variable exists.
#define __cumetal_component(letter, source) \
  __declspec(property(get = __get_##letter)) unsigned int letter; \
  static __attribute__((device, always_inline)) unsigned int __get_##letter() { return __nvvm_read_ptx_sreg_##source##_##letter(); }

#define __cumetal_variable(type, source) \
  struct type { \
    __cumetal_component(x, source) __cumetal_component(y, source) __cumetal_component(z, source) \
    __device__ operator uint3() const { return uint3{x, y, z}; } \
    __device__ operator dim3() const { return dim3(x, y, z); } \
    type(const type &) = delete; \
    type &operator=(const type &) = delete; \
   private: \
    __device__ type(); \
  };

__cumetal_variable(__cumetal_thread_index, tid)
__cumetal_variable(__cumetal_block_index, ctaid)
__cumetal_variable(__cumetal_block_dimensions, ntid)
__cumetal_variable(__cumetal_grid_dimensions, nctaid)
#undef __cumetal_variable
#undef __cumetal_component

extern const __device__ __attribute__((weak)) __cumetal_thread_index threadIdx;
extern const __device__ __attribute__((weak)) __cumetal_block_index blockIdx;
extern const __device__ __attribute__((weak)) __cumetal_block_dimensions blockDim;
extern const __device__ __attribute__((weak)) __cumetal_grid_dimensions gridDim;
constexpr int warpSize = 32;

#endif

#endif
