/** Tensor memory: columns that are taken, loads, stores, and copies of shared memory. Source: PTX ISA 9.0, 9.7.16.7 to 9.7.16.9; CUTLASS, copy_traits_sm100.hpp. */
import type { Value } from '../../../ir/index.ts';
import { tensorMemory } from '../../../ir/tensor-memory.ts';
import type { AddressOperand, RowBuilder } from '../../model/row.ts';
import { spaceOf } from '../spaces.ts';
import {
  alongK,
  described,
  field,
  int,
  isEqual,
  matrixByte,
  type Part,
  stopIf,
  stopUnlessTaken,
  takenWord,
  tensorWord,
  word,
} from './words.ts';

export const cpuOnly = 'only the CPU device has tensor memory';
const shared = { align: 4, volatile: true } as const;

const isFirstLane = (ir: RowBuilder): Value => isEqual(ir, ir.sreg('i32', { name: 'laneid' }), 0);

/** Units of 32 columns; stops unless their number is a power of two from 1 to 16. */
function unitsOf(ir: RowBuilder, columns: Value): Value {
  const isPart = ir.icmp(ir.and(columns, int(ir, 31)), int(ir, 0), { pred: 'ne' });
  const units = ir.lshr(columns, int(ir, 5));
  const isOdd = ir.icmp(ir.popcount(units), int(ir, 1), { pred: 'ne' });
  const isMore = ir.icmp(units, int(ir, 16), { pred: 'ugt' });
  stopIf(ir, ir.or(isPart, ir.or(isOdd, isMore)), 'a number of columns of tensor memory that is not 32, 64, 128, 256 or 512');
  return units;
}

const maskOf = (ir: RowBuilder, units: Value): Value => ir.sub(ir.shl(int(ir, 1), units), int(ir, 1));

/** The lowest place of so many free units at a multiple of their number, as a bit; 0 for none. */
function freePlace(ir: RowBuilder, units: Value): Value {
  let free = ir.xor(ir.load('i32', takenWord(ir), shared), int(ir, 0xffff));
  for (const [by, starts] of [
    [1, 0x5555],
    [2, 0x1111],
    [4, 0x0101],
    [8, 0x0001],
  ] as const) {
    const together = ir.and(ir.and(free, ir.lshr(free, int(ir, by))), int(ir, starts));
    free = ir.select(ir.icmp(units, int(ir, by), { pred: 'ugt' }), together, free);
  }
  return ir.and(free, ir.sub(int(ir, 0), free));
}

/** How often a thread looks for free columns before it stops the kernel. */
const tries = 2 ** 20;

/** Takes columns and stores their address in shared memory, once for the warp. */
export function allocate(ir: RowBuilder, to: AddressOperand, columns: Value, space: string | undefined): void {
  ir.needsCpu(cpuOnly);
  const pointer = ir.pointer(to, spaceOf(space));
  ir.when(isFirstLane(ir), () => {
    const units = unitsOf(ir, columns);
    const found = ir.poll(tries, () => ir.icmp(freePlace(ir, units), int(ir, 0), { pred: 'ne' }));
    stopIf(ir, ir.xor(found, ir.const('i1', 1)), 'no free columns of tensor memory');
    const first = freePlace(ir, units);
    const at = ir.sub(int(ir, 31), ir.clz(first));
    const taken = ir.load('i32', takenWord(ir), shared);
    ir.store(takenWord(ir), ir.or(taken, ir.shl(maskOf(ir, units), at)), shared);
    ir.store(pointer, ir.shl(at, int(ir, 5)), word);
  });
}

/** Frees columns, once for the warp. */
export function free(ir: RowBuilder, address: Value, columns: Value): void {
  ir.needsCpu(cpuOnly);
  ir.when(isFirstLane(ir), () => {
    const units = unitsOf(ir, columns);
    const mask = ir.shl(maskOf(ir, units), ir.and(ir.lshr(address, int(ir, 5)), int(ir, 15)));
    const taken = ir.load('i32', takenWord(ir), shared);
    const areNot = ir.icmp(ir.and(taken, mask), mask, { pred: 'ne' });
    stopIf(ir, areNot, 'columns of tensor memory that were not taken');
    ir.store(takenWord(ir), ir.xor(taken, mask), shared);
  });
}

interface Move {
  readonly shape: string;
  readonly count: number;
  /** Whether a register has the lower halves of two columns. */
  readonly isPacked: boolean;
  /** Of two parts: the columns between them. */
  readonly apart?: Value;
}

interface Place {
  readonly lane: Value;
  readonly column: Value;
}

