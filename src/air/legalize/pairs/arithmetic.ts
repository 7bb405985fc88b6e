/**
 * Sum, product, fused sum, quotient and root of pairs, without a branch. What has no number for its result comes out of the high
 * floats alone, in which IEEE 754 is at work; algorithms are those of the source in `pair.ts`.
 */
import type { Value } from '../../../ir/index.ts';
import { isUsual, mostPower, normalised, type Pair, powerOfTwo, powers, quickTwoSum, type Tools, twoSum } from './pair.ts';

/** A shift to the right that leaves nothing of what is added to a number from 1 to 2; of less than that, subnormal doubles keep 2^-52. */
const farthest = -100n;

/** What two pairs are multiplied by to have the same power, the higher one. */
export function aligned(t: Tools, a: Value, b: Value): { power: Value; scales: [Value, Value] } {
  const { w } = t;
  const power = w.smax(a, b);
  const scale = (own: Value): Value => powerOfTwo(t, w.smax(w.sub(own, power), farthest));
  return { power, scales: [scale(a), scale(b)] };
}

/** a + b, off by 3 u^2 (algorithm 6) and 1 for the grid, in parts of the sum. */
export function sumOf(t: Tools, a: Pair, b: Pair): Pair {
  const { power, scales } = aligned(t, a.power, b.power);
  const [x, y] = [scaled(t, a, scales[0]), scaled(t, b, scales[1])];
  const { isNumber, sum, isZero } = joined(t, x, y, power);
  const { b: ir, w } = t;
  return {
    high: w.select(isNumber, sum.high, ir.fadd(x.high, y.high)),
    low: w.select(isNumber, sum.low, t.float(0)),
    power: w.select(isNumber, w.select(isZero, powers.zero, sum.power), power),
  };
}

type Floats = Pick<Pair, 'high' | 'low'>;

const scaled = ({ b }: Tools, { high, low }: Floats, scale: Value): Floats => ({ high: b.fmul(high, scale), low: b.fmul(low, scale) });

/** The sum of two pairs of one power. */
function joined(t: Tools, x: Floats, y: Floats, power: Value): { isNumber: Value; sum: Pair; isZero: Value } {
  const { b, w } = t;
  const [high, highError] = twoSum(b, x.high, y.high);
  const [low, lowError] = twoSum(b, x.low, y.low);
  const [first, second] = quickTwoSum(b, high, b.fadd(highError, low));
  const { field, ...sum } = normalised(t, ...quickTwoSum(b, first, b.fadd(lowError, second)), power);
  return { isNumber: isUsual(t, power), sum, isZero: w.is(field, 'eq', 0n) };
}

/** The product of the floats of two pairs, and its high floats' product alone. Algorithm 12: 5 u^2, 4 by Muller and Rideau (2022). */
function floatProduct({ b }: Tools, x: Pair, y: Pair): Floats & { readonly plain: Value } {
  const plain = b.fmul(x.high, y.high);
  const error = b.fma(x.high, y.high, b.fneg(plain));
  const cross = b.fma(x.low, y.high, b.fma(x.high, y.low, b.fmul(x.low, y.low)));
  const [high, low] = quickTwoSum(b, plain, b.fadd(error, cross));
  return { high, low, plain };
}

/** a * b, off by 5 u^2 and 1 for the grid. */
export function productOf(t: Tools, a: Pair, b: Pair): Pair {
  const { high, low, plain } = floatProduct(t, a, b);
  return bounded(t, normalised(t, high, low, t.w.add(a.power, b.power)), plain);
}

/** A pair whose power may have left the range, by which it is infinite or zero; `plain` has the sign, and is NaN where the result is. */
function bounded(t: Tools, { high, low, power }: Pair, plain: Value): Pair {
  const { b, w } = t;
  const isNumber = w.is(w.add(power, mostPower), 'ult', 2n * mostPower);
  const isLarge = w.is(power, 'sge', 0n);
  const extreme = b.fmul(plain, b.select(isLarge, t.float(Number.POSITIVE_INFINITY), t.float(0)));
  return {
    high: b.select(isNumber, high, extreme),
    low: b.select(isNumber, low, t.float(0)),
    power: w.select(isNumber, power, w.select(isLarge, powers.infinite, powers.zero)),
  };
}

/** a * b + c, off by 5 u^2 in parts of the product, and 4 u^2 in parts of the sum. */
export function fusedSumOf(t: Tools, a: Pair, b: Pair, c: Pair): Pair {
  const { b: ir, w } = t;
  const product = floatProduct(t, a, b);
  const { power, scales } = aligned(t, w.add(a.power, b.power), c.power);
  const [x, y] = [scaled(t, product, scales[0]), scaled(t, c, scales[1])];
  const { isNumber, sum, isZero } = joined(t, x, y, power);
  const extreme = w.select(w.is(power, 'sgt', 0n), powers.infinite, powers.zero);
  return {
    high: w.select(isNumber, sum.high, ir.fadd(ir.fmul(product.plain, scales[0]), y.high)),
    low: w.select(isNumber, sum.low, t.float(0)),
    power: w.select(isNumber, w.select(isZero, powers.zero, sum.power), extreme),
  };
}

/**
 * a / b: the quotient of the high floats, and that of the remainder, in two steps. What the first leaves of a is known exactly, as
 * the sum of `rest` and `small`: that of the high floats is a float (Boldo and Daumas, 2003). So `low` is rounded once; as the first
 * quotient may be off by 3 u of it, that is 3 u^2, and 1 for the grid. A quotient that is an integer below 2^46 is exact.
 */
export function quotientOf(t: Tools, a: Pair, b: Pair): Pair {
  const { b: ir, w } = t;
  const plain = ir.fdiv(a.high, b.high);
  const minus = ir.fneg(plain);
  const product = ir.fmul(minus, b.low);
  const productError = ir.fma(minus, b.low, ir.fneg(product));
  const [lower, lowerError] = twoSum(ir, a.low, product);
  const [rest, restError] = twoSum(ir, ir.fma(minus, b.high, a.high), lower);
  const small = ir.fadd(restError, ir.fadd(lowerError, productError));
  const reciprocal = ir.fdiv(t.float(1), b.high);
  const second = ir.fmul(rest, reciprocal);
  const minusSecond = ir.fneg(second);
  const last = ir.fma(minusSecond, b.low, ir.fadd(ir.fma(minusSecond, b.high, rest), small));
  const [high, low] = quickTwoSum(ir, plain, ir.fadd(second, ir.fmul(last, reciprocal)));
  return bounded(t, normalised(t, high, low, w.sub(a.power, b.power)), plain);
}

/**
 * The square root: that of the high float, and half of what its square leaves over it. Off by 25/8 u^2 (Lefevre, Louvet, Muller,
 * Picot, Rideau, "Accurate calculation of Euclidean norms using double-word arithmetic", 2023) and 1 for the grid.
 */
export function rootOf(t: Tools, a: Pair): Pair {
  const { b: ir, w } = t;
  // An odd power gives one of it to the floats, which are then up to 4.
  const odd = w.and(a.power, 1n);
  const x = scaled(t, a, powerOfTwo(t, odd));
  const plain = ir.fsqrt(x.high);
  const rest = ir.fadd(ir.fma(ir.fneg(plain), plain, x.high), x.low);
  const [high, low] = quickTwoSum(ir, plain, ir.fdiv(rest, ir.fadd(plain, plain)));
  return bounded(t, normalised(t, high, low, w.ashr(w.sub(a.power, odd), 1n)), plain);
}
