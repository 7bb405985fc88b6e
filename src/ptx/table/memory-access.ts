/** Loads and stores that several rows share. Source: PTX ISA 9.0, 5.3 and 9.7.9.8. */
import type { Value } from '../../ir/index.ts';
import { bytesOf, type ScalarType, vectorOf } from '../../ir/types.ts';
import type { AddressOperand, RowBuilder } from '../model/row.ts';
import { registerTypes } from '../model/types.ts';
import { spaceOf } from './spaces.ts';

/** Types of memory accesses. */
export const memoryTypes = ['b8', 'b16', 'b32', 'b64', 'u8', 'u16', 'u32', 'u64', 's8', 's16', 's32', 's64', 'f32', 'f64'] as const;
/** Four of these exceed 128 bits, which is legal for global memory only. */
export const wide = ['b64', 'u64', 's64', 'f64'] as const;

interface Access {
  readonly space?: string;
  readonly vec?: string;
  readonly type: string;
}

export const isList = (value: Value | readonly Value[]): value is readonly Value[] => Array.isArray(value);

/** Loads one element or a vector. The alignment in PTX is that of the whole access (5.3, 9.7.9.8). */
export function load(ir: RowBuilder, address: AddressOperand, { space, vec, type }: Access, volatile: boolean): Value | readonly Value[] {
  const element = registerTypes[type] as ScalarType;
  const lanes = vec === undefined ? 1 : (Number(vec.slice(1)) as 2 | 4 | 8);
  const align = bytesOf(element) * lanes;
  const pointer = ir.pointer(address, spaceOf(space));
  if (lanes === 1) return ir.load(element, pointer, { align, volatile });
  const each = Math.min(lanes, 4) as 2 | 4;
  const at = (first: number): Value => (first === 0 ? pointer : ir.ptradd(pointer, ir.const('i64', first * bytesOf(element))));
  // Eight elements are two vectors of the IR.
  const wholes = Array.from({ length: lanes / each }, (_, i) =>
    ir.load(vectorOf(element, each), at(i * each), { align: i === 0 ? align : align / 2, volatile }),
  );
  return wholes.flatMap((whole) => Array.from({ length: each }, (_, lane) => ir.extract(element, whole, { lane })));
}

/** Stores one element or a vector. */
export function store(
  ir: RowBuilder,
  address: AddressOperand,
  value: Value | readonly Value[],
  { space, type }: Access,
  volatile: boolean,
): void {
  const element = registerTypes[type] as ScalarType;
  const values = isList(value) ? value : [value];
  const align = bytesOf(element) * values.length;
  const pointer = ir.pointer(address, spaceOf(space));
  const quarter = (first: number, place: Value, align: number): void => {
    const [x, y, z, w] = values.slice(first) as [Value, Value, Value, Value];
    ir.store(place, ir.vec4(vectorOf(element, 4), x, y, z, w), { align, volatile });
  };
  const [x, y] = values as [Value, Value];
  if (values.length === 1) ir.store(pointer, x, { align, volatile });
  else if (values.length === 2) ir.store(pointer, ir.vec2(vectorOf(element, 2), x, y), { align, volatile });
  else quarter(0, pointer, align);
  if (values.length === 8) quarter(4, ir.ptradd(pointer, ir.const('i64', 4 * bytesOf(element))), align / 2);
}