/** Where a register of a thread is. */
function placeOf(ir: RowBuilder, { shape, count, apart, isPacked }: Move, register: number): Place {
  const lane = ir.sreg('i32', { name: 'laneid' });
  const [low, high] = [ir.and(lane, int(ir, 3)), ir.lshr(lane, int(ir, 2))];
  const down = (by: number): Value => (by === 0 ? high : ir.add(high, int(ir, by)));
  const across = (from: Value, by: number): Value => (by === 0 ? from : ir.add(from, int(ir, by)));
  switch (shape) {
    case '16x64b':
      return { lane: ir.or(high, ir.shl(ir.and(lane, int(ir, 1)), int(ir, 3))), column: across(ir.lshr(low, int(ir, 1)), 2 * register) };
    case '16x128b':
      return { lane: down(8 * (register & 1)), column: across(low, 4 * (register >> 1)) };
    case '16x256b':
      return { lane: down(4 * (register & 2)), column: across(ir.shl(low, int(ir, 1)), 8 * (register >> 2) + (register & 1)) };
    case '16x32bx2': {
      // Columns of packed halves are counted twice, those between the parts are not.
      const between = isPacked ? ir.ashr(apart!, int(ir, 1)) : apart!;
      const isUpper = ir.icmp(lane, int(ir, 16), { pred: 'uge' });
      const from = ir.select(isUpper, between, int(ir, 0));
      return { lane: ir.and(lane, int(ir, 15)), column: across(from, register % count) };
    }
    default:
      return { lane, column: int(ir, register) };
  }
}

/** Stops where a warp names lanes of others, or columns that there are not. */
function stopOutside(ir: RowBuilder, address: Value, { isPacked, shape, count }: Move): void {
  ir.needsCpu(cpuOnly);
  const quarter = ir.and(ir.lshr(address, int(ir, 21)), int(ir, 3));
  const own = ir.and(ir.sreg('i32', { name: 'warpid' }), int(ir, 3));
  stopIf(ir, ir.icmp(quarter, own, { pred: 'ne' }), 'lanes of tensor memory that a warp has no access to');
  const wide = ({ '16x64b': 2, '16x128b': 2, '16x256b': 2 } as Record<string, number>)[shape] ?? 1;
  const last = ir.add(ir.and(address, int(ir, 0xffff)), int(ir, count * wide * (isPacked ? 2 : 1)));
  stopIf(ir, ir.icmp(last, int(ir, tensorMemory.columns), { pred: 'ugt' }), 'columns of tensor memory behind the last one');
  stopUnlessTaken(ir, address, int(ir, count * wide * (isPacked ? 2 : 1)));
}

/** The registers of a load. */
export function loadTensor(ir: RowBuilder, address: Value, move: Move): Value[] {
  stopOutside(ir, address, move);
  return Array.from({ length: move.count }, (_, register) => {
    const { lane, column } = placeOf(ir, move, register);
    if (!move.isPacked) return ir.load('i32', tensorWord(ir, address, lane, column), word);
    const twice = ir.shl(column, int(ir, 1));
    const [low, high] = [twice, ir.add(twice, int(ir, 1))].map((at) => ir.load('i32', tensorWord(ir, address, lane, at), word)) as [
      Value,
      Value,
    ];
    return ir.or(ir.and(low, int(ir, 0xffff)), ir.shl(high, int(ir, 16)));
  });
}

/** Stores registers. Halves that are unpacked have zeros above. */
export function storeTensor(ir: RowBuilder, address: Value, registers: readonly Value[], move: Move): void {
  stopOutside(ir, address, move);
  for (const [register, value] of registers.entries()) {
    const { lane, column } = placeOf(ir, move, register);
    if (!move.isPacked) {
      ir.store(tensorWord(ir, address, lane, column), value, word);
      continue;
    }
    const twice = ir.shl(column, int(ir, 1));
    ir.store(tensorWord(ir, address, lane, twice), ir.and(value, int(ir, 0xffff)), word);
    ir.store(tensorWord(ir, address, lane, ir.add(twice, int(ir, 1))), ir.lshr(value, int(ir, 16)), word);
  }
}

/** Rows of a copy, units of 16 bytes of each, and how far apart the lanes are to which each row goes. */
const shapes: Readonly<Record<string, { readonly rows: number; readonly units: number }>> = {
  '128x256b': { rows: 128, units: 2 },
  '4x256b': { rows: 4, units: 2 },
  '128x128b': { rows: 128, units: 1 },
  '64x128b': { rows: 64, units: 1 },
  '32x128b': { rows: 32, units: 1 },
};

/** The lanes that a row is copied to. */
function lanesOf(ir: RowBuilder, shape: string, multicast: string | undefined, row: Value): readonly Value[] {
  const also = (from: Value, ...by: number[]): Value[] => [from, ...by.map((each) => ir.add(from, int(ir, each)))];
  if (shape === '4x256b') return [ir.shl(row, int(ir, 5))];
  if (shape === '32x128b') return also(row, 32, 64, 96);
  if (shape !== '64x128b') return [row];
  if (multicast === 'warpx2::02_13') return also(row, 64);
  const upper = ir.shl(ir.and(row, int(ir, 32)), int(ir, 1));
  return also(ir.or(ir.and(row, int(ir, 31)), upper), 32);
}

