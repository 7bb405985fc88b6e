/**
 * The functions of CUDA's device runtime that the CPU device has (`src/compile/device-runtime.ts`): launches of kernels by kernels, and what
 * belongs to them. Source: CUDA C++ Programming Guide, "CUDA Dynamic Parallelism".
 */

const kinds = {
  cudaGetParameterBuffer: 'bufferOfSize',
  cudaGetParameterBufferV2: 'buffer',
  cudaLaunchDevice: 'launchBuffer',
  cudaLaunchDeviceV2: 'launch',
  cudaStreamCreateWithFlags: 'newStream',
  cudaEventCreateWithFlags: 'newStream',
  cudaStreamDestroy: 'nothing',
  cudaEventDestroy: 'nothing',
  cudaEventRecord: 'nothing',
  cudaStreamWaitEvent: 'nothing',
  cudaGetLastError: 'lastError',
  cudaPeekAtLastError: 'peekError',
  cudaGetDevice: 'zero',
  cudaGetDeviceCount: 'one',
  cudaMalloc: 'allocate',
  cudaFree: 'release',
  cudaMemcpyAsync: 'copy',
  cudaMemsetAsync: 'fill',
} as const;

/** What functions of the device runtime do. */
export type DeviceRuntimeKind = (typeof kinds)[keyof typeof kinds];

/** What a function does, by any of the names that compilers give it: `__cudaCDP2` in place of `cuda`, `_ptsz` behind it. */
export function deviceRuntimeKind(name: string): DeviceRuntimeKind | undefined {
  const plain = name.replace(/^__cudaCDP2/, 'cuda').replace(/_pt(sz|ds)$/, '');
  return Object.hasOwn(kinds, plain) ? kinds[plain as keyof typeof kinds] : undefined;
}
