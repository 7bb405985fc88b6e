/** Which of two pairs is less: exactly, by the numbers that they are. */
import type { FcmpPredicate, Value } from '../../../ir/index.ts';
import { aligned } from './arithmetic.ts';
import type { Pair, Tools } from './pair.ts';

/**
 * A comparison, as an i1. Of the same power, the floats nearest to two numbers are in their order, or equal; of what is halfway
 * between two floats, where cutting has moved it, the even one is made the nearest.
 */
export function compared(t: Tools, x: Pair, y: Pair, pred: FcmpPredicate): Value {
  const { b } = t;
  const { scales } = aligned(t, x.power, y.power);
  const parts = (pair: Pair, scale: Value): [Value, Value] => {
    const [high, low] = [b.fmul(pair.high, scale), b.fmul(pair.low, scale)];
    const nearest = b.fadd(high, low);
    // Of infinity NaN, which makes both the same.
    return [nearest, b.fsub(low, b.fmin(b.fsub(nearest, high), t.float(1)))];
  };
  const [[high, low], [otherHigh, otherLow]] = [parts(x, scales[0]), parts(y, scales[1])];
  const isByLow = b.fcmp(high, otherHigh, { pred: 'oeq' });
  return b.select(isByLow, b.fcmp(low, otherLow, { pred }), b.fcmp(high, otherHigh, { pred }));
}

/** The smaller or the larger; the other one where one is a NaN. -0 is below +0. */
export function extremeOf(t: Tools, x: Pair, y: Pair, wanted: 'olt' | 'ogt'): Pair {
  const { b, w } = t;
  const isFirst = b.or(compared(t, x, y, wanted), b.fcmp(y.high, y.high, { pred: 'uno' }));
  const either = (one: Value, other: Value): Value => b.select(isFirst, one, other);
  const [first, second] = [t.bits(x.high), t.bits(y.high)];
  // Of two zeros the signs decide.
  const zero = t.ofBits(wanted === 'olt' ? w.or(first, second) : w.and(first, second));
  const areZeros = b.and(...([x, y].map(({ high }) => b.fcmp(high, t.float(0), { pred: 'oeq' })) as [Value, Value]));
  return { high: b.select(areZeros, zero, either(x.high, y.high)), low: either(x.low, y.low), power: either(x.power, y.power) };
}
