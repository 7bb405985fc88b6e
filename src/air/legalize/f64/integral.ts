/**
 * Rounding of f64 to integral values, and comparisons.
 * Source: IEEE 754-2019, sections 5.3.1 (to integral values), 5.11 (comparisons).
 */
import type { FcmpPredicate, IcmpPredicate, Value } from '../../../ir/index.ts';
import type { IntegerOps } from './integer-ops.ts';
import { infinity, isNan, magnitudeMask, magnitudeOf, negatedWhere, quietNan, signMask, signOf } from './parts.ts';

const one = 0x3ff0_0000_0000_0000n;
const half = 0x3fe0_0000_0000_0000n;
const quietBit = 1n << 51n;

export type Direction = 'even' | 'zero' | 'down' | 'up';

/** Rounds to an integral value: to nearest even, towards zero, downwards, upwards. A zero result keeps the sign. */
export function integralOf(w: IntegerOps, a: Value, direction: Direction): Value {
  const size = magnitudeOf(w, a);
  const power = w.sub(w.lshr(size, 52n), 1023n);
  const isFraction = w.is(power, 'slt', 0n);
  // A mask of the fraction bits; of all bits for values below one, where it is not used for addition.
  const fraction = w.select(isFraction, magnitudeMask, w.lshr((1n << 52n) - 1n, power));
  const whole = (bits: Value): Value => w.and(bits, w.xor(fraction, -1n));
  const result =
    direction === 'zero'
      ? whole(size)
      : w.select(isFraction, roundFraction(w, a, size, direction), whole(w.add(size, addition(w, a, size, fraction, direction))));
  return w.select(isNan(w, size), w.or(a, quietBit), w.or(result, signOf(w, a)));
}

/** The addend before truncation: it carries into the integer part if the result has to grow. */
function addition(w: IntegerOps, a: Value, size: Value, fraction: Value, direction: Direction): Value {
  if (direction === 'even') {
    const isOdd = w.flag(w.is(w.and(size, w.add(fraction, 1n)), 'ne', 0n));
    return w.add(w.lshr(fraction, 1n), w.and(isOdd, fraction));
  }
  const isNegative = signMask(w, a);
  return w.and(fraction, direction === 'down' ? isNegative : w.xor(isNegative, -1n));
}

/** The result for magnitudes between zero and one: zero or one. */
function roundFraction(w: IntegerOps, a: Value, size: Value, direction: Direction): Value {
  if (direction === 'even') return w.select(w.is(size, 'ugt', half), one, 0n);
  const grows = w.is(a, direction === 'down' ? 'slt' : 'sge', 0n);
  return w.select(w.all(grows, w.is(size, 'ne', 0n)), one, 0n);
}

/** For each predicate, the integer comparison of bits in f64 order, and the result for NaN. */
const predicates = {
  oeq: ['eq', false],
  one: ['ne', false],
  olt: ['slt', false],
  ole: ['sle', false],
  ogt: ['sgt', false],
  oge: ['sge', false],
  ord: [undefined, false],
  ueq: ['eq', true],
  une: ['ne', true],
  ult: ['slt', true],
  ule: ['sle', true],
  ugt: ['sgt', true],
  uge: ['sge', true],
  uno: [undefined, true],
} as const satisfies Record<FcmpPredicate, readonly [IcmpPredicate | undefined, boolean]>;

/** A comparison, as an i1. Zeros of both signs are equal. */
export function compared(w: IntegerOps, a: Value, b: Value, predicate: FcmpPredicate): Value {
  const [x, y] = [magnitudeOf(w, a), magnitudeOf(w, b)];
  const [order, resultForNan] = predicates[predicate];
  const most = w.umax(x, y);
  if (order === undefined) return w.is(most, resultForNan ? 'ugt' : 'ule', infinity);
  const holds = w.is(negatedWhere(w, signMask(w, a), x), order, negatedWhere(w, signMask(w, b), y));
  return resultForNan ? w.any(holds, isNan(w, most)) : w.all(holds, w.is(most, 'ule', infinity));
}

/** The minimum (`slt`) or the maximum (`sgt`); the other operand if one is NaN. -0 is less than +0. */
export function extremeOf(w: IntegerOps, a: Value, b: Value, pred: 'slt' | 'sgt'): Value {
  // The bits of negative numbers are ordered backwards.
  const ordered = (bits: Value): Value => w.xor(bits, w.and(signMask(w, bits), magnitudeMask));
  const better = w.select(w.is(ordered(a), pred, ordered(b)), a, b);
  const [isA, isB] = [a, b].map((bits) => w.is(magnitudeOf(w, bits), 'ule', infinity)) as [Value, Value];
  return w.select(isA, w.select(isB, better, a), w.select(isB, b, quietNan));
}
