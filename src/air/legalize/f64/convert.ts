/**
 * Conversions between f64 and integers or narrower floats. Values of f16, bf16 and f32 are processed by their bits, because a GPU may flush
 * their subnormals in arithmetic.
 * Source: IEEE 754-2019, sections 5.4.1 and 5.4.2 (conversions); the op table defines saturation.
 */
import { type FloatFormat, floatFormats } from '../../../base/float-exact.ts';
import { bitsOf, type FloatType, type IntType, intOf, type Value } from '../../../ir/index.ts';
import type { IntegerOps } from './integer-ops.ts';
import {
  infinity,
  isNan,
  magnitudeOf,
  negatedWhere,
  packed,
  quietNan,
  shiftRightRounded,
  shiftRightSticky,
  signMask,
  signOf,
  split,
} from './parts.ts';

/** f64 to an integer type, rounded towards zero and saturated; NaN gives 0. */
export function toInteger(w: IntegerOps, a: Value, type: IntType, isSigned: boolean): Value {
  const magnitude = magnitudeOf(w, a);
  const { significand, exponent } = split(w, magnitude);
  // 2^64 and more would shift by a negative count.
  const isHuge = w.is(exponent, 'sgt', 1085n);
  const size = w.select(isHuge, -1n, w.lshr(w.shl(significand, 11n), w.sub(1085n, exponent)));
  const bits = bitsOf(type);
  const value = isSigned ? signedSize(w, a, size, bits) : unsignedSize(w, a, size, bits);
  const known = w.select(isNan(w, magnitude), 0n, value);
  return bits === 64 ? known : w.b.trunc(type, known);
}

/** The negative range has one more number than the positive range. */
function signedSize(w: IntegerOps, a: Value, size: Value, bits: number): Value {
  const maxMagnitude = w.add(w.lshr(a, 63n), (1n << BigInt(bits - 1)) - 1n);
  return negatedWhere(w, signMask(w, a), w.umin(size, maxMagnitude));
}

const unsignedSize = (w: IntegerOps, a: Value, size: Value, bits: number): Value =>
  w.select(w.is(a, 'slt', 0n), 0n, w.umin(size, (1n << BigInt(bits)) - 1n));

/** An integer to the nearest f64; exact for fewer than 54 bits. */
export function fromInteger(w: IntegerOps, a: Value, isSigned: boolean): Value {
  const bits = bitsOf(w.b.typeOf(a));
  const value = bits === 64 ? a : isSigned ? w.b.sext('i64', a) : w.b.zext('i64', a);
  if (!isSigned) return magnitudeOfInteger(w, value, bits);
  const mask = signMask(w, value);
  return w.or(magnitudeOfInteger(w, negatedWhere(w, mask, value), bits), signOf(w, mask));
}

function magnitudeOfInteger(w: IntegerOps, value: Value, bits: number): Value {
  const count = w.clz(value);
  const placed = w.shl(value, count);
  const exponent = w.sub(1085n, count);
  const exact = (): Value => w.add(w.shl(exponent, 52n), w.lshr(placed, 11n));
  const size = bits <= 53 ? exact() : packed(w, shiftRightSticky(w, placed, w.word(1n)), exponent);
  return w.select(w.is(value, 'eq', 0n), 0n, size);
}

const biasOf = ({ exponentBits }: FloatFormat): bigint => (1n << BigInt(exponentBits - 1)) - 1n;
/** The size of a float in bits without its sign. */
const widthOf = ({ exponentBits, mantissaBits }: FloatFormat): bigint => BigInt(exponentBits + mantissaBits);
const infinityOf = ({ exponentBits, mantissaBits }: FloatFormat): bigint => ((1n << BigInt(exponentBits)) - 1n) << BigInt(mantissaBits);
const quietNanOf = (format: FloatFormat): bigint => infinityOf(format) | (1n << BigInt(format.mantissaBits - 1));

/** A narrower float to f64, exactly. */
export function widened(w: IntegerOps, a: Value): Value {
  const type = w.b.typeOf(a) as FloatType;
  const format = floatFormats[type];
  const width = widthOf(format);
  const all = w.b.zext('i64', w.b.bitcast(intOf(bitsOf(type)), a));
  const magnitude = w.and(all, (1n << width) - 1n);
  const { significand, exponent } = split(w, magnitude, format);
  // The value is significand * 2^(exponent + 1 - bias - mantissaBits): a subnormal float is a normal f64.
  const count = w.clz(significand);
  const high = w.sub(w.add(exponent, 1086n - biasOf(format) - BigInt(format.mantissaBits)), count);
  const finite = w.add(w.shl(high, 52n), w.lshr(w.shl(significand, count), 11n));
  const special = w.select(w.is(magnitude, 'ugt', infinityOf(format)), quietNan, infinity);
  const size = w.select(w.is(magnitude, 'ult', infinityOf(format)), w.select(w.is(magnitude, 'eq', 0n), 0n, finite), special);
  return w.or(size, w.and(w.shl(all, 63n - width), 1n << 63n));
}

/** f64 to the nearest narrower float, ties to even. */
export function narrowed(w: IntegerOps, a: Value, type: FloatType): Value {
  const format = floatFormats[type];
  const magnitude = magnitudeOf(w, a);
  const { significand, exponent } = split(w, magnitude);
  // The exponent in the narrower format may be below its minimum, which reduces the precision instead.
  const targetExponent = w.sub(exponent, 1023n - biasOf(format));
  const placed = shiftRightSticky(w, w.shl(significand, 10n), w.smax(w.sub(0n, targetExponent), 0n));
  const places = BigInt(format.mantissaBits);
  const steps = w.add(w.shl(w.smax(targetExponent, 0n), places), shiftRightRounded(w, placed, 62n - places));
  const size = w.select(isNan(w, magnitude), quietNanOf(format), w.umin(steps, infinityOf(format)));
  const width = widthOf(format);
  const bits = w.or(size, w.shl(w.lshr(a, 63n), width));
  return w.b.bitcast(type, w.b.trunc(intOf(bitsOf(type)), bits));
}
