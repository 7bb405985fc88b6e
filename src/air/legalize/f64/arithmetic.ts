/**
 * Sum, product and fused sum of doubles, without a branch.
 * Source: IEEE 754-2019, sections 5.4.1 (operations), 6.1 (infinities), 6.3 (signs of zero).
 */
import type { Value } from '../../../ir/index.ts';
import {
  infinity,
  isNan,
  jammed,
  magnitudeOf,
  negatedWhere,
  normalised,
  type Parts,
  packed,
  quietNan,
  rounded,
  signBit,
  signMask,
  signOf,
  split,
} from './parts.ts';
import type { Words } from './words.ts';

/** a + b. */
export function sumOf(w: Words, a: Value, b: Value): Value {
  const isLess = w.is(magnitudeOf(w, a), 'ult', magnitudeOf(w, b));
  const [x, y] = [w.select(isLess, b, a), w.select(isLess, a, b)];
  const [large, small] = [magnitudeOf(w, x), magnitudeOf(w, y)];
  const differ = w.xor(x, y);
  const size = sizeOfSum(w, split(w, large), split(w, small), signMask(w, differ));
  // A sum of nothing is positive unless both zeros are negative.
  const finite = w.select(w.is(size.value, 'eq', 0n), signOf(w, w.and(x, y)), w.or(size.bits, signOf(w, x)));
  const isNone = w.any(isNan(w, large), w.is(differ, 'eq', signBit));
  return w.select(w.is(large, 'ult', infinity), finite, w.select(isNone, quietNan, x));
}

/**
 * The larger magnitude plus the smaller, or minus it where `differ` is all ones. Nine free bits below the significands keep
 * what rounding needs: where more than those are lost, the difference is at least half of the larger one.
 */
function sizeOfSum(w: Words, large: Parts, small: Parts, differ: Value): { value: Value; bits: Value } {
  const other = jammed(w, w.shl(small.significand, 9n), w.sub(large.exponent, small.exponent));
  const value = w.add(w.shl(large.significand, 9n), negatedWhere(w, differ, other));
  // With ten bits to drop, one more than the free ones.
  const exponent = w.add(large.exponent, 1n);
  const up = w.smin(w.sub(w.clz(value), 1n), exponent);
  return { value, bits: packed(w, w.shl(value, up), w.sub(exponent, up)) };
}

