/**
 * IEEE 754 arithmetic on bit patterns, correctly rounded in each format: exact integers in between, one rounding to nearest even at the
 * end. It is slow and exact, for constant folding and for tests. Every NaN result is the format's quiet NaN with a positive sign.
 * Source: IEEE 754-2019, sections 3.4 (formats), 4.3.1 (rounding), 6.3 (signs of zero).
 */

/** A binary interchange format, by the widths of its fields. */
export interface FloatFormat {
  readonly exponentBits: number;
  readonly mantissaBits: number;
}

export const floatFormats = {
  f16: { exponentBits: 5, mantissaBits: 10 },
  bf16: { exponentBits: 8, mantissaBits: 7 },
  f32: { exponentBits: 8, mantissaBits: 23 },
  f64: { exponentBits: 11, mantissaBits: 52 },
} as const satisfies Record<string, FloatFormat>;

/** A decoded float: `(-1)^negative * mantissa * 2^exponent` where finite. */
export type Unpacked =
  | { readonly kind: 'nan' }
  | { readonly kind: 'infinite'; readonly negative: boolean }
  | { readonly kind: 'finite'; readonly negative: boolean; readonly mantissa: bigint; readonly exponent: number };

type Finite = Extract<Unpacked, { kind: 'finite' }>;

const biasOf = (format: FloatFormat): number => 2 ** (format.exponentBits - 1) - 1;
/** The exponent of the last place of a subnormal number. */
const minExponentOf = (format: FloatFormat): number => 1 - biasOf(format) - format.mantissaBits;
const signBit = (format: FloatFormat): bigint => 1n << BigInt(format.exponentBits + format.mantissaBits);
const infinityOf = (format: FloatFormat): bigint => ((1n << BigInt(format.exponentBits)) - 1n) << BigInt(format.mantissaBits);

const nan: Unpacked = { kind: 'nan' };
const infinite = (negative: boolean): Unpacked => ({ kind: 'infinite', negative });
const finite = (negative: boolean, mantissa: bigint, exponent: number): Unpacked => ({ kind: 'finite', negative, mantissa, exponent });

/** Decodes the bits of a float. */
export function unpackFloat(format: FloatFormat, bits: bigint): Unpacked {
  const field = BigInt.asUintN(format.mantissaBits, bits);
  const exponent = Number(BigInt.asUintN(format.exponentBits, bits >> BigInt(format.mantissaBits)));
  const negative = (bits & signBit(format)) !== 0n;
  if (exponent === 2 ** format.exponentBits - 1) return field === 0n ? infinite(negative) : nan;
  if (exponent === 0) return finite(negative, field, minExponentOf(format));
  return finite(negative, field | (1n << BigInt(format.mantissaBits)), exponent - 1 + minExponentOf(format));
}

/**
 * The bits of the float nearest to a value, ties to even. `more` is a sticky bit: the exact value is above `mantissa` by less than one
 * unit.
 */
function packFloat(format: FloatFormat, value: Unpacked, more = false): bigint {
  if (value.kind === 'nan') return infinityOf(format) | (1n << BigInt(format.mantissaBits - 1));
  const sign = value.negative ? signBit(format) : 0n;
  if (value.kind === 'infinite') return sign | infinityOf(format);
  const steps = roundedMagnitude(format, value, more);
  if (steps > infinityOf(format)) return sign | infinityOf(format);
  return sign | steps;
}

/** The magnitude as a bit pattern: the exponent and mantissa fields together count the floats from zero upwards. */
function roundedMagnitude(format: FloatFormat, { mantissa, exponent }: Finite, more: boolean): bigint {
  const width = bitLength(mantissa);
  if (width === 0) return 0n;
  const lowest = minExponentOf(format);
  const unit = Math.max(lowest, exponent + width - 1 - format.mantissaBits);
  if (unit - lowest > 2 ** format.exponentBits) return infinityOf(format);
  // The leading bit of a normal number carries into the exponent field, and so does a mantissa that rounds up to the next power of two.
  return (BigInt(unit - lowest) << BigInt(format.mantissaBits)) + nearestEven(mantissa, unit - exponent, more);
}

