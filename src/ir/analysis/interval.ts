/**
 * Intervals of integers: the least and the most that a value is as a signed number. Every rule holds for all operands of `evalOp`; a result that
 * may wrap around has the interval of its type.
 */
import { evalOp, isEvaluableInst } from '../eval.ts';
import type { Inst, InstOf, Value } from '../kernel.ts';
import { operandsOf } from '../operands.ts';
import type { IcmpPredicate, Op } from '../ops.ts';
import { bitsOf, isInt, type Type } from '../types.ts';

/** Both bounds are inclusive. */
export interface Interval {
  readonly min: bigint;
  readonly max: bigint;
}

/** What a rule knows of the operands. */
export interface Operands {
  readonly typeOf: (operand: Value) => Type;
  /** The interval of an integer. */
  readonly of: (operand: Value) => Interval;
}

const lesser = (a: bigint, b: bigint): bigint => (a < b ? a : b);
const greater = (a: bigint, b: bigint): bigint => (a > b ? a : b);
const power = (bits: number): bigint => 1n << BigInt(bits);
const bitLength = (number: bigint): number => (number === 0n ? 0 : number.toString(2).length);

/** The interval of one number. */
export const single = (number: bigint): Interval => ({ min: number, max: number });
/** All signed numbers of some bits. */
export const allOf = (bits: number): Interval => ({ min: -power(bits - 1), max: power(bits - 1) - 1n });
/** The least interval that contains two others. */
export const union = (a: Interval, b: Interval): Interval => ({ min: lesser(a.min, b.min), max: greater(a.max, b.max) });
/** The interval of a sum that does not wrap around. */
export const added = (a: Interval, b: Interval): Interval => ({ min: a.min + b.min, max: a.max + b.max });
/** The interval of a product with a number. */
export const scaled = ({ min, max }: Interval, by: bigint): Interval =>
  by < 0n ? { min: max * by, max: min * by } : { min: min * by, max: max * by };
export const isSingle = ({ min, max }: Interval): boolean => min === max;
/** Whether an interval is in another one. */
export const isInside = ({ min, max }: Interval, outer: Interval): boolean => min >= outer.min && max <= outer.max;

/** The numbers as unsigned ones of some bits. */
export function unsignedOf({ min, max }: Interval, bits: number): Interval {
  if (min >= 0n) return { min, max };
  return max < 0n ? { min: min + power(bits), max: max + power(bits) } : { min: 0n, max: power(bits) - 1n };
}

/** The signed interval of exact results: theirs where it fits, as signed or as unsigned numbers, otherwise that of the type. */
function fitted(exact: Interval, bits: number): Interval {
  const all = allOf(bits);
  if (isInside(exact, all)) return exact;
  const isUpper = exact.min > all.max && exact.max < power(bits);
  return isUpper ? { min: exact.min - power(bits), max: exact.max - power(bits) } : all;
}

// ── rules ──

type Rule<K extends Op> = (inst: InstOf<K>, operands: Operands, bits: number) => Interval | undefined;
type Binary = Pick<InstOf<'add'>, 'a' | 'b'>;

const sum: Rule<'add'> = ({ a, b }, { of }) => added(of(a), of(b));
const difference: Rule<'sub'> = ({ a, b }, { of }) => added(of(a), scaled(of(b), -1n));

function product(x: Interval, y: Interval): Interval {
  const ends = [x.min * y.min, x.min * y.max, x.max * y.min, x.max * y.max];
  return { min: ends.reduce(lesser), max: ends.reduce(greater) };
}

/** The interval of the unsigned operands, and of a divisor or count that is not 0 where that is known. */
const unsignedOperands = ({ a, b }: Binary, { of }: Operands, bits: number): readonly [Interval, Interval] => [
  unsignedOf(of(a), bits),
  unsignedOf(of(b), bits),
];

const quotient = (inst: Binary, operands: Operands, bits: number): Interval | undefined => {
  const [x, y] = unsignedOperands(inst, operands, bits);
  return y.min < 1n ? undefined : { min: x.min / y.max, max: x.max / y.min };
};

const remainder = (inst: Binary, operands: Operands, bits: number): Interval | undefined => {
  const [x, y] = unsignedOperands(inst, operands, bits);
  if (x.max < y.min) return x;
  // x rem 0 is x.
  if (y.min < 1n) return { min: 0n, max: x.max };
  return { min: 0n, max: lesser(x.max, y.max - 1n) };
};

const areNatural = ({ a, b }: Binary, { of }: Operands): boolean => of(a).min >= 0n && of(b).min >= 0n;

