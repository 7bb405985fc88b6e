/**
 * The program of the worker that has the GPU. From sources it is the module beside this one; in a bundle `scripts/worker.ts` replaces this
 * module by one that contains the program as text.
 */
import type { WorkerSource } from '../../spawn.ts';

export const workerSource = (): WorkerSource => {
  return { url: new URL('./worker.ts', import.meta.url).href };
};
