/**
 * Fragments of matrices in memory, in row-major or column-major order with a `stride` in elements: each thread loads or stores the elements
 * of its fragment. Source: PTX ISA 9.0, 9.7.14.4.3 and 9.7.14.4.4.
 */
import type { Value } from '../../../ir/index.ts';
import { intOf } from '../../../ir/types.ts';
import type { RowBuilder } from '../../model/row.ts';
import { joined } from '../halves.ts';
import type { Fragment, Place } from './fragments.ts';
import { type Coordinate, coordinatesOf, numberOf } from './lanes.ts';

/** The type of a fragment's register. */
export type RegisterType = 'f32' | 'f64' | 'i32';

export interface Image {
  readonly pointer: Value;
  readonly layout: 'row' | 'col';
  /** The distance between rows or columns in elements, an i32. */
  readonly stride: Value;
}

/** The addresses of a thread's elements, by register and part. */
interface Addresses {
  /** Whether the parts of a register are contiguous, so that one access moves them. */
  readonly isWhole: boolean;
  at(register: number, part: number): Value;
}

const i64 = (ir: RowBuilder, value: number): Value => ir.const('i64', value);
const ofLane = (bits: readonly Coordinate[]): Coordinate[] => bits.map((bit) => (typeof bit === 'number' ? 0 : bit));
const fixedPart = (bits: readonly Coordinate[]): number => bits.reduce<number>((sum, bit, i) => sum + (bit === 1 ? 2 ** i : 0), 0);

function addresses(ir: RowBuilder, fragment: Fragment, { pointer, layout, stride }: Image): Addresses {
  const { bits, registerBits } = fragment;
  const [major, minor] = layout === 'row' ? [fragment.row, fragment.column] : [fragment.column, fragment.row];
  const line = ir.lshr(ir.mul(ir.zext('i64', stride), i64(ir, bits)), i64(ir, 3));
  const number = (along: readonly Place[]): Value => ir.zext('i64', numberOf(ir, ofLane(coordinatesOf(along, 0, 0))));
  const inLine = ir.lshr(ir.mul(number(minor), i64(ir, bits)), i64(ir, 3));
  const start = ir.ptradd(pointer, ir.add(ir.mul(number(major), line), inLine));
  const lines = new Map<number, Value>([[0, start]]);
  const known = new Map<string, Value>();
  const lineAt = (index: number): Value => {
    const found = lines.get(index) ?? ir.ptradd(start, ir.mul(line, i64(ir, index)));
    lines.set(index, found);
    return found;
  };
  return {
    isWhole: minor.slice(0, Math.log2(registerBits / bits)).every(({ of, bit }, i) => of === 'part' && bit === i),
    at(register, part) {
      const [index, offset] = [major, minor].map((along) => fixedPart(coordinatesOf(along, register, part))) as [number, number];
      const found = known.get(`${index} ${offset}`) ?? offsetBy(ir, lineAt(index), (offset * bits) / 8);
      known.set(`${index} ${offset}`, found);
      return found;
    },
  };
}

const offsetBy = (ir: RowBuilder, pointer: Value, bytes: number): Value => (bytes === 0 ? pointer : ir.ptradd(pointer, i64(ir, bytes)));

/** Loads the registers of a fragment. Registers with the same content are loaded once. */
export function loadFragment(ir: RowBuilder, fragment: Fragment, image: Image, type: RegisterType): Value[] {
  const places = addresses(ir, fragment, image);
  const known = new Map<Value, Value>();
  return Array.from({ length: fragment.registers }, (_, register) => {
    const place = places.at(register, 0);
    const found = known.get(place) ?? (places.isWhole ? ir.load(type, place, whole(type)) : loadParts(ir, fragment, places, register));
    known.set(place, found);
    return found;
  });
}

const whole = (type: RegisterType): { align: number; volatile: boolean } => ({ align: type === 'f64' ? 8 : 4, volatile: false });

function loadParts(ir: RowBuilder, { bits }: Fragment, places: Addresses, register: number): Value {
  const access = { align: bits / 8, volatile: false };
  const parts = Array.from({ length: 32 / bits }, (_, part) => ir.load(intOf(bits), places.at(register, part), access));
  if (bits === 16) return joined(ir, parts[0]!, parts[1]!);
  const moved = parts.map((part, i) => ir.shl(ir.zext('i32', part), ir.const('i32', i * bits)));
  return moved.reduce((all, each) => ir.or(all, each));
}

/** Stores the registers of a fragment. */
export function storeFragment(ir: RowBuilder, fragment: Fragment, image: Image, registers: readonly Value[]): void {
  const places = addresses(ir, fragment, image);
  const { bits } = fragment;
  for (const [register, value] of registers.entries()) {
    if (places.isWhole) ir.store(places.at(register, 0), value, { align: Math.max(4, bits / 8), volatile: false });
    else
      for (let part = 0; part < 32 / bits; part++) {
        const element = ir.trunc(intOf(bits), ir.lshr(value, ir.const('i32', part * bits)));
        ir.store(places.at(register, part), element, { align: bits / 8, volatile: false });
      }
  }
}
