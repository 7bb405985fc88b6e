/**
 * The functions of libcuda that are used, one row each, with their types for `bun:ffi`. All return a `CUresult`, 0 for success.
 * Source: NVIDIA, CUDA Driver API reference manual and cuda.h; the suffix `_v2` names the current version of a function.
 */
import type { Functions, TypeName } from '../types.ts';

const p = 'ptr';
const i = 'i32';
const u = 'u32';
const w = 'u64';

const call = <const A extends readonly TypeName[]>(...args: A) => ({ args, returns: i }) as const;

export const cudaTypes = {
  cuInit: call(u),
  cuGetErrorName: call(i, p),
  cuGetErrorString: call(i, p),
  cuDriverGetVersion: call(p),
  cuDeviceGetCount: call(p),
  cuDeviceGet: call(p, i),
  cuDeviceGetName: call(p, i, i),
  cuDeviceTotalMem_v2: call(p, i),
  cuDeviceGetAttribute: call(p, i, i),
  cuDevicePrimaryCtxRetain: call(p, i),
  cuDevicePrimaryCtxRelease_v2: call(i),
  cuDevicePrimaryCtxReset_v2: call(i),
  cuCtxSetCurrent: call(p),
  cuModuleLoadDataEx: call(p, p, u, p, p),
  cuModuleUnload: call(p),
  cuModuleGetFunction: call(p, p, p),
  cuModuleGetGlobal_v2: call(p, p, p, p),
  cuFuncGetAttribute: call(p, i, p),
  cuFuncSetAttribute: call(p, i, i),
  cuMemAlloc_v2: call(p, w),
  cuMemAllocManaged: call(p, w, u),
  cuMemFree_v2: call(w),
  cuMemsetD8_v2: call(w, 'u8', w),
  cuMemcpyHtoD_v2: call(w, p, w),
  cuMemcpyDtoH_v2: call(p, w, w),
  cuMemcpyDtoD_v2: call(w, w, w),
  cuMemcpyPeer: call(w, p, w, p, w),
  cuMemcpy3D_v2: call(p),
  cuStreamCreate: call(p, u),
  cuStreamDestroy_v2: call(p),
  cuStreamSynchronize: call(p),
  cuStreamWaitEvent: call(p, p, u),
  cuEventCreate: call(p, u),
  cuEventDestroy_v2: call(p),
  cuEventRecord: call(p, p),
  cuEventQuery: call(p),
  cuEventSynchronize: call(p),
  cuEventElapsedTime: call(p, p, p),
  cuLaunchKernel: call(p, u, u, u, u, u, u, u, p, p, p),
  cuLaunchCooperativeKernel: call(p, u, u, u, u, u, u, u, p, p),
  cuOccupancyMaxActiveBlocksPerMultiprocessor: call(p, p, i, w),
  cuArray3DCreate_v2: call(p, p),
  cuArrayDestroy: call(p),
  cuMipmappedArrayCreate: call(p, p, u),
  cuMipmappedArrayGetLevel: call(p, p, u),
  cuMipmappedArrayDestroy: call(p),
  cuTexObjectCreate: call(p, p, p, p),
  cuTexObjectDestroy: call(w),
  cuSurfObjectCreate: call(p, p),
  cuSurfObjectDestroy: call(w),
} as const;

/** Functions that drivers have since CUDA 11.8 only. */
export const newerCudaTypes = { cuLaunchKernelEx: call(p, p, p, p) } as const;

/** Words in memory of the host that a stream writes: drivers since CUDA 11.7, without an option of the module. */
export const markCudaTypes = { cuMemHostAlloc: call(p, w, u), cuMemFreeHost: call(p), cuStreamWriteValue32_v2: call(p, w, u, u) } as const;

export type CudaApi = Functions<typeof cudaTypes> & Partial<Functions<typeof newerCudaTypes> & Functions<typeof markCudaTypes>>;

/** `CUresult`: the values that are handled separately. */
export const cudaResults = { success: 0, outOfMemory: 2, noDevice: 100, notFound: 500, notReady: 600, notSupported: 801 } as const;

/** `CUjit_option`. */
export const jitOptions = { infoLog: 3, infoLogBytes: 4, errorLog: 5, errorLogBytes: 6, optimization: 7 } as const;

/** `CU_MEMHOSTALLOC_…`: memory of the host that every context has, and the device at the same address. */
export const hostMemory = 1 | 2;

/** `CUmemAttach_flags`: every stream can access the memory. */
export const attachGlobal = 1;

/** `CUfunction_attribute`. */
export const functionAttributes = { maxThreads: 0, staticShared: 1, registers: 4, maxDynamicShared: 8, largeClusters: 14 } as const;
