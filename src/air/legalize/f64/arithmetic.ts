/**
 * Sum, product and fused multiply-add of f64 values in integers, without branches.
 * Source: IEEE 754-2019, sections 5.4.1 (operations), 6.1 (infinities), 6.3 (signs of zero).
 */
import type { Value } from '../../../ir/index.ts';
import type { IntegerOps } from './integer-ops.ts';
import {
  infinity,
  isNan,
  magnitudeOf,
  negatedWhere,
  normalized,
  type Parts,
  packed,
  quietNan,
  rounded,
  shiftRightSticky,
  signBit,
  signMask,
  signOf,
  split,
} from './parts.ts';

/** a + b. */
export function sumOf(w: IntegerOps, a: Value, b: Value): Value {
  const isLess = w.is(magnitudeOf(w, a), 'ult', magnitudeOf(w, b));
  const [x, y] = [w.select(isLess, b, a), w.select(isLess, a, b)];
  const [large, small] = [magnitudeOf(w, x), magnitudeOf(w, y)];
  const differ = w.xor(x, y);
  const size = magnitudeOfSum(w, split(w, large), split(w, small), signMask(w, differ));
  // A zero sum is positive unless both operands are negative zeros.
  const finite = w.select(w.is(size.value, 'eq', 0n), signOf(w, w.and(x, y)), w.or(size.bits, signOf(w, x)));
  const isResultNan = w.any(isNan(w, large), w.is(differ, 'eq', signBit));
  return w.select(w.is(large, 'ult', infinity), finite, w.select(isResultNan, quietNan, x));
}

/**
 * The larger magnitude plus the smaller one, or minus it if `differ` is all ones. Nine guard bits below the significands are enough for
 * rounding: if more bits are lost, the difference is at least half of the larger magnitude.
 */
function magnitudeOfSum(w: IntegerOps, large: Parts, small: Parts, differ: Value): { value: Value; bits: Value } {
  const other = shiftRightSticky(w, w.shl(small.significand, 9n), w.sub(large.exponent, small.exponent));
  const value = w.add(w.shl(large.significand, 9n), negatedWhere(w, differ, other));
  // Ten bits are dropped, one more than the guard bits.
  const exponent = w.add(large.exponent, 1n);
  const up = w.smin(w.sub(w.clz(value), 1n), exponent);
  return { value, bits: packed(w, w.shl(value, up), w.sub(exponent, up)) };
}

/** a * b. */
export function productOf(w: IntegerOps, a: Value, b: Value): Value {
  const [x, y] = [magnitudeOf(w, a), magnitudeOf(w, b)];
  const sign = signOf(w, w.xor(a, b));
  const { high, low, exponent } = wideProduct(w, x, y);
  const bits = rounded(w, w.or(high, w.flag(w.is(low, 'ne', 0n))), exponent);
  const [most, least] = [w.umax(x, y), w.umin(x, y)];
  const isNone = w.any(isNan(w, most), w.is(least, 'eq', 0n));
  const special = w.select(isNone, quietNan, w.or(sign, infinity));
  return w.select(w.is(most, 'ult', infinity), w.or(sign, bits), special);
}

/** An unsigned number of 128 bits, `(high * 2^64 + low) * 2^(exponent - 1148)`. */
interface Wide {
  readonly high: Value;
  readonly low: Value;
  readonly exponent: Value;
}

/** The exact product of two magnitudes: below 2^126, and from 2^124 on where neither is zero. */
function wideProduct(w: IntegerOps, x: Value, y: Value): Wide {
  const [a, b] = [x, y].map((magnitude) => normalized(w, split(w, magnitude), 62n)) as [Parts, Parts];
  return {
    high: w.umulhi(a.significand, b.significand),
    low: w.mul(a.significand, b.significand),
    exponent: w.sub(w.add(a.exponent, b.exponent), 1000n),
  };
}

/** a * b + c with one rounding. */
export function fusedSumOf(w: IntegerOps, a: Value, b: Value, c: Value): Value {
  const [x, y, z] = [a, b, c].map((bits) => magnitudeOf(w, bits)) as [Value, Value, Value];
  const productSign = w.xor(a, b);
  const product = wideProduct(w, x, y);
  const addend = normalized(w, split(w, z), 61n);
  const sum = fusedParts(w, product, productSign, {
    high: addend.significand,
    low: w.word(0n),
    exponent: w.add(addend.exponent, 10n),
    sign: c,
  });
  const bits = rounded(w, sum.value, sum.exponent);
  // An exact zero is positive unless both addends are negative. A sum that only rounds to zero keeps its sign.
  const sign = w.select(w.is(sum.value, 'eq', 0n), w.and(productSign, c), sum.sign);
  return specialSum(w, [x, y, z], w.or(signOf(w, productSign), infinity), c, w.or(bits, signOf(w, sign)));
}

