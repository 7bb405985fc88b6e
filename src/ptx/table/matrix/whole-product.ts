/**
 * `d = a * b + c` by the instruction `mma` (`src/ir/mma.ts`), which the CPU device has and other targets compute by functions. Matrices that are larger than its own are made of several: those
 * of `wmma` are two side by side, and long ones of doubles two along k.
 */

import type { ScalarType, Value } from '../../../ir/index.ts';
import { mmaForm, mmaRegisters, registersAs, sumType } from '../../../ir/mma.ts';
import { vectorOf } from '../../../ir/types.ts';
import type { RowBuilder } from '../../model/row.ts';
import { lowAndHigh } from '../halves.ts';
import { packed, type Sum } from './elements.ts';
import type { Fragment } from './fragments.ts';
import { gatheredProduct, isGatherable } from './gathered-product.ts';
import { laneOf } from './lanes.ts';
import type { Product } from './matrices.ts';

/** The registers of d; undefined for a product that the instruction has not, or the target. */
export function wholeProduct(ir: RowBuilder, matrices: Product, bits?: 'xor' | 'and'): Value[] | undefined {
  const { a, b, c, d, k } = isUpright(matrices) ? matrices : transposed(matrices);
  if (!isPlain(c.fragment) || (d.rounding ?? 'rn') !== 'rn') return undefined;
  const [rows, columns] = [2 ** c.fragment.row.length, 2 ** c.fragment.column.length];
  const [high, wide] = [Math.max(1, rows / 16), columns / 8];
  // A function has sums of halves as they are in registers.
  const isHalf = !ir.hasMma && c.element === 'f16' && d.element === 'f16';
  const sum = isHalf ? 'f16' : c.element === 'f16' || c.element === 'f32' ? 'f32' : c.element;
  const suffix = `${d.isSaturated ? '.satfinite' : ''}${bits ? `.${bits}` : ''}`;
  const deep = sum === 'f64' && k === 16 ? 2 : 1;
  const form = `m${Math.min(rows, 16)}n8k${k / deep}.${a.element}.${b.element}.${sum}${suffix}`;
  if (!hasProduct(ir, form)) return undefined;
  const count = mmaRegisters(mmaForm(form));
  const sums = isHalf ? c.registers : unpacked(ir, c.registers, c.element as Sum['element']);
  const of = (list: readonly Value[], index: number, each: number): readonly Value[] => list.slice(index * each, (index + 1) * each);
  const results: Value[] = [];
  for (let at = 0; at < high * wide; at++) {
    let part = of(sums, at, count.c);
    for (let step = 0; step < deep; step++) {
      const left = of(a.registers, high > 1 ? at : step, count.a);
      const right = of(b.registers, wide > 1 ? at : step, count.b);
      part = mmaOf(ir, form, left, right, part);
    }
    results.push(...part);
  }
  return isHalf ? results : packed(ir, d.element, results);
}

/** Reports a product for a target without the instruction, which has no expansion. */
export function refuseSparse(ir: RowBuilder): void {
  if (ir.isForCpu) ir.refuse('the target has no products of sparse or scaled matrices');
  else ir.needsCpu('AIR has no products of sparse matrices');
}

/** Whether the target has a form as an instruction or as a function. */
export const hasProduct = (ir: RowBuilder, form: string): boolean => ir.hasMma || (ir.productFunction !== undefined && isGatherable(form));

/** The registers of a product of the instruction. */
export function mmaOf(
  ir: RowBuilder,
  text: string,
  a: readonly Value[],
  b: readonly Value[],
  c: readonly Value[],
  positions?: Value,
): Value[] {
  const { sum } = mmaForm(text);
  const type = sumType(sum);
  if (!hasProduct(ir, text)) {
    refuseSparse(ir);
    return c.map(() => ir.const(type, 0));
  }
  if (!ir.hasMma) ir.productFunction?.(text, gatheredProduct);
  const last = ir.hasMma ? (positions ?? ir.const('i32', 0)) : laneOf(ir);
  const whole = ir.mma(registersAs(type, c.length), vector(ir, a), vector(ir, b), vector(ir, c), last, { form: text });
  return c.map((_, lane) => ir.extract(type, whole, { lane }));
}

function vector(ir: RowBuilder, values: readonly Value[]): Value {
  const [x, y, z, w] = values as [Value, Value, Value, Value];
  const type = ir.typeOf(x) as ScalarType;
  if (values.length === 1) return x;
  return values.length === 2 ? ir.vec2(vectorOf(type, 2), x, y) : ir.vec4(vectorOf(type, 4), x, y, z, w);
}

/** Registers of c as one value for each element: halves are widened. */
export function unpacked(ir: RowBuilder, registers: readonly Value[], element: Sum['element']): readonly Value[] {
  if (element !== 'f16') return registers;
  return registers.flatMap((register) => lowAndHigh(ir, 'f16x2', register).map((half) => ir.fpext('f32', half)));
}

/** Whether groups of four threads have the rows of c, and neighbors in a row are in one register or in two. */
function isPlain({ row, column }: Fragment): boolean {
  const isLane = (along: Fragment['row'], at: number, bit: number): boolean => along[at]?.of === 'lane' && along[at].bit === bit;
  return [2, 3, 4].every((bit, at) => isLane(row, at, bit)) && isLane(column, 1, 0) && isLane(column, 2, 1);
}

/** Whether neighbors in a row of c are in one thread. */
export const isUpright = ({ c }: Product): boolean => c.fragment.column[0]!.of !== 'lane';

const transposedMatrix = <T extends { readonly fragment: Fragment }>(matrix: T): T => ({
  ...matrix,
  fragment: { ...matrix.fragment, row: matrix.fragment.column, column: matrix.fragment.row },
});

/** The transposed product. */
export const transposed = ({ a, b, c, d, k }: Product): Product => ({
  a: transposedMatrix(b),
  b: transposedMatrix(a),
  c: transposedMatrix(c),
  d: transposedMatrix(d),
  k,
});
