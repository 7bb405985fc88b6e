/** What instructions of WebAssembly compute, on integers of any width and on floats. Source: WebAssembly Core Specification 2.0, 4.3. */
import { floatFormats, floatOfInteger, fmaFloat } from '../../../src/base/float-exact.ts';

/** An integer operation: operands are unsigned numbers of `width` bits; so is the result, once it is wrapped. */
type IntegerOp = (a: bigint, b: bigint, width: number) => bigint;

const signed = BigInt.asIntN;
const unsigned = BigInt.asUintN;

/** The trap codes of native code, which the interpreter uses, too. */
export const traps = { unreachable: 1, memory: 2, zero: 3, overflow: 4, conversion: 5, unaligned: 6, thrown: 7 } as const;

export class Trap extends Error {
  readonly code: number;
  constructor(code: number) {
    super(`trap ${code}`);
    this.code = code;
  }
}

const divisor = (b: bigint): bigint => {
  if (b === 0n) throw new Trap(traps.zero);
  return b;
};

const saturate = (value: bigint, min: bigint, max: bigint): bigint => (value < min ? min : value > max ? max : value);
const maxSigned = (width: number): bigint => (1n << BigInt(width - 1)) - 1n;
const minSigned = (width: number): bigint => -(1n << BigInt(width - 1));
const maxUnsigned = (width: number): bigint => (1n << BigInt(width)) - 1n;
const ones = (value: bigint): bigint => BigInt(value.toString(2).replaceAll('0', '').length);
const shift = (b: bigint, width: number): bigint => b % BigInt(width);

export const integerOps: Readonly<Record<string, IntegerOp>> = {
  add: (a, b) => a + b,
  sub: (a, b) => a - b,
  mul: (a, b) => a * b,
  div_s(a, b, width) {
    const quotient = signed(width, a) / signed(width, divisor(b));
    if (quotient > maxSigned(width)) throw new Trap(traps.overflow);
    return quotient;
  },
  div_u: (a, b) => a / divisor(b),
  rem_s: (a, b, width) => signed(width, a) % signed(width, divisor(b)),
  rem_u: (a, b) => a % divisor(b),
  and: (a, b) => a & b,
  or: (a, b) => a | b,
  xor: (a, b) => a ^ b,
  andnot: (a, b, width) => a & ~unsigned(width, b),
  not: (a) => ~a,
  shl: (a, b, width) => a << shift(b, width),
  shr_s: (a, b, width) => signed(width, a) >> shift(b, width),
  shr_u: (a, b, width) => a >> shift(b, width),
  rotl: (a, b, width) => (a << shift(b, width)) | (a >> (BigInt(width) - shift(b, width))),
  rotr: (a, b, width) => (a >> shift(b, width)) | (a << (BigInt(width) - shift(b, width))),
  clz: (a, _, width) => BigInt(width - (a === 0n ? 0 : a.toString(2).length)),
  ctz: (a, _, width) => (a === 0n ? BigInt(width) : BigInt((a & -a).toString(2).length - 1)),
  popcnt: (a) => ones(a),
  abs: (a, _, width) => (signed(width, a) < 0n ? -signed(width, a) : a),
  neg: (a) => -a,
  extend8_s: (a) => signed(8, a),
  extend16_s: (a) => signed(16, a),
  extend32_s: (a) => signed(32, a),
  min_s: (a, b, width) => (signed(width, a) < signed(width, b) ? a : b),
  min_u: (a, b) => saturate(a, 0n, b),
  max_s: (a, b, width) => (signed(width, a) > signed(width, b) ? a : b),
  max_u: (a, b, width) => saturate(a, b, maxUnsigned(width)),
  add_sat_s: (a, b, width) => saturate(signed(width, a) + signed(width, b), minSigned(width), maxSigned(width)),
  add_sat_u: (a, b, width) => saturate(a + b, 0n, maxUnsigned(width)),
  sub_sat_s: (a, b, width) => saturate(signed(width, a) - signed(width, b), minSigned(width), maxSigned(width)),
  sub_sat_u: (a, b, width) => saturate(a - b, 0n, maxUnsigned(width)),
  avgr_u: (a, b) => (a + b + 1n) >> 1n,
  q15mulr_sat_s: (a, b, width) => saturate((signed(width, a) * signed(width, b) + 0x4000n) >> 15n, minSigned(width), maxSigned(width)),
};

export const integerComparisons: Readonly<Record<string, (a: bigint, b: bigint, width: number) => boolean>> = {
  eqz: (a) => a === 0n,
  eq: (a, b) => a === b,
  ne: (a, b) => a !== b,
  lt_s: (a, b, width) => signed(width, a) < signed(width, b),
  lt_u: (a, b) => a < b,
  gt_s: (a, b, width) => signed(width, a) > signed(width, b),
  gt_u: (a, b) => a > b,
  le_s: (a, b, width) => signed(width, a) <= signed(width, b),
  le_u: (a, b) => a <= b,
  ge_s: (a, b, width) => signed(width, a) >= signed(width, b),
  ge_u: (a, b) => a >= b,
};

