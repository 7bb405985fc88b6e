/** The ops that are computed on pairs. All others are exact, on the bits of f64 values (`f64/expansions.ts`). */
import type { Op } from '../../../ir/index.ts';
import { fusedSumOf, productOf, quotientOf, rootOf, sumOf } from './arithmetic.ts';
import { extremeOf } from './compare.ts';
import { magnitudeOf, negated, type Pair, type Tools } from './pair.ts';

export interface PairRow {
  /** `computes`: the result is always a pair. `keeps`: the result is an operand, possibly with another sign, and a pair if that is one. */
  readonly kind: 'computes' | 'keeps';
  /** The error bound in u^2 = 2^-48, relative to the exact result, and for a fused multiply-add also relative to the product. */
  readonly bound: { readonly result: number; readonly product?: number };
  readonly expand: (t: Tools, ...operands: Pair[]) => Pair;
}

type Unary = 'fneg' | 'fabs' | 'fsqrt';
type Binary = 'fadd' | 'fsub' | 'fmul' | 'fdiv' | 'fmin' | 'fmax';

export const pairOps = {
  fadd: { kind: 'computes', bound: { result: 4 }, expand: (t, a, b) => sumOf(t, a!, b!) },
  fsub: { kind: 'computes', bound: { result: 4 }, expand: (t, a, b) => sumOf(t, a!, negated(t, b!)) },
  fmul: { kind: 'computes', bound: { result: 6 }, expand: (t, a, b) => productOf(t, a!, b!) },
  fma: { kind: 'computes', bound: { result: 4, product: 5 }, expand: (t, a, b, c) => fusedSumOf(t, a!, b!, c!) },
  fdiv: { kind: 'computes', bound: { result: 4 }, expand: (t, a, b) => quotientOf(t, a!, b!) },
  fsqrt: { kind: 'computes', bound: { result: 4.125 }, expand: (t, a) => rootOf(t, a!) },
  fmin: { kind: 'keeps', bound: { result: 0 }, expand: (t, a, b) => extremeOf(t, a!, b!, 'olt') },
  fmax: { kind: 'keeps', bound: { result: 0 }, expand: (t, a, b) => extremeOf(t, a!, b!, 'ogt') },
  fneg: { kind: 'keeps', bound: { result: 0 }, expand: (t, a) => negated(t, a!) },
  fabs: { kind: 'keeps', bound: { result: 0 }, expand: (t, a) => magnitudeOf(t, a!) },
} as const satisfies Record<Unary | Binary | 'fma', PairRow>;

export type PairOp = keyof typeof pairOps;

/** The row of an op, if it has one. */
export const pairRowOf = (op: Op): PairRow | undefined => (pairOps as Partial<Record<Op, PairRow>>)[op];
