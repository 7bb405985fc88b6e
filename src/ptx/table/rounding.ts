/**
 * Directed rounding from operations that round to nearest. The nearest float and the sign of its error determine the directed result: bit
 * patterns of one sign are ordered by magnitude, so it is at most one integer step away, also from infinity to the largest float. Rounding
 * down is rounding up with negated operands and a negated result, which also gives the right sign of an exact zero.
 * Source of the errors: Dekker (1971) for sums and products, and Boldo and Daumas, "Representable Correcting Terms" (2003) for quotients and roots.
 * `scripts/math/directed.c` proves what is said of fused sums, and `scripts/math/shortest.c` that no shorter sequence of sums and fused sums does.
 */
import type { Value } from '../../ir/index.ts';
import { bitsOf, intOf } from '../../ir/types.ts';
import type { RowBuilder } from '../model/row.ts';
import { typeOf } from './compose.ts';
import { noteHalfAway } from './half-away.ts';

/** Towards zero, downwards, upwards. */
export const directed = ['rz', 'rm', 'rp'] as const;
export type Directed = (typeof directed)[number];
type Way = 'zero' | 'up';
type Wide = 'f32' | 'f64';

interface Layout {
  readonly int: 'i32' | 'i64';
  readonly mantissaBits: number;
  readonly bias: number;
}
const layouts: Readonly<Record<Wide, Layout>> = {
  f32: { int: 'i32', mantissaBits: 23, bias: 127 },
  f64: { int: 'i64', mantissaBits: 52, bias: 1023 },
};

/**
 * Rounds in a direction, from a computation that takes operands with the direction's sign. Where `isNegated`, it gives the negation of what it computes:
 * rounding down is that of rounding up.
 */
function inDirection(
  ir: RowBuilder,
  rounding: Directed,
  negated: readonly Value[],
  compute: (way: Way, isNegated: boolean, ...operands: Value[]) => Value,
): Value {
  if (rounding !== 'rm') return compute(rounding === 'rz' ? 'zero' : 'up', false, ...negated);
  return compute('up', true, ...negated.map((a) => ir.fneg(a)));
}

const negatedIf = (ir: RowBuilder, isNegated: boolean, a: Value): Value => (isNegated ? ir.fneg(a) : a);

/** Comparisons of the exact value with the nearest float: whether it is above, or below. */
interface Sides {
  above(): Value;
  below(): Value;
}

const sidesOf = (ir: RowBuilder, error: Value): Sides => {
  const zero = (): Value => ir.const(typeOf(ir, error), 0);
  return { above: () => ir.fcmp(error, zero(), { pred: 'ogt' }), below: () => ir.fcmp(error, zero(), { pred: 'olt' }) };
};

/**
 * The next float upwards from the nearest one, where the exact value is above it; or the negation of it, for which the sign is part of the step. A zero is
 * never farther from zero than the exact value, and has its sign.
 */
function stepUp(ir: RowBuilder, nearest: Value, isAbove: Value, isNegated = false): Value {
  const type = typeOf(ir, nearest);
  const int = intOf(bitsOf(type));
  const bits = ir.bitcast(int, nearest);
  const sign = ir.const(int, isNegated ? 1n << BigInt(bitsOf(type) - 1) : 0);
  const away = ir.const(int, 1);
  const signs = (): Value => ir.ashr(bits, ir.const(int, bitsOf(type) - 1));
  const step = isNotNegative(ir, nearest) ? ir.or(sign, away) : ir.or(isNegated ? ir.xor(signs(), sign) : signs(), away);
  return ir.bitcast(type, ir.add(bits, ir.select(isAbove, step, sign)));
}

/** A little more than half of the distance between 1 and the next float. */
const beyondHalf = { f32: 0x3380_0001n, f64: 0x3ca0_0000_0000_0001n } as const;

/**
 * Whether the step of a normal float is one of arithmetic: a sum with a little more than half of a last place, which is nearest to the next float. That is a fused
 * sum of floats on GPUs, and a product and a sum of doubles on the CPU device; else the step is one of the bits, as where doubles are made of integers.
 */