const view = new DataView(new ArrayBuffer(8));

/** The number that the bits of a float are. */
export function numberOf(bits: bigint, width: number): number {
  view.setBigUint64(0, bits);
  return width === 32 ? view.getFloat32(4) : view.getFloat64(0);
}

/** The bits of a number as a float, to which it is rounded; those of a NaN are the canonical ones. */
export function bitsOf(value: number, width: number): bigint {
  if (Number.isNaN(value)) return width === 32 ? 0x7fc00000n : 0x7ff8000000000000n;
  if (width === 32) view.setFloat32(0, value);
  else view.setFloat64(0, value);
  return width === 32 ? BigInt(view.getUint32(0)) : view.getBigUint64(0);
}

const nearest = (x: number): number => {
  if (!Number.isFinite(x) || Math.abs(x) >= 2 ** 52 || x === 0) return x;
  const below = Math.floor(x);
  const rest = x - below;
  const rounded = rest < 0.5 || (rest === 0.5 && below % 2 === 0) ? below : below + 1;
  return rounded === 0 && x < 0 ? -0 : rounded;
};

const isNegativeZero = (x: number): boolean => Object.is(x, -0);

/** Float operations on numbers. Those of f32 are rounded once more, which changes nothing for these. */
const numberOps: Readonly<Record<string, (a: number, b: number) => number>> = {
  add: (a, b) => a + b,
  sub: (a, b) => a - b,
  mul: (a, b) => a * b,
  div: (a, b) => a / b,
  sqrt: (a) => Math.sqrt(a),
  ceil: (a) => Math.ceil(a),
  floor: (a) => Math.floor(a),
  trunc: (a) => Math.trunc(a),
  nearest,
  min: (a, b) => (Number.isNaN(a) || Number.isNaN(b) ? Number.NaN : a < b || (a === b && isNegativeZero(a)) ? a : b),
  max: (a, b) => (Number.isNaN(a) || Number.isNaN(b) ? Number.NaN : a > b || (a === b && isNegativeZero(b)) ? a : b),
};

const sign = (width: number): bigint => 1n << BigInt(width - 1);

/** Float operations on bits. */
export const floatOps: Readonly<Record<string, (args: readonly bigint[], width: number) => bigint>> = {
  ...Object.fromEntries(
    Object.entries(numberOps).map(([name, op]) => [
      name,
      ([a = 0n, b = 0n]: readonly bigint[], width: number) => bitsOf(op(numberOf(a, width), numberOf(b, width)), width),
    ]),
  ),
  abs: ([a], width) => a! & ~sign(width),
  neg: ([a], width) => a! ^ sign(width),
  copysign: ([a, b], width) => (a! & ~sign(width)) | (b! & sign(width)),
  pmin: ([a, b], width) => (numberOf(b!, width) < numberOf(a!, width) ? b! : a!),
  pmax: ([a, b], width) => (numberOf(a!, width) < numberOf(b!, width) ? b! : a!),
  relaxed_madd: ([a, b, c], width) => fmaFloat(width === 32 ? floatFormats.f32 : floatFormats.f64, a!, b!, c!),
};

export const floatComparisons: Readonly<Record<string, (a: number, b: number) => boolean>> = {
  eq: (a, b) => a === b,
  ne: (a, b) => a !== b,
  lt: (a, b) => a < b,
  gt: (a, b) => a > b,
  le: (a, b) => a <= b,
  ge: (a, b) => a >= b,
};

/** A float as an integer of `width` bits, with the nearest one for what has none. */
export function truncSat(value: number, width: number, isSigned: boolean): bigint {
  if (Number.isNaN(value)) return 0n;
  const [min, max] = isSigned ? [minSigned(width), maxSigned(width)] : [0n, maxUnsigned(width)];
  return Number.isFinite(value) ? saturate(BigInt(Math.trunc(value)), min, max) : value > 0 ? max : min;
}

/** The same with a trap for what has none. */
export function truncOrTrap(value: number, width: number, isSigned: boolean): bigint {
  if (Number.isNaN(value)) throw new Trap(traps.conversion);
  const result = truncSat(value, width, isSigned);
  if (!Number.isFinite(value) || result !== BigInt(Math.trunc(value))) throw new Trap(traps.overflow);
  return result;
}

/** An integer as the bits of a float, rounded once. */
export const floatOf = (value: bigint, width: number): bigint => floatOfInteger(width === 32 ? floatFormats.f32 : floatFormats.f64, value);
