/** Replaces `gpus.ts` in a page, which has no access to system libraries: opening a GPU fails with the reason. */
import type * as gpus from './gpus.ts';

export { openWebgpuDevice, prepareWebgpu } from './webgpu/index.ts';

const failures = ['a page has no access to Metal and CUDA: use the CPU device'];
const none = { binding: undefined, info: undefined, failures };

export const systemMetal: typeof gpus.systemMetal = () => none;
export const systemCuda: typeof gpus.systemCuda = () => ({ ...none, infos: [] });
export const systemOpencl: typeof gpus.systemOpencl = () => none;
export const openMetalDevice: typeof gpus.openMetalDevice = () => failures[0]!;
export const openCudaDevice: typeof gpus.openCudaDevice = () => failures[0]!;
export const openOpenclDevice: typeof gpus.openOpenclDevice = () => failures[0]!;
