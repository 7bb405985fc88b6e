/**
 * Quotient and square root of f64 values in integers, without branches. Newton's method gives an estimate that is too small by less than
 * one unit; the exact remainder then corrects it and determines the rounding.
 * Source: IEEE 754-2019, section 5.4.1; for Newton's method on reciprocals, Brent and Zimmermann, Modern Computer Arithmetic, 3.4.
 */
import type { Value } from '../../../ir/index.ts';
import type { IntegerOps } from './integer-ops.ts';
import { infinity, isNan, magnitudeOf, normalized, packed, quietNan, rounded, signOf, split } from './parts.ts';

/** `value * 2^places`, rounded down. */
const fixed = (value: number, places: number): bigint => BigInt(Math.floor(value * 2 ** places));

/** a / b. */
export function quotientOf(w: IntegerOps, a: Value, b: Value): Value {
  const [x, y] = [magnitudeOf(w, a), magnitudeOf(w, b)];
  const [n, d] = [normalized(w, split(w, x), 52n), normalized(w, split(w, y), 52n)];
  const value = integerQuotient(w, n.significand, d.significand);
  const bits = rounded(w, value, w.add(w.sub(n.exponent, d.exponent), 1022n));
  return specialQuotient(w, x, y, signOf(w, w.xor(a, b)), bits);
}

/** Infinite, zero and NaN results, which depend only on the operand classes; else the rounded bits. */
function specialQuotient(w: IntegerOps, x: Value, y: Value, sign: Value, bits: Value): Value {
  const [most, least] = [w.umax(x, y), w.umin(x, y)];
  const isResultNan = w.any(isNan(w, most), w.is(least, 'uge', infinity), w.is(most, 'eq', 0n));
  const isInfinite = w.any(w.is(x, 'uge', infinity), w.is(y, 'eq', 0n));
  const size = w.select(isInfinite, infinity, w.select(w.is(y, 'uge', infinity), 0n, bits));
  return w.select(isResultNan, quietNan, w.or(sign, size));
}

/** `n / d * 2^62` of numbers from 2^52 to 2^53, with a sticky bit below the 55th position. */
function integerQuotient(w: IntegerOps, n: Value, d: Value): Value {
  const estimate = w.lshr(w.umulhi(w.shl(n, 11n), reciprocal(w, w.shl(d, 11n))), 8n);
  const rest = w.sub(w.shl(n, 55n), w.mul(estimate, d));
  const isShort = w.is(rest, 'uge', d);
  const quotient = w.add(estimate, w.flag(isShort));
  const isInexact = w.is(w.select(isShort, w.sub(rest, d), rest), 'ne', 0n);
  return w.or(w.shl(quotient, 7n), w.flag(isInexact));
}

/**
 * 2^127 / d for a 64-bit number with its highest bit set; too small by less than 160.
 * With d and x as fractions, d from 1/2 to 1, a step x (2 - d x) squares the error 1 - d x and stays below 1 / d. The line 48/17 - 32/17 d
 * has an error of at most 1/17; three steps in 32-bit integers reduce it to 2^-32.7, and their truncation adds less than 2^-30. The last
 * step, in 64 bits, leaves 2^-59 plus its truncation of 64 units.
 */
function reciprocal(w: IntegerOps, d: Value): Value {
  const top = w.lshr(d, 32n);
  let x = w.sub(fixed(48 / 17, 31), w.lshr(w.mul(top, fixed(32 / 17, 31)), 32n));
  for (let step = 0; step < 3; step++) {
    const error = w.sub(1n << 63n, w.mul(top, x));
    x = w.add(x, w.ashr(w.mul(x, w.ashr(error, 32n)), 31n));
  }
  const wide = w.shl(x, 32n);
  const error = w.sub(1n << 63n, w.umulhi(d, wide));
  // The error is rounded up by less than 1, which counts twice at most.
  return w.sub(w.add(wide, w.ashr(w.mul(x, w.ashr(error, 5n)), 26n)), 4n);
}

/** The square root. */
export function rootOf(w: IntegerOps, a: Value): Value {
  const magnitude = magnitudeOf(w, a);
  const { significand, exponent } = normalized(w, split(w, magnitude), 52n);
  // Halving an odd exponent leaves a factor: the operand is then from 1/2 to 1, else from 1/4 to 1/2.
  const odd = w.and(exponent, 1n);
  const value = integerRoot(w, w.shl(significand, w.add(odd, 10n)), w.is(odd, 'eq', 1n));
  const bits = packed(w, value, w.add(w.ashr(exponent, 1n), 511n));
  const isOperand = w.any(w.is(magnitude, 'eq', 0n), w.is(a, 'eq', infinity));
  const isNone = w.any(w.is(a, 'slt', 0n), isNan(w, magnitude));
  return w.select(isOperand, a, w.select(isNone, quietNan, bits));
}

/** The root of `n / 2^64`, from 1/4 to 1, times 2^63, with a sticky bit below the 55th position. */
function integerRoot(w: IntegerOps, n: Value, isUpper: Value): Value {
  const estimate = w.lshr(rootEstimate(w, n, isUpper), 8n);
  const rest = w.sub(w.shl(n, 46n), w.mul(estimate, estimate));
  // The next square is larger by twice the root plus one.
  const twice = w.shl(estimate, 1n);
  const isShort = w.is(rest, 'ugt', twice);
  const root = w.add(estimate, w.flag(isShort));
  const isInexact = w.is(w.select(isShort, w.sub(rest, w.add(twice, 1n)), rest), 'ne', 0n);
  return w.or(w.shl(root, 8n), w.flag(isInexact));
}

/**
 * The root of `n / 2^64` times 2^63; too small by less than 130.
 * A step x (3 - a x^2) / 2 reduces the error e of x, relative to 1 over the root of a, to 3/2 e^2, and stays below. A line for each half of
 * the range has an error of at most 0.0223; three steps in 32-bit integers reduce it to 2^-39.8, and their truncation adds less than 2^-29.
 * The last step is Heron's, on a x, and leaves 3/2 2^-58 plus its truncation of 33 units. Only for a = 1/4 is x = 2, which does not fit 32
 * bits; the steps end one unit below it.
 */
function rootEstimate(w: IntegerOps, n: Value, isUpper: Value): Value {
  const a = w.lshr(n, 32n);
  const slope = w.select(isUpper, fixed(0.80999, 30), fixed(2.291, 30));
  const start = w.select(isUpper, fixed(1.78773, 31), fixed(2.52823, 31));
  let x = w.sub(start, w.lshr(w.mul(a, slope), 31n));
  for (let step = 0; step < 3; step++) {
    const error = w.sub(1n << 62n, w.mul(a, w.lshr(w.mul(x, x), 32n)));
    x = w.add(x, w.ashr(w.mul(x, w.ashr(error, 32n)), 31n));
  }
  const root = w.umulhi(n, w.shl(x, 32n));
  const twice = w.shl(root, 1n);
  const error = w.sub(n, w.umulhi(twice, twice));
  return w.sub(w.add(root, w.ashr(w.mul(x, w.ashr(error, 6n)), 27n)), 2n);
}
