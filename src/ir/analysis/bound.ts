/**
 * Bounds of integers as exact numbers: a `number` up to 2^53, and a `bigint` beyond. Almost all are small, and arithmetic of small ones
 * allocates nothing. Comparisons take both.
 */
export type Bound = number | bigint;

const exact = Number.MAX_SAFE_INTEGER;
/** 2^32. */
const word = 0x1_0000_0000;

const big = (a: Bound): bigint => (typeof a === 'bigint' ? a : BigInt(a));

/** A bound of a number. */
export const boundOf = (a: bigint): Bound => (a <= exact ? Number(a) : a);
/** The number of a bound. */
export const numberOf = big;

export function plus(a: Bound, b: Bound): Bound {
  if (typeof a === 'number' && typeof b === 'number' && a + b <= exact) return a + b;
  return boundOf(big(a) + big(b));
}

export function times(a: Bound, b: Bound): Bound {
  if (typeof a === 'number' && typeof b === 'number' && a * b <= exact) return a * b;
  return boundOf(big(a) * big(b));
}

/** The quotient without what is behind the point; the divisor is not 0. */
export function dividedBy(a: Bound, b: Bound): Bound {
  if (typeof a === 'number' && typeof b === 'number') return (a - (a % b)) / b;
  return boundOf(big(a) / big(b));
}

/** The bits without the lowest ones. */
export function shiftedDown(a: Bound, by: Bound): Bound {
  if (by >= 64) return 0;
  return typeof a === 'number' ? Math.floor(a / 2 ** Number(by)) : boundOf(a >> big(by));
}

/** The bits with zeros below; by less than 64. */
export const shiftedUp = (a: Bound, by: Bound): Bound => times(a, boundOf(1n << big(by)));

/** How many bits a number has up to its highest 1. */
export function bitLength(a: Bound): number {
  if (typeof a === 'number') return a < word ? 32 - Math.clz32(a) : 64 - Math.clz32(a / word);
  if (a < word) return 32 - Math.clz32(Number(a));
  return a < 1n << 64n ? 64 - Math.clz32(Number(a >> 32n)) : a.toString(2).length;
}

/** By number: so many ones, and the least number with so many bits; nothing has more than 64. */
const onesByWidth: readonly Bound[] = Array.from({ length: 65 }, (_, bits) => boundOf((1n << BigInt(bits)) - 1n));
const signs: readonly Bound[] = Array.from({ length: 65 }, (_, bits) => (bits === 0 ? 0 : boundOf(1n << BigInt(bits - 1))));

/** The most that an integer of a width is. */
export const onesOf = (bits: number): Bound => onesByWidth[bits]!;
/** Whether a number is none of the negative ones of a width. */
export const isNatural = (bound: Bound, bits: number): boolean => bound < signs[bits]!;