const stepsByArithmetic = (ir: RowBuilder, nearest: Value): boolean => ir.isForCpu === (typeOf(ir, nearest) === 'f64');

/** A float, and so much of its last place times another one, of which only the magnitude matters. */
function moved(ir: RowBuilder, from: Value, by: Value, isNegative: boolean): Value {
  const type = typeOf(ir, from) as Wide;
  const part = ir.const(type, beyondHalf[type] + (isNegative ? 1n << BigInt(bitsOf(type) - 1) : 0n));
  return type === 'f32' ? ir.fma(part, by, from) : ir.fadd(ir.fmul(part, by), from);
}

/** `stepUp` for a float that is neither subnormal nor infinite if it steps. */
function stepUpNormal(ir: RowBuilder, nearest: Value, isAbove: Value, isNegated: boolean): Value {
  if (!stepsByArithmetic(ir, nearest)) return stepUp(ir, nearest, isAbove, isNegated);
  const from = negatedIf(ir, isNegated, nearest);
  return ir.select(isAbove, moved(ir, from, ir.fabs(nearest), isNegated), from);
}

/** The next float towards zero from the nearest one, which is maybe known to be normal, where the exact value is nearer to zero. */
function stepDown(ir: RowBuilder, nearest: Value, isNearer: Value, isNormal = false): Value {
  if (isNormal && stepsByArithmetic(ir, nearest)) return ir.select(isNearer, moved(ir, nearest, nearest, true), nearest);
  const type = typeOf(ir, nearest);
  const int = intOf(bitsOf(type));
  const bits = ir.bitcast(int, nearest);
  return ir.bitcast(type, ir.add(bits, ir.select(isNearer, ir.const(int, -1n & ((1n << BigInt(bitsOf(type))) - 1n)), ir.const(int, 0))));
}

/** The next float away from zero from the nearest one, where the exact value is farther. */
function stepAway(ir: RowBuilder, nearest: Value, isFarther: Value): Value {
  const type = typeOf(ir, nearest);
  const int = intOf(bitsOf(type));
  return ir.bitcast(type, ir.add(ir.bitcast(int, nearest), ir.select(isFarther, ir.const(int, 1), ir.const(int, 0))));
}

/** Whether a float is known to be nearest to no negative number; a bound of -0 may be one of a negative number that is rounded to zero. */
function isNotNegative(ir: RowBuilder, a: Value): boolean {
  if (ir.typeOf(a) !== 'f32') return false;
  const { low } = ir.floatRange(a);
  return low > 0 || Object.is(low, 0);
}

/** The next float in a direction from the nearest one, which is maybe known to be normal, by the sign of its error. A zero or NaN error changes nothing. */
function stepFrom(ir: RowBuilder, way: Way, isNegated: boolean, nearest: Value, error: Value, isNormal = false): Value {
  if (way === 'up') return (isNormal ? stepUpNormal : stepUp)(ir, nearest, sidesOf(ir, error).above(), isNegated);
  if (isNotNegative(ir, nearest)) return stepDown(ir, nearest, sidesOf(ir, error).below(), isNormal);
  const bits = ir.bitcast(intOf(bitsOf(typeOf(ir, nearest))), nearest);
  return stepDown(ir, nearest, sidesOf(ir, withSignOf(ir, error, bits)).below(), isNormal);
}

/** A float, negated if the highest bit of an integer is set. */
function withSignOf(ir: RowBuilder, a: Value, bits: Value): Value {
  const [type, int] = [typeOf(ir, a), intOf(bitsOf(ir.typeOf(a)))];
  const sign = ir.and(bits, ir.const(int, 1n << BigInt(bitsOf(int) - 1)));
  return ir.bitcast(type, ir.xor(ir.bitcast(int, a), sign));
}

