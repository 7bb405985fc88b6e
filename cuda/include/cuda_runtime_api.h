// The runtime API's C functions. Source: CUDA Runtime API, "Modules", in its order.
#ifndef __CUMETAL_CUDA_RUNTIME_API_H__
#define __CUMETAL_CUDA_RUNTIME_API_H__
#define __CUDA_RUNTIME_API_H__

#include "driver_types.h"

#define CUDART_VERSION 12080

#ifdef __cplusplus
extern "C" {
// The C++ interface has default arguments.
#define __cumetal_default(value) = value
#else
#define __cumetal_default(value)
#endif
#define __cumetal_api __host__ cudaError_t CUDARTAPI
// Functions that kernels may call as well.
#define __cumetal_api_both __host__ cudaError_t CUDARTAPI

// Device Management
__cumetal_api cudaDeviceReset(void);
__cumetal_api_both cudaDeviceSynchronize(void);
__cumetal_api cudaDeviceSetLimit(enum cudaLimit limit, size_t value);
__cumetal_api cudaDeviceGetLimit(size_t *value, enum cudaLimit limit);
__cumetal_api cudaDeviceGetCacheConfig(enum cudaFuncCache *cacheConfig);
__cumetal_api cudaDeviceSetCacheConfig(enum cudaFuncCache cacheConfig);
__cumetal_api cudaDeviceGetSharedMemConfig(enum cudaSharedMemConfig *config);
__cumetal_api cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig config);
__cumetal_api cudaDeviceGetStreamPriorityRange(int *leastPriority, int *greatestPriority);
__cumetal_api cudaDeviceGetByPCIBusId(int *device, const char *pciBusId);
__cumetal_api cudaDeviceGetPCIBusId(char *pciBusId, int len, int device);
__cumetal_api cudaGetDeviceCount(int *count);
__cumetal_api cudaGetDeviceProperties(struct cudaDeviceProp *prop, int device);
__cumetal_api cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attr, int device);
__cumetal_api cudaDeviceGetDefaultMemPool(cudaMemPool_t *memPool, int device);
__cumetal_api cudaDeviceSetMemPool(int device, cudaMemPool_t memPool);
__cumetal_api cudaDeviceGetMemPool(cudaMemPool_t *memPool, int device);
__cumetal_api cudaDeviceGetP2PAttribute(int *value, enum cudaDeviceP2PAttr attr, int srcDevice, int dstDevice);
__cumetal_api cudaChooseDevice(int *device, const struct cudaDeviceProp *prop);
__cumetal_api cudaInitDevice(int device, unsigned int deviceFlags, unsigned int flags);
__cumetal_api cudaSetDevice(int device);
__cumetal_api cudaGetDevice(int *device);
__cumetal_api cudaSetValidDevices(int *devices, int len);
__cumetal_api cudaSetDeviceFlags(unsigned int flags);
__cumetal_api cudaGetDeviceFlags(unsigned int *flags);
__cumetal_api cudaIpcGetEventHandle(cudaIpcEventHandle_t *handle, cudaEvent_t event);
__cumetal_api cudaIpcOpenEventHandle(cudaEvent_t *event, cudaIpcEventHandle_t handle);
__cumetal_api cudaIpcGetMemHandle(cudaIpcMemHandle_t *handle, void *devPtr);
__cumetal_api cudaIpcOpenMemHandle(void **devPtr, cudaIpcMemHandle_t handle, unsigned int flags);
__cumetal_api cudaIpcCloseMemHandle(void *devPtr);
__cumetal_api cudaThreadExit(void);
__cumetal_api cudaThreadSynchronize(void);

// Error Handling
__cumetal_api cudaGetLastError(void);
__cumetal_api cudaPeekAtLastError(void);
__host__ const char *CUDARTAPI cudaGetErrorName(cudaError_t error);
__host__ const char *CUDARTAPI cudaGetErrorString(cudaError_t error);

