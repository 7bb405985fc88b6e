/** Shared compositions of IR ops: flushing, saturation, directed rounding. Every composition is exact. */
import type { Value } from '../../ir/index.ts';
import { minExponent, neverSubnormal } from '../../ir/subnormals.ts';
import { bitsOf, type FloatType, type IntType, intOf } from '../../ir/types.ts';
import type { PureCode, RowBuilder } from '../model/row.ts';

/** Field widths of the float formats. */
const mantissaBits = { f16: 10, bf16: 7, f32: 23, f64: 52 } as const satisfies Record<FloatType, number>;
const one: Record<FloatType, bigint> = { f16: 0x3c00n, bf16: 0x3f80n, f32: 0x3f800000n, f64: 0x3ff0000000000000n };
/** The canonical NaN of NVIDIA GPUs. */
const canonicalNan: Record<FloatType, bigint> = { f16: 0x7fffn, bf16: 0x7fffn, f32: 0x7fffffffn, f64: 0x7fffffffffffffffn };

/** The complement of a condition. */
export const not = (ir: RowBuilder, condition: Value): Value => ir.xor(condition, ir.const('i1', 1));

export const typeOf = (ir: RowBuilder, value: Value): FloatType => ir.typeOf(value) as FloatType;
const bitsAs = (ir: RowBuilder, a: Value): { readonly int: IntType; readonly bits: Value } => {
  const int = intOf(bitsOf(ir.typeOf(a)));
  return { int, bits: ir.bitcast(int, a) };
};

/** Flushes subnormals to zeros of their sign, if requested. */
export function flush(ir: RowBuilder, a: Value, ftz: true | undefined): Value {
  if (!ftz) return a;
  const type = typeOf(ir, a);
  if (type === 'f32') return isNormalOrZero(ir, a) ? a : ir.ftz(a);
  const smallest = ir.const(type, 1n << BigInt(mantissaBits[type]));
  return ir.select(ir.fcmp(ir.fabs(a), smallest, { pred: 'olt' }), zeroOf(ir, a), a);
}

/** A zero of the sign of a value. */
function zeroOf(ir: RowBuilder, a: Value): Value {
  const { int, bits } = bitsAs(ir, a);
  return ir.bitcast(typeOf(ir, a), ir.and(bits, ir.const(int, 1n << BigInt(bitsOf(int) - 1))));
}

/** By kernel: choices that are no subnormals, because those were flushed. */
const flushedValues = new WeakMap<object, Set<Value>>();

/** Notes that a value is no subnormal. */
function noted(ir: RowBuilder, value: Value): Value {
  const known = flushedValues.get(ir.kernel) ?? new Set();
  flushedValues.set(ir.kernel, known.add(value));
  return value;
}

/** Whether a value is known to be no subnormal: by its operation, because it is flushed already, or by its bounds or steps. */
function isNormalOrZero(ir: RowBuilder, a: Value): boolean {
  const inst = ir.kernel.insts[a]!;
  if (inst.op === 'fneg' || inst.op === 'fabs') return isNormalOrZero(ir, inst.a);
  if (inst.op === 'bitcast') return isMovedNormal(ir, inst.a) || isBoundedNormal(ir, a);
  if (neverSubnormal.has(inst.op) || flushedValues.get(ir.kernel)?.has(a)) return true;
  return isBoundedNormal(ir, a);
}

/** Whether bits are those of a float that is no subnormal, of this thread or of another one of the warp. */
function isMovedNormal(ir: RowBuilder, bits: Value): boolean {
  const inst = ir.kernel.insts[bits]!;
  if (inst.op === 'bitcast') return ir.typeOf(inst.a) === 'f32' && isNormalOrZero(ir, inst.a);
  return (inst.op === 'shuffle' || inst.op === 'shufflesync') && isMovedNormal(ir, inst.a);
}

/** Whether bounds or steps say that a value is no subnormal. */
function isBoundedNormal(ir: RowBuilder, a: Value): boolean {
  if (ir.floatSpan(a).low >= minExponent) return true;
  const { low, high } = ir.floatRange(a);
  return low >= smallestNormal || high <= -smallestNormal || (low === 0 && high === 0);
}