/** The same of two floats; a one with the sign is a factor for the other. */
function bothWithSignOf(ir: RowBuilder, a: Value, b: Value, bits: Value): readonly [Value, Value] {
  const { bias, mantissaBits } = layouts[typeOf(ir, a) as Wide];
  const isOne = (value: Value): boolean => stepsByArithmetic(ir, a) && ir.constantOf(value) === BigInt(bias) << BigInt(mantissaBits);
  const signed = (value: Value): Value => withSignOf(ir, value, bits);
  if (isOne(b)) return [ir.fmul(a, signed(b)), signed(b)];
  return isOne(a) ? [signed(a), ir.fmul(b, signed(a))] : [signed(a), signed(b)];
}

/** Exponents: operands of a product below `product` are scaled by `scale` twice, so that no error is subnormal. */
const scales = { f32: { product: -78, scale: 76 }, f64: { product: -900, scale: 600 } } as const;

/** A power of two as a float of a type. */
const powerOf = (ir: RowBuilder, type: Wide, exponent: number): Value =>
  ir.const(type, BigInt(exponent + layouts[type].bias) << BigInt(layouts[type].mantissaBits));

/**
 * Where the exact sum of two floats is from the nearest float. It is above if and only if b is above `sum - a`, or a above `sum - b`: one of the two
 * differences is exact, and rounding the other one keeps the order or makes it equal. No error is computed, so that none is subnormal; of an infinite sum
 * of numbers the differences are infinite.
 */
function sidesOfSum(ir: RowBuilder, sum: Value, a: Value, b: Value): Sides {
  const [ofA, ofB] = [ir.fsub(sum, b), ir.fsub(sum, a)];
  const either = (pred: 'ogt' | 'olt'): Value => {
    const second = ir.fcmp(b, ofB, { pred });
    return isSmaller(ir, b, a) ? second : ir.or(second, ir.fcmp(a, ofA, { pred }));
  };
  return { above: () => either('ogt'), below: () => either('olt') };
}

/** Whether a magnitude is known to be at most that of another float. */
function isSmaller(ir: RowBuilder, a: Value, b: Value): boolean {
  if (ir.typeOf(a) !== 'f32') return false;
  const [x, y] = [ir.floatRange(a), ir.floatRange(b)];
  const most = Math.max(Math.abs(x.low), Math.abs(x.high));
  return !x.isNan && (most <= y.low || most <= -y.high);
}

/** a + b. */
export function sumIn(ir: RowBuilder, rounding: Directed, a: Value, b: Value): Value {
  const isPositive = rounding === 'rm' && typeOf(ir, a) === 'f32' && ir.floatRange(ir.fadd(a, b)).low > 0;
  const sum = directedSum(ir, isPositive ? 'rz' : rounding, a, b);
  if (rounding === 'rz') noteHalfAway(ir, sum, a, b);
  return sum;
}

function directedSum(ir: RowBuilder, rounding: Directed, a: Value, b: Value): Value {
  return inDirection(ir, rounding, [a, b], (way, isNegated, x, y) => {
    const sum = ir.fadd(x!, y!);
    // A subnormal sum is exact, but a part of a double's last place may be subnormal.
    const isNormal = isKnownNumber(ir, sum) && (typeOf(ir, sum) === 'f32' || gridOf(ir, sum) >= minNormal(ir, sum));
    if (way === 'up') return (isNormal ? stepUpNormal : stepUp)(ir, sum, sidesOfSum(ir, sum, x!, y!).above(), isNegated);
    if (isNotNegative(ir, sum)) return stepDown(ir, sum, sidesOfSum(ir, sum, x!, y!).below(), isNormal);
    // With the sign of the sum, the exact value is nearer to zero if it is below.
    const bits = ir.bitcast(layouts[typeOf(ir, sum) as Wide].int, sum);
    const sides = sidesOfSum(ir, ir.fabs(sum), ...bothWithSignOf(ir, x!, y!, bits));
    return stepDown(ir, sum, sides.below(), isNormal);
  });
}

