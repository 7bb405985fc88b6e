/** Exact comparison of two pairs. */
import type { FcmpPredicate, Value } from '../../../ir/index.ts';
import { aligned } from './arithmetic.ts';
import type { Pair, Tools } from './pair.ts';

/**
 * A comparison, as an i1. For equal powers, the floats nearest to the two numbers are in the same order or equal; for a tie between two
 * floats, which truncation may have moved, the even one is taken as nearest.
 */
export function compared(t: Tools, x: Pair, y: Pair, pred: FcmpPredicate): Value {
  const { b } = t;
  const { scales } = aligned(t, x.power, y.power);
  const parts = (pair: Pair, scale: Value): [Value, Value] => {
    const [high, low] = [b.fmul(pair.high, scale), b.fmul(pair.low, scale)];
    const nearest = b.fadd(high, low);
    // Infinity gives NaN in both places, which are then equal.
    return [nearest, b.fsub(low, b.fmin(b.fsub(nearest, high), t.float(1)))];
  };
  const [[high, low], [otherHigh, otherLow]] = [parts(x, scales[0]), parts(y, scales[1])];
  const isByLow = b.fcmp(high, otherHigh, { pred: 'oeq' });
  return b.select(isByLow, b.fcmp(low, otherLow, { pred }), b.fcmp(high, otherHigh, { pred }));
}

/** The minimum or maximum; the other operand if one is NaN. -0 is less than +0. */
export function extremeOf(t: Tools, x: Pair, y: Pair, pred: 'olt' | 'ogt'): Pair {
  const { b, w } = t;
  const isFirst = b.or(compared(t, x, y, pred), b.fcmp(y.high, y.high, { pred: 'uno' }));
  const either = (one: Value, other: Value): Value => b.select(isFirst, one, other);
  const [first, second] = [t.bits(x.high), t.bits(y.high)];
  // For two zeros the signs decide.
  const zero = t.ofBits(pred === 'olt' ? w.or(first, second) : w.and(first, second));
  const areZeros = b.and(...([x, y].map(({ high }) => b.fcmp(high, t.float(0), { pred: 'oeq' })) as [Value, Value]));
  return { high: b.select(areZeros, zero, either(x.high, y.high)), low: either(x.low, y.low), power: either(x.power, y.power) };
}
