/** The blocks that a body is right for: what its functions say of the number of threads, and the launch that is compared with it. */
import { type Dim3, product } from '../base/dim3.ts';
import { fail } from './fail.ts';
import { trace } from './trace.ts';

/** What the functions of a body say of the block. */
export interface BlockSize {
  /** The threads along x, which are all of the block. */
  exactly?: number;
  /** The least number of threads. */
  least: number;
}

/** Notes that blocks have a number of threads, along x alone. Throws CM5088 if the kernel said another one. */
export function blockHas(threads: number, what: string): void {
  const { block } = trace();
  if (block.exactly !== undefined && block.exactly !== threads)
    fail('CM5088', { what, why: `${threads} threads, and another function of the kernel has blocks of ${block.exactly}` });
  block.exactly = threads;
}

/** Notes that blocks have at least a number of threads. */
export function blockHasAtLeast(threads: number): void {
  const { block } = trace();
  block.least = Math.max(block.least, threads);
}

/** Throws CM5020 for blocks that the functions of a body are not right for. */
export function assertBlock(kernel: string, { exactly, least }: BlockSize, given: Dim3): void {
  const isRight = exactly === undefined ? product(given) >= least : given[0] === exactly && given[1] === 1 && given[2] === 1;
  if (isRight) return;
  const wanted = exactly === undefined ? `${least} threads or more` : `${exactly} x 1 x 1`;
  fail('CM5020', { kernel, wanted, given: given.join(' x ') });
}
