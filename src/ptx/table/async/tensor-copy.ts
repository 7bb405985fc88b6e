/** Copies and reductions of parts of tensors, 16 bytes at a time. Source: PTX ISA 9.0, 9.7.9.25.5. */

import type { Value } from '../../../ir/index.ts';
import { tensorTypes } from '../../../ir/tensor-map.ts';
import { eachRank, pointerInRank, rankOfAddress, sharedOffsetMask } from '../../model/clusters.ts';
import type { AddressOperand, RowBuilder } from '../../model/row.ts';
import { barrierAt, step } from './barrier-word.ts';
import { type Reduction, reduceOne, stopUnlessAligned } from './bulk-copy.ts';
import { type Chunk, isWithin, type Visit, visitBox, visitColumn, visitRows, visitWidth } from './tensor-box.ts';
import { int, readMap, type TensorMap } from './tensor-map.ts';

export type Mode = 'tile' | 'gather' | 'columns' | 'w' | 'w128';

/** The part of a tensor that an instruction names. */
export interface Part {
  readonly map: AddressOperand;
  readonly coords: Value | readonly Value[];
  readonly mode: Mode;
  /** Of a column: the place within the filter, without which it is its corner; along the width pixels behind the column, and the place. */
  readonly offsets?: Value | readonly Value[];
}

const listOf = (list: Value | readonly Value[] = []): readonly Value[] => (typeof list === 'number' ? [list] : list);

/** Visits the units of a part, which lie behind each other in shared memory from an address on. Returns their number. */
function visitPart(ir: RowBuilder, { map: operand, coords, mode, offsets }: Part, shared: Value, body: (map: TensorMap) => Visit): Value {
  stopUnlessAligned(ir, shared, 128, 'a tensor copy of shared memory');
  const places = listOf(coords);
  const map = readMap(ir, operand, mode === 'gather' ? 2 : places.length, mode === 'tile' || mode === 'gather' ? 'boxes' : mode);
  const start = ir.and(ir.shl(places[0]!, map.shift), int(ir, 15));
  ir.when(ir.icmp(start, int(ir, 0), { pred: 'ne' }), () =>
    ir.stop('a tensor copy whose innermost coordinate is not at a multiple of 16 bytes'),
  );
  const base = ir.ptrtoint('i64', shared);
  if (mode === 'tile') return visitBox(ir, map, base, places, body(map));
  if (mode === 'gather') return visitRows(ir, map, base, places, body(map));
  const filter = listOf(offsets).map((offset) => ir.zext('i32', offset));
  if (mode === 'columns') return visitColumn(ir, map, base, places, filter, body(map));
  return visitWidth(ir, map, base, places, filter as [Value, Value], mode === 'w' ? map.box[1]! : int(ir, 128), body(map));
}

const unit = { align: 16, volatile: false } as const;
const byte = { align: 1, volatile: false } as const;

/** The address of the first element of a unit in the tensor. */
const addressOf = (ir: RowBuilder, map: TensorMap, { row, first }: Chunk): Value =>
  ir.add(row, ir.shl(ir.sext('i64', first), ir.zext('i64', map.shift)));

/** Whether all elements of a unit are in the tensor, and its 16 bytes are where they can be read at once. */
function isWhole(ir: RowBuilder, map: TensorMap, chunk: Chunk, address: Value): Value {
  const last = ir.add(chunk.first, ir.sub(ir.lshr(int(ir, 16), map.shift), int(ir, 1)));
  const isIn = ir.and(isWithin(ir, chunk.first, map.dims[0]!), isWithin(ir, last, map.dims[0]!));
  const isAligned = ir.icmp(ir.and(address, ir.const('i64', 15)), ir.const('i64', 0), { pred: 'eq' });
  return ir.and(ir.and(chunk.isInside, isIn), isAligned);
}

/** Emits `body` for each byte of a unit, with whether it is in the tensor. */
function eachByte(ir: RowBuilder, map: TensorMap, chunk: Chunk, body: (offset: Value, isInside: Value) => void): void {
  ir.repeat(int(ir, 16), [], (at) => {
    const element = ir.add(chunk.first, ir.lshr(at, map.shift));
    body(ir.zext('i64', at), ir.and(chunk.isInside, isWithin(ir, element, map.dims[0]!)));
    return [];
  });
}

