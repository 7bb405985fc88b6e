/** By op: what becomes of it on doubles where a target has none. Total over the ops, so that a new one is decided on here. */
import { type InstOf, type IntType, type Op, ops, type Value } from '../../ir/index.ts';
import { fusedSumOf, productOf, sumOf } from './arithmetic.ts';
import { fromInteger, narrowed, toInteger, widened } from './convert.ts';
import { compared, extremeOf, integralOf } from './integral.ts';
import { magnitudeMask, signBit } from './parts.ts';
import { quotientOf, rootOf } from './quotient.ts';
import type { Words } from './words.ts';

/** The same result bits from operands that are i64 where the op has f64; a result of f64 is an i64. */
export type Expansion = (w: Words, inst: never) => Value;

/** `moves`: the op is the same on i64. `refused`: nothing exact takes its place. `never`: it has no doubles. */
export type Fate = Expansion | 'moves' | 'refused' | 'never';

type Fates = { readonly [K in Op]: ((w: Words, inst: InstOf<K>) => Value) | 'moves' | 'refused' | 'never' };

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
  fadd: (w, { a, b }) => sumOf(w, a, b),
  fsub: (w, { a, b }) => sumOf(w, a, w.xor(b, signBit)),
  fmul: (w, { a, b }) => productOf(w, a, b),
  fdiv: (w, { a, b }) => quotientOf(w, a, b),
  fma: (w, { a, b, c }) => fusedSumOf(w, a, b, c),
  fsqrt: (w, { a }) => rootOf(w, a),
  fneg: (w, { a }) => w.xor(a, signBit),
  fabs: (w, { a }) => w.and(a, magnitudeMask),
  fmin: (w, { a, b }) => extremeOf(w, a, b, 'slt'),
  fmax: (w, { a, b }) => extremeOf(w, a, b, 'sgt'),
  frint: (w, { a }) => integralOf(w, a, 'even'),
  ftrunc: (w, { a }) => integralOf(w, a, 'zero'),
  ffloor: (w, { a }) => integralOf(w, a, 'down'),
  fceil: (w, { a }) => integralOf(w, a, 'up'),
  fexp2: 'refused',
  flog2: 'refused',
  fsin: 'refused',
  fcos: 'refused',
  ftanh: 'refused',
  frsqrt: 'refused',
  fcmp: (w, { a, b, pred }) => compared(w, a, b, pred),
  trunc: 'never',
  zext: 'never',
  sext: 'never',
  bitcast: 'moves',
  fptosi: (w, { a, type }) => toInteger(w, a, type as IntType, true),
  fptoui: (w, { a, type }) => toInteger(w, a, type as IntType, false),
  sitofp: (w, { a }) => fromInteger(w, a, true),
  uitofp: (w, { a }) => fromInteger(w, a, false),
  fpext: (w, { a }) => widened(w, a),
  fptrunc: (w, { a, type }) => narrowed(w, a, type as 'f16' | 'bf16' | 'f32'),
  select: 'moves',
  vec2: 'moves',
  vec4: 'moves',
  extract: 'moves',
  ptradd: 'never',
  ptrtoint: 'never',
  inttoptr: 'never',
  load: 'moves',
  store: 'moves',
  atomic: 'refused',
  cas: 'moves',
  barrier: 'never',
  shuffle: 'moves',
  ballot: 'never',
  reduce: 'never',
  syncwarp: 'never',
};

/** What becomes of an op that has an operand or a result of f64. */
export const fateOf = (op: Op): Fate => fates[op] as Fate;

/** Whether an op computes: with doubles it is work, and not only bits that move or a sign that changes. */
export const computes = (op: Op): boolean => typeof fates[op] === 'function' && op !== 'fneg' && op !== 'fabs';

/** The ops that have an expansion. */
export const expandedOps: readonly Op[] = (Object.keys(ops) as Op[]).filter((op) => typeof fates[op] === 'function');