// Stream Management
__cumetal_api cudaStreamCreate(cudaStream_t *pStream);
__cumetal_api cudaStreamCreateWithFlags(cudaStream_t *pStream, unsigned int flags);
__cumetal_api cudaStreamCreateWithPriority(cudaStream_t *pStream, unsigned int flags, int priority);
__cumetal_api cudaStreamGetPriority(cudaStream_t hStream, int *priority);
__cumetal_api cudaStreamGetFlags(cudaStream_t hStream, unsigned int *flags);
__cumetal_api cudaStreamGetId(cudaStream_t hStream, unsigned long long *streamId);
__cumetal_api cudaStreamGetDevice(cudaStream_t hStream, int *device);
__cumetal_api cudaCtxResetPersistingL2Cache(void);
__cumetal_api cudaStreamSetAttribute(cudaStream_t hStream, cudaStreamAttrID attr, const cudaStreamAttrValue *value);
__cumetal_api cudaStreamGetAttribute(cudaStream_t hStream, cudaStreamAttrID attr, cudaStreamAttrValue *value);
__cumetal_api cudaStreamDestroy(cudaStream_t stream);
__cumetal_api cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags __cumetal_default(0));
__cumetal_api cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void *userData, unsigned int flags);
__cumetal_api cudaStreamSynchronize(cudaStream_t stream);
__cumetal_api cudaStreamQuery(cudaStream_t stream);
__cumetal_api cudaStreamAttachMemAsync(cudaStream_t stream, void *devPtr, size_t length __cumetal_default(0),
                                       unsigned int flags __cumetal_default(cudaMemAttachSingle));
__cumetal_api cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode);
__cumetal_api cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode);
__cumetal_api cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *pGraph);
__cumetal_api cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                            const cudaGraphEdgeData *dependencyData, size_t numDependencies, enum cudaStreamCaptureMode mode);
__cumetal_api cudaStreamGetCaptureInfo(cudaStream_t stream, enum cudaStreamCaptureStatus *captureStatus_out,
                                       unsigned long long *id_out __cumetal_default(0), cudaGraph_t *graph_out __cumetal_default(0),
                                       const cudaGraphNode_t **dependencies_out __cumetal_default(0),
                                       const cudaGraphEdgeData **edgeData_out __cumetal_default(0),
                                       size_t *numDependencies_out __cumetal_default(0));
__cumetal_api cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t *dependencies, const cudaGraphEdgeData *dependencyData,
                                                  size_t numDependencies, unsigned int flags __cumetal_default(0));
__cumetal_api cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *pCaptureStatus);

// Event Management
__cumetal_api cudaEventCreate(cudaEvent_t *event);
__cumetal_api cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags);
__cumetal_api cudaEventRecord(cudaEvent_t event, cudaStream_t stream __cumetal_default(0));
__cumetal_api cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream __cumetal_default(0), unsigned int flags __cumetal_default(0));
__cumetal_api cudaEventQuery(cudaEvent_t event);
__cumetal_api cudaEventSynchronize(cudaEvent_t event);
__cumetal_api cudaEventDestroy(cudaEvent_t event);
__cumetal_api cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end);

// Execution Control
__cumetal_api cudaLaunchKernel(const void *func, dim3 gridDim, dim3 blockDim, void **args, size_t sharedMem, cudaStream_t stream);
__cumetal_api cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *func, void **args);
__cumetal_api cudaLaunchCooperativeKernel(const void *func, dim3 gridDim, dim3 blockDim, void **args, size_t sharedMem __cumetal_default(0),
                                          cudaStream_t stream __cumetal_default(0));
__cumetal_api cudaFuncSetCacheConfig(const void *func, enum cudaFuncCache cacheConfig);
__cumetal_api cudaFuncSetSharedMemConfig(const void *func, enum cudaSharedMemConfig config);
__cumetal_api cudaFuncGetAttributes(struct cudaFuncAttributes *attr, const void *func);
__cumetal_api cudaFuncSetAttribute(const void *func, enum cudaFuncAttribute attr, int value);
__cumetal_api cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t fn, void *userData);

// What `kernel<<<grid, block, bytes, stream>>>` becomes: the configuration waits for the kernel's stub, which takes it.
__host__ unsigned int __cudaPushCallConfiguration(dim3 gridDim, dim3 blockDim, size_t sharedMem __cumetal_default(0),
                                                  cudaStream_t stream __cumetal_default(0));
