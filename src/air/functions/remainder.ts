/** The remainder of a float division, exact and without a loop. */
import { type Builder, bitsOf, type Value } from '../../ir/index.ts';
import { Refused } from '../types.ts';

/** Explicit significand bits of binary64 and of binary32. */
const wideBits = 52;
const narrowBits = 23;
const bias = 1023;

const i64 = (b: Builder, value: bigint | number): Value => b.const('i64', value);

interface Parts {
  /** A number below 2^24. */
  readonly significand: Value;
  /** The exponent of the factor 2^exponent, up to a constant that all values share. */
  readonly exponent: Value;
}

/** Decodes a positive binary64 that was converted from a narrower format, which is never subnormal. */
function partsOf(b: Builder, bits: Value): Parts {
  const fraction = b.lshr(b.and(bits, i64(b, 2n ** 52n - 1n)), i64(b, wideBits - narrowBits));
  return { significand: b.or(fraction, i64(b, 1 << narrowBits)), exponent: b.lshr(bits, i64(b, wideBits)) };
}

/** 2 to the power of `exponent`, from 0 to 511, modulo a number below 2^32: square and double, highest bit first. */
function powerModulo(b: Builder, exponent: Value, modulus: Value): Value {
  let power = b.urem(i64(b, 1), modulus);
  for (let bit = 8; bit >= 0; bit--) {
    const isSet = b.and(b.lshr(exponent, i64(b, bit)), i64(b, 1));
    power = b.urem(b.shl(b.mul(power, power), isSet), modulus);
  }
  return power;
}

/**
 * `x - y * trunc(x / y)` without rounding, with the sign of x, for f16 and f32: C's `fmod`, LLVM's `frem`. NaN if x is infinite or y is
 * zero. For x = m * 2^i and y = n * 2^j it is (m * 2^(i-j) mod n) * 2^j; if i is below j, x is below y.
 */
export function remainder(b: Builder, x: Value, y: Value): Value {
  const type = b.typeOf(x);
  if (bitsOf(type) > 32) throw new Refused('the remainder of doubles');
  const [wideX, wideY] = [b.fpext('f64', x), b.fpext('f64', y)];
  const [magnitudeX, magnitudeY] = [b.fabs(wideX), b.fabs(wideY)];
  const [m, n] = [partsOf(b, b.bitcast('i64', magnitudeX)), partsOf(b, b.bitcast('i64', magnitudeY))];
  const steps = b.sub(m.exponent, n.exponent);
  const left = b.urem(b.mul(b.urem(m.significand, n.significand), powerModulo(b, steps, n.significand)), n.significand);
  // An integer below 2^24 is exact, and so is its product with a power of two in y's range.
  const unit = b.bitcast('f64', b.shl(n.exponent, i64(b, wideBits)));
  const scaled = b.fmul(b.fmul(b.uitofp('f64', left), b.const('f64', BigInt(bias - narrowBits) << 52n)), unit);
  const isBelow = b.fcmp(magnitudeX, magnitudeY, { pred: 'olt' });
  const found = b.select(isBelow, magnitudeX, scaled);
  const signed = b.bitcast('f64', b.or(b.bitcast('i64', found), b.and(b.bitcast('i64', wideX), i64(b, 1n << 63n))));
  const infinity = b.const('f64', 0x7ff0_0000_0000_0000n);
  // x is infinite or NaN, or y is zero or NaN.
  const isResultNan = b.or(b.fcmp(magnitudeX, infinity, { pred: 'ueq' }), b.fcmp(magnitudeY, b.const('f64', 0n), { pred: 'ueq' }));
  return b.fptrunc(type, b.select(isResultNan, b.const('f64', 0x7ff8_0000_0000_0000n), signed));
}