const load =
  (ir: RowBuilder) =>
  (map: TensorMap): Visit =>
  (chunk) => {
    const address = addressOf(ir, map, chunk);
    const from = ir.inttoptr('ptr.global', address);
    const whole = isWhole(ir, map, chunk, address);
    ir.when(whole, () => ir.store(chunk.place, ir.load('v4.i32', from, unit), unit));
    ir.when(ir.xor(whole, ir.const('i1', 1)), () =>
      eachByte(ir, map, chunk, (at, isInside) => {
        const bits = ir.shl(ir.and(at, ir.const('i64', 7)), ir.const('i64', 3));
        const filled = ir.trunc('i8', ir.lshr(map.filler, bits));
        const value = ir.either(
          isInside,
          () => ir.load('i8', ir.ptradd(from, at), byte),
          () => filled,
        );
        ir.store(ir.ptradd(chunk.place, at), value, byte);
      }),
    );
    ir.when(map.isRounded, () => roundUnit(ir, map, chunk));
  };

/** Rounds the elements of a unit that are in the tensor to `tf32`, to the nearest and ties to even. Source: recorded on an NVIDIA H200. */
function roundUnit(ir: RowBuilder, map: TensorMap, chunk: Chunk): void {
  const word = { align: 4, volatile: false } as const;
  ir.repeat(int(ir, 4), [], (i) => {
    const isInside = ir.and(chunk.isInside, isWithin(ir, ir.add(chunk.first, i), map.dims[0]!));
    const place = ir.ptradd(chunk.place, ir.zext('i64', ir.shl(i, int(ir, 2))));
    ir.when(isInside, () => {
      const bits = ir.load('i32', place, word);
      const odd = ir.and(ir.lshr(bits, int(ir, 13)), int(ir, 1));
      const near = ir.and(ir.add(bits, ir.add(odd, int(ir, 0xfff))), int(ir, 0xffff_e000));
      const size = ir.and(bits, int(ir, 0x7fff_ffff));
      const isNone = ir.icmp(size, int(ir, 0x7f80_0000), { pred: 'ugt' });
      ir.store(place, ir.select(isNone, int(ir, 0x7fff_e000), near), word);
    });
    return [];
  });
}

const store =
  (ir: RowBuilder) =>
  (map: TensorMap): Visit =>
  (chunk) => {
    const address = addressOf(ir, map, chunk);
    const to = ir.inttoptr('ptr.global', address);
    const whole = isWhole(ir, map, chunk, address);
    ir.when(whole, () => ir.store(to, ir.load('v4.i32', chunk.place, unit), unit));
    ir.when(ir.xor(whole, ir.const('i1', 1)), () =>
      eachByte(ir, map, chunk, (at, isInside) => {
        ir.when(isInside, () => ir.store(ir.ptradd(to, at), ir.load('i8', ir.ptradd(chunk.place, at), byte), byte));
      }),
    );
  };

/** Copies a part into shared memory, and tells a barrier that its bytes have arrived: those outside of the tensor, too. */
export function loadPart(ir: RowBuilder, part: Part, to: AddressOperand, mbar: AddressOperand): void {
  const barrier = barrierAt(ir, mbar, 'shared::cluster');
  const units = visitPart(ir, part, ir.pointer(to, 'shared'), load(ir));
  step(ir, barrier, { completes: ir.shl(units, int(ir, 4)) });
}

interface Multicast {
  readonly to: AddressOperand;
  readonly mbar: AddressOperand;
  /** A bit for each block, an i16. */
  readonly mask: Value;
  readonly isOfPair: boolean;
}

/**
 * Copies a part to the same place in the shared memory of each block of a mask. The barrier at the same place there learns of its bytes, or with
 * `isOfPair` that of the block of the pair whose number is as odd as that of the block that has `mbar`.
 */
