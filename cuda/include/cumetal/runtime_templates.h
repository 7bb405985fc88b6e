// The runtime API's C++ templates. Source: CUDA Runtime API, "C++ API Routines".
#ifndef __CUMETAL_RUNTIME_TEMPLATES_H__
#define __CUMETAL_RUNTIME_TEMPLATES_H__

#define __cumetal_host static __attribute__((host, unused)) inline

// Pointers of any type.
template <class T> __cumetal_host cudaError_t cudaMalloc(T **devPtr, size_t size) { return ::cudaMalloc((void **)devPtr, size); }
template <class T> __cumetal_host cudaError_t cudaMallocHost(T **ptr, size_t size, unsigned int flags = 0) {
  return ::cudaHostAlloc((void **)ptr, size, flags);
}
template <class T> __cumetal_host cudaError_t cudaHostAlloc(T **ptr, size_t size, unsigned int flags) {
  return ::cudaHostAlloc((void **)ptr, size, flags);
}
template <class T> __cumetal_host cudaError_t cudaHostGetDevicePointer(T **pDevice, void *pHost, unsigned int flags) {
  return ::cudaHostGetDevicePointer((void **)pDevice, pHost, flags);
}
template <class T> __cumetal_host cudaError_t cudaMallocManaged(T **devPtr, size_t size, unsigned int flags = cudaMemAttachGlobal) {
  return ::cudaMallocManaged((void **)devPtr, size, flags);
}
template <class T> __cumetal_host cudaError_t cudaMallocPitch(T **devPtr, size_t *pitch, size_t width, size_t height) {
  return ::cudaMallocPitch((void **)devPtr, pitch, width, height);
}
template <class T> __cumetal_host cudaError_t cudaMallocAsync(T **ptr, size_t size, cudaStream_t stream) {
  return ::cudaMallocAsync((void **)ptr, size, stream);
}
template <class T>
__cumetal_host cudaError_t cudaMallocFromPoolAsync(T **ptr, size_t size, cudaMemPool_t memPool, cudaStream_t stream) {
  return ::cudaMallocFromPoolAsync((void **)ptr, size, memPool, stream);
}

// A place by its kind, since CUDA 13.
__cumetal_host int __cumetal_device_of(cudaMemLocation location) {
  return location.type == cudaMemLocationTypeDevice ? location.id : cudaCpuDeviceId;
}
__cumetal_host cudaError_t cudaMemPrefetchAsync(const void *devPtr, size_t count, cudaMemLocation location, unsigned int flags,
                                                cudaStream_t stream = 0) {
  return flags ? cudaErrorInvalidValue : ::cudaMemPrefetchAsync(devPtr, count, __cumetal_device_of(location), stream);
}
__cumetal_host cudaError_t cudaMemPrefetchAsync_v2(const void *devPtr, size_t count, cudaMemLocation location, unsigned int flags,
                                                   cudaStream_t stream = 0) {
  return cudaMemPrefetchAsync(devPtr, count, location, flags, stream);
}
__cumetal_host cudaError_t cudaMemAdvise(const void *devPtr, size_t count, enum cudaMemoryAdvise advice, cudaMemLocation location) {
  return ::cudaMemAdvise(devPtr, count, advice, __cumetal_device_of(location));
}
__cumetal_host cudaError_t cudaMemAdvise_v2(const void *devPtr, size_t count, enum cudaMemoryAdvise advice, cudaMemLocation location) {
  return cudaMemAdvise(devPtr, count, advice, location);
}

// Symbols by reference.
template <class T>
__cumetal_host cudaError_t cudaMemcpyToSymbol(const T &symbol, const void *src, size_t count, size_t offset = 0,
                                              enum cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
  return ::cudaMemcpyToSymbol((const void *)&symbol, src, count, offset, kind);
}
template <class T>
__cumetal_host cudaError_t cudaMemcpyToSymbolAsync(const T &symbol, const void *src, size_t count, size_t offset = 0,
                                                   enum cudaMemcpyKind kind = cudaMemcpyHostToDevice, cudaStream_t stream = 0) {
  return ::cudaMemcpyToSymbolAsync((const void *)&symbol, src, count, offset, kind, stream);
}
template <class T>
__cumetal_host cudaError_t cudaMemcpyFromSymbol(void *dst, const T &symbol, size_t count, size_t offset = 0,
                                                enum cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
  return ::cudaMemcpyFromSymbol(dst, (const void *)&symbol, count, offset, kind);
}
template <class T>
__cumetal_host cudaError_t cudaMemcpyFromSymbolAsync(void *dst, const T &symbol, size_t count, size_t offset = 0,
                                                     enum cudaMemcpyKind kind = cudaMemcpyDeviceToHost, cudaStream_t stream = 0) {
  return ::cudaMemcpyFromSymbolAsync(dst, (const void *)&symbol, count, offset, kind, stream);
}
template <class T> __cumetal_host cudaError_t cudaGetSymbolAddress(void **devPtr, const T &symbol) {
  return ::cudaGetSymbolAddress(devPtr, (const void *)&symbol);
}
template <class T> __cumetal_host cudaError_t cudaGetSymbolSize(size_t *size, const T &symbol) {
  return ::cudaGetSymbolSize(size, (const void *)&symbol);
}

