/** `d = a * b + c` by a warp: each thread reads the rows of a and the columns of b for its elements of d from the lanes that hold them. */
import type { Value } from '../../../ir/index.ts';
import type { RowBuilder } from '../../model/row.ts';
import { addedTo, addProducts, factorIn, numberIn, packed } from './elements.ts';
import type { Fragment } from './fragments.ts';
import { bitsOf, type Coordinate, cached, coordinatesOf, locationOf, numberOf, registerAt, selectByIndex } from './lanes.ts';
import type { Matrix, Product } from './matrices.ts';

/** Rows and columns of the thread's elements, ordered by register and part. */
export function positionsOf({ row, column, registers, bits, registerBits }: Fragment): { row: Coordinate[]; column: Coordinate[] }[] {
  const parts = registerBits / bits;
  return Array.from({ length: registers * parts }, (_, i) => {
    const [register, part] = [Math.floor(i / parts), i % parts];
    return { row: coordinatesOf(row, register, part), column: coordinatesOf(column, register, part) };
  });
}

const readElement = { number: numberIn, factor: factorIn };

/** An element for the reading lane, as a number or as a tile factor. */
export function elementOf(
  ir: RowBuilder,
  { fragment, element, registers }: Matrix,
  row: readonly Coordinate[],
  column: readonly Coordinate[],
  as: keyof typeof readElement = 'number',
): Value {
  const at = locationOf(fragment, row, column);
  const register = registerAt(ir, registers, at);
  const isFixed = at.part.every((bit) => typeof bit === 'number');
  const name = `${as} ${element} ${register} ${isFixed ? at.part.join('') : JSON.stringify(at.part)}`;
  return cached(ir, name, () =>
    readElement[as](ir, element, register, isFixed ? selectByIndex(ir, at.part, (part) => ir.const('i32', part)) : numberOf(ir, at.part)),
  );
}

/** The registers of d. */
export function product(ir: RowBuilder, { a, b, c, d, k }: Product): Value[] {
  const depth = Math.log2(k);
  const elements = positionsOf(d.fragment).map(({ row, column }) => {
    const pairs = Array.from({ length: k }, (_, at) => {
      const along = bitsOf(at, depth);
      return [elementOf(ir, a, row, along), elementOf(ir, b, along, column)] as const;
    });
    return addProducts(ir, d, pairs, elementOf(ir, c, row, column));
  });
  return packed(ir, d.element, elements);
}

/** For bit matrices: counts the bits of a row and a column that differ (`xor`) or are both set (`and`), 32 bits at a time. */
export function bitProduct(ir: RowBuilder, { a, b, c, d, k }: Product, op: 'xor' | 'and'): Value[] {
  const words = Array.from({ length: k / 32 }, (_, at) => bitsOf(32 * at, Math.log2(k)));
  return positionsOf(d.fragment).map(({ row, column }) => {
    const counts = words.map((along) => {
      const [x, y] = [elementOf(ir, a, row, along), elementOf(ir, b, along, column)];
      return ir.popcount(op === 'xor' ? ir.xor(x, y) : ir.and(x, y));
    });
    return addedTo(ir, counts, elementOf(ir, c, row, column), false);
  });
}
