/** What several rows compose of IR ops: flushing, saturation, directed rounding. Every composition is exact. */
import type { Value } from '../../ir/index.ts';
import { bitsOf, type FloatType, type IntType, intOf } from '../../ir/types.ts';
import type { RowBuilder } from '../model/row.ts';

/** Field widths of the float formats. */
const mantissaBits = { f16: 10, bf16: 7, f32: 23, f64: 52 } as const satisfies Record<FloatType, number>;
const one: Record<FloatType, bigint> = { f16: 0x3c00n, bf16: 0x3f80n, f32: 0x3f800000n, f64: 0x3ff0000000000000n };
/** The NaN that NVIDIA GPUs give. */
const canonicalNan: Record<FloatType, bigint> = { f16: 0x7fffn, bf16: 0x7fffn, f32: 0x7fffffffn, f64: 0x7fffffffffffffffn };

export const typeOf = (ir: RowBuilder, value: Value): FloatType => ir.typeOf(value) as FloatType;
const bitsAs = (ir: RowBuilder, a: Value): { readonly int: IntType; readonly bits: Value } => {
  const int = intOf(bitsOf(ir.typeOf(a)));
  return { int, bits: ir.bitcast(int, a) };
};

/** Subnormals become zeros of their sign, where asked for. */
export function flush(ir: RowBuilder, a: Value, ftz: true | undefined): Value {
  if (!ftz) return a;
  const type = typeOf(ir, a);
  const { int, bits } = bitsAs(ir, a);
  const sign = 1n << BigInt(bitsOf(type) - 1);
  const smallest = ir.const(type, 1n << BigInt(mantissaBits[type]));
  const zero = ir.bitcast(type, ir.and(bits, ir.const(int, sign)));
  return ir.select(ir.fcmp(ir.fabs(a), smallest, { pred: 'olt' }), zero, a);
}

/** Between 0 and 1, where asked for; a NaN gives +0. */
export function saturate(ir: RowBuilder, a: Value, sat: true | undefined): Value {
  if (!sat) return a;
  const type = typeOf(ir, a);
  const [zero, top] = [ir.const(type, 0), ir.const(type, one[type])];
  const below = ir.select(ir.fcmp(a, top, { pred: 'olt' }), a, top);
  return ir.select(ir.fcmp(a, zero, { pred: 'ogt' }), below, zero);
}

/** Not below +0, where asked for; a NaN stays one. */
export function rectify(ir: RowBuilder, a: Value, relu: true | undefined): Value {
  if (!relu) return a;
  const zero = ir.const(typeOf(ir, a), 0);
  return ir.select(ir.fcmp(a, zero, { pred: 'ole' }), zero, a);
}

/** The NaN of the hardware where an operand is one. */
export function orNan(ir: RowBuilder, a: Value, b: Value, result: Value): Value {
  const type = typeOf(ir, result);
  return ir.select(ir.fcmp(a, b, { pred: 'uno' }), ir.const(type, canonicalNan[type]), result);
}

/**
 * The powers of two, in units of what lifts a subnormal to a normal number, by which operands are scaled so that a result is. Sums
 * are not here: one that is subnormal is exact.
 */
export const lifting = { product: [1, 0], fused: [1, 0, 1], quotient: [1, 0], reciprocal: [-1] } as const;

/** An arithmetic instruction of floats with the modifiers they share; `lifts` of what may be rounded up to the least normal number. */
export function arithmetic(
  ir: RowBuilder,
  operands: readonly Value[],
  { ftz, sat, relu }: { readonly ftz?: true; readonly sat?: true; readonly relu?: true },
  compute: (...flushed: Value[]) => Value,
  lifts?: readonly (0 | 1 | -1)[],
): Value {
  const inputs = operands.map((a) => flush(ir, a, ftz));
  const result = compute(...inputs);
  const flushed = ftz && lifts ? flushTiny(ir, inputs, result, compute, lifts) : flush(ir, result, ftz);
  return rectify(ir, saturate(ir, flushed, sat), relu);
}

/** Hardware flushes what is subnormal with all bits of precision, though in those of a subnormal it rounds up to the least normal number. */
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
  const isLeast = ir.fcmp(ir.fabs(result), power(1 - bias), { pred: 'oeq' });
  const isTiny = ir.and(isLeast, ir.fcmp(ir.fabs(lifted), power(bits + 2 - bias), { pred: 'olt' }));
  const { int, bits: pattern } = bitsAs(ir, result);
  const zero = ir.bitcast(type, ir.and(pattern, ir.const(int, 1n << BigInt(bitsOf(type) - 1))));
  return ir.select(isTiny, zero, flush(ir, result, true));
}