// Kernels by their type.
template <class T>
__cumetal_host cudaError_t cudaLaunchKernel(const T *func, dim3 gridDim, dim3 blockDim, void **args, size_t sharedMem = 0,
                                            cudaStream_t stream = 0) {
  return ::cudaLaunchKernel((const void *)func, gridDim, blockDim, args, sharedMem, stream);
}
template <class T>
__cumetal_host cudaError_t cudaLaunchCooperativeKernel(const T *func, dim3 gridDim, dim3 blockDim, void **args, size_t sharedMem = 0,
                                                       cudaStream_t stream = 0) {
  return ::cudaLaunchCooperativeKernel((const void *)func, gridDim, blockDim, args, sharedMem, stream);
}
template <class... Expected, class... Actual>
__cumetal_host cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config, void (*kernel)(Expected...), Actual &&...args) {
  // Each argument is converted to the type of its parameter first.
  return [&](Expected... converted) {
    void *pointers[] = {(void *)&converted..., nullptr};
    return ::cudaLaunchKernelExC(config, (const void *)kernel, pointers);
  }(static_cast<Actual &&>(args)...);
}
template <class T>
__cumetal_host cudaError_t cudaOccupancyMaxActiveClusters(int *numClusters, T *func, const cudaLaunchConfig_t *config) {
  return ::cudaOccupancyMaxActiveClusters(numClusters, (const void *)func, config);
}
template <class T>
__cumetal_host cudaError_t cudaOccupancyMaxPotentialClusterSize(int *clusterSize, T *func, const cudaLaunchConfig_t *config) {
  return ::cudaOccupancyMaxPotentialClusterSize(clusterSize, (const void *)func, config);
}
template <class T> __cumetal_host cudaError_t cudaFuncSetCacheConfig(T *func, enum cudaFuncCache cacheConfig) {
  return ::cudaFuncSetCacheConfig((const void *)func, cacheConfig);
}
template <class T> __cumetal_host cudaError_t cudaFuncSetSharedMemConfig(T *func, enum cudaSharedMemConfig config) {
  return ::cudaFuncSetSharedMemConfig((const void *)func, config);
}
template <class T> __cumetal_host cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attr, T *func) {
  return ::cudaFuncGetAttributes(attr, (const void *)func);
}
template <class T> __cumetal_host cudaError_t cudaFuncSetAttribute(T *func, enum cudaFuncAttribute attr, int value) {
  return ::cudaFuncSetAttribute((const void *)func, attr, value);
}

__cumetal_host cudaError_t cudaEventCreate(cudaEvent_t *event, unsigned int flags) { return ::cudaEventCreateWithFlags(event, flags); }
__cumetal_host cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags = 0) {
  return ::cudaGraphInstantiateWithFlags(exec, graph, flags);
}
__cumetal_host cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, cudaGraphNode_t *errorNode, char *log, size_t) {
  if (errorNode) *errorNode = nullptr;
  if (log) *log = 0;
  return ::cudaGraphInstantiateWithFlags(exec, graph, 0);
}
// The form before CUDA 12.
__cumetal_host cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphNode_t *errorNode,
                                               enum cudaGraphExecUpdateResult *result) {
  cudaGraphExecUpdateResultInfo info = {cudaGraphExecUpdateError, nullptr, nullptr};
  const cudaError_t error = ::cudaGraphExecUpdate(exec, graph, &info);
  if (errorNode) *errorNode = info.errorNode;
  if (result) *result = info.result;
  return error;
}

// Channels of an element's type.
template <class T> struct __cumetal_channel;
#define __cumetal_channels(name, kind, bits) \
  template <> struct __cumetal_channel<name##1> { static constexpr cudaChannelFormatDesc desc = {bits, 0, 0, 0, kind}; }; \
  template <> struct __cumetal_channel<name##2> { static constexpr cudaChannelFormatDesc desc = {bits, bits, 0, 0, kind}; }; \
  template <> struct __cumetal_channel<name##4> { static constexpr cudaChannelFormatDesc desc = {bits, bits, bits, bits, kind}; };
#define __cumetal_scalar(type, kind) \
  template <> struct __cumetal_channel<type> { static constexpr cudaChannelFormatDesc desc = {8 * sizeof(type), 0, 0, 0, kind}; };