const smallestNormal = 2 ** minExponent;

/** Clamps to 0 and 1, if requested; NaN gives +0. */
export function saturate(ir: RowBuilder, a: Value, sat: true | undefined): Value {
  if (!sat) return a;
  const type = typeOf(ir, a);
  const [zero, top] = [ir.const(type, 0), ir.const(type, one[type])];
  const below = ir.select(ir.fcmp(a, top, { pred: 'olt' }), a, top);
  return ir.select(ir.fcmp(a, zero, { pred: 'ogt' }), below, zero);
}

/** Clamps to +0 from below, if requested; NaN stays NaN. */
export function rectify(ir: RowBuilder, a: Value, relu: true | undefined): Value {
  if (!relu) return a;
  const zero = ir.const(typeOf(ir, a), 0);
  return ir.select(ir.fcmp(a, zero, { pred: 'ole' }), zero, a);
}

/** The canonical NaN if an operand is NaN. */
export function orNan(ir: RowBuilder, a: Value, b: Value, result: Value): Value {
  const type = typeOf(ir, result);
  return ir.select(ir.fcmp(a, b, { pred: 'uno' }), ir.const(type, canonicalNan[type]), result);
}

/**
 * The exponents, in units of the factor that makes a subnormal normal, by which operands are scaled to make a result normal. Sums are
 * absent: a subnormal sum is exact.
 */
export const lifting = { product: [1, 0], fused: [1, 0, 1], quotient: [1, 0], reciprocal: [-1] } as const;

/** An operation on floats of 32 bits, whose results with `.ftz` a function of a name computes where the target has functions. */
export interface FlushedOperation {
  readonly fn: string;
  readonly compute: PureCode;
  readonly lifts: readonly (0 | 1 | -1)[];
}

interface Modifiers {
  readonly ftz?: true;
  readonly sat?: true;
  readonly relu?: true;
}

/** A float arithmetic instruction with the common modifiers, by an operation that a function may compute. */
export const arithmeticOf = (ir: RowBuilder, operands: readonly Value[], modifiers: Modifiers, operation: FlushedOperation): Value =>
  arithmetic(ir, operands, modifiers, (...inputs) => operation.compute(ir, inputs), operation.lifts, operation);

/** A float arithmetic instruction with the common modifiers; `lifts` is for results that may round up to the smallest normal number. */
export function arithmetic(
  ir: RowBuilder,
  operands: readonly Value[],
  { ftz, sat, relu }: Modifiers,
  compute: (...flushed: Value[]) => Value,
  lifts?: readonly (0 | 1 | -1)[],
  operation?: FlushedOperation,
): Value {
  const inputs = operands.map((a) => flush(ir, a, ftz));
  const result = compute(...inputs);
  const isLifted = ftz && lifts && !(typeOf(ir, result) === 'f32' && isNormalOrZero(ir, result));
  const flushed = !isLifted
    ? flush(ir, result, ftz)
    : operation && ir.pureFunction
      ? noted(ir, ir.pureFunction(operation.fn, inputs, flushedCode(operation), 'flushed'))
      : flushTiny(ir, inputs, result, compute, lifts);
  return rectify(ir, saturate(ir, flushed, sat), relu);
}

/** The code of a function that makes a result without subnormals of flushed operands. */
const flushedCode =
  ({ compute, lifts }: FlushedOperation): PureCode =>
  (ir, inputs) =>
    flushTiny(ir, inputs, compute(ir, inputs), (...lifted) => compute(ir, lifted), lifts);

/**
 * The hardware flushes results that are subnormal at full precision, even if they would round up to the smallest normal number at the
 * precision of a subnormal.
 */
