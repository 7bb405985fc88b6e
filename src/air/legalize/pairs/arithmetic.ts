/**
 * Sum, product, fused multiply-add, quotient and root of pairs, without branches. Special values follow from IEEE 754 arithmetic on the
 * high floats. The algorithms are those of the source in `pair.ts`.
 */
import type { Value } from '../../../ir/index.ts';
import { isNonzeroNumber, maxPower, normalized, type Pair, powerOfTwo, powers, quickTwoSum, type Tools, twoSum } from './pair.ts';

/** The largest alignment shift: beyond it the smaller addend vanishes. For smaller shifts, subnormal f64 values keep 2^-52. */
const minShift = -100n;

/** The scale factors that bring two pairs to the higher of their powers. */
export function aligned(t: Tools, a: Value, b: Value): { power: Value; scales: [Value, Value] } {
  const { w } = t;
  const power = w.smax(a, b);
  const scale = (own: Value): Value => powerOfTwo(t, w.smax(w.sub(own, power), minShift));
  return { power, scales: [scale(a), scale(b)] };
}

/** a + b, with an error of 3 u^2 (algorithm 6) plus 1 for the grid, relative to the sum. */
export function sumOf(t: Tools, a: Pair, b: Pair): Pair {
  const { power, scales } = aligned(t, a.power, b.power);
  const [x, y] = [scaled(t, a, scales[0]), scaled(t, b, scales[1])];
  const { isNumber, sum, isZero } = addAligned(t, x, y, power);
  const { b: ir, w } = t;
  return {
    high: w.select(isNumber, sum.high, ir.fadd(x.high, y.high)),
    low: w.select(isNumber, sum.low, t.float(0)),
    power: w.select(isNumber, w.select(isZero, powers.zero, sum.power), power),
  };
}

type Floats = Pick<Pair, 'high' | 'low'>;

const scaled = ({ b }: Tools, { high, low }: Floats, scale: Value): Floats => ({ high: b.fmul(high, scale), low: b.fmul(low, scale) });

/** The sum of two pairs of equal power. */
function addAligned(t: Tools, x: Floats, y: Floats, power: Value): { isNumber: Value; sum: Pair; isZero: Value } {
  const { b, w } = t;
  const [high, highError] = twoSum(b, x.high, y.high);
  const [low, lowError] = twoSum(b, x.low, y.low);
  const [first, second] = quickTwoSum(b, high, b.fadd(highError, low));
  const { field, ...sum } = normalized(t, ...quickTwoSum(b, first, b.fadd(lowError, second)), power);
  return { isNumber: isNonzeroNumber(t, power), sum, isZero: w.is(field, 'eq', 0n) };
}

/**
 * The product of the floats of two pairs, and the product of the high floats alone. Algorithm 12: 5 u^2, or 4 by Muller and Rideau (2022).
 */
function floatProduct({ b }: Tools, x: Pair, y: Pair): Floats & { readonly plain: Value } {
  const plain = b.fmul(x.high, y.high);
  const error = b.fma(x.high, y.high, b.fneg(plain));
  const cross = b.fma(x.low, y.high, b.fma(x.high, y.low, b.fmul(x.low, y.low)));
  const [high, low] = quickTwoSum(b, plain, b.fadd(error, cross));
  return { high, low, plain };
}

/** a * b, with an error of 5 u^2 plus 1 for the grid. */
export function productOf(t: Tools, a: Pair, b: Pair): Pair {
  const { high, low, plain } = floatProduct(t, a, b);
  return bounded(t, normalized(t, high, low, t.w.add(a.power, b.power)), plain);
}

/** A pair whose power may have overflowed to infinity or underflowed to zero. `plain` has the sign, and is NaN if the result is. */
function bounded(t: Tools, { high, low, power }: Pair, plain: Value): Pair {
  const { b, w } = t;
  const isNumber = w.is(w.add(power, maxPower), 'ult', 2n * maxPower);
  const isLarge = w.is(power, 'sge', 0n);
  const extreme = b.fmul(plain, b.select(isLarge, t.float(Number.POSITIVE_INFINITY), t.float(0)));
  return {
    high: b.select(isNumber, high, extreme),
    low: b.select(isNumber, low, t.float(0)),
    power: w.select(isNumber, power, w.select(isLarge, powers.infinite, powers.zero)),
  };
}

/** a * b + c, with an error of 5 u^2 relative to the product plus 4 u^2 relative to the sum. */
export function fusedSumOf(t: Tools, a: Pair, b: Pair, c: Pair): Pair {
  const { b: ir, w } = t;
  const product = floatProduct(t, a, b);
  const { power, scales } = aligned(t, w.add(a.power, b.power), c.power);
  const [x, y] = [scaled(t, product, scales[0]), scaled(t, c, scales[1])];
  const { isNumber, sum, isZero } = addAligned(t, x, y, power);
  const extreme = w.select(w.is(power, 'sgt', 0n), powers.infinite, powers.zero);
  return {
    high: w.select(isNumber, sum.high, ir.fadd(ir.fmul(product.plain, scales[0]), y.high)),
    low: w.select(isNumber, sum.low, t.float(0)),
    power: w.select(isNumber, w.select(isZero, powers.zero, sum.power), extreme),
  };
}

/**
 * a / b in two steps: the quotient of the high floats, then that of the remainder. The remainder after the first step is exact, as the sum
 * of `rest` and `small`, because that of the high floats is a float (Boldo and Daumas, 2003). So `low` is rounded once; the first quotient
 * may have a relative error of 3 u, which gives 3 u^2, plus 1 for the grid. An integer quotient below 2^46 is exact.
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
  return bounded(t, normalized(t, high, low, w.sub(a.power, b.power)), plain);
}

/**
 * The square root: that of the high float, plus half of the remainder divided by it. Error 25/8 u^2 (Lefevre, Louvet, Muller, Picot,
 * Rideau, "Accurate calculation of Euclidean norms using double-word arithmetic", 2023) plus 1 for the grid.
 */
export function rootOf(t: Tools, a: Pair): Pair {
  const { b: ir, w } = t;
  // An odd power moves one factor of 2 to the floats, which are then below 4.
  const odd = w.and(a.power, 1n);
  const x = scaled(t, a, powerOfTwo(t, odd));
  const plain = ir.fsqrt(x.high);
  const rest = ir.fadd(ir.fma(ir.fneg(plain), plain, x.high), x.low);
  const [high, low] = quickTwoSum(ir, plain, ir.fdiv(rest, ir.fadd(plain, plain)));
  return bounded(t, normalized(t, high, low, w.ashr(w.sub(a.power, odd), 1n)), plain);
}