/** Whether a float is known to be a number of at most a power of two, in magnitude; infinities are no numbers. */
function isAtMost(ir: RowBuilder, a: Value, exponent: number): boolean {
  if (ir.floatSpan(a).high <= exponent) return true;
  if (ir.typeOf(a) !== 'f32') return false;
  const { low, high, isNan } = ir.floatRange(a);
  return !isNan && Math.max(-low, high) <= 2 ** exponent;
}

/** Whether a float is known to be a number. */
const isKnownNumber = (ir: RowBuilder, a: Value): boolean => isAtMost(ir, a, layouts[typeOf(ir, a) as Wide].bias);

/** The exponent of a power of two that a float is known to be a multiple of: it is zero, or at least that in magnitude. */
const gridOf = (ir: RowBuilder, a: Value): number => ir.floatSpan(a).low;
/** The same of a product, and of its error. */
const productGrid = (ir: RowBuilder, a: Value, b: Value): number => gridOf(ir, a) + gridOf(ir, b);

/** The exponent of the least float that is not subnormal. */
const minNormal = (ir: RowBuilder, a: Value): number => 1 - layouts[typeOf(ir, a) as Wide].bias;
/** Whether the product of multiples of a power with a float is never subnormal, so that it has the product of their signs, and costs less than signs do. */
const hasSignOfProduct = (ir: RowBuilder, a: Value, grid: number): boolean => 2 * grid >= minNormal(ir, a) && stepsByArithmetic(ir, a);

/** a * b. The error of a small product may be subnormal, which is rarely so: one of its factors is small, and is scaled. */
export function productIn(ir: RowBuilder, rounding: Directed, a: Value, b: Value): Value {
  return inDirection(ir, rounding, [a], (way, isNegated, x) => {
    const product = ir.fmul(x!, b);
    const error = (): Value => ir.fma(x!, b, ir.fneg(product));
    const grid = productGrid(ir, x!, b);
    if (grid >= minNormal(ir, product)) return productStep(ir, way, isNegated, product, error(), grid);
    const type = typeOf(ir, product) as Wide;
    const isLarge = ir.fcmp(ir.fabs(product), powerOf(ir, type, scales[type].product), { pred: 'uge' });
    return stepFrom(
      ir,
      way,
      isNegated,
      product,
      ir.either(isLarge, error, () => scaledError(ir, x!, b, product)),
    );
  });
}

/** The step of a product whose error is never subnormal. */
function productStep(ir: RowBuilder, way: Way, isNegated: boolean, product: Value, error: Value, grid: number): Value {
  const isNormal = isKnownNumber(ir, product);
  if (way === 'up' || isNotNegative(ir, product) || !hasSignOfProduct(ir, product, grid))
    return stepFrom(ir, way, isNegated, product, error, isNormal);
  return stepDown(ir, product, sidesOf(ir, ir.fmul(error, product)).below(), isNormal);
}

/** A multiple of the error of a small product. */
function scaledError(ir: RowBuilder, a: Value, b: Value, product: Value): Value {
  const type = typeOf(ir, product) as Wide;
  const isLarger = ir.fcmp(ir.fabs(a), ir.fabs(b), { pred: 'oge' });
  const by = powerOf(ir, type, scales[type].scale);
  const scaled = (value: Value): Value => ir.fmul(ir.fmul(value, by), by);
  return ir.fma(scaled(ir.select(isLarger, b, a)), ir.select(isLarger, a, b), ir.fneg(scaled(product)));
}

/** The square root. A small operand is scaled by a square, and so is its root: a branch would have the root twice. */
export function rootIn(ir: RowBuilder, rounding: Directed, a: Value): Value {
  const type = typeOf(ir, a) as Wide;
  const min = type === 'f32' ? -48 : -400;
  if (gridOf(ir, a) >= min) return rootStep(ir, rounding, a);
  const isSmall = ir.fcmp(a, powerOf(ir, type, min), { pred: 'olt' });
  const scaled = ir.fmul(a, ir.select(isSmall, powerOf(ir, type, -2 * min), powerOf(ir, type, 0)));
  return ir.fmul(rootStep(ir, rounding, scaled), ir.select(isSmall, powerOf(ir, type, min), powerOf(ir, type, 0)));
}

