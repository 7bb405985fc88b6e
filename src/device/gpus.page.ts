/** In the place of `gpus.ts` in a page, which reaches no system libraries: there are no GPUs to open, and this says why. */
import type * as gpus from './gpus.ts';

const failures = ['in a page there are no system libraries, by which Metal and CUDA are reached: it has the CPU device'];
const none = { binding: undefined, info: undefined, failures };

export const systemMetal: typeof gpus.systemMetal = () => none;
export const systemCuda: typeof gpus.systemCuda = () => none;
export const openMetalDevice: typeof gpus.openMetalDevice = () => failures[0]!;
export const openCudaDevice: typeof gpus.openCudaDevice = () => failures[0]!;
