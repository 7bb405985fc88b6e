/**
 * Factors of products by warp groups in shared memory, which descriptors of 64 bits describe: where the 16 bytes of each row and step along k are,
 * and how swizzling moves them. Source: PTX ISA 9.0, 9.7.15.5.1 (layouts and descriptors).
 */
import type { Value } from '../../../ir/index.ts';
import type { RowBuilder } from '../../model/row.ts';
import { cached, laneOf } from './lanes.ts';

const int = (ir: RowBuilder, value: number): Value => ir.const('i32', value);

/** The fields of a descriptor: distances in bytes, and the width of the swizzle in units of 16 bytes, which is 1 without one. */
export interface SharedMatrix {
  readonly start: Value;
  /** The distance of units along the leading dimension, and of groups of eight along the other one. */
  readonly leading: Value;
  readonly stride: Value;
  /** The row of the swizzle's pattern with which the matrix starts. */
  readonly base: Value;
  readonly units: Value;
  readonly isPlain: Value;
}

/** Reads a descriptor, an i64. */
export function sharedMatrix(ir: RowBuilder, descriptor: Value): SharedMatrix {
  const field = (at: number, bits: number): Value =>
    ir.and(ir.trunc('i32', ir.lshr(descriptor, ir.const('i64', at))), int(ir, 2 ** bits - 1));
  const bytes = (at: number): Value => ir.shl(field(at, 14), int(ir, 4));
  const mode = field(62, 2);
  const isPlain = ir.icmp(mode, int(ir, 0), { pred: 'eq' });
  const units = ir.select(isPlain, int(ir, 1), ir.lshr(int(ir, 16), mode));
  return { start: bytes(0), leading: bytes(16), stride: bytes(32), base: field(49, 3), units, isPlain };
}

/** The pointer to an offset from the start of a matrix: swizzling exchanges units of 16 bytes by the number of the row of 128 bytes. */
function pointerAt(ir: RowBuilder, { start, base, units }: SharedMatrix, offset: Value): Value {
  const address = ir.add(start, offset);
  const row = ir.and(ir.sub(ir.lshr(address, int(ir, 7)), base), ir.sub(units, int(ir, 1)));
  return ir.inttoptr('ptr.shared', ir.zext('i64', ir.xor(address, ir.shl(row, int(ir, 4)))));
}

const groupOf = (ir: RowBuilder): Value => cached(ir, 'group of four', () => ir.lshr(laneOf(ir), int(ir, 2)));
const inGroup = (ir: RowBuilder): Value => cached(ir, 'in group of four', () => ir.and(laneOf(ir), int(ir, 3)));

const word = { align: 4, volatile: false } as const;
const half = { align: 2, volatile: false } as const;

/**
 * The registers that a thread has of eight rows (of a) or columns (of b): of the row that its group of four threads has, 4 bytes of each unit of
 * 16 bytes along k. `eight` is the number of the eight rows.
 */
export function registersAt(ir: RowBuilder, matrix: SharedMatrix, eight: Value, units: readonly number[]): Value[] {
  const row = ir.mul(groupOf(ir), ir.shl(matrix.units, int(ir, 4)));
  const first = ir.add(ir.add(row, ir.mul(eight, matrix.stride)), ir.shl(inGroup(ir), int(ir, 2)));
  const step = ir.select(matrix.isPlain, matrix.leading, int(ir, 16));
  return units.map((unit) => {
    const offset = unit === 0 ? first : ir.add(first, ir.mul(step, int(ir, unit)));
    return ir.load('i32', pointerAt(ir, matrix, offset), word);
  });
}

/** The same of halves of which those along the other dimension are contiguous: each register is of two of them. */
export function transposedRegistersAt(ir: RowBuilder, matrix: SharedMatrix, eight: Value, units: readonly number[]): Value[] {
  const { units: width, isPlain, leading, stride } = matrix;
  const [alongOther, alongK] = [ir.select(isPlain, stride, leading), ir.select(isPlain, leading, stride)];
  const bits = ir.sub(int(ir, 31), ir.clz(width));
  const unit = ir.and(eight, ir.sub(width, int(ir, 1)));
  const other = ir.add(ir.shl(unit, int(ir, 4)), ir.mul(ir.lshr(eight, bits), alongOther));
  const first = ir.add(other, ir.shl(groupOf(ir), int(ir, 1)));
  const line = ir.shl(width, int(ir, 4));
  return units.map((at) => {
    const [low, high] = [0, 1].map((part) => {
      const k = ir.add(ir.shl(inGroup(ir), int(ir, 1)), int(ir, part));
      const offset = ir.add(ir.add(first, ir.mul(k, line)), ir.mul(alongK, int(ir, at)));
      return ir.zext('i32', ir.load('i16', pointerAt(ir, matrix, offset), half));
    }) as [Value, Value];
    return ir.or(low, ir.shl(high, int(ir, 16)));
  });
}

/** Stops a kernel whose matrix of 64 bytes along k is swizzled within 32 bytes, for which there is no layout. */
export function refuseNarrowSwizzle(ir: RowBuilder, { units }: SharedMatrix): void {
  ir.when(ir.icmp(units, int(ir, 2), { pred: 'eq' }), () => ir.stop('a factor of 64 bytes along k with a swizzle of 32 bytes'));
}