/** The root of a number whose remainder is not subnormal. Roots are not negative, so that rounding down is rounding towards zero. */
function rootStep(ir: RowBuilder, rounding: Directed, a: Value): Value {
  const root = ir.fsqrt(a);
  const sides = sidesOf(ir, ir.fma(ir.fneg(root), root, a));
  return rounding === 'rp' ? stepAway(ir, root, sides.above()) : stepDown(ir, root, sides.below());
}

/** Ranges of exponents without overflow, underflow or subnormal errors. */
const safe = {
  f32: { factor: 60, product: -78, max: 126 },
  f64: { factor: 400, product: -900, max: 1000 },
} as const;

/** a / b, from the sign of the remainder; outside of the safe range from the significands, which are then scaled. */
export function quotientIn(ir: RowBuilder, rounding: Directed, a: Value, b: Value): Value {
  const { factor } = safe[typeOf(ir, a) as Wide];
  // The divisor is negated, so that a reciprocal is one of a positive number.
  return inDirection(ir, rounding, [b], (way, isNegated, y) => {
    const nearest = ir.fdiv(a, y!);
    const step = (): Value => quotientStep(ir, way, isNegated, a, y!, nearest, true);
    // Where one of the two is zero, there is no remainder, or it is no number.
    if (isWithin(ir, a, factor) && isWithin(ir, y!, factor)) return step();
    const isSafe = ir.and(isBetween(ir, a, -factor, factor), isBetween(ir, y!, -factor, factor));
    return ir.either(isSafe, step, () => negatedIf(ir, isNegated, quotientOfSignificands(ir, way, a, y!, nearest)));
  });
}

/**
 * 1 / a. The remainder is exact for every divisor: it has the last place of a product near 1, also if the reciprocal is subnormal and has fewer bits. Of an
 * infinite reciprocal of a number it has the right sign, and is no number where a reciprocal is exact.
 */
export function reciprocalIn(ir: RowBuilder, rounding: Directed, a: Value): Value {
  const one = powerOf(ir, typeOf(ir, a) as Wide, 0);
  return inDirection(ir, rounding, [a], (way, isNegated, y) => {
    const isNormal = isWithin(ir, y!, safe[typeOf(ir, y!) as Wide].factor);
    return quotientStep(ir, way, isNegated, one, y!, ir.fdiv(one, y!), isNormal);
  });
}

/** The next float in a direction from a quotient, by the sign of the remainder: that of the quotient's error, if the divisor is positive. */
function quotientStep(ir: RowBuilder, way: Way, isNegated: boolean, a: Value, b: Value, quotient: Value, isNormal: boolean): Value {
  if (way === 'up') {
    const error = withSignOf(ir, ir.fma(ir.fneg(quotient), b, a), ir.bitcast(layouts[typeOf(ir, b) as Wide].int, b));
    return stepFrom(ir, way, isNegated, quotient, error, isNormal);
  }
  const excess = ir.fma(ir.fabs(quotient), ir.fabs(b), ir.fneg(ir.fabs(a)));
  return stepDown(ir, quotient, sidesOf(ir, excess).above(), isNormal);
}

/** Whether a float is known to be zero, or between a power of two and its reciprocal in magnitude. */
const isWithin = (ir: RowBuilder, a: Value, exponent: number): boolean => gridOf(ir, a) >= -exponent && isAtMost(ir, a, exponent);

/** Whether a magnitude is between two powers of two. */
function isBetween(ir: RowBuilder, a: Value, min: number, max: number): Value {
  const [type, size] = [typeOf(ir, a) as Wide, ir.fabs(a)];
  const above = ir.fcmp(size, powerOf(ir, type, min), { pred: 'oge' });
  return ir.and(above, ir.fcmp(size, powerOf(ir, type, max), { pred: 'ole' }));
}

