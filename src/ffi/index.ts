/**
 * Foreign functions: the only room with pointers. It opens system libraries through `bun:ffi` and exposes opaque handles, numbers and views
 * of memory. It knows neither devices nor kernels. Start at `metal/open.ts` (the ways to Metal, in order) and `metal/binding.ts` (their
 * common interface); `cuda/open.ts` and `cuda/binding.ts` are for CUDA's driver, `opencl/` for libOpenCL.
 */

export type { CudaBinding, CudaFunctionFacts, CudaMark, CudaModule } from './cuda/binding.ts';
export { type Capture, captureOutput } from './cuda/capture.ts';
export { type RetainedContext, retainContext } from './cuda/contexts.ts';
export type { CudaFault, CudaHandle, CudaLaunch, PackedArguments } from './cuda/driver.ts';
export type { ArrayShape, DriverArray, TextureResource, TextureSampler } from './cuda/images.ts';
export { type OpenedCuda, openCuda, openCudaAt } from './cuda/open.ts';
export type { DeviceFacts, Handle, MetalBinding, MetalFault, Outcome, PipelineFacts } from './metal/binding.ts';
export { type CoreLibraries, gpuCoreCount } from './metal/cores.ts';
export { type OpenedMetal, openMetal } from './metal/open.ts';
export type { ClArgument, ClFault, ClHandle, OpenclBinding } from './opencl/binding.ts';
export { type OpenedOpencl, openOpencl, openOpenclAt } from './opencl/open.ts';
