/**
 * Rounding to an integral value with halves away from zero, as programs write it: x plus a half with the sign of x, rounded towards zero, and then cut.
 * With the float below a half in its place, the sum may be rounded to nearest: the result is the same for every x (proved for all floats by
 * `scripts/math/directed.c`).
 */
import type { Kernel, Value } from '../../ir/index.ts';
import { bitsOf, intOf } from '../../ir/types.ts';
import type { RowBuilder } from '../model/row.ts';

/** The numbers that are added to half ones and rounded towards zero, by the sum. */
const sums = new WeakMap<Kernel, Map<Value, Value>>();

const halves = { f32: 0x3f00_0000n, f64: 0x3fe0_0000_0000_0000n } as const;
type Wide = keyof typeof halves;
const signOf = (type: Wide): bigint => 1n << BigInt(bitsOf(type) - 1);

/** The bits of a constant, also of one without its sign. */
function knownBits(ir: RowBuilder, value: Value): bigint | undefined {
  const inst = ir.kernel.insts[value]!;
  if (inst.op === 'bitcast') return knownBits(ir, inst.a);
  if (inst.op !== 'and' && inst.op !== 'xor') return ir.constantOf(value);
  const [a, b] = [knownBits(ir, inst.a), knownBits(ir, inst.b)];
  if (a === undefined || b === undefined) return undefined;
  return inst.op === 'and' ? a & b : a ^ b;
}

/** A value before its bits had other types. */
function bitsUnder(kernel: Kernel, value: Value): Value {
  const inst = kernel.insts[value]!;
  return inst.op === 'bitcast' ? bitsUnder(kernel, inst.a) : value;
}

/** Whether a value is a half with the sign of another value. */
function isHalfOf(ir: RowBuilder, half: Value, x: Value, type: Wide): boolean {
  const { kernel } = ir;
  const cast = kernel.insts[half]!;
  const bits = cast.op === 'bitcast' ? kernel.insts[cast.a]! : cast;
  if (bits.op !== 'or') return false;
  const [sign, size] = knownBits(ir, bits.a) === undefined ? [bits.a, bits.b] : [bits.b, bits.a];
  const masked = kernel.insts[sign]!;
  if (knownBits(ir, size) !== halves[type] || masked.op !== 'and' || ir.constantOf(masked.b) !== signOf(type)) return false;
  return bitsUnder(kernel, masked.a) === bitsUnder(kernel, x);
}

/** Notes that a value is a sum rounded towards zero, if one operand is a half with the sign of the other. */
export function noteHalfAway(ir: RowBuilder, sum: Value, a: Value, b: Value): void {
  const type = ir.typeOf(sum);
  // Doubles of other devices may be computed as pairs of floats, which do not round this sum to a double.
  if (type !== 'f32' && !(type === 'f64' && ir.isForCpu)) return;
  const x = isHalfOf(ir, b, a, type) ? a : isHalfOf(ir, a, b, type) ? b : undefined;
  if (x === undefined) return;
  const known = sums.get(ir.kernel) ?? new Map<Value, Value>();
  sums.set(ir.kernel, known);
  known.set(sum, x);
}

/** A float with the same integral part as a value, for less if the value is such a sum. */
export function cheaperToCut(ir: RowBuilder, value: Value): Value {
  const x = sums.get(ir.kernel)?.get(value);
  const type = ir.typeOf(value);
  if (x === undefined || (type !== 'f32' && type !== 'f64')) return value;
  const int = intOf(bitsOf(type));
  const sign = ir.and(ir.bitcast(int, x), ir.const(int, signOf(type)));
  return ir.fadd(x, ir.bitcast(type, ir.or(sign, ir.const(int, halves[type] - 1n))));
}
