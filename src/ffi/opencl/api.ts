/**
 * The functions of libOpenCL that are used, one row each, with their types for `bun:ffi`. Functions that make an object write a status through
 * their last argument; all others return it, 0 for success.
 * Source: Khronos, The OpenCL Specification 3.0, and cl.h.
 */
import type { Functions, TypeName } from '../types.ts';

const p = 'ptr';
const u = 'u32';
const w = 'u64';

const call = <const A extends readonly TypeName[]>(...args: A) => ({ args, returns: 'i32' }) as const;
const make = <const A extends readonly TypeName[]>(...args: A) => ({ args, returns: 'ptr' }) as const;

export const openclTypes = {
  clGetPlatformIDs: call(u, p, p),
  clGetDeviceIDs: call(p, w, u, p, p),
  clGetPlatformInfo: call(p, u, w, p, p),
  clGetDeviceInfo: call(p, u, w, p, p),
  clCreateContext: make(p, u, p, p, p, p),
  clReleaseContext: call(p),
  clCreateCommandQueueWithProperties: make(p, p, p, p),
  clReleaseCommandQueue: call(p),
  clCreateProgramWithSource: make(p, u, p, p, p),
  clBuildProgram: call(p, u, p, p, p, p),
  clGetProgramBuildInfo: call(p, p, u, w, p, p),
  clReleaseProgram: call(p),
  clCreateKernel: make(p, p, p),
  clReleaseKernel: call(p),
  clGetKernelWorkGroupInfo: call(p, p, u, w, p, p),
  clSetKernelArg: call(p, u, w, p),
  clSetKernelArgSVMPointer: call(p, u, p),
  clSetKernelExecInfo: call(p, u, w, p),
  clSVMAlloc: make(p, w, w, u),
  clSVMFree: { args: [p, p], returns: 'void' },
  clEnqueueSVMMemcpy: call(p, u, p, p, w, u, p, p),
  clEnqueueSVMMemFill: call(p, p, p, w, w, u, p, p),
  clEnqueueNDRangeKernel: call(p, p, u, p, p, p, u, p, p),
  clGetEventInfo: call(p, u, w, p, p),
  clGetEventProfilingInfo: call(p, u, w, p, p),
  clReleaseEvent: call(p),
  clFlush: call(p),
  clFinish: call(p),
} as const;

export type OpenclApi = Functions<typeof openclTypes>;

/** `cl_device_info` and the like. */
export const infos = {
  platformName: 0x0902,
  maxComputeUnits: 0x1002,
  maxWorkGroupSize: 0x1004,
  maxWorkItemSizes: 0x1005,
  maxMemAllocSize: 0x1010,
  singleFpConfig: 0x101b,
  globalMemSize: 0x101f,
  localMemSize: 0x1023,
  name: 0x102b,
  driverVersion: 0x102d,
  version: 0x102f,
  extensions: 0x1030,
  openclCVersion: 0x103d,
  svmCapabilities: 0x1053,
  buildLog: 0x1183,
  kernelWorkGroupSize: 0x11b0,
  eventStatus: 0x11d3,
  profilingStart: 0x1282,
  profilingEnd: 0x1283,
  svmPointers: 0x11b6,
  queueProperties: 0x1093,
} as const;

/** `cl_device_fp_config` bits. */
export const fpConfig = { denorm: 1, infNan: 2, roundToNearest: 4, fma: 32, correctlyRoundedDivideSqrt: 128 } as const;

export const deviceTypeAll = 0xffff_ffff;
export const queueProfiling = 2;
export const svmReadWrite = 1;
export const svmCoarseGrainBuffer = 1;

/** Names of the errors that a person may see. */
export const errorNames: Readonly<Record<number, string>> = {
  [-1]: 'CL_DEVICE_NOT_FOUND',
  [-4]: 'CL_MEM_OBJECT_ALLOCATION_FAILURE',
  [-5]: 'CL_OUT_OF_RESOURCES',
  [-6]: 'CL_OUT_OF_HOST_MEMORY',
  [-11]: 'CL_BUILD_PROGRAM_FAILURE',
  [-30]: 'CL_INVALID_VALUE',
  [-45]: 'CL_INVALID_PROGRAM_EXECUTABLE',
  [-46]: 'CL_INVALID_KERNEL_NAME',
  [-48]: 'CL_INVALID_KERNEL',
  [-49]: 'CL_INVALID_ARG_INDEX',
  [-50]: 'CL_INVALID_ARG_VALUE',
  [-51]: 'CL_INVALID_ARG_SIZE',
  [-52]: 'CL_INVALID_KERNEL_ARGS',
  [-54]: 'CL_INVALID_WORK_GROUP_SIZE',
  [-55]: 'CL_INVALID_WORK_ITEM_SIZE',
  [-61]: 'CL_INVALID_BUFFER_SIZE',
  [-1001]: 'CL_PLATFORM_NOT_FOUND_KHR',
};
