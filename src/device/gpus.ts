/** The GPUs that system libraries reach. In the package's build for pages `gpus.page.ts` takes the place of this file (`scripts/browser/build.ts`). */
export { openCudaDevice, systemCuda } from './cuda/index.ts';
export { openMetalDevice, systemMetal } from './metal/index.ts';