/** a * b. */
export function productOf(w: Words, a: Value, b: Value): Value {
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
function wideProduct(w: Words, x: Value, y: Value): Wide {
  const [a, b] = [x, y].map((magnitude) => normalised(w, split(w, magnitude), 62n)) as [Parts, Parts];
  return {
    high: w.umulhi(a.significand, b.significand),
    low: w.mul(a.significand, b.significand),
    exponent: w.sub(w.add(a.exponent, b.exponent), 1000n),
  };
}

/** a * b + c with one rounding. */
export function fusedSumOf(w: Words, a: Value, b: Value, c: Value): Value {
  const [x, y, z] = [a, b, c].map((bits) => magnitudeOf(w, bits)) as [Value, Value, Value];
  const productSign = w.xor(a, b);
  const product = wideProduct(w, x, y);
  const addend = normalised(w, split(w, z), 61n);
  const sum = fusedParts(w, product, productSign, {
    high: addend.significand,
    low: w.word(0n),
    exponent: w.add(addend.exponent, 10n),
    sign: c,
  });
  const bits = rounded(w, sum.value, sum.exponent);
  // An exact zero is positive unless both are negative; a sum that only rounds to zero keeps its sign.
  const sign = w.select(w.is(sum.value, 'eq', 0n), w.and(productSign, c), sum.sign);
  return specialSum(w, [x, y, z], w.or(signOf(w, productSign), infinity), c, w.or(bits, signOf(w, sign)));
}

/** What is infinite or no number, for all three magnitudes; else `finite`. */
function specialSum(w: Words, [x, y, z]: readonly [Value, Value, Value], infinite: Value, c: Value, finite: Value): Value {
  const [most, least] = [w.umax(x, y), w.umin(x, y)];
  const isInfinite = w.is(most, 'uge', infinity);
  const noProduct = w.any(isNan(w, most), w.is(least, 'eq', 0n), w.is(w.xor(infinite, c), 'eq', signBit));
  const isNone = w.any(isNan(w, z), w.all(isInfinite, noProduct));
  const special = w.select(isNone, quietNan, w.select(isInfinite, infinite, c));
  return w.select(w.is(w.umax(most, z), 'ult', infinity), finite, special);
}

type Signed = Wide & { readonly sign: Value };
/** A zero is moved out of the way of what it is added to: no exponent is as low. */
const lowest = -8192n;

/** A sum of two wide numbers, both below 2^126, cut to 63 bits that round the same; signs are the top bits of words. */
function fusedParts(w: Words, product: Wide, sign: Value, addend: Signed): { value: Value; exponent: Value; sign: Value } {
  const [p, c] = [product, addend].map((x) => w.select(w.is(x.high, 'eq', 0n), lowest, x.exponent)) as [Value, Value];
  const isSwapped = w.is(c, 'sgt', p);
  const either = (ifSwapped: Value, otherwise: Value): Value => w.select(isSwapped, ifSwapped, otherwise);
  const large = { high: either(addend.high, product.high), low: either(addend.low, product.low) };
  const small = { high: either(product.high, addend.high), low: either(product.low, addend.low) };
  const distance = w.smin(either(w.sub(c, p), w.sub(p, c)), 128n);
  const differ = signMask(w, w.xor(sign, addend.sign));
  const total = addWide(w, large, negatedWide(w, differ, shiftedWide(w, small, distance)));
  // Exponents order the two only roughly: a difference may come out negative.
  const isBelow = signMask(w, total.high);
  const size = negatedWide(w, isBelow, total);
  return { ...leading(w, size, either(c, p)), sign: w.xor(either(addend.sign, sign), isBelow) };
}

interface Pair {
  readonly high: Value;
  readonly low: Value;
}

function addWide(w: Words, a: Pair, b: Pair): Pair {
  const low = w.add(a.low, b.low);
  const carry = w.flag(w.is(low, 'ult', a.low));
  return { high: w.add(w.add(a.high, b.high), carry), low };
}

/** The negative where the mask is all ones: the complement plus one, which carries where the low word is 0. */
function negatedWide(w: Words, mask: Value, { high, low }: Pair): Pair {
  const carry = w.and(w.flag(w.is(low, 'eq', 0n)), mask);
  return { high: w.add(w.xor(high, mask), carry), low: negatedWhere(w, mask, low) };
}

/**
 * Shifted right by 0 to 128, with the lowest bit set where a bit is lost. Above 64 the low word is not looked at: a high word
 * is never 0 beside one that is not, and what is left of it is then far below the place of rounding.
 */
function shiftedWide(w: Words, { high, low }: Pair, count: Value): Pair {
  const back = w.sub(64n, count);
  const moved = w.or(w.shl(high, back), w.lshr(high, w.sub(count, 64n)));
  const lost = w.or(w.shl(low, back), w.shl(high, w.sub(128n, count)));
  return {
    high: w.lshr(high, count),
    low: w.or(w.or(w.lshr(low, count), moved), w.flag(w.is(lost, 'ne', 0n))),
  };
}

/** The 63 leading bits of a wide number, the last of them set where a bit is lost. */
function leading(w: Words, size: Pair, exponent: Value): { value: Value; exponent: Value } {
  const isLow = w.is(size.high, 'eq', 0n);
  const high = w.select(isLow, size.low, size.high);
  const low = w.select(isLow, 0n, size.low);
  const up = w.clz(high);
  const first = w.or(w.shl(high, up), w.lshr(low, w.sub(64n, up)));
  const rest = w.or(w.and(first, 1n), w.shl(low, up));
  const value = w.or(w.lshr(first, 1n), w.flag(w.is(rest, 'ne', 0n)));
  return { value, exponent: w.sub(w.add(w.sub(exponent, w.select(isLow, 64n, 0n)), 1n), up) };
}