/**
 * a * b + c with a constant factor and a constant addend, where the sum is known to be between 2^23 and 2^24: the integer next to it, so that the
 * rounding is a floor or a ceiling with one correction. Programs take the integer part of a number so. Undefined for others.
 */
function integerSum(ir: RowBuilder, rounding: Directed, a: Value, b: Value, c: Value): Value | undefined {
  const [x, factor] = ir.constantOf(a) === undefined ? [a, b] : [b, a];
  if (typeOf(ir, c) !== 'f32' || ir.constantOf(factor) === undefined || ir.constantOf(c) === undefined) return undefined;
  const [{ low: by }, { low: addend }] = [ir.floatRange(factor), ir.floatRange(c)];
  const { low, high, isNan } = ir.floatRange(x);
  const ends = [low * by + addend, high * by + addend];
  // A product with an integer is no subnormal unless it is a subnormal itself, and neither is the error.
  if (isNan || !Number.isInteger(by) || by === 0 || !(Math.min(...ends) >= 2 ** 23 && Math.max(...ends) <= 2 ** 24 - 1)) return undefined;
  const nearest = ir.fma(x, factor, c);
  const error = ir.fma(x, factor, ir.fsub(c, nearest));
  const isUp = rounding === 'rp';
  const isWrong = ir.fcmp(error, ir.const('f32', 0), { pred: isUp ? 'ogt' : 'olt' });
  const step = ir.const('f32', isUp ? 0x3f800000 : 0xbf800000);
  return ir.select(isWrong, ir.fadd(nearest, step), nearest);
}

/** a * b + c with a single rounding, from the sign of its error; outside of the safe range from the significands, which are then scaled. */
export function fusedIn(ir: RowBuilder, rounding: Directed, a: Value, b: Value, c: Value): Value {
  const integer = integerSum(ir, rounding, a, b, c);
  if (integer !== undefined) return integer;
  return inDirection(ir, rounding, [a, c], (way, isNegated, x, z) => {
    const nearest = ir.fma(x!, b, z!);
    const step = (): Value => fusedStep(ir, way, isNegated, x!, b, z!, nearest);
    const isSafe = fusedSafety(ir, x!, b, z!, nearest);
    if (isSafe === undefined) return step();
    return ir.either(isSafe, step, () => negatedIf(ir, isNegated, fusedOfSignificands(ir, way, x!, b, z!, nearest)));
  });
}

/** Whether neither the product nor its error underflows, and no sum overflows; undefined where that is known. */
function fusedSafety(ir: RowBuilder, a: Value, b: Value, c: Value, nearest: Value): Value | undefined {
  const type = typeOf(ir, nearest) as Wide;
  const { product: least, max } = safe[type];
  const difference = ir.fsub(nearest, c);
  const isLarge = (): Value => ir.fcmp(ir.fabs(ir.fmul(a, b)), powerOf(ir, type, least), { pred: 'oge' });
  const isSmall = (): Value => ir.fcmp(ir.fabs(difference), powerOf(ir, type, max), { pred: 'ole' });
  const isNormal = Math.min(productGrid(ir, a, b), gridOf(ir, c)) >= minNormal(ir, nearest);
  if (isAtMost(ir, difference, max)) return isNormal ? undefined : isLarge();
  return isNormal ? isSmall() : ir.and(isLarge(), isSmall());
}

/**
 * The fused sum rounded in a direction, from the nearest float. The difference of that and c, as two floats, differs from the product by the error: the exact
 * sum is above the nearest float if the product without the upper part, rounded, is above the lower one. `scripts/math/directed.c` proves it on small formats.
 */