/** `value / 2^shift` to the nearest integer, ties to even. */
function nearestEven(value: bigint, shift: number, more: boolean): bigint {
  if (shift <= 0) return value << BigInt(-shift);
  const kept = value >> BigInt(shift);
  const rest = BigInt.asUintN(shift, value);
  const half = 1n << BigInt(shift - 1);
  const isUp = rest > half || (rest === half && (more || (kept & 1n) === 1n));
  return isUp ? kept + 1n : kept;
}

/** The bit length of a non-negative number. */
export const bitLength = (value: bigint): number => (value === 0n ? 0 : value.toString(2).length);

/** a + b. */
export const addFloat = (format: FloatFormat, a: bigint, b: bigint): bigint =>
  packFloat(format, sum(unpackFloat(format, a), unpackFloat(format, b)));

/** a - b. */
export const subFloat = (format: FloatFormat, a: bigint, b: bigint): bigint => addFloat(format, a, b ^ signBit(format));

/** a * b. */
export const mulFloat = (format: FloatFormat, a: bigint, b: bigint): bigint =>
  packFloat(format, product(unpackFloat(format, a), unpackFloat(format, b)));

/** a * b + c with one rounding. */
export const fmaFloat = (format: FloatFormat, a: bigint, b: bigint, c: bigint): bigint =>
  packFloat(format, sum(product(unpackFloat(format, a), unpackFloat(format, b)), unpackFloat(format, c)));

function product(a: Unpacked, b: Unpacked): Unpacked {
  if (a.kind === 'nan' || b.kind === 'nan') return nan;
  const negative = a.negative !== b.negative;
  if (a.kind === 'finite' && b.kind === 'finite') return finite(negative, a.mantissa * b.mantissa, a.exponent + b.exponent);
  return isZero(a) || isZero(b) ? nan : infinite(negative);
}

function sum(a: Unpacked, b: Unpacked): Unpacked {
  if (a.kind === 'nan' || b.kind === 'nan') return nan;
  if (a.kind === 'infinite') return b.kind === 'infinite' && a.negative !== b.negative ? nan : a;
  if (b.kind === 'infinite') return b;
  const exponent = Math.min(a.exponent, b.exponent);
  const total = signed(a, exponent) + signed(b, exponent);
  // An exact zero is positive unless both operands are negative.
  if (total === 0n) return finite(a.negative && b.negative, 0n, exponent);
  return finite(total < 0n, total < 0n ? -total : total, exponent);
}

function signed(x: Finite, exponent: number): bigint {
  const size = x.mantissa << BigInt(x.exponent - exponent);
  return x.negative ? -size : size;
}

const isZero = (x: Unpacked): boolean => x.kind === 'finite' && x.mantissa === 0n;

/** a / b; a nonzero finite number divided by zero is infinity. */
export function divFloat(format: FloatFormat, aBits: bigint, bBits: bigint): bigint {
  const [a, b] = [unpackFloat(format, aBits), unpackFloat(format, bBits)];
  if (a.kind === 'nan' || b.kind === 'nan') return packFloat(format, nan);
  const negative = a.negative !== b.negative;
  if (a.kind === 'infinite') return packFloat(format, b.kind === 'infinite' ? nan : infinite(negative));
  if (b.kind === 'infinite') return packFloat(format, finite(negative, 0n, 0));
  if (b.mantissa === 0n) return packFloat(format, a.mantissa === 0n ? nan : infinite(negative));
  // The quotient gets at least two bits more than the format keeps.
  const shift = Math.max(0, format.mantissaBits + 3 + bitLength(b.mantissa) - bitLength(a.mantissa));
  const dividend = a.mantissa << BigInt(shift);
  const quotient = finite(negative, dividend / b.mantissa, a.exponent - b.exponent - shift);
  return packFloat(format, quotient, dividend % b.mantissa !== 0n);
}

/** The square root. A negative number gives NaN, and -0 gives -0. */
export function sqrtFloat(format: FloatFormat, bits: bigint): bigint {
  const a = unpackFloat(format, bits);
  if (a.kind === 'nan' || isZero(a)) return a.kind === 'nan' ? packFloat(format, nan) : bits;
  if (a.negative) return packFloat(format, nan);
  if (a.kind === 'infinite') return bits;
  const widen = 2 * (format.mantissaBits + 3);
  const shift = (a.exponent - widen) % 2 === 0 ? widen : widen + 1;
  const square = a.mantissa << BigInt(shift);
  const root = integerRoot(square);
  return packFloat(format, finite(false, root, (a.exponent - shift) / 2), root * root !== square);
}