__cumetal_api __cudaPopCallConfiguration(dim3 *gridDim, dim3 *blockDim, size_t *sharedMem, void *stream);

// Occupancy
__cumetal_api cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, const void *func, int blockSize, size_t dynamicSMemSize);
__cumetal_api cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *numBlocks, const void *func, int blockSize,
                                                                     size_t dynamicSMemSize, unsigned int flags);
__cumetal_api cudaOccupancyAvailableDynamicSMemPerBlock(size_t *dynamicSmemSize, const void *func, int numBlocks, int blockSize);
__cumetal_api cudaOccupancyMaxActiveClusters(int *numClusters, const void *func, const cudaLaunchConfig_t *config);
__cumetal_api cudaOccupancyMaxPotentialClusterSize(int *clusterSize, const void *func, const cudaLaunchConfig_t *config);

// Memory Management
__cumetal_api cudaMallocManaged(void **devPtr, size_t size, unsigned int flags __cumetal_default(cudaMemAttachGlobal));
__cumetal_api cudaMalloc(void **devPtr, size_t size);
__cumetal_api cudaMallocHost(void **ptr, size_t size);
__cumetal_api cudaMallocPitch(void **devPtr, size_t *pitch, size_t width, size_t height);
__cumetal_api cudaMallocArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc, size_t width,
                              size_t height __cumetal_default(0), unsigned int flags __cumetal_default(0));
__cumetal_api cudaMalloc3D(struct cudaPitchedPtr *pitchedDevPtr, struct cudaExtent extent);
__cumetal_api cudaMalloc3DArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc, struct cudaExtent extent,
                                unsigned int flags __cumetal_default(0));
__cumetal_api cudaMallocMipmappedArray(cudaMipmappedArray_t *mipmappedArray, const struct cudaChannelFormatDesc *desc,
                                       struct cudaExtent extent, unsigned int numLevels, unsigned int flags __cumetal_default(0));
__cumetal_api cudaGetMipmappedArrayLevel(cudaArray_t *levelArray, cudaMipmappedArray_const_t mipmappedArray, unsigned int level);
__cumetal_api cudaFree(void *devPtr);
__cumetal_api cudaFreeHost(void *ptr);
__cumetal_api cudaFreeArray(cudaArray_t array);
__cumetal_api cudaFreeMipmappedArray(cudaMipmappedArray_t mipmappedArray);
__cumetal_api cudaHostAlloc(void **pHost, size_t size, unsigned int flags);
__cumetal_api cudaHostRegister(void *ptr, size_t size, unsigned int flags);
__cumetal_api cudaHostUnregister(void *ptr);
__cumetal_api cudaHostGetDevicePointer(void **pDevice, void *pHost, unsigned int flags);
__cumetal_api cudaHostGetFlags(unsigned int *pFlags, void *pHost);
__cumetal_api cudaMemGetInfo(size_t *free, size_t *total);
__cumetal_api cudaArrayGetInfo(struct cudaChannelFormatDesc *desc, struct cudaExtent *extent, unsigned int *flags, cudaArray_t array);
__cumetal_api cudaMemcpy(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind);
__cumetal_api cudaMemcpyPeer(void *dst, int dstDevice, const void *src, int srcDevice, size_t count);
__cumetal_api cudaMemcpy2D(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height, enum cudaMemcpyKind kind);
__cumetal_api cudaMemcpy3D(const struct cudaMemcpy3DParms *p);
__cumetal_api cudaMemcpyToArray(cudaArray_t dst, size_t wOffset, size_t hOffset, const void *src, size_t count, enum cudaMemcpyKind kind);
__cumetal_api cudaMemcpyFromArray(void *dst, cudaArray_const_t src, size_t wOffset, size_t hOffset, size_t count, enum cudaMemcpyKind kind);
__cumetal_api cudaMemcpy2DToArray(cudaArray_t dst, size_t wOffset, size_t hOffset, const void *src, size_t spitch, size_t width,
                                  size_t height, enum cudaMemcpyKind kind);
__cumetal_api cudaMemcpy2DFromArray(void *dst, size_t dpitch, cudaArray_const_t src, size_t wOffset, size_t hOffset, size_t width,
                                    size_t height, enum cudaMemcpyKind kind);
