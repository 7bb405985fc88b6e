/** Words of tensor memory, and descriptors of matrices in shared memory. Source: PTX ISA 9.0, 9.7.16.1 to 9.7.16.5; CUTLASS, mma_sm100_desc.hpp. */
import type { Value } from '../../../ir/index.ts';
import { tensorMemory } from '../../../ir/tensor-memory.ts';
import { clusterRank, pointerInRank } from '../../model/clusters.ts';
import type { AddressOperand, RowBuilder } from '../../model/row.ts';

export const int = (ir: RowBuilder, value: number): Value => ir.const('i32', value);
export const word = { align: 4, volatile: false } as const;
const half = { align: 2, volatile: false } as const;
const byte = { align: 1, volatile: false } as const;

/** The address of an operand in tensor memory, an i32. */
export const addressOf = (ir: RowBuilder, operand: AddressOperand): Value =>
  ir.trunc('i32', ir.ptrtoint('i64', ir.pointer(operand, 'shared')));

/** The bits of an i32 from a place on. */
export const field = (ir: RowBuilder, from: Value, at: number, bits: number): Value =>
  ir.and(ir.lshr(from, int(ir, at)), int(ir, 2 ** bits - 1));

export const isEqual = (ir: RowBuilder, a: Value, b: number): Value => ir.icmp(a, int(ir, b), { pred: 'eq' });

/** Stops a kernel where a condition holds. */
export const stopIf = (ir: RowBuilder, condition: Value, why: string): void => ir.when(condition, () => ir.stop(why));

/** The block of a pair, 0 or 1; undefined where an instruction is of one block. */
export type Part = Value | undefined;

/** A place in the shared memory of a block of the pair. */
export function inPart(ir: RowBuilder, pointer: Value, part: Part): Value {
  if (part === undefined) return pointer;
  return pointerInRank(ir, pointer, ir.or(ir.and(clusterRank(ir), int(ir, -2)), part));
}

/** A byte of the tensor memory of the block itself. */
export const tensorByte = (ir: RowBuilder, offset: Value): Value => ir.ptradd(ir.tensorMemory(), ir.zext('i64', offset));

/** The word of a lane and a column, which count from those of an address in tensor memory. */
export function tensorWord(ir: RowBuilder, address: Value, lane: Value, column: Value, part?: Part): Value {
  const row = ir.and(ir.add(ir.lshr(address, int(ir, 16)), lane), int(ir, tensorMemory.lanes - 1));
  const at = ir.and(ir.add(address, column), int(ir, tensorMemory.columns - 1));
  const index = ir.or(ir.shl(row, int(ir, 9)), at);
  return inPart(ir, tensorByte(ir, ir.shl(index, int(ir, 2))), part);
}

/** The word whose bits are the columns of the block that are taken, 32 each. */
export const takenWord = (ir: RowBuilder): Value => tensorByte(ir, int(ir, tensorMemory.taken));

/** Stops where columns from that of an address on are not taken, or are free again. */
export function stopUnlessTaken(ir: RowBuilder, address: Value, count: Value): void {
  const column = field(ir, address, 0, 9);
  const [first, last] = [column, ir.sub(ir.add(column, count), int(ir, 1))].map((at) => ir.lshr(at, int(ir, 5))) as [Value, Value];
  const all = ir.sub(ir.shl(int(ir, 2), ir.umin(last, int(ir, 15))), int(ir, 1));
  const wanted = ir.and(all, ir.shl(int(ir, -1), first));
  const missing = ir.and(wanted, ir.xor(ir.load('i32', takenWord(ir), { align: 4, volatile: true }), int(ir, -1)));
  stopIf(ir, ir.icmp(missing, int(ir, 0), { pred: 'ne' }), 'columns of tensor memory that are not taken');
}

/** A matrix in shared memory; distances are in bytes. */
export interface Described {
  /** The address without the tensor memory in front. */
  readonly start: Value;
  readonly leading: Value;
  readonly stride: Value;
  readonly base: Value;
  /** Bytes of a row of the swizzle, 16 without one, and whether it exchanges 32 bytes. */
  readonly width: Value;
  readonly isWide: Value;
}

