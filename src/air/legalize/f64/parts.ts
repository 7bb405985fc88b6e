/**
 * Doubles taken apart and put together, as integers. Every magnitude is `significand * 2^(exponent - 1074)` with an exponent
 * that is never negative; a normal number's significand has its leading bit at place 52, a subnormal one's exponent is 0. The
 * bits of a double are then `exponent * 2^52 + significand`: the leading bit adds one to the exponent field by itself, and so
 * does a significand that is rounded up to the next power of two.
 * Source: IEEE 754-2019, sections 3.4 (formats) and 4.3.1 (rounding).
 */
import { type FloatFormat, floatFormats } from '../../../base/float-exact.ts';
import type { Value } from '../../../ir/index.ts';
import type { Words } from './words.ts';

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
export const magnitudeOf = (w: Words, bits: Value): Value => w.and(bits, magnitudeMask);
/** The sign bit alone. */
export const signOf = (w: Words, bits: Value): Value => w.and(bits, signBit);
/** All ones where negative, else 0. */
export const signMask = (w: Words, bits: Value): Value => w.ashr(bits, 63n);
/** `value`, or its negative where the mask is all ones. */
export const negatedWhere = (w: Words, mask: Value, value: Value): Value => w.sub(w.xor(value, mask), mask);
/** An i1: whether a magnitude is that of a NaN. */
export const isNan = (w: Words, magnitude: Value): Value => w.is(magnitude, 'ugt', infinity);

/** A magnitude of a format as its fields say it; of f64 where no other is named. */
export function split(w: Words, magnitude: Value, { mantissaBits }: FloatFormat = floatFormats.f64): Parts {
  const place = BigInt(mantissaBits);
  const exponent = w.smax(w.sub(w.lshr(magnitude, place), 1n), 0n);
  return { significand: w.sub(magnitude, w.shl(exponent, place)), exponent };
}

/** The same magnitude with its leading bit at a place; a zero stays one, with some low exponent. */
export function normalised(w: Words, { significand, exponent }: Parts, place: bigint): Parts {
  const count = w.sub(w.clz(significand), 63n - place);
  return { significand: w.shl(significand, count), exponent: w.sub(exponent, count) };
}

/** A value shifted right, with the lowest bit set where a bit is lost: what rounds the same as the value itself. */
export function jammed(w: Words, value: Value, count: Value): Value {
  const kept = w.lshr(value, count);
  return w.or(kept, w.flag(w.is(w.shl(kept, count), 'ne', value)));
}

/** `value / 2^count` to the nearest integer, ties to even; the value leaves the highest bit free. */
export function dropped(w: Words, value: Value, count: bigint): Value {
  const odd = w.and(w.lshr(value, count), 1n);
  return w.lshr(w.add(w.add(value, (1n << (count - 1n)) - 1n), odd), count);
}

/** The magnitude `value * 2^(exponent - 1084)` as bits, of a value whose leading bit is at place 62, or lower where the exponent is 0. */
export function packed(w: Words, value: Value, exponent: Value): Value {
  return w.umin(w.add(w.shl(exponent, 52n), dropped(w, value, 10n)), infinity);
}

/**
 * The magnitude `value * 2^(exponent - 1084)` rounded to bits, of a value below 2^63 and any exponent from -2^13 to 4090; zero
 * gives zero. A value whose lowest bit stands for lost ones has its leading bit at place 55 or above.
 */
export function rounded(w: Words, value: Value, exponent: Value): Value {
  const up = w.smin(w.sub(w.clz(value), 1n), exponent);
  const isTiny = w.is(up, 'slt', 0n);
  const placed = w.select(isTiny, jammed(w, value, w.sub(0n, up)), w.shl(value, up));
  return w.select(w.is(value, 'eq', 0n), 0n, packed(w, placed, w.sub(exponent, up)));
}