function fusedStep(ir: RowBuilder, way: Way, isNegated: boolean, a: Value, b: Value, c: Value, nearest: Value): Value {
  const { sum, error } = twoSum(ir, nearest, ir.fneg(c));
  const rest = ir.fma(a, b, ir.fneg(sum));
  if (way === 'up') return stepUpNormal(ir, nearest, ir.fcmp(rest, error, { pred: 'ogt' }), isNegated);
  const below = (x: Value, y: Value): Value => ir.fcmp(x, y, { pred: 'olt' });
  if (isNotNegative(ir, nearest)) return stepDown(ir, nearest, below(rest, error), true);
  if (hasSignOfProduct(ir, nearest, Math.min(productGrid(ir, a, b), gridOf(ir, c)))) {
    return stepDown(ir, nearest, sidesOf(ir, ir.fmul(ir.fsub(rest, error), nearest)).below(), true);
  }
  const bits = ir.bitcast(layouts[typeOf(ir, nearest) as Wide].int, nearest);
  return stepDown(ir, nearest, below(withSignOf(ir, rest, bits), withSignOf(ir, error, bits)), true);
}

/** A sum and its exact error, for operands in any order. Source: Knuth, TAOCP 2, 4.2.2, theorem B. */
export function twoSum(ir: RowBuilder, a: Value, b: Value): { readonly sum: Value; readonly error: Value } {
  const sum = ir.fadd(a, b);
  const ofB = ir.fsub(sum, a);
  const ofA = ir.fsub(sum, ofB);
  return { sum, error: ir.fadd(ir.fsub(a, ofA), ir.fsub(b, ofB)) };
}

// ── any floats: arithmetic on significands with separate exponents ──

const i32 = (ir: RowBuilder, value: number): Value => ir.const('i32', value);

/** A float as `significand * 2^exponent`. */
interface Parts {
  /** From 1 to below 2, with the sign. */
  readonly significand: Value;
  /** i32. */
  readonly exponent: Value;
  /** Neither 0, infinite nor NaN. */
  readonly isPlain: Value;
  readonly isZero: Value;
}

/** The bits below the sign. */
const magnitudeBits = (ir: RowBuilder, { int }: Layout, bits: Value): Value =>
  ir.and(bits, ir.const(int, (1n << BigInt(bitsOf(int) - 1)) - 1n));
const asI32 = (ir: RowBuilder, a: Value): Value => (ir.typeOf(a) === 'i32' ? a : ir.trunc('i32', a));
const fromI32 = (ir: RowBuilder, { int }: Layout, a: Value): Value => (int === 'i32' ? a : ir.sext(int, a));

function partsOf(ir: RowBuilder, a: Value): Parts {
  const layout = layouts[typeOf(ir, a) as Wide];
  const { int, mantissaBits, bias } = layout;
  const constant = (value: number | bigint): Value => ir.const(int, value);
  const bits = ir.bitcast(int, a);
  const size = magnitudeBits(ir, layout, bits);
  // A normal float has its leading bit in the exponent field; a subnormal one is shifted until its leading bit is there.
  const above = bitsOf(int) - 1 - mantissaBits;
  const up = ir.sub(ir.umax(ir.clz(size), constant(above)), constant(above));
  const field = ir.umax(ir.lshr(size, constant(mantissaBits)), constant(1));
  const mantissa = ir.and(ir.shl(size, up), constant((1n << BigInt(mantissaBits)) - 1n));
  const sign = ir.xor(bits, size);
  return {
    significand: ir.bitcast(typeOf(ir, a), ir.or(ir.or(mantissa, constant(BigInt(bias) << BigInt(mantissaBits))), sign)),
    exponent: asI32(ir, ir.sub(ir.sub(field, up), constant(bias))),
    isPlain: ir.icmp(ir.sub(size, constant(1)), constant(infinityOf(layout) - 1n), { pred: 'ult' }),
    isZero: ir.icmp(size, constant(0), { pred: 'eq' }),
  };
}

const infinityOf = ({ mantissaBits, bias }: Layout): bigint => BigInt(2 * bias + 1) << BigInt(mantissaBits);

