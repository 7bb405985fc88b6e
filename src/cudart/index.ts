/**
 * CUDA's function names for ported programs: a thin layer over `src/api` with error numbers. Functions that wait return promises,
 * output pointers are `ref()` objects, device pointers are bigints and host pointers are typed arrays. Extensions of CUDA are called
 * `cumetal…`. The room depends on the API and nothing below it.
 */
export * from './devices.ts';
export * from './driver.ts';
export {
  type cudaFuncAttributes,
  cudaFuncGetAttributes,
  cudaLaunchKernel,
  cudaLibraryGetKernel,
  cudaLibraryLoadData,
  cudaLibraryUnload,
  cudaOccupancyMaxActiveBlocksPerMultiprocessor,
  cumetalGetSymbol,
  type dim3,
} from './launch.ts';
export {
  cudaFree,
  cudaFreeHost,
  cudaMalloc,
  cudaMallocHost,
  cudaMallocManaged,
  cudaMemcpy,
  cudaMemcpyAsync,
  cudaMemcpyFromSymbol,
  cudaMemcpyFromSymbolAsync,
  cudaMemcpyKind,
  cudaMemcpyPeer,
  cudaMemcpyPeerAsync,
  cudaMemcpyToSymbol,
  cudaMemcpyToSymbolAsync,
  cudaMemset,
  cudaMemsetAsync,
  cumetalHostView,
  type DevicePointer,
  type HostPointer,
} from './memory.ts';
export * from './pools.ts';
export {
  cudaError_t,
  cudaGetErrorName,
  cudaGetErrorString,
  cudaGetLastError,
  cudaPeekAtLastError,
  type cudaStream_t,
  cudaStreamLegacy,
  cudaStreamPerThread,
  cumetalLastError,
  cumetalUseDevice,
  type Ref,
  ref,
} from './state.ts';
export * from './streams.ts';
