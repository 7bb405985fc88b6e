/** The GPU devices, which need system libraries. The build for pages replaces this file by `gpus.page.ts` (`scripts/browser/build.ts`). */
export { openCudaDevice, systemCuda } from './cuda/index.ts';
export { openMetalDevice, systemMetal } from './metal/index.ts';
export { openOpenclDevice, systemOpencl } from './opencl/index.ts';
export { openWebgpuDevice, prepareWebgpu } from './webgpu/index.ts';
