/**
 * f64 values as pairs of floats with a separate exponent: `(high + low) * 2^power`.
 * For a nonzero number, `high` is the float nearest to `high + low`, in the range 1 to 2 (or one unit in the last place less), and `low` is
 * a multiple of 2^-52. So every pair is an f64, except for its power, which may exceed the range. No intermediate result comes near the
 * subnormal floats, which a GPU may flush. A zero has its sign in `high` and a power below all others. Infinity and NaN are in `high`, and
 * infinity has a power above all others.
 * Only the pair of a subnormal f64 that was loaded has a `high` below 1: down to 2^-52, with the power -1022. All products of two such
 * values are multiples of 2^-104, so that they are normal floats as well.
 * Source: Joldes, Muller, Popescu, "Tight and rigorous error bounds for basic building blocks of double-word arithmetic", ACM TOMS 44
 * (2017), to which the numbers of algorithms refer; errors are in units of u^2, u = 2^-24.
 */
import { f32Bits } from '../../../base/float.ts';
import type { Builder, Value } from '../../../ir/index.ts';
import { type IntegerOps, integerOps } from '../f64/integer-ops.ts';

export interface Pair {
  readonly high: Value;
  readonly low: Value;
  /** An i32. */
  readonly power: Value;
}

/** Helpers for pair arithmetic in one block. */
export interface Tools {
  readonly b: Builder;
  /** 32-bit arithmetic. */
  readonly w: IntegerOps;
  /** 64-bit arithmetic. */
  readonly wide: IntegerOps;
  float(value: number): Value;
  /** Bit casts between a float and an i32. */
  bits(float: Value): Value;
  ofBits(word: Value): Value;
}

/** Helpers that append at the builder's position. */
export function tools(b: Builder): Tools {
  const floats = new Map<number, Value>();
  const float = (value: number): Value => {
    const bits = f32Bits(value);
    const known = floats.get(bits) ?? b.const('f32', bits);
    floats.set(bits, known);
    return known;
  };
  return {
    b,
    w: integerOps(b, 'i32'),
    wide: integerOps(b),
    float,
    bits: (a) => b.bitcast('i32', a),
    ofBits: (a) => b.bitcast('f32', a),
  };
}

export const signBit = 1n << 31n;
export const fieldMask = 0x7f80_0000n;
const fieldPlace = 23n;

/** Powers of zero and infinity. They are so far apart that the sum of two determines the class of a product. */
export const powers = { zero: -(1n << 28n), infinite: 1n << 29n } as const;
/** Half of the range of powers of nonzero numbers: no sum leaves it in fewer than 2^27 operations. */
const halfPowerRange = 1n << 27n;
/** A product or quotient with a power outside this bound is infinite or zero. Sums are not affected: they cancel 53 places at most. */
export const maxPower = 8192n;

/** A rounded sum and its exact error. Algorithm 2, by Knuth and Moeller. */
export function twoSum(b: Builder, x: Value, y: Value): [sum: Value, error: Value] {
  const sum = b.fadd(x, y);
  const ofY = b.fsub(sum, x);
  const ofX = b.fsub(sum, ofY);
  return [sum, b.fadd(b.fsub(x, ofX), b.fsub(y, ofY))];
}

/** The same for an x of at least y's magnitude. Algorithm 1, by Dekker. */
export function quickTwoSum(b: Builder, x: Value, y: Value): [sum: Value, error: Value] {
  const sum = b.fadd(x, y);
  return [sum, b.fsub(y, b.fsub(sum, x))];
}

/** 2 to a power from -126 to 127, as a float. */
export const powerOfTwo = ({ w, ofBits }: Tools, power: Value): Value => ofBits(w.add(w.shl(power, fieldPlace), 0x3f80_0000n));

/** Whether a power is that of a nonzero number. */
export const isNonzeroNumber = ({ w }: Tools, power: Value): Value => w.is(w.add(power, halfPowerRange), 'ult', 2n * halfPowerRange);

/** 1.5 * 2^-29: adding and subtracting it rounds values up to 2^-24 to multiples of 2^-52. */
const grid = 1.5 * 2 ** -29;

/**
 * Normalizes a sum of two floats, of which the second is the error of the first, to a `high` from 1 to 2. Zeros, infinities and NaNs pass
 * through. Cutting `low` to the grid adds an error of 1 unit if `low` is next to a power of two; otherwise the result is exact to 2^-53.
 */
export function normalized(t: Tools, high: Value, low: Value, power: Value): Pair & { readonly field: Value } {
  const { b, w } = t;
  const field = w.and(t.bits(high), fieldMask);
  const scale = t.ofBits(w.sub(0x7f00_0000n, field));
  const cut = t.float(grid);
  return {
    high: b.fmul(high, scale),
    low: b.fsub(b.fadd(b.fmul(low, scale), cut), cut),
    power: w.add(w.sub(power, 127n), w.lshr(field, fieldPlace)),
    field,
  };
}

/** The negated pair. */
export const negated = ({ b }: Tools, { high, low, power }: Pair): Pair => ({ high: b.fneg(high), low: b.fneg(low), power });

/** The magnitude of a pair. */
export function magnitudeOf({ b, w, bits, ofBits }: Tools, { high, low, power }: Pair): Pair {
  return { high: b.fabs(high), low: ofBits(w.xor(bits(low), w.and(bits(high), signBit))), power };
}
