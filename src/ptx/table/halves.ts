/** Shared parts of half-precision rows: packed halves, and bfloats with a single rounding. */
import type { Value } from '../../ir/index.ts';
import type { RowBuilder } from '../model/row.ts';
import { twoSum } from './rounding.ts';

export const packed = ['f16x2', 'bf16x2'] as const;
export const singles = ['f16', 'bf16'] as const;
export type Packed = (typeof packed)[number];
export type Single = (typeof singles)[number];

/** The element type of a packed type. */
export const halfOf = (type: Packed | Single): Single => (type.startsWith('bf') ? 'bf16' : 'f16');
const isPacked = (type: Packed | Single): type is Packed => type.endsWith('x2');

/** The lower and the upper half of a register. */
export function lowAndHigh(ir: RowBuilder, type: Packed, a: Value): readonly [Value, Value] {
  const half = halfOf(type);
  const upper = ir.trunc('i16', ir.lshr(a, ir.const('i32', 16)));
  return [ir.bitcast(half, ir.trunc('i16', a)), ir.bitcast(half, upper)];
}

/** Packs two 16-bit values into a register. */
export function joined(ir: RowBuilder, low: Value, high: Value): Value {
  const word = (a: Value): Value => ir.zext('i32', ir.typeOf(a) === 'i16' ? a : ir.bitcast('i16', a));
  return ir.or(word(low), ir.shl(word(high), ir.const('i32', 16)));
}

/** Applies a function to both halves of packed operands, or to scalar ones. The results have 16 bits. */
export function eachHalf(ir: RowBuilder, type: Packed | Single, operands: readonly Value[], compute: (...halves: Value[]) => Value): Value {
  if (!isPacked(type)) return compute(...operands);
  const pairs = operands.map((a) => lowAndHigh(ir, type, a));
  return joined(ir, compute(...pairs.map(([low]) => low)), compute(...pairs.map(([, high]) => high)));
}

/**
 * a * b + c of bfloats with a single rounding. In f32 the product is exact, or so small (below 2^-133) that the f32-rounded sum is never
 * the midpoint of two bfloats: products of two 8-bit numbers keep their distance from it. Otherwise the sum is rounded to odd, so that the
 * second rounding is correct. Source: Boldo and Melquiond, "Emulation of FMA and Correctly Rounded Sums" (2008).
 */
export function fusedBfloats(ir: RowBuilder, a: Value, b: Value, c: Value): Value {
  const [x, y, z] = [a, b, c].map((each) => ir.fpext('f32', each)) as [Value, Value, Value];
  const product = ir.fmul(x, y);
  const nearest = ir.fma(x, y, z);
  const { error } = twoSum(ir, product, z);
  const isExact = ir.fcmp(ir.fabs(product), ir.const('f32', 0x00010000), { pred: 'oge' });
  const isInexact = ir.and(isExact, ir.fcmp(error, ir.const('f32', 0), { pred: 'one' }));
  const bits = ir.bitcast('i32', nearest);
  const one = ir.const('i32', 1);
  const isEven = ir.icmp(ir.and(bits, one), ir.const('i32', 0), { pred: 'eq' });
  // Towards the error: away from zero if the signs agree.
  const step = ir.or(ir.ashr(ir.xor(bits, ir.bitcast('i32', error)), ir.const('i32', 31)), one);
  const odd = ir.add(bits, ir.select(ir.and(isInexact, isEven), step, ir.const('i32', 0)));
  return ir.fptrunc('bf16', ir.bitcast('f32', odd));
}