__cumetal_channels(char, cudaChannelFormatKindSigned, 8)
__cumetal_channels(uchar, cudaChannelFormatKindUnsigned, 8)
__cumetal_channels(short, cudaChannelFormatKindSigned, 16)
__cumetal_channels(ushort, cudaChannelFormatKindUnsigned, 16)
__cumetal_channels(int, cudaChannelFormatKindSigned, 32)
__cumetal_channels(uint, cudaChannelFormatKindUnsigned, 32)
__cumetal_channels(float, cudaChannelFormatKindFloat, 32)
__cumetal_scalar(char, cudaChannelFormatKindSigned)
__cumetal_scalar(signed char, cudaChannelFormatKindSigned)
__cumetal_scalar(unsigned char, cudaChannelFormatKindUnsigned)
__cumetal_scalar(short, cudaChannelFormatKindSigned)
__cumetal_scalar(unsigned short, cudaChannelFormatKindUnsigned)
__cumetal_scalar(int, cudaChannelFormatKindSigned)
__cumetal_scalar(unsigned int, cudaChannelFormatKindUnsigned)
__cumetal_scalar(float, cudaChannelFormatKindFloat)
#undef __cumetal_channels
#undef __cumetal_scalar
template <class T> __cumetal_host cudaChannelFormatDesc cudaCreateChannelDesc() { return __cumetal_channel<T>::desc; }
__cumetal_host cudaChannelFormatDesc cudaCreateChannelDescHalf() { return {16, 0, 0, 0, cudaChannelFormatKindFloat}; }
__cumetal_host cudaChannelFormatDesc cudaCreateChannelDescHalf1() { return {16, 0, 0, 0, cudaChannelFormatKindFloat}; }
__cumetal_host cudaChannelFormatDesc cudaCreateChannelDescHalf2() { return {16, 16, 0, 0, cudaChannelFormatKindFloat}; }
__cumetal_host cudaChannelFormatDesc cudaCreateChannelDescHalf4() { return {16, 16, 16, 16, cudaChannelFormatKindFloat}; }

__cumetal_both cudaExtent make_cudaExtent(size_t w, size_t h, size_t d) { return {w, h, d}; }
__cumetal_both cudaPos make_cudaPos(size_t x, size_t y, size_t z) { return {x, y, z}; }
__cumetal_both cudaPitchedPtr make_cudaPitchedPtr(void *d, size_t p, size_t xsz, size_t ysz) { return {d, p, xsz, ysz}; }

// Occupancy: the largest block that the kernel's resources allow, by the count of threads that a multiprocessor then runs.
template <class F, class T>
__cumetal_host cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(int *minGridSize, int *blockSize, T func,
                                                                                   F blockSizeToDynamicSMemSize, int blockSizeLimit = 0,
                                                                                   unsigned int flags = 0) {
  int device = 0, processors = 0, limit = 0;
  cudaFuncAttributes attributes;
  cudaError_t error = ::cudaGetDevice(&device);
  if (error == cudaSuccess) error = ::cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
  if (error == cudaSuccess) error = ::cudaFuncGetAttributes(&attributes, (const void *)func);
  if (error != cudaSuccess) return error;
  limit = attributes.maxThreadsPerBlock;
  if (blockSizeLimit > 0 && blockSizeLimit < limit) limit = blockSizeLimit;
  int best = 0;
  for (int size = limit; size > 0; size = (size - 1) / 32 * 32) {
    int blocks = 0;
    error = ::cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, (const void *)func, size, blockSizeToDynamicSMemSize(size), flags);
    if (error != cudaSuccess) return error;
    if (blocks * size > best) {
      best = blocks * size;
      *blockSize = size;
      *minGridSize = blocks * processors;
    }
  }
  return cudaSuccess;
}
template <class F, class T>
__cumetal_host cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int *minGridSize, int *blockSize, T func,
                                                                          F blockSizeToDynamicSMemSize, int blockSizeLimit = 0) {
  return cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(minGridSize, blockSize, func, blockSizeToDynamicSMemSize, blockSizeLimit);
}
template <class T>
__cumetal_host cudaError_t cudaOccupancyMaxPotentialBlockSize(int *minGridSize, int *blockSize, T func, size_t dynamicSMemSize = 0,
                                                              int blockSizeLimit = 0) {
  return cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(
      minGridSize, blockSize, func, [=](int) { return dynamicSMemSize; }, blockSizeLimit);
}
template <class T>
__cumetal_host cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, T func, int blockSize, size_t dynamicSMemSize) {
  return ::cudaOccupancyMaxActiveBlocksPerMultiprocessor(numBlocks, (const void *)func, blockSize, dynamicSMemSize);
}
template <class T>
__cumetal_host cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *dynamicSmemSize, T func, int numBlocks, int blockSize) {
  return ::cudaOccupancyAvailableDynamicSMemPerBlock(dynamicSmemSize, (const void *)func, numBlocks, blockSize);
}

#undef __cumetal_host

#endif