const rules: { readonly [K in Op]?: Rule<K> } = {
  add: sum,
  sub: difference,
  mul: ({ a, b }, { of }) => product(of(a), of(b)),
  shl: ({ a, b }, { of }, bits) => {
    const count = of(b);
    return isSingle(count) && count.min >= 0n && count.min < BigInt(bits) ? scaled(of(a), 1n << count.min) : undefined;
  },
  lshr: (inst, operands, bits) => {
    const [x, count] = unsignedOperands(inst, operands, bits);
    const most = BigInt(bits);
    return { min: x.min >> lesser(count.max, most), max: x.max >> lesser(count.min, most) };
  },
  ashr: ({ a, b }, { of }) => {
    const count = of(b);
    return isSingle(count) && count.min >= 0n ? { min: of(a).min >> count.min, max: of(a).max >> count.min } : undefined;
  },
  and: ({ a, b }, { of }) => {
    const natural = [of(a), of(b)].filter(({ min }) => min >= 0n);
    return natural.length === 0 ? undefined : { min: 0n, max: natural.map(({ max }) => max).reduce(lesser) };
  },
  or: (inst, operands) => (areNatural(inst, operands) ? anyBits(inst, operands) : undefined),
  xor: (inst, operands) => (areNatural(inst, operands) ? anyBits(inst, operands) : undefined),
  udiv: quotient,
  sdiv: (inst, operands, bits) => (areNatural(inst, operands) ? quotient(inst, operands, bits) : undefined),
  urem: remainder,
  srem: (inst, operands, bits) => (areNatural(inst, operands) ? remainder(inst, operands, bits) : undefined),
  smin: ({ a, b }, { of }) => ({ min: lesser(of(a).min, of(b).min), max: lesser(of(a).max, of(b).max) }),
  smax: ({ a, b }, { of }) => ({ min: greater(of(a).min, of(b).min), max: greater(of(a).max, of(b).max) }),
  umin: (inst, operands, bits) => {
    const [x, y] = unsignedOperands(inst, operands, bits);
    return { min: lesser(x.min, y.min), max: lesser(x.max, y.max) };
  },
  umax: (inst, operands, bits) => {
    const [x, y] = unsignedOperands(inst, operands, bits);
    return { min: greater(x.min, y.min), max: greater(x.max, y.max) };
  },
  zext: ({ a }, { of, typeOf }) => unsignedOf(of(a), bitsOf(typeOf(a))),
  sext: ({ a }, { of }) => of(a),
  trunc: ({ a }, { of }) => of(a),
  select: ({ a, b }, { of }) => union(of(a), of(b)),
  clz: ({ a }, { typeOf }) => ({ min: 0n, max: BigInt(bitsOf(typeOf(a))) }),
  popcount: ({ a }, { typeOf }) => ({ min: 0n, max: BigInt(bitsOf(typeOf(a))) }),
};

/** No bit above the highest of both. */
const anyBits = ({ a, b }: Binary, { of }: Operands): Interval => ({
  min: 0n,
  max: power(Math.max(bitLength(of(a).max), bitLength(of(b).max))) - 1n,
});

/** The interval of an integer instruction by those of its operands. */
export function intervalOf(inst: Inst, operands: Operands): Interval {
  const bits = bitsOf(inst.type);
  const found = exactly(inst, operands) ?? (rules[inst.op] as Rule<never> | undefined)?.(inst as never, operands, bits);
  return found ? fitted(found, bits) : allOf(bits);
}

/** The result where all operands are single numbers. */
function exactly(inst: Inst, { of, typeOf }: Operands): Interval | undefined {
  if (!isEvaluableInst(inst) || inst.op === 'const') return undefined;
  const own = operandsOf(inst);
  const types = own.map(typeOf);
  if (own.length === 0 || types.some((type) => !isInt(type))) return undefined;
  const given: bigint[] = [];
  for (const [i, operand] of own.entries()) {
    const interval = of(operand);
    if (!isSingle(interval)) return undefined;
    given.push(BigInt.asUintN(bitsOf(types[i]!), interval.min));
  }
  return single(BigInt.asIntN(bitsOf(inst.type), evalOp(inst, given, types)));
}

// ── comparisons ──

/** The part of an interval in which `x pred y` holds for some y of another interval; the interval itself where nothing follows. */
export function whereCompared(x: Interval, pred: IcmpPredicate, y: Interval): Interval {
  const found = compared(x, pred, y);
  return found.min > found.max ? x : found;
}

function compared(x: Interval, pred: IcmpPredicate, y: Interval): Interval {
  const areNatural = x.min >= 0n && y.min >= 0n;
  switch (pred) {
    case 'eq':
      return { min: greater(x.min, y.min), max: lesser(x.max, y.max) };
    case 'ne':
      return isSingle(y) ? { min: x.min === y.min ? x.min + 1n : x.min, max: x.max === y.min ? x.max - 1n : x.max } : x;
    case 'slt':
      return { min: x.min, max: lesser(x.max, y.max - 1n) };
    case 'sle':
      return { min: x.min, max: lesser(x.max, y.max) };
    case 'sgt':
      return { min: greater(x.min, y.min + 1n), max: x.max };
    case 'sge':
      return { min: greater(x.min, y.min), max: x.max };
    // Below a natural number as an unsigned one, a number is natural.
    case 'ult':
      return y.min >= 0n ? { min: greater(x.min, 0n), max: lesser(x.max, y.max - 1n) } : x;
    case 'ule':
      return y.min >= 0n ? { min: greater(x.min, 0n), max: lesser(x.max, y.max) } : x;
    case 'ugt':
      return areNatural ? { min: greater(x.min, y.min + 1n), max: x.max } : x;
    case 'uge':
      return areNatural ? { min: greater(x.min, y.min), max: x.max } : x;
  }
}