__cumetal_api cudaMemcpyArrayToArray(cudaArray_t dst, size_t wOffsetDst, size_t hOffsetDst, cudaArray_const_t src, size_t wOffsetSrc,
                                     size_t hOffsetSrc, size_t count, enum cudaMemcpyKind kind __cumetal_default(cudaMemcpyDeviceToDevice));
__cumetal_api cudaMemcpy2DArrayToArray(cudaArray_t dst, size_t wOffsetDst, size_t hOffsetDst, cudaArray_const_t src, size_t wOffsetSrc,
                                       size_t hOffsetSrc, size_t width, size_t height,
                                       enum cudaMemcpyKind kind __cumetal_default(cudaMemcpyDeviceToDevice));
__cumetal_api cudaMemcpyToArrayAsync(cudaArray_t dst, size_t wOffset, size_t hOffset, const void *src, size_t count,
                                     enum cudaMemcpyKind kind, cudaStream_t stream __cumetal_default(0));
__cumetal_api cudaMemcpyFromArrayAsync(void *dst, cudaArray_const_t src, size_t wOffset, size_t hOffset, size_t count,
                                       enum cudaMemcpyKind kind, cudaStream_t stream __cumetal_default(0));
__cumetal_api cudaMemcpy2DToArrayAsync(cudaArray_t dst, size_t wOffset, size_t hOffset, const void *src, size_t spitch, size_t width,
                                       size_t height, enum cudaMemcpyKind kind, cudaStream_t stream __cumetal_default(0));
__cumetal_api cudaMemcpy2DFromArrayAsync(void *dst, size_t dpitch, cudaArray_const_t src, size_t wOffset, size_t hOffset, size_t width,
                                         size_t height, enum cudaMemcpyKind kind, cudaStream_t stream __cumetal_default(0));
__cumetal_api cudaMemcpyToSymbol(const void *symbol, const void *src, size_t count, size_t offset __cumetal_default(0),
                                 enum cudaMemcpyKind kind __cumetal_default(cudaMemcpyHostToDevice));
__cumetal_api cudaMemcpyFromSymbol(void *dst, const void *symbol, size_t count, size_t offset __cumetal_default(0),
                                   enum cudaMemcpyKind kind __cumetal_default(cudaMemcpyDeviceToHost));
__cumetal_api cudaMemcpyAsync(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind,
                              cudaStream_t stream __cumetal_default(0));
__cumetal_api cudaMemcpyPeerAsync(void *dst, int dstDevice, const void *src, int srcDevice, size_t count,
                                  cudaStream_t stream __cumetal_default(0));
__cumetal_api cudaMemcpy2DAsync(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height,
                                enum cudaMemcpyKind kind, cudaStream_t stream __cumetal_default(0));
__cumetal_api cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *p, cudaStream_t stream __cumetal_default(0));
__cumetal_api cudaMemcpyToSymbolAsync(const void *symbol, const void *src, size_t count, size_t offset, enum cudaMemcpyKind kind,
                                      cudaStream_t stream __cumetal_default(0));
__cumetal_api cudaMemcpyFromSymbolAsync(void *dst, const void *symbol, size_t count, size_t offset, enum cudaMemcpyKind kind,
                                        cudaStream_t stream __cumetal_default(0));
__cumetal_api cudaMemset(void *devPtr, int value, size_t count);
__cumetal_api cudaMemset2D(void *devPtr, size_t pitch, int value, size_t width, size_t height);
__cumetal_api cudaMemset3D(struct cudaPitchedPtr pitchedDevPtr, int value, struct cudaExtent extent);
__cumetal_api cudaMemsetAsync(void *devPtr, int value, size_t count, cudaStream_t stream __cumetal_default(0));
__cumetal_api cudaMemset2DAsync(void *devPtr, size_t pitch, int value, size_t width, size_t height,
                                cudaStream_t stream __cumetal_default(0));
__cumetal_api cudaMemset3DAsync(struct cudaPitchedPtr pitchedDevPtr, int value, struct cudaExtent extent,
                                cudaStream_t stream __cumetal_default(0));