function flushTiny(
  ir: RowBuilder,
  inputs: readonly Value[],
  result: Value,
  compute: (...inputs: Value[]) => Value,
  lifts: readonly (0 | 1 | -1)[],
): Value {
  const type = typeOf(ir, result);
  const [bits, bias] = [mantissaBits[type], Number(one[type] >> BigInt(mantissaBits[type]))];
  const power = (exponent: number): Value => ir.const(type, BigInt(exponent + bias) << BigInt(bits));
  const lifted = compute(...inputs.map((a, i) => (lifts[i] ? ir.fmul(a, power(lifts[i] * (bits + 1))) : a)));
  const isBelow = ir.fcmp(ir.fabs(lifted), power(bits + 2 - bias), { pred: 'olt' });
  // An operand that is too large to be lifted has no result near the smallest normal number, nor one between zero and it: the exponents of halves do not
  // reach far enough for that.
  if (type === 'f32') return noted(ir, ir.select(isBelow, ir.fmul(result, ir.const('f32', 0)), result));
  const isMinNormal = ir.fcmp(ir.fabs(result), power(1 - bias), { pred: 'oeq' });
  return ir.select(ir.and(isMinNormal, isBelow), zeroOf(ir, result), flush(ir, result, true));
}

/** A shift count, which always has 32 bits; a large count stays large in a narrow type. */
export function countAs(ir: RowBuilder, count: Value, type: IntType): Value {
  if (type === 'i64') return ir.zext('i64', count);
  return type === 'i32' ? count : ir.trunc(type, ir.umin(count, ir.const('i32', bitsOf(type))));
}

export type Rounding = 'rn' | 'rz' | 'rm' | 'rp';

/**
 * Converts a float to a narrower type: rounds to nearest, then takes the neighbor if that was the wrong direction. Bit patterns of one sign
 * are ordered by magnitude.
 */
export function narrowFloat(ir: RowBuilder, type: FloatType, a: Value, rounding: Rounding): Value {
  const nearest = ir.fptrunc(type, a);
  if (rounding === 'rn') return nearest;
  const back = ir.fpext(typeOf(ir, a), nearest);
  const { int, bits } = bitsAs(ir, nearest);
  const [up, down] = [ir.add(bits, ir.const(int, 1)), ir.sub(bits, ir.const(int, 1))];
  const isNegative = ir.icmp(bits, ir.const(int, 0), { pred: 'slt' });
  const stepped = (isWrong: Value, step: Value): Value => ir.bitcast(type, ir.select(isWrong, step, bits));
  if (rounding === 'rz') return stepped(ir.fcmp(ir.fabs(back), ir.fabs(a), { pred: 'ogt' }), down);
  if (rounding === 'rm') return stepped(ir.fcmp(back, a, { pred: 'ogt' }), ir.select(isNegative, up, down));
  return stepped(ir.fcmp(back, a, { pred: 'olt' }), ir.select(isNegative, down, up));
}

/**
 * Converts a 32- or 64-bit integer to a float. Directed rounding truncates the magnitude to the float's precision, so that the conversion
 * is exact.
 */
export function intToFloat(ir: RowBuilder, type: FloatType, a: Value, isSigned: boolean, rounding: Rounding): Value {
  const int = ir.typeOf(a) as IntType;
  const kept = mantissaBits[type] + 1;
  if (rounding === 'rn' || bitsOf(int) <= kept) return isSigned ? ir.sitofp(type, a) : ir.uitofp(type, a);
  const zero = ir.const(int, 0);
  const isNegative = isSigned ? ir.icmp(a, zero, { pred: 'slt' }) : ir.const('i1', 0);
  const size = ir.select(isNegative, ir.sub(zero, a), a);
  const { cut, isInexact } = cutTo(ir, size, kept, type);
  const { int: floatInt, bits } = bitsAs(ir, ir.uitofp(type, cut));
  const isAway = rounding === 'rz' ? ir.const('i1', 0) : rounding === 'rm' ? isNegative : ir.xor(isNegative, ir.const('i1', 1));
  const step = ir.zext(floatInt, ir.and(isInexact, isAway));
  const sign = ir.shl(ir.zext(floatInt, isNegative), ir.const(floatInt, bitsOf(floatInt) - 1));
  return ir.bitcast(type, ir.or(ir.add(bits, step), sign));
}