/** Infinities and NaNs of the three operands; else `finite`. */
function specialSum(w: IntegerOps, [x, y, z]: readonly [Value, Value, Value], infinite: Value, c: Value, finite: Value): Value {
  const [most, least] = [w.umax(x, y), w.umin(x, y)];
  const isInfinite = w.is(most, 'uge', infinity);
  const noProduct = w.any(isNan(w, most), w.is(least, 'eq', 0n), w.is(w.xor(infinite, c), 'eq', signBit));
  const isNone = w.any(isNan(w, z), w.all(isInfinite, noProduct));
  const special = w.select(isNone, quietNan, w.select(isInfinite, infinite, c));
  return w.select(w.is(w.umax(most, z), 'ult', infinity), finite, special);
}

type Signed = Wide & { readonly sign: Value };
/** The exponent of a zero addend, below all others, so that it never affects the alignment. */
const zeroExponent = -8192n;

/** The sum of two wide numbers, both below 2^126, reduced to 63 bits that round equally. Signs are the top bits of 64-bit integers. */
function fusedParts(w: IntegerOps, product: Wide, sign: Value, addend: Signed): { value: Value; exponent: Value; sign: Value } {
  const [p, c] = [product, addend].map((x) => w.select(w.is(x.high, 'eq', 0n), zeroExponent, x.exponent)) as [Value, Value];
  const isSwapped = w.is(c, 'sgt', p);
  const either = (ifSwapped: Value, otherwise: Value): Value => w.select(isSwapped, ifSwapped, otherwise);
  const large = { high: either(addend.high, product.high), low: either(addend.low, product.low) };
  const small = { high: either(product.high, addend.high), low: either(product.low, addend.low) };
  const distance = w.smin(either(w.sub(c, p), w.sub(p, c)), 128n);
  const differ = signMask(w, w.xor(sign, addend.sign));
  const total = addWide(w, large, negatedWide(w, differ, shiftedWide(w, small, distance)));
  // The exponents order the two only approximately, so that a difference may be negative.
  const isBelow = signMask(w, total.high);
  const size = negatedWide(w, isBelow, total);
  return { ...leadingBits(w, size, either(c, p)), sign: w.xor(either(addend.sign, sign), isBelow) };
}

interface Pair {
  readonly high: Value;
  readonly low: Value;
}

function addWide(w: IntegerOps, a: Pair, b: Pair): Pair {
  const low = w.add(a.low, b.low);
  const carry = w.flag(w.is(low, 'ult', a.low));
  return { high: w.add(w.add(a.high, b.high), carry), low };
}

/** Negates if the mask is all ones: the complement plus one, with a carry if the low half is 0. */
function negatedWide(w: IntegerOps, mask: Value, { high, low }: Pair): Pair {
  const carry = w.and(w.flag(w.is(low, 'eq', 0n)), mask);
  return { high: w.add(w.xor(high, mask), carry), low: negatedWhere(w, mask, low) };
}

/**
 * A right shift by 0 to 128 with a sticky bit. Above 64 the low half is ignored: a high half is never 0 beside a nonzero low half, and its
 * remainder is then far below the rounding position.
 */
function shiftedWide(w: IntegerOps, { high, low }: Pair, count: Value): Pair {
  const back = w.sub(64n, count);
  const moved = w.or(w.shl(high, back), w.lshr(high, w.sub(count, 64n)));
  const lost = w.or(w.shl(low, back), w.shl(high, w.sub(128n, count)));
  return {
    high: w.lshr(high, count),
    low: w.or(w.or(w.lshr(low, count), moved), w.flag(w.is(lost, 'ne', 0n))),
  };
}

/** The 63 leading bits of a wide number, with a sticky bit. */
function leadingBits(w: IntegerOps, size: Pair, exponent: Value): { value: Value; exponent: Value } {
  const isLow = w.is(size.high, 'eq', 0n);
  const high = w.select(isLow, size.low, size.high);
  const low = w.select(isLow, 0n, size.low);
  const up = w.clz(high);
  const first = w.or(w.shl(high, up), w.lshr(low, w.sub(64n, up)));
  const rest = w.or(w.and(first, 1n), w.shl(low, up));
  const value = w.or(w.lshr(first, 1n), w.flag(w.is(rest, 'ne', 0n)));
  return { value, exponent: w.sub(w.add(w.sub(exponent, w.select(isLow, 64n, 0n)), 1n), up) };
}
