/**
 * Products of matrices whose sum is in tensor memory. One thread computes the whole product where it is issued: factors are doubles, their products
 * are exact, and each sum is rounded once. Lanes and columns of the sum by its shape are layouts A to G of the manual. Source: PTX ISA 9.0, 9.7.16.2,
 * 9.7.16.10; CUTLASS, mma_traits_sm100_frag.hpp.
 */
import type { Value } from '../../../ir/index.ts';
import { tensorMemory } from '../../../ir/tensor-memory.ts';
import type { RowBuilder } from '../../model/row.ts';
import { depthOf, elementAt, type FactorOperand, type Kind, type Scales, scaleAt, stopUnlessKnown } from './factors.ts';
import { cpuOnly, shiftRows } from './moves.ts';
import { type Metadata, metadataOf, placeAlongK } from './sparse.ts';
import { described, field, int, isEqual, type Part, stopIf, stopUnlessTaken, tensorByte, tensorWord, word } from './words.ts';

export interface Product {
  readonly kind: Kind;
  /** Of one block, of a pair of them, or of one that keeps b for others. */
  readonly by: 'one' | 'pair' | 'stationary';
  readonly isInTensor: boolean;
  /** Elements along k that share a scale factor; of a sparse product, those that are kept. */
  readonly block?: 16 | 32;
  /** Whether rows of a in tensor memory are shifted afterwards. */
  readonly isShifted?: boolean;
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
  /** The address of the metadata of a sparse a. */
  readonly m?: Value;
}

interface Shape {
  readonly m: Value;
  readonly n: Value;
  /** Rows of a and of b that are in each block. */
  readonly rows: Value;
  readonly columns: Value;
}