/** A normal float times a power of two (i32), rounded in the direction. Rounding a second time does not change the result. */
function scaledIn(ir: RowBuilder, way: Way, a: Value, exponent: Value): Value {
  const type = typeOf(ir, a) as Wide;
  const layout = layouts[type];
  const { int, mantissaBits, bias } = layout;
  const constant = (value: number | bigint): Value => ir.const(int, value);
  const bits = ir.bitcast(int, a);
  const size = magnitudeBits(ir, layout, bits);
  const implied = 1n << BigInt(mantissaBits);
  const mantissa = ir.or(ir.and(size, constant(implied - 1n)), constant(implied));
  const field = ir.add(asI32(ir, ir.lshr(size, constant(mantissaBits))), exponent);
  // The number of bits that a subnormal result loses.
  const dropped = fromI32(ir, layout, ir.smax(ir.sub(i32(ir, 1), field), i32(ir, 0)));
  const kept = ir.lshr(mantissa, dropped);
  const isInexact = ir.icmp(ir.shl(kept, dropped), mantissa, { pred: 'ne' });
  // The implied bit carries into the exponent field.
  const below = ir.smin(ir.smax(ir.sub(field, i32(ir, 1)), i32(ir, 0)), i32(ir, 2 * bias + 1));
  const cut = ir.add(kept, ir.shl(fromI32(ir, layout, below), constant(mantissaBits)));
  const isNegative = ir.icmp(bits, constant(0), { pred: 'slt' });
  const isAway = way === 'zero' ? ir.const('i1', 0) : ir.and(isInexact, ir.xor(isNegative, ir.const('i1', 1)));
  const infinity = infinityOf(layout);
  const max = way === 'zero' ? constant(infinity - 1n) : ir.select(isNegative, constant(infinity - 1n), constant(infinity));
  return ir.bitcast(type, ir.or(ir.umin(ir.add(cut, ir.zext(int, isAway)), max), ir.xor(bits, size)));
}

/** The quotient of finite nonzero floats; for others `other`, which is exact. */
function quotientOfSignificands(ir: RowBuilder, way: Way, a: Value, b: Value, other: Value): Value {
  const [x, y] = [partsOf(ir, a), partsOf(ir, b)];
  const nearest = ir.fdiv(x.significand, y.significand);
  const exact = quotientStep(ir, way, false, x.significand, y.significand, nearest, true);
  const value = scaledIn(ir, way, exact, ir.sub(x.exponent, y.exponent));
  return ir.select(ir.and(x.isPlain, y.isPlain), value, other);
}

/**
 * The largest relevant exponent distances between addend and product. An addend farther below is below all bits of the product, and one
 * farther above has the whole product below its last place, so that the exact distance does not matter.
 */
const distances = { f32: { below: -60, above: 30 }, f64: { below: -120, above: 60 } } as const;

/** a * b + c for finite nonzero a and b, finite c and a nonzero sum; else `other`, which is exact. */
function fusedOfSignificands(ir: RowBuilder, way: Way, a: Value, b: Value, c: Value, other: Value): Value {
  const type = typeOf(ir, a) as Wide;
  const layout = layouts[type];
  const { below, above } = distances[type];
  const [x, y, z] = [partsOf(ir, a), partsOf(ir, b), partsOf(ir, c)];
  const exponent = ir.add(x.exponent, y.exponent);
  const ofAddend = ir.select(z.isZero, i32(ir, -8192), z.exponent);
  const distance = ir.smin(ir.smax(ir.sub(ofAddend, exponent), i32(ir, below)), i32(ir, above));
  const moved = ir.shl(fromI32(ir, layout, distance), ir.const(layout.int, layout.mantissaBits));
  const addend = ir.select(z.isZero, c, ir.bitcast(type, ir.add(ir.bitcast(layout.int, z.significand), moved)));
  const [p, q] = [x.significand, y.significand];
  const exact = fusedStep(ir, way, false, p, q, addend, ir.fma(p, q, addend));
  const value = scaledIn(ir, way, exact, ir.smax(exponent, ir.sub(ofAddend, i32(ir, above))));
  const isPlain = ir.and(ir.and(x.isPlain, y.isPlain), ir.or(z.isPlain, z.isZero));
  return ir.select(ir.and(isPlain, ir.fcmp(exact, ir.const(type, 0), { pred: 'one' })), value, other);
}
