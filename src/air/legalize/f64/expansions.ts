/** The expansion of each op on f64 for targets without it. The record is total over the ops, so that a new op needs a decision here. */
import { type InstOf, type IntType, type Op, ops, type Value } from '../../../ir/index.ts';
import { fusedSumOf, productOf, sumOf } from './arithmetic.ts';
import { fromInteger, narrowed, toInteger, widened } from './convert.ts';
import type { IntegerOps } from './integer-ops.ts';
import { compared, extremeOf, integralOf } from './integral.ts';
import { magnitudeMask, signBit } from './parts.ts';
import { quotientOf, rootOf } from './quotient.ts';

/** Produces the same result bits. Operands are i64 in place of f64, and an f64 result is an i64. */
export interface Expansion<I = never> {
  /** Whether it is inline, because it is no longer than a call; otherwise it is in a helper function, once per kernel. */
  readonly isInline: (inst: I) => boolean;
  readonly expand: (w: IntegerOps, inst: I) => Value;
}

/** `moves`: the op works unchanged on i64. `refused`: there is no exact replacement. `never`: the op has no f64 form. */
export type Treatment = Expansion | 'moves' | 'refused' | 'never';

type Treatments = { readonly [K in Op]: Expansion<InstOf<K>> | 'moves' | 'refused' | 'never' };

const here = <I>(expand: (w: IntegerOps, inst: I) => Value): Expansion<I> => ({ isInline: () => true, expand });
const inFunction = <I>(expand: (w: IntegerOps, inst: I) => Value, isInline: (inst: I) => boolean = () => false): Expansion<I> => ({
  isInline,
  expand,
});

const one = (w: IntegerOps): Value => w.word(0x3ff0_0000_0000_0000n);

const treatments: Treatments = {
  const: 'moves',
  arg: 'moves',
  param: 'never',
  variable: 'never',
  sreg: 'never',
  add: 'never',
  sub: 'never',
  mul: 'never',
  smulhi: 'never',
  umulhi: 'never',
  sdiv: 'never',
  udiv: 'never',
  srem: 'never',
  urem: 'never',
  and: 'never',
  or: 'never',
  xor: 'never',
  shl: 'never',
  lshr: 'never',
  ashr: 'never',
  smin: 'never',
  smax: 'never',
  umin: 'never',
  umax: 'never',
  clz: 'never',
  popcount: 'never',
  bitrev: 'never',
  icmp: 'never',
  fadd: inFunction((w, { a, b }) => sumOf(w, a, b)),
  fsub: inFunction((w, { a, b }) => sumOf(w, a, w.xor(b, signBit))),
  fmul: inFunction((w, { a, b }) => productOf(w, a, b)),
  fdiv: inFunction((w, { a, b }) => quotientOf(w, a, b)),
  fma: inFunction((w, { a, b, c }) => fusedSumOf(w, a, b, c)),
  fsqrt: inFunction((w, { a }) => rootOf(w, a)),
  fneg: here((w, { a }) => w.xor(a, signBit)),
  fabs: here((w, { a }) => w.and(a, magnitudeMask)),
  ftz: 'never',
  fmin: inFunction((w, { a, b }) => extremeOf(w, a, b, 'slt')),
  fmax: inFunction((w, { a, b }) => extremeOf(w, a, b, 'sgt')),
  frint: inFunction((w, { a }) => integralOf(w, a, 'even')),
  ftrunc: inFunction((w, { a }) => integralOf(w, a, 'zero')),
  ffloor: inFunction((w, { a }) => integralOf(w, a, 'down')),
  fceil: inFunction((w, { a }) => integralOf(w, a, 'up')),
  fexp2: 'refused',
  flog2: 'refused',
  fsin: 'refused',
  fcos: 'refused',
  ftanh: 'refused',
  // The exact quotient is as near as any approximation may be.
  frcp: inFunction((w, { a }) => quotientOf(w, one(w), a)),
  frsqrt: inFunction((w, { a }) => quotientOf(w, one(w), rootOf(w, a))),
  fcmp: inFunction(
    (w, { a, b, pred }) => compared(w, a, b, pred),
    ({ pred }) => pred === 'ord' || pred === 'uno',
  ),
  trunc: 'never',
  zext: 'never',
  sext: 'never',
  bitcast: 'moves',
  fptosi: inFunction((w, { a, type }) => toInteger(w, a, type as IntType, true)),
  fptoui: inFunction((w, { a, type }) => toInteger(w, a, type as IntType, false)),
  sitofp: inFunction((w, { a }) => fromInteger(w, a, true)),
  uitofp: inFunction((w, { a }) => fromInteger(w, a, false)),
  fpext: inFunction((w, { a }) => widened(w, a)),
  fptrunc: inFunction((w, { a, type }) => narrowed(w, a, type as 'f16' | 'bf16' | 'f32')),
  call1: 'never',
  call2: 'never',
  call3: 'never',
  fetch: 'never',
  exchange: 'never',
  select: 'moves',
  vec2: 'moves',
  vec4: 'moves',
  extract: 'moves',
  ptradd: 'never',
  ptrtoint: 'never',
  inttoptr: 'never',
  isspace: 'never',
  load: 'moves',
  store: 'moves',
  atomic: 'refused',
  cas: 'moves',
  barrier: 'never',
  shuffle: 'moves',
  ballot: 'never',
  reduce: 'never',
  matmul: 'never',
  mma: 'never',
  fence: 'never',
  clock: 'never',
  members: 'never',
  input: 'never',
  asm: 'never',
  output: 'never',
  mark: 'never',
  within: 'never',
  addressable: 'never',
  aligned: 'never',
  guard: 'never',
  syncwarp: 'never',
  shufflesync: 'never',
  ballotsync: 'never',
  reducesync: 'never',
  warpsync: 'never',
  yield: 'never',
};

/** The expansion of an op with an f64 operand or result. */
export const treatmentOf = (op: Op): Treatment => treatments[op] as Treatment;

/** Whether an op computes with f64 values, rather than moving bits or changing a sign. */
export const computes = (op: Op): boolean => typeof treatments[op] === 'object' && op !== 'fneg' && op !== 'fabs';

/** The ops that have an expansion. */
export const expandedOps: readonly Op[] = (Object.keys(ops) as Op[]).filter((op) => typeof treatments[op] === 'object');
