/**
 * Doubles as pairs of floats with an exponent beside them: `(high + low) * 2^power`.
 *
 * Of a number other than zero, `high` is the float nearest to `high + low` and lies from 1 to 2 (one unit in its last place
 * less may be), and `low` is a multiple of 2^-52: every pair is a double, but for its power, which may lie beyond those of
 * doubles. So nothing that is computed comes near the subnormal floats, which a GPU may flush. A zero keeps its sign in `high`
 * and has a power below all others; infinity and NaN are in `high`, and infinity has a power above all others.
 *
 * Only the pair of a subnormal double, as it is loaded, has a `high` below 1: down to 2^-52, with the power -1022. All products
 * of such two are multiples of 2^-104, so that they stay normal floats as well.
 *
 * Source: Joldes, Muller, Popescu, "Tight and rigorous error bounds for basic building blocks of double-word arithmetic",
 * ACM TOMS 44 (2017), to which the numbers of algorithms refer; errors are in units of u^2, u = 2^-24.
 */
import { f32Bits } from '../../../base/float.ts';
import type { Builder, Value } from '../../../ir/index.ts';
import { type Words, words } from '../f64/words.ts';

export interface Pair {
  readonly high: Value;
  readonly low: Value;
  /** An i32. */
  readonly power: Value;
}

/** What pairs are computed with, for one block. */
export interface Tools {
  readonly b: Builder;
  /** Of 32 bits. */
  readonly w: Words;
  /** Of 64 bits. */
  readonly wide: Words;
  float(value: number): Value;
  /** The bits of a float as a word, and back. */
  bits(float: Value): Value;
  ofBits(word: Value): Value;
}

/** Tools that append where the builder stands. */
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
    w: words(b, 'i32'),
    wide: words(b),
    float,
    bits: (a) => b.bitcast('i32', a),
    ofBits: (a) => b.bitcast('f32', a),
  };
}

export const signBit = 1n << 31n;
export const fieldMask = 0x7f80_0000n;
const fieldPlace = 23n;

/** Powers of what is no number other than zero. They are so far apart that their sum says what a product is. */
export const powers = { zero: -(1n << 28n), infinite: 1n << 29n } as const;
/** Half of the range in which a power is that of a number: no sum leaves it in less than 2^27 steps. */
const usual = 1n << 27n;
/** A product or quotient whose power is not within this is infinite, or zero. Sums below it are none: they cancel 53 places at most. */
export const mostPower = 8192n;

/** A sum that rounds, and what it lacks: exactly. Algorithm 2, by Knuth and Moeller. */
export function twoSum(b: Builder, x: Value, y: Value): [sum: Value, error: Value] {
  const sum = b.fadd(x, y);
  const ofY = b.fsub(sum, x);
  const ofX = b.fsub(sum, ofY);
  return [sum, b.fadd(b.fsub(x, ofX), b.fsub(y, ofY))];
}

/** The same where x is not the smaller one. Algorithm 1, by Dekker. */
export function quickTwoSum(b: Builder, x: Value, y: Value): [sum: Value, error: Value] {
  const sum = b.fadd(x, y);
  return [sum, b.fsub(y, b.fsub(sum, x))];
}

/** 2 to a power from -126 to 127, as a float. */
export const powerOfTwo = ({ w, ofBits }: Tools, power: Value): Value => ofBits(w.add(w.shl(power, fieldPlace), 0x3f80_0000n));

/** Whether a power is that of a number other than zero. */
export const isUsual = ({ w }: Tools, power: Value): Value => w.is(w.add(power, usual), 'ult', 2n * usual);

/** 1.5 * 2^-29: added and taken away, it leaves multiples of 2^-52 of what is up to 2^-24. */
const grid = 1.5 * 2 ** -29;

/**
 * A sum of two floats, of which the second is what the first lacks, with `high` from 1 to 2; of zero, and of what is none, what
 * comes out. Where `low` is next to a power of two, cutting it to the grid rounds it by 1 unit more; else it is exact to 2^-53.
 */
export function normalised(t: Tools, high: Value, low: Value, power: Value): Pair & { readonly field: Value } {
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

/** The pair with the other sign. */
export const negated = ({ b }: Tools, { high, low, power }: Pair): Pair => ({ high: b.fneg(high), low: b.fneg(low), power });

/** The pair without its sign. */
export function magnitudeOf({ b, w, bits, ofBits }: Tools, { high, low, power }: Pair): Pair {
  return { high: b.fabs(high), low: ofBits(w.xor(bits(low), w.and(bits(high), signBit))), power };
}
