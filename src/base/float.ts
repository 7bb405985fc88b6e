/** Exact f16, bf16 and f32: bits to numbers and back, rounded to nearest even in one step. */

/** An IEEE 754 binary format, by the widths of its fields. */
interface Format {
  readonly exponentBits: number;
  readonly mantissaBits: number;
}

const half: Format = { exponentBits: 5, mantissaBits: 10 };
const bfloat: Format = { exponentBits: 8, mantissaBits: 7 };

const scratch = new DataView(new ArrayBuffer(8));

/** The bits of the f16 nearest to a number, ties to even; NaN gives 0x7e00. */
export const f16Bits = (value: number): number => encode(half, value);

/** The value of an f16 bit pattern. */
export const f16Value = (bits: number): number => decode(half, bits);

/** The bits of the bf16 nearest to a number, ties to even; NaN gives 0x7fc0. */
export const bf16Bits = (value: number): number => encode(bfloat, value);

/** The value of a bf16 bit pattern. */
export const bf16Value = (bits: number): number => decode(bfloat, bits);

/** The bits of the f32 nearest to a number, ties to even. */
export function f32Bits(value: number): number {
  scratch.setFloat32(0, value);
  return scratch.getUint32(0);
}

/** The value of an f32 bit pattern. */
export function f32Value(bits: number): number {
  scratch.setUint32(0, bits);
  return scratch.getFloat32(0);
}

/** The bits of an f64. */
export function f64Bits(value: number): bigint {
  scratch.setFloat64(0, value);
  return scratch.getBigUint64(0);
}

/** The value of an f64 bit pattern. */
export function f64Value(bits: bigint): number {
  scratch.setBigUint64(0, bits);
  return scratch.getFloat64(0);
}

/** The floor of log2 of a positive finite number, exactly. */
export function exponentOf(value: number): number {
  scratch.setFloat64(0, value);
  const biased = (scratch.getUint32(0) >>> 20) & 0x7ff;
  if (biased > 0) return biased - 1023;
  // A subnormal double: scaling by 2^54 is exact and makes it normal.
  scratch.setFloat64(0, value * 2 ** 54);
  return ((scratch.getUint32(0) >>> 20) & 0x7ff) - 1023 - 54;
}

/** A non-negative number rounded to the nearest integer, ties to even. */
function roundEven(value: number): number {
  const floor = Math.floor(value);
  const rest = value - floor;
  if (rest > 0.5 || (rest === 0.5 && floor % 2 === 1)) return floor + 1;
  return floor;
}

function encode({ exponentBits, mantissaBits }: Format, value: number): number {
  const infinity = (2 ** exponentBits - 1) * 2 ** mantissaBits;
  if (Number.isNaN(value)) return infinity + 2 ** (mantissaBits - 1);
  const sign = value < 0 || Object.is(value, -0) ? 2 ** (exponentBits + mantissaBits) : 0;
  const size = Math.abs(value);
  if (size === 0) return sign;
  if (size === Number.POSITIVE_INFINITY) return sign + infinity;
  const lowest = 2 - 2 ** (exponentBits - 1);
  const exponent = Math.max(exponentOf(size), lowest);
  // Scaling by a power of two is exact here. The implicit bit of a normal number carries into the exponent field, and so does a mantissa
  // that rounds up to the next power of two.
  const steps = roundEven(size * 2 ** (mantissaBits - exponent));
  return sign + Math.min(infinity, (exponent - lowest) * 2 ** mantissaBits + steps);
}

function decode({ exponentBits, mantissaBits }: Format, bits: number): number {
  const mantissa = bits % 2 ** mantissaBits;
  const exponent = Math.floor(bits / 2 ** mantissaBits) % 2 ** exponentBits;
  const sign = bits >= 2 ** (exponentBits + mantissaBits) ? -1 : 1;
  const lowest = 2 - 2 ** (exponentBits - 1);
  if (exponent === 2 ** exponentBits - 1) return mantissa === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  if (exponent === 0) return sign * mantissa * 2 ** (lowest - mantissaBits);
  return sign * (mantissa + 2 ** mantissaBits) * 2 ** (exponent - 1 + lowest - mantissaBits);
}
