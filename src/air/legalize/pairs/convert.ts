/**
 * Conversions between f64 bits and pairs. A pair converts to bits without rounding, except for subnormal results: ties to even. Bits
 * convert to a pair by rounding 53 places to 24 plus those of `low`: the error is at most u^2 / 2, relative to the number, or to 2^-1022 if
 * that is larger.
 * Source: IEEE 754-2019, section 3.4 (formats).
 */
import type { Value } from '../../../ir/index.ts';
import { infinity, isNan, magnitudeOf, quietNan } from '../f64/parts.ts';
import { fieldMask, normalized, type Pair, powers, quickTwoSum, signBit, type Tools } from './pair.ts';

/** The pair of f64 bits. */
export function ofBits(t: Tools, bits: Value): Pair {
  const { b, w } = t;
  const [upper, lower] = [b.trunc('i32', t.wide.lshr(bits, 32n)), b.trunc('i32', bits)];
  const exponent = w.and(w.lshr(upper, 20n), 0x7ffn);
  // The nearest 24-bit number, and the signed 29-bit remainder: a pair stored to memory is loaded unchanged.
  const doubled = w.or(w.shl(w.and(upper, 0xf_ffffn), 4n), w.lshr(lower, 28n));
  const first = t.ofBits(w.add(w.lshr(w.add(doubled, 1n), 1n), 127n << 23n));
  const second = b.fmul(b.sitofp('f32', w.ashr(w.shl(lower, 3n), 3n)), t.float(2 ** -52));
  const leading = b.select(w.is(exponent, 'eq', 0n), t.float(1), t.float(0));
  const [high, low] = quickTwoSum(b, b.fsub(first, leading), second);
  const isExtreme = w.is(exponent, 'eq', 0x7ffn);
  const extreme = b.select(isNan(t.wide, magnitudeOf(t.wide, bits)), t.float(Number.NaN), t.float(Number.POSITIVE_INFINITY));
  const isZero = b.fcmp(high, t.float(0), { pred: 'oeq' });
  const power = w.sub(w.smax(exponent, 1n), 1023n);
  const sign = w.and(upper, signBit);
  return {
    high: t.ofBits(w.or(t.bits(b.select(isExtreme, extreme, high)), sign)),
    low: t.ofBits(w.xor(t.bits(low), sign)),
    power: w.select(isExtreme, powers.infinite, w.select(isZero, powers.zero, power)),
  };
}

/** The pair of an f32, exactly. A subnormal f32 is converted by its bits, because a GPU may flush it. */
export function ofFloat(t: Tools, a: Value): Pair {
  const { b, w } = t;
  const bits = t.bits(a);
  const isTiny = w.is(w.and(bits, fieldMask), 'eq', 0n);
  // A subnormal f32 is an integer in units of 2^-149.
  const units = w.or(t.bits(b.sitofp('f32', w.and(bits, (1n << 23n) - 1n))), w.and(bits, signBit));
  const normal = w.select(isTiny, units, bits);
  const field = w.and(normal, fieldMask);
  const isExtreme = w.is(field, 'eq', fieldMask);
  const isZero = w.is(field, 'eq', 0n);
  const high = w.add(w.sub(normal, field), 127n << 23n);
  const power = w.sub(w.lshr(field, 23n), w.select(isTiny, 127n + 149n, 127n));
  return {
    high: t.ofBits(w.select(w.is(w.sub(field, 1n), 'ult', fieldMask - 1n), high, normal)),
    low: t.float(0),
    power: w.select(isExtreme, powers.infinite, w.select(isZero, powers.zero, power)),
  };
}

/** The pair of an integer of up to 32 bits, exactly. */
export function ofInteger(t: Tools, a: Value, isSigned: boolean): Pair {
  const { b, w } = t;
  const type = b.typeOf(a);
  const value = type === 'i32' ? a : isSigned ? b.sext('i32', a) : b.zext('i32', a);
  const upper = b.fmul(b.sitofp('f32', isSigned ? w.ashr(value, 8n) : w.lshr(value, 8n)), t.float(256));
  const [sum, rest] = quickTwoSum(b, upper, b.sitofp('f32', w.and(value, 255n)));
  const { high, low, power, field } = normalized(t, sum, rest, w.word(0n));
  return { high, low, power: w.select(w.is(field, 'eq', 0n), powers.zero, power) };
}

/** The f64 bits of a pair; infinity if the power is above the range of f64. */
export function toBits(t: Tools, { high, low, power }: Pair): Value {
  const { b, w, wide } = t;
  const sign = w.and(t.bits(high), signBit);
  const first = b.fptoui('i32', b.fmul(b.fabs(high), t.float(2 ** 24)));
  const second = b.fptosi('i32', b.fmul(low, t.ofBits(w.or(sign, (127n + 53n) << 23n))));
  // In units of 2^-53: from slightly below 2^53 to 2^54.
  const sum = wide.add(wide.shl(b.zext('i64', first), 29n), b.sext('i64', second));
  const isLow = wide.is(sum, 'ult', 1n << 53n);
  const placed = wide.select(isLow, wide.shl(sum, 1n), sum);
  const exponent = w.sub(w.add(power, 1022n), w.flag(isLow));
  const size = wide.add(wide.shl(b.zext('i64', w.smax(exponent, 0n)), 52n), withoutPlaces(t, placed, exponent));
  const bounded = wide.select(w.is(exponent, 'sgt', 2045n), infinity, size);
  const known = wide.select(b.fcmp(high, high, { pred: 'uno' }), quietNan, bounded);
  return wide.or(known, wide.shl(b.zext('i64', sign), 32n));
}

/** Half of a number of up to 55 bits, rounded; a negative exponent drops that many more places. */
function withoutPlaces({ b, w, wide }: Tools, value: Value, exponent: Value): Value {
  const lost = b.zext('i64', w.smin(w.smax(w.sub(0n, exponent), 0n), 62n));
  const count = wide.add(lost, 1n);
  const odd = wide.and(wide.lshr(value, count), 1n);
  const belowHalf = wide.sub(wide.shl(1n, lost), 1n);
  return wide.lshr(wide.add(wide.add(value, belowHalf), odd), count);
}
