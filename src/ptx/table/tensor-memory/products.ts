/**
 * Products of matrices whose sum is in tensor memory. One thread computes the whole product where it is issued: factors are doubles, their products
 * are exact, and each sum is rounded once. Lanes and columns of the sum by its shape are layouts A to G of the manual. Source: PTX ISA 9.0, 9.7.16.2,
 * 9.7.16.10; CUTLASS, mma_traits_sm100_frag.hpp.
 */
import type { Value } from '../../../ir/index.ts';
import { tensorMemory } from '../../../ir/tensor-memory.ts';
import type { RowBuilder } from '../../model/row.ts';
import { depthOf, elementAt, type FactorOperand, type Kind, type Scales, scaleAt, stopUnlessKnown } from './factors.ts';
import { cpuOnly } from './moves.ts';
import { described, field, int, isEqual, type Part, stopIf, tensorByte, tensorWord, word } from './words.ts';

export interface Product {
  readonly kind: Kind;
  /** Of one block, of a pair of them, or of one that keeps b for others. */
  readonly by: 'one' | 'pair' | 'stationary';
  readonly isInTensor: boolean;
  /** Elements along k that share a scale factor. */
  readonly block?: 16 | 32;
}

export interface ProductOperands {
  /** The address of d in tensor memory. */
  readonly d: Value;
  /** A descriptor, or an address in tensor memory. */
  readonly a: Value;
  readonly b: Value;
  readonly i: Value;
  /** Whether d is added to; by which power of two it is divided before. */
  readonly e: Value;
  readonly z?: Value;
  /** A bit for each lane of d that is not written. */
  readonly o?: readonly Value[];
  /** A descriptor of the columns of b that count as zeros, an i64. */
  readonly zeros?: Value;
  /** Addresses of scale factors. */
  readonly s?: Value;
  readonly t?: Value;
}

interface Shape {
  readonly m: Value;
  readonly n: Value;
  /** Rows of a and of b that are in each block. */
  readonly rows: Value;
  readonly columns: Value;
}

/** Reads the shape; stops for one that there is not. */
function shapeOf(ir: RowBuilder, i: Value, { by, kind }: Product): Shape {
  const m = ir.shl(field(ir, i, 24, 5), int(ir, 4));
  const n = ir.shl(field(ir, i, 17, 6), int(ir, 3));
  const heights = { one: [64, 128], pair: [128, 256], stationary: [32, 64, 128] }[by];
  const isHeight = heights.map((each) => isEqual(ir, m, each)).reduce((a, b) => ir.or(a, b));
  const isWidth = ir.icmp(ir.sub(n, int(ir, 8)), int(ir, 256 - 8), { pred: 'ule' });
  stopIf(ir, ir.xor(ir.and(isHeight, isWidth), ir.const('i1', 1)), 'a product with a number of rows or columns that there is not');
  stopIf(ir, isEqual(ir, field(ir, i, 2, 1), 1), 'an instruction descriptor of a sparse product');
  if (kind === 'mxf4' || kind === 'mxf4nvf4') stopIf(ir, isEqual(ir, field(ir, i, 31, 1), 1), 'a product of 96 elements along k');
  const half = (from: Value): Value => (by === 'pair' ? ir.lshr(from, int(ir, 1)) : from);
  return { m, n, rows: half(m), columns: half(n) };
}

/** The block of a row or a column of a pair, and the number in that block. */
function partOf(ir: RowBuilder, index: Value, own: Value, { by }: Product): { part: Part; inside: Value } {
  if (by !== 'pair') return { part: undefined, inside: index };
  const isSecond = ir.icmp(index, own, { pred: 'uge' });
  return { part: ir.zext('i32', isSecond), inside: ir.select(isSecond, ir.sub(index, own), index) };
}

/** The lane and column of an element of the sum, by its row in the block. */
function placeOf(ir: RowBuilder, { by }: Product, { rows, n }: Shape, row: Value, column: Value): { lane: Value; column: Value } {
  const isWhole = isEqual(ir, rows, 128);
  if (by === 'one') {
    const spread = ir.or(ir.shl(ir.and(row, int(ir, -16)), int(ir, 1)), ir.and(row, int(ir, 15)));
    return { lane: ir.select(isWhole, row, spread), column };
  }
  // Fewer than 128 rows: lanes behind them have further columns.
  const times = ir.udiv(int(ir, 128), rows);
  const each = ir.udiv(n, times);
  return { lane: ir.add(row, ir.mul(ir.udiv(column, each), rows)), column: ir.urem(column, each) };
}

