/** What is done to words of 32 bits in the lanes of a vector, by the names that atomics and what a warp folds have for it. */
import type { AtomicOp, Fold } from '../../ir/index.ts';

export const wordOps: Readonly<Record<Fold & AtomicOp, string>> = {
  add: 'i32x4.add',
  and: 'v128.and',
  or: 'v128.or',
  xor: 'v128.xor',
  smin: 'i32x4.min_s',
  smax: 'i32x4.max_s',
  umin: 'i32x4.min_u',
  umax: 'i32x4.max_u',
};

/** The instruction for what an atomic puts in the place of the old value; nothing where there is none. */
export const wordOpOf = (rmw: AtomicOp): string | undefined => (wordOps as Partial<Record<AtomicOp, string>>)[rmw];
