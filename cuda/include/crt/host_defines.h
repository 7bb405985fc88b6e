// Qualifiers of CUDA C++. Source: CUDA C++ Programming Guide, "C++ Language Extensions".
#ifndef __CUMETAL_HOST_DEFINES_H__
#define __CUMETAL_HOST_DEFINES_H__

#ifdef __CUDA__
// What programs ask for: the compiler is one for CUDA and accepts what nvcc does. `__CUDACC__` comes from clang.
#ifndef __CUDACC__
#define __CUDACC__ 1
#endif
#ifndef __NVCC__
#define __NVCC__ 1
#endif
#define __CUDACC_VER_MAJOR__ 12
#define __CUDACC_VER_MINOR__ 8
#define __CUDACC_VER_BUILD__ 0
#define __CUDACC_EXTENDED_LAMBDA__ 1
#define __CUDACC_RELAXED_CONSTEXPR__ 1
#define __CUMETAL__ 1
// What nvcc says of the classes of lambdas that it rewrites: here they stay classes of C++, whose functions both sides see.
#define __nv_is_extended_device_lambda_closure_type(...) false
#define __nv_is_extended_host_device_lambda_closure_type(...) false
#define __nv_is_extended_device_lambda_with_preserved_return_type(...) false

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
// The attribute of clang is for later architectures alone than the one that it compiles for here.
#define __cluster_dims__(...) __attribute__((annotate("cumetal.cluster", __VA_ARGS__)))
// Clang has no managed variables for CUDA: the annotation lets the driver find them.
#define __managed__ __attribute__((device, annotate("cumetal.managed")))
// A parameter is constant anyway, and registers are not a resource that a kernel asks for.
#define __grid_constant__
#define __maxnreg__(...)
#else
// C and C++ sources that name the headers have the types and the functions of the host.
#define __host__
#define __device__
#define __global__
#define __shared__
#define __constant__
#define __managed__
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __grid_constant__
#define __maxnreg__(...)
#endif

#define __forceinline__ __inline__ __attribute__((always_inline))
#define __inline_hint__
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
#define __thread__ __thread
#define CUDARTAPI
#define CUDARTAPI_CDECL
#define CUDART_CB
#define __cudart_builtin__
#define __specialization_static static
#define __nv_pure__ __attribute__((pure))

// Functions of these headers. None has external linkage, so that objects of other compilers can be linked to them.
#ifdef __CUDA__
#define __cumetal_device static __attribute__((device, always_inline, unused)) inline
#define __cumetal_library static __attribute__((device, unused)) inline
#define __cumetal_both_library static __attribute__((host, device, unused)) inline
#define __cumetal_both static __attribute__((host, device, always_inline, unused)) inline
#else
#define __cumetal_both_library static __attribute__((unused)) inline
#define __cumetal_both static __attribute__((always_inline, unused)) inline
#endif

#endif