/** Reads a descriptor, an i64. */
export function described(ir: RowBuilder, descriptor: Value): Described {
  const [low, high] = [ir.trunc('i32', descriptor), ir.trunc('i32', ir.lshr(descriptor, ir.const('i64', 32)))];
  const mode = ir.lshr(high, int(ir, 29));
  stopIf(ir, isEqual(ir, field(ir, high, 20, 1), 1), 'a matrix descriptor with an absolute leading distance');
  const isOdd = ir.or(isEqual(ir, mode, 3), ir.or(isEqual(ir, mode, 5), isEqual(ir, mode, 7)));
  stopIf(ir, isOdd, 'a matrix descriptor with a swizzle that there is not');
  const isWide = isEqual(ir, mode, 1);
  // 2, 4 and 6 are swizzles of 128, 64 and 32 bytes.
  const swizzled = ir.lshr(int(ir, 256), ir.umax(ir.lshr(mode, int(ir, 1)), int(ir, 1)));
  return {
    start: ir.shl(field(ir, low, 0, 14), int(ir, 4)),
    leading: ir.shl(field(ir, low, 16, 14), int(ir, 4)),
    stride: ir.shl(field(ir, high, 0, 14), int(ir, 4)),
    base: field(ir, high, 17, 3),
    width: ir.select(isEqual(ir, mode, 0), int(ir, 16), swizzled),
    isWide,
  };
}

/** The offset of a byte of a row that lies along k. */
export function alongK(ir: RowBuilder, { leading, stride, width }: Described, row: Value, at: Value): Value {
  const rows = ir.add(ir.mul(ir.and(row, int(ir, 7)), width), ir.mul(ir.lshr(row, int(ir, 3)), stride));
  const units = ir.add(ir.mul(ir.lshr(at, int(ir, 4)), leading), ir.and(at, int(ir, 15)));
  return ir.add(rows, ir.select(isEqual(ir, width, 16), units, at));
}

/** The offset of a byte where rows of the other dimension lie along k; `at` is its byte along the other dimension. */
export function alongOther(ir: RowBuilder, { leading, stride, width, isWide }: Described, at: Value, k: Value): Value {
  const isPlain = isEqual(ir, width, 16);
  const [other, depth] = [ir.select(isPlain, stride, leading), ir.select(isPlain, leading, stride)];
  const bits = ir.sub(int(ir, 31), ir.clz(width));
  const rows = ir.select(isWide, int(ir, 2), int(ir, 3));
  const inRows = ir.mul(ir.and(k, ir.sub(ir.shl(int(ir, 1), rows), int(ir, 1))), width);
  const columns = ir.add(ir.and(at, ir.sub(width, int(ir, 1))), ir.mul(ir.lshr(at, bits), other));
  return ir.add(ir.add(columns, inRows), ir.mul(ir.lshr(k, rows), depth));
}

/** The pointer to an offset from the start of a matrix: swizzling exchanges units by the number of the row of 128 bytes. */
export function matrixByte(ir: RowBuilder, { start, base, width, isWide }: Described, offset: Value, part?: Part): Value {
  const address = ir.add(start, offset);
  const line = ir.sub(ir.lshr(address, int(ir, 7)), base);
  const units = ir.sub(ir.lshr(width, int(ir, 4)), int(ir, 1));
  const by = ir.select(isWide, ir.shl(ir.and(line, int(ir, 3)), int(ir, 5)), ir.shl(ir.and(line, units), int(ir, 4)));
  const own = ir.add(ir.xor(address, by), int(ir, tensorMemory.bytes));
  return inPart(ir, tensorByte(ir, own), part);
}

/** Loads of 8, 16 and 32 bits, as an i32. */
export function loadBits(ir: RowBuilder, pointer: Value, bits: 8 | 16 | 32): Value {
  if (bits === 32) return ir.load('i32', pointer, word);
  return ir.zext('i32', bits === 16 ? ir.load('i16', pointer, half) : ir.load('i8', pointer, byte));
}