/** The lane of tensor memory that has a row of a. */
const laneOfRow = (ir: RowBuilder, { by }: Product, { rows }: Shape, row: Value): Value =>
  by === 'one'
    ? ir.select(isEqual(ir, rows, 128), row, ir.or(ir.shl(ir.and(row, int(ir, -16)), int(ir, 1)), ir.and(row, int(ir, 15))))
    : row;

const double = { align: 8, volatile: false } as const;
const doubleAt = (ir: RowBuilder, from: number, index: Value): Value =>
  ir.ptradd(tensorByte(ir, int(ir, from)), ir.zext('i64', ir.shl(index, int(ir, 3))));

/** The factors by the fields of an instruction descriptor. */
function factorsOf(
  ir: RowBuilder,
  { a, b, i }: ProductOperands,
  { kind, isInTensor }: Product,
): { left: FactorOperand; right: FactorOperand } {
  const left = {
    kind,
    in: isInTensor ? a : described(ir, a),
    format: field(ir, i, 7, 3),
    isNegated: kind === 'i8' ? int(ir, 0) : field(ir, i, 13, 1),
    isAcross: field(ir, i, 15, 1),
  };
  const right = {
    kind,
    in: described(ir, b),
    format: field(ir, i, 10, 3),
    isNegated: kind === 'i8' ? int(ir, 0) : field(ir, i, 14, 1),
    isAcross: field(ir, i, 16, 1),
  };
  stopUnlessKnown(ir, left);
  stopUnlessKnown(ir, right);
  return { left, right };
}

/** The scale factors of a and b. */
function scalesOf(ir: RowBuilder, { s, t, i }: ProductOperands, { block }: Product): { left: Scales; right: Scales } | undefined {
  if (s === undefined || t === undefined || block === undefined) return undefined;
  const arePowers = isEqual(ir, field(ir, i, 23, 1), 1);
  return {
    left: { address: s, first: field(ir, i, 29, 2), arePowers, block },
    right: { address: t, first: field(ir, i, 4, 2), arePowers, block },
  };
}

/**
 * Whether a column of b counts as zeros: spans of columns that are used and that are not take turns, from a place on in each part of the columns, of
 * which there are as many as parts of 128 rows. Source: PTX ISA 9.0, 9.7.16.4.3.
 */
function isZeroColumn(ir: RowBuilder, descriptor: Value, { m, n }: Shape, column: Value): Value {
  const [low, high] = [ir.trunc('i32', descriptor), ir.trunc('i32', ir.lshr(descriptor, ir.const('i64', 32)))];
  stopIf(
    ir,
    ir.icmp(field(ir, high, 24, 6), int(ir, 0), { pred: 'ne' }),
    'a mask of columns that shifts them, of which the direction is not documented',
  );
  const span = (from: number): Value => ir.add(field(ir, high, from, 8), int(ir, 1));
  const [used, zero] = [span(8), span(16)];
  const each = ir.udiv(n, ir.udiv(int(ir, 128), m));
  const part = ir.udiv(column, each);
  const skipped = ir.and(ir.lshr(low, ir.shl(part, int(ir, 3))), int(ir, 255));
  const startsWithZeros = isEqual(ir, ir.and(ir.lshr(high, part), int(ir, 1)), 1);
  const place = ir.urem(ir.add(skipped, ir.urem(column, each)), ir.add(used, zero));
  const isZero = ir.select(startsWithZeros, ir.icmp(place, zero, { pred: 'ult' }), ir.icmp(place, used, { pred: 'uge' }));
  return ir.and(isZero, isEqual(ir, field(ir, high, 7, 1), 1));
}

/** Computes a product. */
export function multiplyInTensor(ir: RowBuilder, operands: ProductOperands, product: Product): void {
  ir.needsCpu(cpuOnly);
  const { kind, by, block } = product;
  const shape = shapeOf(ir, operands.i, product);
  if (by === 'pair' && block !== undefined)
    stopIf(
      ir,
      isEqual(ir, shape.m, 128),
      'a scaled product of 128 rows by a pair of blocks, whose scale factors are not documented in full',
    );
  if (by === 'stationary' && product.isInTensor)
    stopIf(
      ir,
      ir.icmp(shape.m, int(ir, 128), { pred: 'ne' }),
      'a factor of fewer than 128 rows in tensor memory, whose place is not documented',
    );
  const { left, right } = factorsOf(ir, operands, product);
  const scales = scalesOf(ir, operands, product);
  const k = depthOf[kind];
  const depth = int(ir, k);
  const scaled = (value: Value, by: Scales | undefined, row: Value, at: Value, part: Part): Value =>
    by ? ir.fmul(value, scaleAt(ir, by, row, at, part)) : value;
  const isPair = by === 'pair';
  ir.repeat(ir.mul(shape.n, depth), [], (index) => {
    const [column, at] = [ir.lshr(index, int(ir, Math.log2(k))), ir.and(index, int(ir, k - 1))];
    const { part, inside } = partOf(ir, column, shape.columns, product);
    const given = elementAt(ir, right, inside, at, part);
    const value =
      operands.zeros === undefined ? given : ir.select(isZeroColumn(ir, operands.zeros, shape, column), ir.const('f64', 0), given);
    ir.store(doubleAt(ir, tensorMemory.right, index), scaled(value, scales?.right, column, at, isPair ? int(ir, 0) : undefined), double);
    return [];
  });
  ir.repeat(shape.m, [], (row) => {
    const { part, inside } = partOf(ir, row, shape.rows, product);
    const from = typeof left.in === 'number' ? laneOfRow(ir, product, shape, inside) : inside;
    ir.repeat(depth, [], (at) => {
      ir.store(doubleAt(ir, tensorMemory.left, at), scaled(elementAt(ir, left, from, at, part), scales?.left, inside, at, part), double);
      return [];
    });
    addRow(ir, operands, product, shape, { inside, part });
    return [];
  });
}

