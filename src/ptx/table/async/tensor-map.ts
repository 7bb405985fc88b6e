/** Tensor maps as kernels read and change them (`src/ir/tensor-map.ts`). */

import type { Value } from '../../../ir/index.ts';
import { columns, columnsOfWidth, outsideNaN, tensorMap, tensorMapMagic, tensorTypes } from '../../../ir/tensor-map.ts';
import type { AddressOperand, RowBuilder } from '../../model/row.ts';

const word = { align: 4, volatile: false } as const;
export const int = (ir: RowBuilder, value: number): Value => ir.const('i32', value);

/** A tensor map that an instruction reads. */
export interface TensorMap {
  readonly rank: number;
  readonly address: Value;
  readonly type: Value;
  /** The logarithm of the bytes of an element. */
  readonly shift: Value;
  /** The lowest line of a swizzle that is the same as line 0, minus one; and the bit of an address that these bits change. */
  readonly lines: Value;
  readonly chunkBit: Value;
  /** Whether loads round elements to `tf32`. */
  readonly isRounded: Value;
  /** The bits of an element outside of the tensor, as often as they fit into an i64. */
  readonly filler: Value;
  /** By axis: extents of the tensor, of a box, and steps. */
  readonly dims: readonly Value[];
  readonly box: readonly Value[];
  readonly steps: readonly Value[];
  /** Bytes, from axis 1 on. */
  readonly strides: readonly Value[];
  /** By axis of space: the corners of the box of a filter. */
  readonly lower: readonly Value[];
  readonly upper: readonly Value[];
}

const range = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

/** What instructions a map is for, and how many axes of space its corners have. */
const uses = {
  boxes: { added: 0, what: 'boxes', axes: () => 0 },
  columns: { added: columns, what: 'columns', axes: (rank: number) => rank - 2 },
  w: { added: columnsOfWidth.w, what: 'columns along the width', axes: () => 1 },
  w128: { added: columnsOfWidth.w128, what: 'columns of 128 pixels along the width', axes: () => 1 },
} as const;
export type Use = keyof typeof uses;

/** Reads a map for an instruction of a rank. The kernel stops where it is none, or one for other instructions. */
export function readMap(ir: RowBuilder, map: AddressOperand, rank: number, use: Use = 'boxes'): TensorMap {
  const { added, what, axes } = uses[use];
  const pointer = ir.pointer(map, 'generic');
  const at = (offset: number): Value => ir.ptradd(pointer, ir.const('i64', offset));
  const field = (offset: number): Value => ir.load('i32', at(offset), word);
  const wide = (offset: number): Value => ir.load('i64', at(offset), { align: 8, volatile: false });
  const short = (offset: number): Value => ir.load('i16', at(offset), { align: 2, volatile: false });
  const corner = (offset: number) => (i: number) => ir.sext('i32', short(offset + 2 * i));
  const isNone = ir.icmp(field(tensorMap.magic), int(ir, tensorMapMagic), { pred: 'ne' });
  ir.when(isNone, () => ir.stop('a tensor map that was not made by `cuTensorMapEncode…` of this device, or is none'));
  const isOther = ir.icmp(field(tensorMap.rank), int(ir, rank + added), { pred: 'ne' });
  ir.when(isOther, () => ir.stop(`a tensor map that is not for ${what} of ${rank} axes`));
  const shift = field(tensorMap.shift);
  const [swizzle, atom] = [field(tensorMap.swizzle), field(tensorMap.atom)];
  const lines = ir.lshr(ir.sub(ir.shl(int(ir, 1), swizzle), int(ir, 1)), atom);
  const box = range(use === 'boxes' ? rank : 2).map((i) => ir.zext('i32', short(tensorMap.box + 2 * i)));
  stopUnlessFull(ir, box[0]!, shift, swizzle);
  const type = field(tensorMap.type);
  return {
    rank,
    address: wide(tensorMap.address),
    type,
    shift,
    lines,
    chunkBit: ir.add(atom, int(ir, 4)),
    isRounded: isOneOf(ir, type, 'isRounded'),
    filler: fillerOf(ir, type, field(tensorMap.fill)),
    dims: range(rank).map((i) => field(tensorMap.dims + 4 * i)),
    box,
    steps: range(rank).map((i) => ir.zext('i32', ir.load('i8', at(tensorMap.steps + i), { align: 1, volatile: false }))),
    strides: range(rank - 1).map((i) => wide(tensorMap.strides + 8 * i)),
    lower: range(axes(rank)).map(corner(tensorMap.lower)),
    upper: range(axes(rank)).map(corner(tensorMap.upper)),
  };
}

/** Stops where rows are narrower than a swizzle: how they lie then is not documented. */
function stopUnlessFull(ir: RowBuilder, extent: Value, shift: Value, swizzle: Value): void {
  const bytes = ir.shl(extent, shift);
  const isPart = ir.icmp(bytes, ir.shl(int(ir, 16), swizzle), { pred: 'ne' });
  const isSwizzled = ir.icmp(swizzle, int(ir, 0), { pred: 'ne' });
  ir.when(ir.and(isPart, isSwizzled), () => ir.stop('a tensor map with rows of another size than its swizzle'));
}

function fillerOf(ir: RowBuilder, type: Value, fill: Value): Value {
  const hasNaN = ir.and(ir.icmp(fill, int(ir, 0), { pred: 'ne' }), isOneOf(ir, type, 'isFloat'));
  return ir.select(hasNaN, ir.const('i64', outsideNaN), ir.const('i64', 0));
}

/** Whether a type has a property. */
function isOneOf(ir: RowBuilder, type: Value, property: 'isFloat' | 'isRounded'): Value {
  const numbers = [...tensorTypes.keys()].filter((number) => property in tensorTypes[number]!);
  return numbers.map((number) => ir.icmp(type, int(ir, number), { pred: 'eq' })).reduce((a, b) => ir.or(a, b));
}
