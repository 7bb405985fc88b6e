/**
 * Foreign functions: the only room with pointers. It opens system libraries through `bun:ffi` and gives out handles that mean
 * nothing elsewhere, numbers, and views of memory; what a device or a kernel is, it does not know. Start at `metal/open.ts` (the
 * ways to Metal, in order) and `metal/binding.ts` (what each of them gives); `cuda/open.ts` and `cuda/binding.ts` for CUDA's driver.
 */
export type { CudaBinding, CudaFault, CudaFunctionFacts, CudaHandle, CudaLaunch, CudaModule, PackedArguments } from './cuda/binding.ts';
export { type Capture, captureOutput } from './cuda/capture.ts';
export { type OpenedCuda, openCuda, openCudaAt } from './cuda/open.ts';
export type { DeviceFacts, Handle, MetalBinding, MetalFault, Outcome, PipelineFacts } from './metal/binding.ts';
export { type CoreLibraries, gpuCoreCount } from './metal/cores.ts';
export { type OpenedMetal, openMetal } from './metal/open.ts';
