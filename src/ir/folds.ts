/** Facts of reductions that the passes and both compilers share. */
import type { Fold } from './ops.ts';

/** The neutral element of each reduction of 32-bit integers. */
export const neutralOf: Readonly<Record<Fold, number>> = {
  add: 0,
  and: -1,
  or: 0,
  xor: 0,
  smin: 0x7fffffff,
  smax: -0x80000000,
  umin: -1,
  umax: 0,
};
