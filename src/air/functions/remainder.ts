/** The remainder of a division of floats, exact and without a loop. */
import { type Builder, bitsOf, type Value } from '../../ir/index.ts';
import { Refused } from '../types.ts';

/** Bits of a significand of binary64, and of one that came from binary32. */
const wideBits = 52;
const keptBits = 23;
const bias = 1023;

const i64 = (b: Builder, value: bigint | number): Value => b.const('i64', value);

interface Parts {
  /** A number below 2^24. */
  readonly significand: Value;
  /** By which power of two it is multiplied, but for what is the same in all. */
  readonly exponent: Value;
}

/** A positive binary64 that came from a narrower format: such a one is never subnormal. */
function partsOf(b: Builder, bits: Value): Parts {
  const fraction = b.lshr(b.and(bits, i64(b, 2n ** 52n - 1n)), i64(b, wideBits - keptBits));
  return { significand: b.or(fraction, i64(b, 1 << keptBits)), exponent: b.lshr(bits, i64(b, wideBits)) };
}

/** 2 to the power of `exponent`, from 0 to 511, modulo a number below 2^32: squares and doublings, the highest bit first. */
function powerModulo(b: Builder, exponent: Value, modulus: Value): Value {
  let power = b.urem(i64(b, 1), modulus);
  for (let bit = 8; bit >= 0; bit--) {
    const isSet = b.and(b.lshr(exponent, i64(b, bit)), i64(b, 1));
    power = b.urem(b.shl(b.mul(power, power), isSet), modulus);
  }
  return power;
}

/**
 * `x - y * trunc(x / y)` without rounding, with the sign of x, of floats of 16 and 32 bits: C's `fmod`, LLVM's `frem`. NaN where x
 * is infinite or y is zero. With x = m * 2^i and y = n * 2^j it is (m * 2^(i-j) mod n) * 2^j; where i is below j, x is below y.
 */
export function remainder(b: Builder, x: Value, y: Value): Value {
  const type = b.typeOf(x);
  if (bitsOf(type) > 32) throw new Refused('the remainder of doubles');
  const [wideX, wideY] = [b.fpext('f64', x), b.fpext('f64', y)];
  const [magnitudeX, magnitudeY] = [b.fabs(wideX), b.fabs(wideY)];
  const [m, n] = [partsOf(b, b.bitcast('i64', magnitudeX)), partsOf(b, b.bitcast('i64', magnitudeY))];
  const steps = b.sub(m.exponent, n.exponent);
  const left = b.urem(b.mul(b.urem(m.significand, n.significand), powerModulo(b, steps, n.significand)), n.significand);
  // An integer below 2^24 is held exactly; so is its product with a power of two that y has.
  const unit = b.bitcast('f64', b.shl(n.exponent, i64(b, wideBits)));
  const scaled = b.fmul(b.fmul(b.uitofp('f64', left), b.const('f64', BigInt(bias - keptBits) << 52n)), unit);
  const isBelow = b.fcmp(magnitudeX, magnitudeY, { pred: 'olt' });
  const found = b.select(isBelow, magnitudeX, scaled);
  const signed = b.bitcast('f64', b.or(b.bitcast('i64', found), b.and(b.bitcast('i64', wideX), i64(b, 1n << 63n))));
  const infinity = b.const('f64', 0x7ff0_0000_0000_0000n);
  // Infinite x or a NaN; y is zero or a NaN.
  const isNone = b.or(b.fcmp(magnitudeX, infinity, { pred: 'ueq' }), b.fcmp(magnitudeY, b.const('f64', 0n), { pred: 'ueq' }));
  return b.fptrunc(type, b.select(isNone, b.const('f64', 0x7ff8_0000_0000_0000n), signed));
}
