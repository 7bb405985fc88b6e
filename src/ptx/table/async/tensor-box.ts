/**
 * The parts of tensors that one instruction copies, in units of 16 bytes of a row: boxes, rows that are picked, and columns of a convolution.
 * Source: PTX ISA 9.0, 5.5.
 */
import type { Value } from '../../../ir/index.ts';
import type { RowBuilder } from '../../model/row.ts';
import { int, type TensorMap } from './tensor-map.ts';

/** 16 bytes of a row: where they are in shared memory, and in the tensor. */
export interface Chunk {
  /** Pointer into shared memory. */
  readonly place: Value;
  /** The address of the row in the tensor, an i64, and its first element here, an i32 that may lie outside. */
  readonly row: Value;
  readonly first: Value;
  /** Whether the row is in the tensor. */
  readonly isInside: Value;
}

export type Visit = (chunk: Chunk) => void;

const both = (ir: RowBuilder, conditions: readonly Value[]): Value =>
  conditions.length === 0 ? ir.const('i1', 1) : conditions.reduce((a, b) => ir.and(a, b));

/** Whether a place is in an extent, of which it is no part if it is negative. */
export const isWithin = (ir: RowBuilder, at: Value, extent: Value): Value =>
  ir.and(ir.icmp(at, int(ir, 0), { pred: 'sge' }), ir.icmp(at, extent, { pred: 'ult' }));

/** The row at places along the axes from 1 on. */
function rowAt(ir: RowBuilder, map: TensorMap, places: readonly Value[]): Pick<Chunk, 'row' | 'isInside'> {
  const offsets = places.map((at, i) => ir.mul(ir.sext('i64', at), map.strides[i]!));
  return {
    row: offsets.reduce((sum, offset) => ir.add(sum, offset), map.address),
    isInside: both(
      ir,
      places.map((at, i) => isWithin(ir, at, map.dims[i + 1]!)),
    ),
  };
}

/** The place of a unit in shared memory: the swizzle exchanges units within lines of 128 bytes by the number of the line. */
function swizzled(ir: RowBuilder, map: TensorMap, base: Value, unit: Value): Value {
  const plain = ir.add(base, ir.zext('i64', ir.shl(unit, int(ir, 4))));
  const line = ir.and(ir.lshr(ir.trunc('i32', plain), int(ir, 7)), map.lines);
  return ir.inttoptr('ptr.shared', ir.xor(plain, ir.zext('i64', ir.shl(line, map.chunkBit))));
}

/** Units of a row, and elements of a unit. */
function rowOf(ir: RowBuilder, map: TensorMap): { units: Value; elements: Value } {
  return { units: ir.lshr(ir.shl(map.box[0]!, map.shift), int(ir, 4)), elements: ir.lshr(int(ir, 16), map.shift) };
}

/** Visits a box at coordinates; returns the number of units. */
export function visitBox(ir: RowBuilder, map: TensorMap, base: Value, coordinates: readonly Value[], visit: Visit): Value {
  const { units, elements } = rowOf(ir, map);
  const [x, ...others] = coordinates as [Value, ...Value[]];
  const extents = others.map((_, i) => {
    const step = map.steps[i + 1]!;
    return ir.udiv(ir.sub(ir.add(map.box[i + 1]!, step), int(ir, 1)), step);
  });
  const count = extents.reduce((a, b) => ir.mul(a, b), units);
  ir.repeat(count, [], (unit) => {
    let left = ir.udiv(unit, units);
    const places = others.map((at, i) => {
      const isLast = i === others.length - 1;
      const index = isLast ? left : ir.urem(left, extents[i]!);
      if (!isLast) left = ir.udiv(left, extents[i]!);
      return ir.add(at, ir.mul(index, map.steps[i + 1]!));
    });
    const first = ir.add(x, ir.mul(ir.urem(unit, units), elements));
    visit({ place: swizzled(ir, map, base, unit), first, ...rowAt(ir, map, places) });
    return [];
  });
  return count;
}

/** Visits four rows of a matrix from a column on. */
export function visitRows(ir: RowBuilder, map: TensorMap, base: Value, [x, ...rows]: readonly Value[], visit: Visit): Value {
  const { units, elements } = rowOf(ir, map);
  const count = ir.mul(units, int(ir, rows.length));
  ir.repeat(count, [], (unit) => {
    const index = ir.udiv(unit, units);
    const y = rows.reduce((found, row, i) => ir.select(ir.icmp(index, int(ir, i), { pred: 'eq' }), row, found));
    const first = ir.add(x!, ir.mul(ir.urem(unit, units), elements));
    visit({ place: swizzled(ir, map, base, unit), first, ...rowAt(ir, map, [y]) });
    return [];
  });
  return count;
}

