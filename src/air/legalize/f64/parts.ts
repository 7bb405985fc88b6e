/**
 * Decomposition and composition of f64 values in integers. A magnitude is `significand * 2^(exponent - 1074)` with a non-negative exponent.
 * A normal significand has its leading bit at position 52; a subnormal number has exponent 0. The bits of the f64 are then `exponent * 2^52
 * + significand`: the leading bit carries into the exponent field, and so does a significand that rounds up to the next power of two.
 * Source: IEEE 754-2019, sections 3.4 (formats) and 4.3.1 (rounding).
 */
import { type FloatFormat, floatFormats } from '../../../base/float-exact.ts';
import type { Value } from '../../../ir/index.ts';
import type { IntegerOps } from './integer-ops.ts';

export const signBit = 1n << 63n;
export const magnitudeMask = signBit - 1n;
export const infinity = 0x7ff0_0000_0000_0000n;
export const quietNan = 0x7ff8_0000_0000_0000n;

/** A magnitude: `significand * 2^(exponent - 1074)`. */
export interface Parts {
  readonly significand: Value;
  readonly exponent: Value;
}

/** The bits without the sign. */
export const magnitudeOf = (w: IntegerOps, bits: Value): Value => w.and(bits, magnitudeMask);
/** The sign bit alone. */
export const signOf = (w: IntegerOps, bits: Value): Value => w.and(bits, signBit);
/** All ones where negative, else 0. */
export const signMask = (w: IntegerOps, bits: Value): Value => w.ashr(bits, 63n);
/** `value`, negated if the mask is all ones. */
export const negatedWhere = (w: IntegerOps, mask: Value, value: Value): Value => w.sub(w.xor(value, mask), mask);
/** Whether a magnitude is a NaN, as an i1. */
export const isNan = (w: IntegerOps, magnitude: Value): Value => w.is(magnitude, 'ugt', infinity);

/** The fields of a magnitude; the format defaults to f64. */
export function split(w: IntegerOps, magnitude: Value, { mantissaBits }: FloatFormat = floatFormats.f64): Parts {
  const place = BigInt(mantissaBits);
  const exponent = w.smax(w.sub(w.lshr(magnitude, place), 1n), 0n);
  return { significand: w.sub(magnitude, w.shl(exponent, place)), exponent };
}

/** The same magnitude with its leading bit at a given position; zero stays zero, with some low exponent. */
export function normalized(w: IntegerOps, { significand, exponent }: Parts, place: bigint): Parts {
  const count = w.sub(w.clz(significand), 63n - place);
  return { significand: w.shl(significand, count), exponent: w.sub(exponent, count) };
}

/** A right shift with a sticky bit: the result rounds like the operand. */
export function shiftRightSticky(w: IntegerOps, value: Value, count: Value): Value {
  const kept = w.lshr(value, count);
  return w.or(kept, w.flag(w.is(w.shl(kept, count), 'ne', value)));
}

/** `value / 2^count` to the nearest integer, ties to even. The highest bit of the value must be 0. */
export function shiftRightRounded(w: IntegerOps, value: Value, count: bigint): Value {
  const odd = w.and(w.lshr(value, count), 1n);
  return w.lshr(w.add(w.add(value, (1n << (count - 1n)) - 1n), odd), count);
}

/**
 * The bits of the magnitude `value * 2^(exponent - 1084)`, for a value with its leading bit at position 62, or lower if the exponent is 0.
 */
export function packed(w: IntegerOps, value: Value, exponent: Value): Value {
  return w.umin(w.add(w.shl(exponent, 52n), shiftRightRounded(w, value, 10n)), infinity);
}

/**
 * The magnitude `value * 2^(exponent - 1084)`, rounded, for a value below 2^63 and an exponent from -2^13 to 4090; zero gives zero. A value
 * with a sticky bit has its leading bit at position 55 or above.
 */
export function rounded(w: IntegerOps, value: Value, exponent: Value): Value {
  const up = w.smin(w.sub(w.clz(value), 1n), exponent);
  const isTiny = w.is(up, 'slt', 0n);
  const placed = w.select(isTiny, shiftRightSticky(w, value, w.sub(0n, up)), w.shl(value, up));
  return w.select(w.is(value, 'eq', 0n), 0n, packed(w, placed, w.sub(exponent, up)));
}
