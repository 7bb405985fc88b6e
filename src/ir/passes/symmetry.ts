/** Ops that are commutative, and comparisons with their operands swapped or their result inverted. */
import type { Inst, InstOf } from '../kernel.ts';
import type { FcmpPredicate, IcmpPredicate, Op } from '../ops.ts';

/** Ops that keep their meaning when `a` and `b` change places. */
export const commutative: ReadonlySet<Op> = new Set([
  'add',
  'mul',
  'smulhi',
  'umulhi',
  'and',
  'or',
  'xor',
  'smin',
  'smax',
  'umin',
  'umax',
  'fadd',
  'fmul',
  'fma',
  'fmin',
  'fmax',
] as const satisfies Op[]);

/** Commutative integer ops for which (x op c) op d = x op (c op d). */
export const associative: ReadonlySet<Op> = new Set([
  'add',
  'mul',
  'and',
  'or',
  'xor',
  'smin',
  'smax',
  'umin',
  'umax',
] as const satisfies Op[]);

const mirroredIcmp = {
  eq: 'eq',
  ne: 'ne',
  slt: 'sgt',
  sle: 'sge',
  sgt: 'slt',
  sge: 'sle',
  ult: 'ugt',
  ule: 'uge',
  ugt: 'ult',
  uge: 'ule',
} as const satisfies Record<IcmpPredicate, IcmpPredicate>;

const mirroredFcmp = {
  oeq: 'oeq',
  one: 'one',
  olt: 'ogt',
  ole: 'oge',
  ogt: 'olt',
  oge: 'ole',
  ord: 'ord',
  ueq: 'ueq',
  une: 'une',
  ult: 'ugt',
  ule: 'uge',
  ugt: 'ult',
  uge: 'ule',
  uno: 'uno',
} as const satisfies Record<FcmpPredicate, FcmpPredicate>;

/** The predicate of a comparison with its operands swapped. */
export const mirroredPredicate = (inst: InstOf<'icmp'> | InstOf<'fcmp'>): IcmpPredicate | FcmpPredicate =>
  inst.op === 'icmp' ? mirroredIcmp[inst.pred] : mirroredFcmp[inst.pred];

/** Whether there is an instruction with `a` and `b` swapped that gives the same result. */
export const isSymmetric = (op: Op): boolean => op === 'icmp' || op === 'fcmp' || commutative.has(op);

/** The instruction with `a` and `b` swapped, if there is one. */
export function mirrored(inst: Inst): Inst | undefined {
  if (!isSymmetric(inst.op)) return undefined;
  const { a, b } = inst as InstOf<'add'>;
  if (inst.op === 'icmp' || inst.op === 'fcmp') return { ...inst, a: b, b: a, pred: mirroredPredicate(inst) } as Inst;
  return { ...inst, a: b, b: a } as Inst;
}

const invertedIcmp = {
  eq: 'ne',
  ne: 'eq',
  slt: 'sge',
  sle: 'sgt',
  sgt: 'sle',
  sge: 'slt',
  ult: 'uge',
  ule: 'ugt',
  ugt: 'ule',
  uge: 'ult',
} as const satisfies Record<IcmpPredicate, IcmpPredicate>;

const invertedFcmp = {
  oeq: 'une',
  one: 'ueq',
  olt: 'uge',
  ole: 'ugt',
  ogt: 'ule',
  oge: 'ult',
  ord: 'uno',
  ueq: 'one',
  une: 'oeq',
  ult: 'oge',
  ule: 'ogt',
  ugt: 'ole',
  uge: 'olt',
  uno: 'ord',
} as const satisfies Record<FcmpPredicate, FcmpPredicate>;

/** The comparison that holds where this one does not, NaN among the operands or not. */
export function invertComparison(inst: Inst): Inst | undefined {
  if (inst.op === 'icmp') return { ...inst, pred: invertedIcmp[inst.pred] };
  return inst.op === 'fcmp' ? { ...inst, pred: invertedFcmp[inst.pred] } : undefined;
}