/**
 * Visits the pixels of a column: from the place of the filter on along the axes of space, within the box of the filter, and then those of the
 * next image. `offsets` are the places within the filter.
 */
export function visitColumn(
  ir: RowBuilder,
  map: TensorMap,
  base: Value,
  coordinates: readonly Value[],
  offsets: readonly Value[],
  visit: Visit,
): Value {
  const { units, elements } = rowOf(ir, map);
  const [x, ...places] = coordinates as [Value, ...Value[]];
  const lasts = map.upper.map((upper, i) => ir.add(ir.sub(map.dims[i + 1]!, int(ir, 1)), upper));
  for (const [i, lower] of map.lower.entries()) {
    const isOutside = ir.or(ir.icmp(places[i]!, lower, { pred: 'slt' }), ir.icmp(places[i]!, lasts[i]!, { pred: 'sgt' }));
    ir.when(isOutside, () => ir.stop('coordinates outside of the bounding box of a tensor map'));
  }
  const pixels = map.box[1]!;
  ir.repeat(pixels, places, (pixel, now) => {
    const read = now.map((at, i) => (i < offsets.length ? ir.add(at, offsets[i]!) : at));
    const row = rowAt(ir, map, read);
    ir.repeat(units, [], (unit) => {
      const place = swizzled(ir, map, base, ir.add(ir.mul(pixel, units), unit));
      visit({ place, first: ir.add(x, ir.mul(unit, elements)), ...row });
      return [];
    });
    return nextPixel(ir, map, now, lasts);
  });
  return ir.mul(pixels, units);
}

/**
 * Visits pixels along the width alone, from a place on, which may lie before the box; behind the end of the box the next image follows from its corner
 * on. Where pixels behind the column lie in shared memory, which `halo` counts, is documented in figures alone. Source: PTX ISA 9.0, 5.5.5.
 */
export function visitWidth(
  ir: RowBuilder,
  map: TensorMap,
  base: Value,
  coordinates: readonly Value[],
  [halo, offset]: readonly [Value, Value],
  pixels: Value,
  visit: Visit,
): Value {
  const { units, elements } = rowOf(ir, map);
  const [x, width, ...others] = coordinates as [Value, Value, ...Value[]];
  const last = ir.add(ir.sub(map.dims[1]!, int(ir, 1)), map.upper[0]!);
  const stopWhere = (condition: Value, why: string): void => ir.when(condition, () => ir.stop(why));
  stopWhere(
    ir.icmp(halo, int(ir, 0), { pred: 'ne' }),
    'pixels behind a column along the width, whose places are documented in figures alone',
  );
  stopWhere(ir.icmp(offset, int(ir, 31), { pred: 'ugt' }), 'an offset along the width that is not below 32');
  stopWhere(ir.icmp(width, last, { pred: 'sgt' }), 'coordinates outside of the bounding box of a tensor map');
  const image = others.at(-1)!;
  ir.repeat(pixels, [width, image], (pixel, [at, number]) => {
    const row = rowAt(ir, map, [ir.add(at!, offset), ...others.slice(0, -1), number!]);
    ir.repeat(units, [], (unit) => {
      const place = swizzled(ir, map, base, ir.add(ir.mul(pixel, units), unit));
      visit({ place, first: ir.add(x, ir.mul(unit, elements)), ...row });
      return [];
    });
    const next = ir.add(at!, map.steps[1]!);
    const isIn = ir.icmp(next, last, { pred: 'sle' });
    return [ir.select(isIn, next, map.lower[0]!), ir.select(isIn, number!, ir.add(number!, int(ir, 1)))];
  });
  return ir.mul(pixels, units);
}

/** The place behind another: along the first axis that is not at its end, and back to the lower corner along those before. */
function nextPixel(ir: RowBuilder, map: TensorMap, now: readonly Value[], lasts: readonly Value[]): Value[] {
  let isMoved = ir.const('i1', 0);
  const next = lasts.map((last, i) => {
    const moved = ir.add(now[i]!, map.steps[i + 1]!);
    const isIn = ir.icmp(moved, last, { pred: 'sle' });
    const place = ir.select(isMoved, now[i]!, ir.select(isIn, moved, map.lower[i]!));
    isMoved = ir.or(isMoved, isIn);
    return place;
  });
  const image = now[lasts.length]!;
  return [...next, ir.select(isMoved, image, ir.add(image, int(ir, 1)))];
}