/** Of formats of fewer than 8 bits, 16 of which are at the start of 16 bytes: the bits of an element, and its lowest bit in a byte. */
const narrow = { b6x16_p32: { bits: 6, from: 1 }, b4x16_p64: { bits: 4, from: 2 } } as const;
export type Narrow = keyof typeof narrow;

/** The words of 16 bytes whose elements are in the middle of a byte each. Source: CUTLASS, cp_narrow_a_to_tmem_mma.py. */
function widened(ir: RowBuilder, words: readonly Value[], format: Narrow): Value[] {
  const { bits, from } = narrow[format];
  const element = (i: number): Value => {
    const [at, first] = [(i * bits) >> 5, (i * bits) & 31];
    const low = ir.lshr(words[at]!, int(ir, first));
    const all = first + bits > 32 ? ir.or(low, ir.shl(words[at + 1]!, int(ir, 32 - first))) : low;
    return ir.shl(ir.and(all, int(ir, 2 ** bits - 1)), int(ir, 8 * (i & 3) + from));
  };
  return [0, 4, 8, 12].map((i) => [0, 1, 2, 3].map((by) => element(i + by)).reduce((a, b) => ir.or(a, b)));
}

interface Copy {
  readonly address: Value;
  readonly descriptor: Value;
  readonly shape: string;
  readonly multicast?: string;
  readonly format?: Narrow;
  readonly isPair: boolean;
}

/** Copies rows of shared memory to lanes, in one block or in both of a pair. */
export function copyToTensor(ir: RowBuilder, { address, descriptor, shape, multicast, format, isPair }: Copy): void {
  ir.needsCpu(cpuOnly);
  const matrix = described(ir, descriptor);
  const { rows, units } = shapes[shape]!;
  stopUnlessTaken(ir, address, int(ir, 4 * units));
  const copyIn = (part: Part): void =>
    void ir.repeat(int(ir, rows), [], (row) => {
      for (let unit = 0; unit < units; unit++) {
        const from = matrixByte(ir, matrix, alongK(ir, matrix, row, int(ir, 16 * unit)), part);
        const words = [0, 4, 8, 12].map((at) => ir.load('i32', at === 0 ? from : ir.ptradd(from, ir.const('i64', at)), word));
        const values = format === undefined ? words : widened(ir, words, format);
        for (const lane of lanesOf(ir, shape, multicast, row))
          for (const [i, value] of values.entries()) ir.store(tensorWord(ir, address, lane, int(ir, 4 * unit + i), part), value, word);
      }
      return [];
    });
  inEach(ir, isPair, copyIn);
}

/** Emits a body for the block itself, or for each of a pair. */
function inEach(ir: RowBuilder, isPair: boolean, body: (part: Part) => void): void {
  if (!isPair) return body(undefined);
  ir.repeat(int(ir, 2), [], (part) => {
    body(part);
    return [];
  });
}

/** Columns that a shift moves: 32 bytes. */
const shiftedColumns = 8;

/**
 * Moves rows to the lane before, in parts of 32 lanes, the last one of which keeps its row. Source: PTX ISA 9.0, 9.7.16.9.3; observed by NVIDIA on a
 * B200 (CUTLASS, 1cta_mma_a_from_tmem.py).
 */
export function shiftRows(ir: RowBuilder, address: Value, lanes: Value, part: Part): void {
  ir.repeat(lanes, [], (lane) => {
    const isLast = isEqual(ir, ir.and(lane, int(ir, 31)), 31);
    ir.when(ir.xor(isLast, ir.const('i1', 1)), () => {
      for (let column = 0; column < shiftedColumns; column++) {
        const next = ir.load('i32', tensorWord(ir, address, ir.add(lane, int(ir, 1)), int(ir, column), part), word);
        ir.store(tensorWord(ir, address, lane, int(ir, column), part), next, word);
      }
    });
    return [];
  });
}

/** The instruction: 32 lanes of a warp, in one block or in both of a pair. */
export function shiftTensor(ir: RowBuilder, address: Value, isPair: boolean): void {
  ir.needsCpu(cpuOnly);
  stopIf(ir, ir.icmp(field(ir, address, 16, 5), int(ir, 0), { pred: 'ne' }), 'a shift from a lane that is no multiple of 32');
  stopUnlessTaken(ir, address, int(ir, shiftedColumns));
  inEach(ir, isPair, (part) => shiftRows(ir, address, int(ir, 32), part));
}
