/** The vector instruction on 32-bit lanes for each operation of an atomic or a warp reduction. */
import type { AtomicOp, Fold } from '../../ir/index.ts';
import type { NameWith } from '../../wasm/index.ts';

export const wordOps: Readonly<Record<Fold & AtomicOp, NameWith<'none'>>> = {
  add: 'i32x4.add',
  and: 'v128.and',
  or: 'v128.or',
  xor: 'v128.xor',
  smin: 'i32x4.min_s',
  smax: 'i32x4.max_s',
  umin: 'i32x4.min_u',
  umax: 'i32x4.max_u',
};

/** The vector instruction that computes the new value of an atomic; undefined if there is none. */
export const wordOpOf = (rmw: AtomicOp): NameWith<'none'> | undefined => (wordOps as Partial<Record<AtomicOp, NameWith<'none'>>>)[rmw];
