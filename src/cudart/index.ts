/**
 * CUDA's functions under their names, for programs that are ported: a thin layer over `src/api`, in which what goes wrong is a
 * number. Functions that wait give promises; what C leaves behind a pointer is left in a `ref()`; device pointers are bigints and host
 * pointers typed arrays. What CUDA does not have is called `cumetal…`. The room knows the API and nothing below it.
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
export * from './memory.ts';
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