/** The integer square root (floor) of a positive number, by Newton's method from above. */
function integerRoot(square: bigint): bigint {
  let root = 1n << BigInt((bitLength(square) + 1) >> 1);
  for (;;) {
    const next = (root + square / root) >> 1n;
    if (next >= root) return root;
    root = next;
  }
}

/** The rounding of a fraction: to nearest even, towards zero, downwards, upwards. */
export type IntegralRounding = 'even' | 'zero' | 'down' | 'up';

/** Rounds to an integral value of the same format; a zero result keeps the sign. */
export function integralFloat(format: FloatFormat, bits: bigint, rounding: IntegralRounding): bigint {
  const a = unpackFloat(format, bits);
  if (a.kind !== 'finite' || a.exponent >= 0) return packFloat(format, a);
  return packFloat(format, finite(a.negative, integerSize(a, rounding), 0));
}

function integerSize({ negative, mantissa, exponent }: Finite, rounding: IntegralRounding): bigint {
  if (exponent >= 0) return mantissa << BigInt(exponent);
  if (rounding === 'even') return nearestEven(mantissa, -exponent, false);
  const kept = mantissa >> BigInt(-exponent);
  const isAway = rounding !== 'zero' && (rounding === 'down') === negative;
  return isAway && BigInt.asUintN(-exponent, mantissa) !== 0n ? kept + 1n : kept;
}

/** Converts to an integer, rounded towards zero and saturated to `min` and `max`; NaN gives 0. */
export function floatToInteger(format: FloatFormat, bits: bigint, min: bigint, max: bigint): bigint {
  const a = unpackFloat(format, bits);
  if (a.kind === 'nan') return 0n;
  if (a.kind === 'infinite') return a.negative ? min : max;
  const size = integerSize(a, 'zero');
  const value = a.negative ? -size : size;
  return value < min ? min : value > max ? max : value;
}

/** The float nearest to an integer of any size. */
export const floatOfInteger = (format: FloatFormat, value: bigint): bigint =>
  packFloat(format, finite(value < 0n, value < 0n ? -value : value, 0));

/** Converts between formats, with one rounding where the target is narrower. */
export const convertFloat = (from: FloatFormat, to: FloatFormat, bits: bigint): bigint => packFloat(to, unpackFloat(from, bits));

/** The order of a and b; undefined where one is NaN. Zeros of both signs are equal. */
export function compareFloat(format: FloatFormat, a: bigint, b: bigint): -1 | 0 | 1 | undefined {
  if (unpackFloat(format, a).kind === 'nan' || unpackFloat(format, b).kind === 'nan') return undefined;
  const [x, y] = [orderOf(format, a), orderOf(format, b)];
  return x < y ? -1 : x > y ? 1 : 0;
}

function orderOf(format: FloatFormat, bits: bigint): bigint {
  const size = bits & (signBit(format) - 1n);
  return bits & signBit(format) ? -size : size;
}

/** The smaller operand, or the other one where one is NaN; -0 is less than +0. */
export const minFloat = (format: FloatFormat, a: bigint, b: bigint): bigint => select(format, a, b, -1);

/** The larger operand, or the other one where one is NaN; -0 is less than +0. */
export const maxFloat = (format: FloatFormat, a: bigint, b: bigint): bigint => select(format, a, b, 1);

function select(format: FloatFormat, a: bigint, b: bigint, wanted: -1 | 1): bigint {
  const order = compareFloat(format, a, b);
  if (order === undefined)
    return unpackFloat(format, a).kind !== 'nan' ? a : unpackFloat(format, b).kind !== 'nan' ? b : packFloat(format, nan);
  if (order !== 0) return order === wanted ? a : b;
  const isNegative = (a & signBit(format)) !== 0n;
  return isNegative === wanted < 0 ? a : b;
}

/** The sign bit of a format, for `neg` and `abs`. */
export const signBitOf = signBit;