/** A shift count, which is 32 bits wide whatever is shifted; large counts stay large enough in narrow types. */
export function countAs(ir: RowBuilder, count: Value, type: IntType): Value {
  if (type === 'i64') return ir.zext('i64', count);
  return type === 'i32' ? count : ir.trunc(type, ir.umin(count, ir.const('i32', bitsOf(type))));
}

export type Rounding = 'rn' | 'rz' | 'rm' | 'rp';

/**
 * A float as a narrower one. Rounded to nearest first; where that went the wrong way, the neighbour is right: bit patterns of
 * one sign are in the order of their magnitudes.
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

/** An integer of 32 or 64 bits as a float. Directed rounding cuts the magnitude to what the float holds, which converts exactly. */
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

/** An integer of 32 or 64 bits as a single rounded to odd, which a second rounding to fewer bits does not see. */
export function intToOdd(ir: RowBuilder, a: Value, isSigned: boolean): Value {
  const int = ir.typeOf(a) as IntType;
  const zero = ir.const(int, 0);
  const isNegative = isSigned ? ir.icmp(a, zero, { pred: 'slt' }) : ir.const('i1', 0);
  const { cut, isInexact } = cutTo(ir, ir.select(isNegative, ir.sub(zero, a), a), mantissaBits.f32 + 1, 'f32');
  const bits = ir.or(ir.bitcast('i32', ir.uitofp('f32', cut)), ir.zext('i32', isInexact));
  return ir.bitcast('f32', ir.or(bits, ir.shl(ir.zext('i32', isNegative), ir.const('i32', 31))));
}

/** A double as a single rounded to odd. */
export function doubleToOdd(ir: RowBuilder, a: Value): Value {
  const cut = narrowFloat(ir, 'f32', a, 'rz');
  const isInexact = ir.fcmp(ir.fpext('f64', cut), a, { pred: 'one' });
  return ir.bitcast('f32', ir.or(ir.bitcast('i32', cut), ir.zext('i32', isInexact)));
}

/** The highest bits of a magnitude, and whether others were lost; nothing beyond the largest half is kept for a half. */
function cutTo(ir: RowBuilder, size: Value, kept: number, type: FloatType): { readonly cut: Value; readonly isInexact: Value } {
  const int = ir.typeOf(size) as IntType;
  const spare = ir.const(int, bitsOf(int) - kept);
  // Bits below the highest `kept` ones; none where the leading zeros make room for all.
  const lost = ir.sub(spare, ir.umin(ir.clz(size), spare));
  const cut = ir.shl(ir.lshr(size, lost), lost);
  const largest = ir.const(int, 65504);
  const limited = type === 'f16' ? ir.umin(cut, largest) : cut;
  return { cut: limited, isInexact: ir.icmp(limited, size, { pred: 'ne' }) };
}

/** An integer of 16 bits and less as one of 32, which converts to any float as the narrow one does. */
export function widened(ir: RowBuilder, a: Value, isSigned: boolean): Value {
  const type = ir.typeOf(a) as IntType;
  if (bitsOf(type) >= 32) return a;
  return isSigned ? ir.sext('i32', a) : ir.zext('i32', a);
}

/** The least and largest value of an integer type. */
export const boundsOf = (bits: number, isSigned: boolean): { readonly least: bigint; readonly most: bigint } =>
  isSigned ? { least: -(1n << BigInt(bits - 1)), most: (1n << BigInt(bits - 1)) - 1n } : { least: 0n, most: (1n << BigInt(bits)) - 1n };

/** The nearest value of another integer type. */
export function saturateInt(
  ir: RowBuilder,
  a: Value,
  from: { bits: number; isSigned: boolean },
  to: { bits: number; isSigned: boolean },
): Value {
  const type = ir.typeOf(a) as IntType;
  const [have, want] = [boundsOf(from.bits, from.isSigned), boundsOf(to.bits, to.isSigned)];
  let value = a;
  if (want.least > have.least) value = ir.smax(value, ir.const(type, want.least));
  if (want.most < have.most) {
    const most = ir.const(type, want.most);
    value = from.isSigned ? ir.smin(value, most) : ir.umin(value, most);
  }
  return value;
}

/** An addition or subtraction of 32 bits that stays at the bound it would pass: the exact result fits in 64. */
export function saturated32(ir: RowBuilder, compute: (widen: (a: Value) => Value) => Value): Value {
  const wide = compute((a) => ir.sext('i64', a));
  return ir.trunc('i32', saturateInt(ir, wide, { bits: 64, isSigned: true }, { bits: 32, isSigned: true }));
}