export function loadPartForMany(ir: RowBuilder, part: Part, { to, mbar, mask, isOfPair }: Multicast): void {
  const [shared, signal] = [ir.pointer(to, 'shared'), ir.trunc('i32', ir.ptrtoint('i64', ir.pointer(mbar, 'shared')))];
  const odd = ir.and(rankOfAddress(ir, signal), int(ir, 1));
  const barrier = ir.inttoptr('ptr.shared', ir.zext('i64', ir.and(signal, int(ir, sharedOffsetMask))));
  eachRank(ir, mask, (rank) => {
    const units = visitPart(ir, part, shared, (map) => {
      const visit = load(ir)(map);
      return (chunk) => visit({ ...chunk, place: pointerInRank(ir, chunk.place, rank) });
    });
    const signalled = isOfPair ? ir.or(ir.and(rank, int(ir, -2)), odd) : rank;
    step(ir, pointerInRank(ir, barrier, signalled), { completes: ir.shl(units, int(ir, 4)) });
  });
}

/** Stops a store of a box in front of the tensor, which an H200 does not carry out. Source: recorded on an NVIDIA H200. */
function stopInFront(ir: RowBuilder, { coords, mode }: Part): void {
  if (mode !== 'tile') return;
  const isNegative = (at: Value): Value => ir.icmp(at, int(ir, 0), { pred: 'slt' });
  const isInFront = listOf(coords)
    .map(isNegative)
    .reduce((a, b) => ir.or(a, b));
  ir.when(isInFront, () => ir.stop('a tensor store at a negative coordinate'));
}

/** Copies shared memory into a part, as far as that is in the tensor. */
export function storePart(ir: RowBuilder, part: Part, from: AddressOperand): void {
  stopInFront(ir, part);
  visitPart(ir, part, ir.pointer(from, 'shared'), store(ir));
}

/** Types that are reduced as another one: nothing is rounded to `tf32`. Source: recorded on an NVIDIA H200. */
const reducedAs: Readonly<Record<string, { readonly type: string; readonly ftz?: true }>> = {
  'f32.ftz': { type: 'f32', ftz: true },
  tf32: { type: 'f32' },
  'tf32.ftz': { type: 'f32', ftz: true },
};

/** Types that an operation can reduce. Source: PTX ISA 9.0, 9.7.9.25.5.3; recorded on an NVIDIA H200. */
const reducible: Readonly<Record<string, readonly string[]>> = {
  add: ['u32', 's32', 'u64', 'f16', 'bf16', 'f32', 'f64', ...Object.keys(reducedAs)],
  min: ['u32', 's32', 'u64', 's64', 'f16', 'bf16'],
  inc: ['u32'],
  and: ['u32', 's32', 'u64'],
};
const typesOf = (op: Reduction): readonly string[] =>
  reducible[({ max: 'min', dec: 'inc', or: 'and', xor: 'and' } as Partial<Record<Reduction, string>>)[op] ?? op]!;

/** Reduces shared memory into a part, each element atomically. */
export function reducePart(ir: RowBuilder, part: Part, from: AddressOperand, op: Reduction): void {
  stopInFront(ir, part);
  const taken = typesOf(op);
  visitPart(ir, part, ir.pointer(from, 'shared'), (map) => {
    let isTaken = ir.const('i1', 0);
    const tests = tensorTypes.flatMap(({ name, bytes }, number) => {
      if (!taken.includes(name)) return [];
      const isType = ir.icmp(map.type, int(ir, number), { pred: 'eq' });
      isTaken = ir.or(isTaken, isType);
      return [{ name, bytes, isType }];
    });
    ir.when(ir.xor(isTaken, ir.const('i1', 1)), () => ir.stop(`a tensor with elements that cannot be reduced by \`.${op}\``));
    return (chunk) => {
      const to = ir.inttoptr('ptr.global', addressOf(ir, map, chunk));
      for (const { name, bytes, isType } of tests)
        ir.when(ir.and(isType, chunk.isInside), () => {
          ir.repeat(int(ir, 16 / bytes), [], (i) => {
            const at = ir.mul(ir.zext('i64', i), ir.const('i64', bytes));
            ir.when(isWithin(ir, ir.add(chunk.first, i), map.dims[0]!), () =>
              reduceOne(ir, ir.ptradd(to, at), ir.ptradd(chunk.place, at), { op, ...elementOf(op, name, bytes) }),
            );
            return [];
          });
        });
    };
  });
}

const elementOf = (op: Reduction, name: string, bytes: number): { readonly type: string; readonly ftz?: true } =>
  op === 'and' || op === 'or' || op === 'xor' ? { type: `b${8 * bytes}` } : (reducedAs[name] ?? { type: name });
