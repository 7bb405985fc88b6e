// The device runtime, by which kernels launch kernels, for programs whose device code is linked (`-rdc=true`). clang calls the first two functions
// for `<<<>>>` in device code. Source: CUDA C++ Programming Guide, "CUDA Dynamic Parallelism".
#ifndef __CUMETAL_CUDA_DEVICE_RUNTIME_API_H__
#define __CUMETAL_CUDA_DEVICE_RUNTIME_API_H__
#define __CUDA_DEVICE_RUNTIME_API_H__

#include "driver_types.h"

#define cudaStreamTailLaunch ((cudaStream_t)0x3)
#define cudaStreamFireAndForget ((cudaStream_t)0x4)

#if defined(__cplusplus) && defined(__CUDA__)
#define __cumetal_device_api __device__ cudaError_t
extern "C" {
__device__ void *cudaGetParameterBuffer(size_t alignment, size_t size);
__cumetal_device_api cudaLaunchDevice(void *func, void *parameterBuffer, dim3 gridDimension, dim3 blockDimension, unsigned sharedMemSize,
                                      cudaStream_t stream);
__device__ void *cudaGetParameterBufferV2(void *func, dim3 gridDimension, dim3 blockDimension, unsigned sharedMemSize);
__cumetal_device_api cudaLaunchDeviceV2(void *parameterBuffer, cudaStream_t stream);
__cumetal_device_api cudaGetLastError(void);
__cumetal_device_api cudaPeekAtLastError(void);
__cumetal_device_api cudaGetDevice(int *device);
__cumetal_device_api cudaGetDeviceCount(int *count);
__cumetal_device_api cudaStreamCreateWithFlags(cudaStream_t *pStream, unsigned flags);
__cumetal_device_api cudaStreamDestroy(cudaStream_t stream);
__cumetal_device_api cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags);
__cumetal_device_api cudaEventDestroy(cudaEvent_t event);
__cumetal_device_api cudaEventRecord(cudaEvent_t event, cudaStream_t stream = 0);
__cumetal_device_api cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags = 0);
__cumetal_device_api cudaMalloc(void **devPtr, size_t size);
__cumetal_device_api cudaFree(void *devPtr);
__cumetal_device_api cudaMemcpyAsync(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind, cudaStream_t stream = 0);
__cumetal_device_api cudaMemsetAsync(void *devPtr, int value, size_t count, cudaStream_t stream = 0);
}
template <class T> __cumetal_device_api cudaMalloc(T **devPtr, size_t size) { return ::cudaMalloc((void **)devPtr, size); }
#undef __cumetal_device_api
#include "cumetal/device/error_text.h"

// Conditional nodes of graphs: the handle is the address of the value.
__cumetal_device void cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned int value) {
  *(volatile unsigned int *)handle = value;
}
#endif

#endif
