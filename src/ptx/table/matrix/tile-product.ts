/**
 * `d = a * b + c` by 8-by-8 tile products (`matmul`), which have one fixed layout: each thread gathers its part of every tile, and then its
 * fragment of d from the result tiles. Products of two such factors are exact in f32, so that sums in any order, each rounded in any way,
 * satisfy the bounds of the rows.
 */
import type { Value } from '../../../ir/index.ts';
import { matrixLayout, matrixSize } from '../../../ir/types.ts';
import type { RowBuilder } from '../../model/row.ts';
import { packed } from './elements.ts';
import type { Place } from './fragments.ts';
import { bitsOf, type Coordinate, coordinatesOf, locationOf, registerAt } from './lanes.ts';
import type { Matrix, Product } from './matrices.ts';
import { bitProduct, elementOf, positionsOf, product } from './product.ts';
import { isUpright, transposed, wholeProduct } from './whole-product.ts';

const place =
  (of: Place['of']) =>
  (bit: number): Place => ({ of, bit });
/** The locations of a tile's rows and columns; the lowest column bit selects one of a thread's two elements. */
const tileRow = matrixLayout.row.map(place('lane'));
const tileColumn = (first: Place): Place[] => [first, ...matrixLayout.column.map(place('lane'))];

const sizeOf = (along: readonly Place[]): number => 2 ** along.length;

/**
 * The registers of d: by an instruction or a function of the device, by tile products if they are enabled and applicable, else each thread computes
 * its own elements.
 */
export function productOfMatrices(ir: RowBuilder, matrices: Product): Value[] {
  if (!ir.hasMma && ir.isMmaFast && isTileable(matrices)) return tiledProduct(ir, matrices);
  return wholeProduct(ir, matrices) ?? product(ir, matrices);
}

/** The registers of d for bit matrices. */
export const productOfBits = (ir: RowBuilder, matrices: Product, op: 'xor' | 'and'): Value[] =>
  wholeProduct(ir, matrices, op) ?? bitProduct(ir, matrices, op);

/** Whether a product is suitable for tiles: floats, with k a multiple of 8. All others use the exact form. */
function isTileable({ a, b, d, k }: Product): boolean {
  const isShort = [a, b].every(({ element }) => ['f16', 'bf16', 'tf32', 'e4m3', 'e5m2'].includes(element));
  return isShort && (d.element === 'f16' || d.element === 'f32') && k >= matrixSize && (d.rounding ?? 'rn') === 'rn';
}

function tiledProduct(ir: RowBuilder, matrices: Product): Value[] {
  const { a, b, c, d, k } = isUpright(matrices) ? matrices : transposed(matrices);
  const [rows, columns] = [c.fragment.row, c.fragment.column].map((along) => sizeOf(along) / matrixSize) as [number, number];
  const depth = k / matrixSize;
  const tiles = Array.from({ length: rows * columns }, (_, at) => {
    const [row, column] = [Math.floor(at / columns), at % columns];
    let sum = tileOf(ir, c, 'number', [row, rows], [column, columns]);
    for (let step = 0; step < depth; step++) {
      const [left, right] = [
        tileOf(ir, a, 'factor', [row, rows], [step, depth]),
        tileOf(ir, b, 'factor', [step, depth], [column, columns]),
      ];
      sum = ir.matmul('v2.f32', left, right, sum);
    }
    return sum;
  });
  return registersOf(ir, tiles, [rows, columns], d);
}

type Tile = readonly [index: number, count: number];

/** A thread's part of a tile. */
function tileOf(ir: RowBuilder, matrix: Matrix, as: 'number' | 'factor', row: Tile, column: Tile): Value {
  const along = (places: readonly Place[], part: number, [index, count]: Tile): Coordinate[] => [
    ...coordinatesOf(places, 0, part),
    ...bitsOf(index, Math.log2(count)),
  ];
  const [first, second] = [0, 1].map((part) => {
    const columns = along(tileColumn({ of: 'part', bit: 0 }), part, column);
    return elementOf(ir, matrix, along(tileRow, 0, row), columns, as);
  }) as [Value, Value];
  return ir.vec2(ir.typeOf(first) === 'f16' ? 'v2.f16' : 'v2.f32', first, second);
}

/** The registers of d from its tiles, in row-major order: elements are rounded first and then moved. */
function registersOf(ir: RowBuilder, tiles: readonly Value[], [rows, columns]: readonly [number, number], d: Product['d']): Value[] {
  const elements = tiles.flatMap((tile) => [0, 1].map((lane) => ir.extract('f32', tile, { lane })));
  const registers = packed(ir, d.element, elements);
  // A register of halves holds both elements of a tile.
  const inRegister = d.element === 'f16' ? 0 : 1;
  const first: Place = inRegister === 0 ? { of: 'part', bit: 0 } : { of: 'register', bit: 0 };
  const further = (from: number, count: number): Place[] => Array.from({ length: count }, (_, i) => ({ of: 'register', bit: from + i }));
  const [across, down] = [Math.log2(columns), Math.log2(rows)];
  const laid = {
    ...d.fragment,
    row: [...tileRow, ...further(inRegister + across, down)],
    column: [...tileColumn(first), ...further(inRegister, across)],
  };
  const perRegister = 2 - inRegister;
  return positionsOf(d.fragment)
    .filter((_, i) => i % perRegister === 0)
    .map(({ row, column }) => registerAt(ir, registers, locationOf(laid, row, column)));
}
