/** Scalar code that may run blocks in place of vectorized code, and which of both was found to be faster. */
import { hasIndependentThreads, type Kernel } from '../../../ir/index.ts';
import type { Dim3, EngineOptions } from '../../device.ts';
import type { KnownLaunch } from './launch-facts.ts';

export interface Rivals<T> {
  /**
   * The other code for blocks of a shape, where vectorized code was chosen by the size of the kernel alone and both have the same results;
   * undefined where it has been found out which is faster.
   */
  rival(block: Dim3, facts?: KnownLaunch): (() => T) | undefined;
  /** Has scalar or vectorized code run the blocks of a shape from now on. */
  settle(block: Dim3, isScalar: boolean): void;
}

/** Scalar code in place of vectorized code, by the shape of blocks. `isScalar` is whether it was found to be faster. */
export function rivalsOf<T>(
  ready: () => Kernel,
  { engine = 'auto', lanes, fma = 'exact' }: EngineOptions,
  scalar: (reason: undefined, areBuffersAligned?: boolean) => T,
): Rivals<T> & { isScalar(block: Dim3): boolean } {
  const settled = new Map<string, boolean>();
  const isFree = engine === 'auto' && lanes === undefined && fma === 'exact';
  let isIndependent: boolean | undefined;
  return {
    isScalar: (block) => settled.size > 0 && settled.get(block.join()) === true,
    settle: (block, isFaster) => void settled.set(block.join(), isFaster),
    rival(block, facts) {
      if (!isFree || (settled.size > 0 && settled.has(block.join()))) return undefined;
      isIndependent ??= hasIndependentThreads(ready());
      return isIndependent ? () => scalar(undefined, facts?.areBuffersAligned) : undefined;
    },
  };
}