__cumetal_api cudaGetSymbolAddress(void **devPtr, const void *symbol);
__cumetal_api cudaGetSymbolSize(size_t *size, const void *symbol);
__cumetal_api cudaMemPrefetchAsync(const void *devPtr, size_t count, int dstDevice, cudaStream_t stream __cumetal_default(0));
__cumetal_api cudaMemAdvise(const void *devPtr, size_t count, enum cudaMemoryAdvise advice, int device);
__cumetal_api cudaMemRangeGetAttribute(void *data, size_t dataSize, enum cudaMemRangeAttribute attribute, const void *devPtr, size_t count);

// Stream Ordered Memory Allocator
__cumetal_api cudaMallocAsync(void **devPtr, size_t size, cudaStream_t hStream);
__cumetal_api cudaFreeAsync(void *devPtr, cudaStream_t hStream);
__cumetal_api cudaMemPoolTrimTo(cudaMemPool_t memPool, size_t minBytesToKeep);
__cumetal_api cudaMemPoolSetAttribute(cudaMemPool_t memPool, enum cudaMemPoolAttr attr, void *value);
__cumetal_api cudaMemPoolGetAttribute(cudaMemPool_t memPool, enum cudaMemPoolAttr attr, void *value);
__cumetal_api cudaMemPoolGetAccess(enum cudaMemAccessFlags *flags, cudaMemPool_t memPool, struct cudaMemLocation *location);
__cumetal_api cudaMemPoolSetAccess(cudaMemPool_t memPool, const struct cudaMemAccessDesc *descList, size_t count);
__cumetal_api cudaMemPoolCreate(cudaMemPool_t *memPool, const struct cudaMemPoolProps *poolProps);
__cumetal_api cudaMemPoolDestroy(cudaMemPool_t memPool);
__cumetal_api cudaMallocFromPoolAsync(void **ptr, size_t size, cudaMemPool_t memPool, cudaStream_t stream);

// Unified Addressing, Peer Device Memory Access
__cumetal_api cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *ptr);
__cumetal_api cudaDeviceCanAccessPeer(int *canAccessPeer, int device, int peerDevice);
__cumetal_api cudaDeviceEnablePeerAccess(int peerDevice, unsigned int flags);
__cumetal_api cudaDeviceDisablePeerAccess(int peerDevice);

// Texture and Surface Object Management
__cumetal_api cudaGetChannelDesc(struct cudaChannelFormatDesc *desc, cudaArray_const_t array);
__host__ struct cudaChannelFormatDesc CUDARTAPI cudaCreateChannelDesc(int x, int y, int z, int w, enum cudaChannelFormatKind f);
__cumetal_api cudaCreateTextureObject(cudaTextureObject_t *pTexObject, const struct cudaResourceDesc *pResDesc,
                                      const struct cudaTextureDesc *pTexDesc, const struct cudaResourceViewDesc *pResViewDesc);
__cumetal_api cudaDestroyTextureObject(cudaTextureObject_t texObject);
__cumetal_api cudaGetTextureObjectResourceDesc(struct cudaResourceDesc *pResDesc, cudaTextureObject_t texObject);
__cumetal_api cudaGetTextureObjectTextureDesc(struct cudaTextureDesc *pTexDesc, cudaTextureObject_t texObject);
__cumetal_api cudaGetTextureObjectResourceViewDesc(struct cudaResourceViewDesc *pResViewDesc, cudaTextureObject_t texObject);
__cumetal_api cudaGetSurfaceObjectResourceDesc(struct cudaResourceDesc *pResDesc, cudaSurfaceObject_t surfObject);
__cumetal_api cudaDeviceGetTexture1DLinearMaxWidth(size_t *maxWidthInElements, const struct cudaChannelFormatDesc *fmtDesc, int device);
__cumetal_api cudaCreateSurfaceObject(cudaSurfaceObject_t *pSurfObject, const struct cudaResourceDesc *pResDesc);
__cumetal_api cudaDestroySurfaceObject(cudaSurfaceObject_t surfObject);

// Version Management
__cumetal_api cudaDriverGetVersion(int *driverVersion);
__cumetal_api cudaRuntimeGetVersion(int *runtimeVersion);

