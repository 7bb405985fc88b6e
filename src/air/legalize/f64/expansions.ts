/** By op: what becomes of it on doubles where a target has none. Total over the ops, so that a new one is decided on here. */
import { type InstOf, type IntType, type Op, ops, type Value } from '../../../ir/index.ts';
import { fusedSumOf, productOf, sumOf } from './arithmetic.ts';
import { fromInteger, narrowed, toInteger, widened } from './convert.ts';
import { compared, extremeOf, integralOf } from './integral.ts';
import { magnitudeMask, signBit } from './parts.ts';
import { quotientOf, rootOf } from './quotient.ts';
import type { Words } from './words.ts';

/** The same result bits from operands that are i64 where the op has f64; a result of f64 is an i64. */
export interface Expansion<I = never> {
  /** `here`: in the place of the op, being no longer than a call. `function`: in a function that the kernel has once. */
  readonly place: 'here' | 'function';
  readonly expand: (w: Words, inst: I) => Value;
}

/** `moves`: the op is the same on i64. `refused`: nothing exact takes its place. `never`: it has no doubles. */
export type Fate = Expansion | 'moves' | 'refused' | 'never';

type Fates = { readonly [K in Op]: Expansion<InstOf<K>> | 'moves' | 'refused' | 'never' };

const here = <I>(expand: (w: Words, inst: I) => Value): Expansion<I> => ({ place: 'here', expand });
const called = <I>(expand: (w: Words, inst: I) => Value): Expansion<I> => ({ place: 'function', expand });

const fates: Fates = {
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
  fadd: called((w, { a, b }) => sumOf(w, a, b)),
  fsub: called((w, { a, b }) => sumOf(w, a, w.xor(b, signBit))),
  fmul: called((w, { a, b }) => productOf(w, a, b)),
  fdiv: called((w, { a, b }) => quotientOf(w, a, b)),
  fma: called((w, { a, b, c }) => fusedSumOf(w, a, b, c)),
  fsqrt: called((w, { a }) => rootOf(w, a)),
  fneg: here((w, { a }) => w.xor(a, signBit)),
  fabs: here((w, { a }) => w.and(a, magnitudeMask)),
  fmin: here((w, { a, b }) => extremeOf(w, a, b, 'slt')),
  fmax: here((w, { a, b }) => extremeOf(w, a, b, 'sgt')),
  frint: called((w, { a }) => integralOf(w, a, 'even')),
  ftrunc: called((w, { a }) => integralOf(w, a, 'zero')),
  ffloor: called((w, { a }) => integralOf(w, a, 'down')),
  fceil: called((w, { a }) => integralOf(w, a, 'up')),
  fexp2: 'refused',
  flog2: 'refused',
  fsin: 'refused',
  fcos: 'refused',
  ftanh: 'refused',
  frsqrt: 'refused',
  fcmp: here((w, { a, b, pred }) => compared(w, a, b, pred)),
  trunc: 'never',
  zext: 'never',
  sext: 'never',
  bitcast: 'moves',
  fptosi: called((w, { a, type }) => toInteger(w, a, type as IntType, true)),
  fptoui: called((w, { a, type }) => toInteger(w, a, type as IntType, false)),
  sitofp: called((w, { a }) => fromInteger(w, a, true)),
  uitofp: called((w, { a }) => fromInteger(w, a, false)),
  fpext: called((w, { a }) => widened(w, a)),
  fptrunc: called((w, { a, type }) => narrowed(w, a, type as 'f16' | 'bf16' | 'f32')),
  call1: 'never',
  call2: 'never',
  call3: 'never',
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
  fence: 'never',
  clock: 'never',
  members: 'never',
  mark: 'never',
  within: 'never',
  guard: 'never',
  syncwarp: 'never',
};

/** What becomes of an op that has an operand or a result of f64. */
export const fateOf = (op: Op): Fate => fates[op] as Fate;

/** Whether an op computes: with doubles it is work, and not only bits that move or a sign that changes. */
export const computes = (op: Op): boolean => typeof fates[op] === 'object' && op !== 'fneg' && op !== 'fabs';

/** The ops that have an expansion. */
export const expandedOps: readonly Op[] = (Object.keys(ops) as Op[]).filter((op) => typeof fates[op] === 'object');