/** Reads the shape; stops for one that there is not. */
function shapeOf(ir: RowBuilder, { i, m: metadata }: ProductOperands, { by, kind }: Product): Shape {
  const m = ir.shl(field(ir, i, 24, 5), int(ir, 4));
  const n = ir.shl(field(ir, i, 17, 6), int(ir, 3));
  const heights = { one: [64, 128], pair: [128, 256], stationary: [32, 64, 128] }[by];
  const isHeight = heights.map((each) => isEqual(ir, m, each)).reduce((a, b) => ir.or(a, b));
  const isWidth = ir.icmp(ir.sub(n, int(ir, 8)), int(ir, 256 - 8), { pred: 'ule' });
  stopIf(ir, ir.xor(ir.and(isHeight, isWidth), ir.const('i1', 1)), 'a product with a number of rows or columns that there is not');
  if (metadata === undefined) stopIf(ir, isEqual(ir, field(ir, i, 2, 1), 1), 'an instruction descriptor of a sparse product');
  else stopIf(ir, isEqual(ir, field(ir, i, 2, 1), 0), 'an instruction descriptor of a product that is not sparse');
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
function scalesOf(ir: RowBuilder, { s, t, i, m }: ProductOperands, { block }: Product): { left: Scales; right: Scales } | undefined {
  if (s === undefined || t === undefined || block === undefined) return undefined;
  const arePowers = isEqual(ir, field(ir, i, 23, 1), 1);
  return {
    left: { address: s, first: field(ir, i, 29, 2), arePowers, block },
    right: { address: t, first: field(ir, i, 4, 2), arePowers, block: m === undefined ? block : ((2 * block) as 32 | 64) },
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

/** Stops for shapes whose layouts are documented in figures alone. */
function stopForFigures(ir: RowBuilder, { m, rows }: Shape, { m: metadata }: ProductOperands, product: Product): void {
  const { by, block, isInTensor, isShifted } = product;
  const unless = (value: Value, rows: number, why: string): void => stopIf(ir, ir.icmp(value, int(ir, rows), { pred: 'ne' }), why);
  if (by === 'pair' && block !== undefined)
    unless(m, 256, 'a scaled product of 128 rows by a pair of blocks, whose scale factors are not documented in full');
  if (by === 'stationary' && isInTensor) unless(m, 128, 'a factor of fewer than 128 rows in tensor memory, whose place is not documented');
  if (by !== 'stationary' && metadata !== undefined)
    unless(rows, 128, 'a sparse product of fewer than 128 rows of a block, the place of whose metadata is documented in figures alone');
  if (isShifted) stopIf(ir, isEqual(ir, m, 64), 'a shift of a factor of 64 rows');
}

/** Stops where a sum, a factor, scale factors or metadata are in columns that are not taken. */
function stopUnlessAllTaken(ir: RowBuilder, { n, rows }: Shape, { d, a, s, t, m }: ProductOperands, { by, isInTensor }: Product): void {
  stopUnlessTaken(ir, d, by === 'one' ? n : ir.udiv(n, ir.udiv(int(ir, 128), rows)));
  if (isInTensor) stopUnlessTaken(ir, a, int(ir, 8));
  for (const address of [s, t, m]) if (address !== undefined) stopUnlessTaken(ir, address, int(ir, 1));
}

/** What a product is made of. */
interface Parts {
  readonly operands: ProductOperands;
  readonly product: Product;
  readonly shape: Shape;
  readonly left: FactorOperand;
  readonly right: FactorOperand;
  readonly scales: { readonly left: Scales; readonly right: Scales } | undefined;
  readonly metadata: Metadata | undefined;
}

/** Columns of the sum that are computed at once. */
interface Span {
  readonly from: Value;
  readonly count: Value;
}

/** Elements along k of b: of a sparse product twice those of a that are kept. */
const depthOfRight = ({ product, metadata }: Parts): number => depthOf[product.kind] * (metadata ? 2 : 1);

const scaled = (ir: RowBuilder, value: Value, by: Scales | undefined, row: Value, at: Value, part: Part): Value =>
  by ? ir.fmul(value, scaleAt(ir, by, row, at, part)) : value;

/** Computes a product. */
export function multiplyInTensor(ir: RowBuilder, operands: ProductOperands, product: Product): void {
  ir.needsCpu(cpuOnly);
  const shape = shapeOf(ir, operands, product);
  stopForFigures(ir, shape, operands, product);
  stopUnlessAllTaken(ir, shape, operands, product);
  const { left, right } = factorsOf(ir, operands, product);
  const metadata = operands.m === undefined ? undefined : metadataOf(ir, product.kind, operands.m, operands.i);
  const parts = { operands, product, shape, left, right, scales: scalesOf(ir, operands, product), metadata };
  if (metadata && typeof right.in === 'object')
    stopIf(
      ir,
      ir.and(isEqual(ir, right.in.width, 32), isEqual(ir, right.isAcross, 0)),
      'a factor of 64 bytes along k in lines of 32 bytes',
    );
  const once = (tensorMemory.left - tensorMemory.right) / 8 / depthOfRight(parts);
  if (once >= tensorMemory.columns / 2) multiplySpan(ir, parts, { from: int(ir, 0), count: shape.n });
  else
    ir.repeat(ir.udiv(ir.add(shape.n, int(ir, once - 1)), int(ir, once)), [], (turn) => {
      const from = ir.mul(turn, int(ir, once));
      multiplySpan(ir, parts, { from, count: ir.umin(ir.sub(shape.n, from), int(ir, once)) });
      return [];
    });
  if (product.isShifted) shiftLeft(ir, parts);
}

/** Shifts the rows of a, in each block of a pair. */
function shiftLeft(ir: RowBuilder, { operands, product, shape }: Parts): void {
  if (product.by !== 'pair') return shiftRows(ir, operands.a, shape.rows, undefined);
  ir.repeat(int(ir, 2), [], (part) => {
    shiftRows(ir, operands.a, shape.rows, part);
    return [];
  });
}

function multiplySpan(ir: RowBuilder, parts: Parts, span: Span): void {
  const { operands, product, shape, left, right, scales, metadata } = parts;
  const wide = depthOfRight(parts);
  const isPair = product.by === 'pair';
  ir.repeat(ir.mul(span.count, int(ir, wide)), [], (index) => {
    const [column, at] = [ir.add(span.from, ir.lshr(index, int(ir, Math.log2(wide)))), ir.and(index, int(ir, wide - 1))];
    const { part, inside } = partOf(ir, column, shape.columns, product);
    const given = elementAt(ir, right, inside, at, part);
    const value =
      operands.zeros === undefined ? given : ir.select(isZeroColumn(ir, operands.zeros, shape, column), ir.const('f64', 0), given);
    ir.store(
      doubleAt(ir, tensorMemory.right, index),
      scaled(ir, value, scales?.right, column, at, isPair ? int(ir, 0) : undefined),
      double,
    );
    return [];
  });
  ir.repeat(shape.m, [], (row) => {
    const { part, inside } = partOf(ir, row, shape.rows, product);
    const from = typeof left.in === 'number' ? laneOfRow(ir, product, shape, inside) : inside;
    ir.repeat(int(ir, depthOf[product.kind]), [], (at) => {
      const value = scaled(ir, elementAt(ir, left, from, at, part), scales?.left, inside, at, part);
      ir.store(doubleAt(ir, tensorMemory.left, at), value, double);
      if (metadata) {
        const place = ir.shl(placeAlongK(ir, metadata, inside, at, part), int(ir, 3));
        ir.store(tensorByte(ir, ir.add(int(ir, tensorMemory.places), ir.shl(at, int(ir, 2)))), place, word);
      }
      return [];
    });
    addRow(ir, parts, span, { inside, part });
    return [];
  });
}

/** Adds the products of a row of a, which is in memory as b is. */
function addRow(ir: RowBuilder, parts: Parts, { from, count }: Span, { inside, part }: { inside: Value; part: Part }): void {
  const { operands, product, shape, metadata } = parts;
  const numbers = Array.from({ length: depthOf[product.kind] }, (_, i) => i);
  const left = numbers.map((at) => ir.load('f64', doubleAt(ir, tensorMemory.left, int(ir, at)), double));
  const placeAt = (at: number): Value => ir.load('i32', tensorByte(ir, int(ir, tensorMemory.places + 4 * at)), word);
  const places = numbers.map((at) => (metadata ? ir.zext('i64', placeAt(at)) : ir.const('i64', 8 * at)));
  ir.repeat(count, [], (index) => {
    const column = ir.add(from, index);
    const first = doubleAt(ir, tensorMemory.right, ir.mul(index, int(ir, depthOfRight(parts))));
    const right = numbers.map((at) => ir.load('f64', ir.ptradd(first, places[at]!), double));
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
