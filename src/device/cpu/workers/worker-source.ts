/**
 * The program of a worker. From sources it is the module beside this one. In a bundle there is no such file, so that
 * `scripts/worker.ts` replaces this module by one that contains the program as text.
 */
import type { WorkerSource } from '../../spawn.ts';

export const workerSource = (): WorkerSource => {
  return { url: new URL('./worker.ts', import.meta.url).href };
};