/** Converts a 32- or 64-bit integer to f32 with rounding to odd, so that a second rounding to fewer bits is correct. */
export function intToOdd(ir: RowBuilder, a: Value, isSigned: boolean): Value {
  const int = ir.typeOf(a) as IntType;
  const zero = ir.const(int, 0);
  const isNegative = isSigned ? ir.icmp(a, zero, { pred: 'slt' }) : ir.const('i1', 0);
  const { cut, isInexact } = cutTo(ir, ir.select(isNegative, ir.sub(zero, a), a), mantissaBits.f32 + 1, 'f32');
  const bits = ir.or(ir.bitcast('i32', ir.uitofp('f32', cut)), ir.zext('i32', isInexact));
  return ir.bitcast('f32', ir.or(bits, ir.shl(ir.zext('i32', isNegative), ir.const('i32', 31))));
}

/** Converts f64 to f32 with rounding to odd. */
export function doubleToOdd(ir: RowBuilder, a: Value): Value {
  const cut = narrowFloat(ir, 'f32', a, 'rz');
  const isInexact = ir.fcmp(ir.fpext('f64', cut), a, { pred: 'one' });
  return ir.bitcast('f32', ir.or(ir.bitcast('i32', cut), ir.zext('i32', isInexact)));
}

/** The highest bits of a magnitude, and whether others were lost. For f16, magnitudes are clamped to its largest number. */
function cutTo(ir: RowBuilder, size: Value, kept: number, type: FloatType): { readonly cut: Value; readonly isInexact: Value } {
  const int = ir.typeOf(size) as IntType;
  const spare = ir.const(int, bitsOf(int) - kept);
  // The number of bits below the highest `kept` ones; none if the leading zeros leave room for all.
  const lost = ir.sub(spare, ir.umin(ir.clz(size), spare));
  const cut = ir.shl(ir.lshr(size, lost), lost);
  const largest = ir.const(int, 65504);
  const limited = type === 'f16' ? ir.umin(cut, largest) : cut;
  return { cut: limited, isInexact: ir.icmp(limited, size, { pred: 'ne' }) };
}

/** Extends an integer of at most 16 bits to 32 bits, which gives the same float. */
export function widened(ir: RowBuilder, a: Value, isSigned: boolean): Value {
  const type = ir.typeOf(a) as IntType;
  if (bitsOf(type) >= 32) return a;
  return isSigned ? ir.sext('i32', a) : ir.zext('i32', a);
}

/** The minimum and maximum of an integer type. */
export const rangeOf = (bits: number, isSigned: boolean): { readonly min: bigint; readonly max: bigint } =>
  isSigned ? { min: -(1n << BigInt(bits - 1)), max: (1n << BigInt(bits - 1)) - 1n } : { min: 0n, max: (1n << BigInt(bits)) - 1n };

/** The nearest value of another integer type. */
export function saturateInt(
  ir: RowBuilder,
  a: Value,
  from: { bits: number; isSigned: boolean },
  to: { bits: number; isSigned: boolean },
): Value {
  const type = ir.typeOf(a) as IntType;
  const [have, want] = [rangeOf(from.bits, from.isSigned), rangeOf(to.bits, to.isSigned)];
  let value = a;
  if (want.min > have.min) value = ir.smax(value, ir.const(type, want.min));
  if (want.max < have.max) {
    const max = ir.const(type, want.max);
    value = from.isSigned ? ir.smin(value, max) : ir.umin(value, max);
  }
  return value;
}

/** A saturating 32-bit addition or subtraction: the exact result fits in 64 bits. */
export function saturated32(ir: RowBuilder, compute: (widen: (a: Value) => Value) => Value): Value {
  const wide = compute((a) => ir.sext('i64', a));
  return ir.trunc('i32', saturateInt(ir, wide, { bits: 64, isSigned: true }, { bits: 32, isSigned: true }));
}