/** Adds the products of a row of a, which is in memory as b is. */
function addRow(
  ir: RowBuilder,
  operands: ProductOperands,
  product: Product,
  shape: Shape,
  { inside, part }: { inside: Value; part: Part },
): void {
  const k = depthOf[product.kind];
  const numbers = Array.from({ length: k }, (_, i) => i);
  const left = numbers.map((at) => ir.load('f64', doubleAt(ir, tensorMemory.left, int(ir, at)), double));
  ir.repeat(shape.n, [], (column) => {
    const first = doubleAt(ir, tensorMemory.right, ir.mul(column, int(ir, k)));
    const right = numbers.map((at) => ir.load('f64', at === 0 ? first : ir.ptradd(first, ir.const('i64', 8 * at)), double));
    const sum = numbers.map((at) => ir.fmul(left[at]!, right[at]!)).reduce((a, b) => ir.fadd(a, b));
    const place = placeOf(ir, product, shape, inside, column);
    const pointer = tensorWord(ir, operands.d, place.lane, place.column, part);
    const write = (): void => void ir.store(pointer, summed(ir, operands, product, ir.load('i32', pointer, word), sum), word);
    const masks = operands.o;
    if (!masks) write();
    else ir.when(isWritten(ir, masks, place.lane, part), write);
    return [];
  });
}

/** Whether a lane is written by the masks of a block, or of both of a pair. */
function isWritten(ir: RowBuilder, masks: readonly Value[], lane: Value, part: Part): Value {
  const index = part === undefined ? ir.lshr(lane, int(ir, 5)) : ir.add(ir.lshr(lane, int(ir, 5)), ir.shl(part, int(ir, 2)));
  const mask = masks.reduce((found, each, i) => (i === 0 ? each : ir.select(isEqual(ir, index, i), each, found)), masks[0]!);
  return isEqual(ir, ir.and(ir.lshr(mask, ir.and(lane, int(ir, 31))), int(ir, 1)), 0);
}

/** The word of an element of the sum, from the word before. */
function summed(ir: RowBuilder, { i, e, z }: ProductOperands, { kind }: Product, before: Value, sum: Value): Value {
  if (kind === 'i8') return integerSum(ir, before, sum, e, isEqual(ir, field(ir, i, 3, 1), 1));
  const isHalf = kind === 'f16' || kind === 'f8f6f4' ? isEqual(ir, field(ir, i, 4, 2), 0) : ir.const('i1', 0);
  const half = ir.fpext('f32', ir.bitcast('f16', ir.trunc('i16', before)));
  const old = ir.fpext('f64', ir.select(isHalf, half, ir.bitcast('f32', before)));
  const divided =
    z === undefined ? old : ir.fmul(old, ir.bitcast('f64', ir.shl(ir.zext('i64', ir.sub(int(ir, 1023), z)), ir.const('i64', 52))));
  const total = ir.select(e, ir.fadd(divided, sum), sum);
  const single = ir.bitcast('i32', ir.fptrunc('f32', total));
  return ir.select(isHalf, ir.zext('i32', ir.bitcast('i16', ir.fptrunc('f16', total))), single);
}

function integerSum(ir: RowBuilder, before: Value, sum: Value, isAdded: Value, isSaturated: Value): Value {
  const total = ir.add(ir.select(isAdded, ir.sext('i64', before), ir.const('i64', 0)), ir.fptosi('i64', sum));
  const limited = ir.smax(ir.smin(total, ir.const('i64', 0x7fff_ffffn)), ir.const('i64', -0x8000_0000n));
  return ir.trunc('i32', ir.select(isSaturated, limited, total));
}
