/** The error of a double against an exact result, in exact arithmetic, and operands at the limits of pairs of floats. */
import { floatFormats, unpackFloat } from '../../src/base/float-exact.ts';
import { splitMix64 } from '../../src/runtime/rand.ts';

/** `over / under * 2^power`; `under` is positive. */
export interface Exact {
  readonly over: bigint;
  readonly under: bigint;
  readonly power: number;
}

/** The number that finite bits are. */
export function exactOf(bits: bigint): Exact {
  const value = unpackFloat(floatFormats.f64, bits);
  if (value.kind !== 'finite') throw new Error('no number');
  return { over: value.negative ? -value.mantissa : value.mantissa, under: 1n, power: value.exponent };
}

const size = (value: bigint): bigint => (value < 0n ? -value : value);

/** Both with the lower of two powers. */
function sameScale(a: Exact, b: Exact): { a: bigint; b: bigint; under: bigint; power: number } {
  const power = Math.min(a.power, b.power);
  const scaled = (x: Exact, by: bigint): bigint => (x.over * by) << BigInt(x.power - power);
  return { a: scaled(a, b.under), b: scaled(b, a.under), under: a.under * b.under, power };
}

export function plus(x: Exact, y: Exact): Exact {
  const { a, b, under, power } = sameScale(x, y);
  return { over: a + b, under, power };
}
export const minus = (x: Exact, y: Exact): Exact => plus(x, { ...y, over: -y.over });
export const times = (x: Exact, y: Exact): Exact => ({ over: x.over * y.over, under: x.under * y.under, power: x.power + y.power });
export function over(x: Exact, y: Exact): Exact {
  const sign = y.over < 0n ? -1n : 1n;
  return { over: x.over * y.under * sign, under: x.under * y.over * sign, power: x.power - y.power };
}
export const magnitude = (x: Exact): Exact => ({ ...x, over: size(x.over) });

/** Whether x is not above y. */
export function isWithin(x: Exact, y: Exact): boolean {
  const { a, b } = sameScale(x, y);
  return a <= b;
}

/** A part of 2^-48, the unit that bounds are in, of a number. */
export const units = (count: number, x: Exact): Exact =>
  times(magnitude(x), { over: BigInt(Math.round(count * 1024)), under: 1n, power: -58 });

/** How many such units of y the number x is, roughly. */
export function inUnits(x: Exact, y: Exact): number {
  const { a, b } = sameScale(magnitude(x), magnitude(y));
  return b === 0n ? (a === 0n ? 0 : Number.POSITIVE_INFINITY) : Number((a << 68n) / b) / 2 ** 20;
}

/** Half of the smallest double: the error of a subnormal result. */
export const halfLeast: Exact = { over: 1n, under: 1n, power: -1075 };

export interface Draw {
  readonly below: (n: number) => number;
  readonly bits: () => bigint;
  readonly of: <T>(list: readonly T[]) => T;
}

export function drawer(seed: bigint): Draw {
  const bits = splitMix64(seed);
  const below = (n: number): number => Number(bits() % BigInt(n));
  return { below, bits, of: (list) => list[below(list.length)]! };
}

/** A double that two floats hold: 24 bits each, with a gap of any width between them. */
export function heldDouble({ below, bits, of }: Draw, power: number): bigint {
  const high = of([0n, 1n, (1n << 23n) - 1n, bits() & 0x7fffffn, 1n << BigInt(below(23))]);
  const mostLow = of([1n, 1n << 23n, (1n << 24n) - 1n, bits() & 0xffffffn]);
  const low = (mostLow << 4n) >> BigInt(below(29));
  const mantissa = (high << 29n) + (below(2) ? low : -low);
  const sign = BigInt(below(2)) << 63n;
  return sign | ((BigInt(power + 1023) << 52n) + (mantissa < 0n ? 0n : mantissa));
}
