/** Which of two pairs is less: exactly, by the numbers that they are. */
import type { FcmpPredicate, Value } from '../../ir/index.ts';
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