// Graph Management
__cumetal_api cudaGraphCreate(cudaGraph_t *pGraph, unsigned int flags);
__cumetal_api cudaGraphAddKernelNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph, const cudaGraphNode_t *pDependencies,
                                     size_t numDependencies, const struct cudaKernelNodeParams *pNodeParams);
__cumetal_api cudaGraphAddMemcpyNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph, const cudaGraphNode_t *pDependencies,
                                     size_t numDependencies, const struct cudaMemcpy3DParms *pCopyParams);
__cumetal_api cudaGraphAddMemcpyNode1D(cudaGraphNode_t *pGraphNode, cudaGraph_t graph, const cudaGraphNode_t *pDependencies,
                                       size_t numDependencies, void *dst, const void *src, size_t count, enum cudaMemcpyKind kind);
__cumetal_api cudaGraphAddMemsetNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph, const cudaGraphNode_t *pDependencies,
                                     size_t numDependencies, const struct cudaMemsetParams *pMemsetParams);
__cumetal_api cudaGraphAddHostNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph, const cudaGraphNode_t *pDependencies,
                                   size_t numDependencies, const struct cudaHostNodeParams *pNodeParams);
__cumetal_api cudaGraphAddEmptyNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph, const cudaGraphNode_t *pDependencies,
                                    size_t numDependencies);
__cumetal_api cudaGraphAddMemAllocNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph, const cudaGraphNode_t *pDependencies,
                                       size_t numDependencies, struct cudaMemAllocNodeParams *nodeParams);
__cumetal_api cudaGraphAddMemFreeNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph, const cudaGraphNode_t *pDependencies,
                                      size_t numDependencies, void *dptr);
__cumetal_api cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void *dptr_out);
__cumetal_api cudaDeviceGraphMemTrim(int device);
__cumetal_api cudaDeviceGetGraphMemAttribute(int device, enum cudaGraphMemAttributeType attr, void *value);
__cumetal_api cudaDeviceSetGraphMemAttribute(int device, enum cudaGraphMemAttributeType attr, void *value);
__cumetal_api cudaGraphAddNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph, const cudaGraphNode_t *pDependencies,
                               const cudaGraphEdgeData *dependencyData, size_t numDependencies, struct cudaGraphNodeParams *nodeParams);
__cumetal_api cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle *pHandle_out, cudaGraph_t graph,
                                               unsigned int defaultLaunchValue __cumetal_default(0), unsigned int flags __cumetal_default(0));
__cumetal_api cudaGraphClone(cudaGraph_t *pGraphClone, cudaGraph_t originalGraph);
__cumetal_api cudaGraphNodeGetType(cudaGraphNode_t node, enum cudaGraphNodeType *pType);
__cumetal_api cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *numNodes);
__cumetal_api cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *pRootNodes, size_t *pNumRootNodes);
__cumetal_api cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to, size_t numDependencies);
__cumetal_api cudaGraphInstantiateWithFlags(cudaGraphExec_t *pGraphExec, cudaGraph_t graph, unsigned long long flags __cumetal_default(0));
__cumetal_api cudaGraphExecKernelNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                               const struct cudaKernelNodeParams *pNodeParams);
__cumetal_api cudaGraphExecUpdate(cudaGraphExec_t hGraphExec, cudaGraph_t hGraph, cudaGraphExecUpdateResultInfo *resultInfo);
__cumetal_api cudaGraphUpload(cudaGraphExec_t graphExec, cudaStream_t stream);
__cumetal_api cudaGraphLaunch(cudaGraphExec_t graphExec, cudaStream_t stream);
__cumetal_api cudaGraphExecDestroy(cudaGraphExec_t graphExec);
__cumetal_api cudaGraphDestroy(cudaGraph_t graph);
__cumetal_api cudaGraphDebugDotPrint(cudaGraph_t graph, const char *path, unsigned int flags);

// Profiler Control
__cumetal_api cudaProfilerStart(void);
__cumetal_api cudaProfilerStop(void);

#undef __cumetal_api
#undef __cumetal_api_both
#ifdef __cplusplus
}
#include "cumetal/runtime_templates.h"
#endif

#endif
