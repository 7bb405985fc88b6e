/**
 * Reads matrix elements of other lanes. The location of an element follows from its row and column bit by bit (`fragments.ts`). A row or
 * column may depend on the reading lane, so its bits are constants or bits of that lane.
 */
import type { Value } from '../../../ir/index.ts';
import type { RowBuilder } from '../../model/row.ts';
import type { Fragment, Place } from './fragments.ts';

/** A bit of a row or a column: 0, 1, or a bit of the reading lane. */
export type Coordinate = 0 | 1 | { readonly lane: number };

/** The location of an element, for the reading lane. */
export interface Location {
  readonly lane: readonly Coordinate[];
  readonly register: readonly Coordinate[];
  readonly part: readonly Coordinate[];
}

/** The bits of a number, lowest first. */
export const bitsOf = (value: number, count: number): Coordinate[] => Array.from({ length: count }, (_, i) => ((value >> i) & 1 ? 1 : 0));

const own = (bit: number): Coordinate => ({ lane: bit });

/** The row or column bits (`along`) of the element in a part of the reading lane's register. */
export function coordinatesOf(along: readonly Place[], register: number, part: number): Coordinate[] {
  const from = { register, part };
  return along.map(({ of, bit }) => (of === 'lane' ? own(bit) : (from[of] >> bit) & 1 ? 1 : 0));
}

/** The location of an element. Lane bits without an element bit are those of the reading lane. */
export function locationOf(fragment: Fragment, row: readonly Coordinate[], column: readonly Coordinate[]): Location {
  const lane = Array.from({ length: 5 }, (_, i) => own(i));
  const register: Coordinate[] = [];
  const part: Coordinate[] = [];
  const into = { lane, register, part };
  const put = (places: readonly Place[], bits: readonly Coordinate[]): void =>
    places.forEach(({ of, bit }, i) => {
      into[of][bit] = bits[i]!;
    });
  put(fragment.row, row);
  put(fragment.column, column);
  return { lane, register: filled(register), part: filled(part) };
}

const filled = (bits: readonly (Coordinate | undefined)[]): Coordinate[] => Array.from(bits, (bit) => bit ?? 0);

/** A per-block cache of values by key. Threads do not diverge within a block, so that one value per block is enough. */
const blockCache = new WeakMap<object, Map<string, Value>>();

/** The cached value of a block, computed on first use. */
export function cached(ir: RowBuilder, name: string, make: () => Value): Value {
  let values = blockCache.get(ir.block);
  if (!values) {
    values = new Map();
    blockCache.set(ir.block, values);
  }
  const found = values.get(name) ?? make();
  values.set(name, found);
  return found;
}

const word = (ir: RowBuilder, value: number): Value => ir.const('i32', value);
export const laneOf = (ir: RowBuilder): Value => cached(ir, 'lane', () => ir.sreg('i32', { name: 'laneid' }));

const textOf = (bits: readonly Coordinate[]): string => bits.map((bit) => (typeof bit === 'number' ? bit : `l${bit.lane}`)).join(' ');

/** The number formed by some bits; adjacent lane bits are moved together. */
export function numberOf(ir: RowBuilder, bits: readonly Coordinate[]): Value {
  return cached(ir, `number ${textOf(bits)}`, () => {
    const masks = new Map<number, number>();
    let fixed = 0;
    for (const [to, bit] of bits.entries()) {
      if (typeof bit === 'number') fixed |= bit << to;
      else masks.set(to - bit.lane, (masks.get(to - bit.lane) ?? 0) | (1 << to));
    }
    const moved = [...masks].map(([by, mask]) => ir.and(shifted(ir, by), word(ir, mask)));
    if (fixed !== 0 || moved.length === 0) moved.push(word(ir, fixed));
    return moved.reduce((sum, each) => ir.or(sum, each));
  });
}

function shifted(ir: RowBuilder, by: number): Value {
  if (by === 0) return laneOf(ir);
  return by > 0 ? ir.shl(laneOf(ir), word(ir, by)) : ir.lshr(laneOf(ir), word(ir, -by));
}

/** Whether a bit of the lane is set. */
export function isLaneBitSet(ir: RowBuilder, bit: number): Value {
  return cached(ir, `bit ${bit}`, () => ir.icmp(ir.and(laneOf(ir), word(ir, 1 << bit)), word(ir, 0), { pred: 'ne' }));
}

const isOwn = (lane: readonly Coordinate[]): boolean => lane.every((bit, i) => typeof bit !== 'number' && bit.lane === i);

/** A per-block record of shuffles: the source value and the source lane of each result. */
const shuffles = new WeakMap<object, Map<Value, { readonly value: Value; readonly lane: readonly Coordinate[] }>>();

/** Reads a value of another lane. If that value is a shuffle result itself, reads from the original lane. */
export function fromLane(ir: RowBuilder, value: Value, lane: readonly Coordinate[]): Value {
  const known = shuffles.get(ir.block)?.get(unwrapped(ir, value));
  if (known && ir.typeOf(known.value) === ir.typeOf(value)) return fromLane(ir, known.value, composeLanes(known.lane, lane));
  if (isOwn(lane)) return value;
  const from = numberOf(ir, lane);
  const shuffled = cached(ir, `${value} of ${textOf(lane)}`, () => ir.shuffle(value, from));
  shuffles.set(ir.block, (shuffles.get(ir.block) ?? new Map()).set(shuffled, { value, lane }));
  return shuffled;
}

/** The value behind bit casts. */
function unwrapped(ir: RowBuilder, value: Value): Value {
  let from = value;
  for (let inst = ir.kernel.insts[from]!; inst.op === 'bitcast'; inst = ir.kernel.insts[from]!) from = inst.a;
  return from;
}

/** Composes two lane mappings. */
const composeLanes = (asked: readonly Coordinate[], lane: readonly Coordinate[]): Coordinate[] =>
  asked.map((bit) => (typeof bit === 'number' ? bit : lane[bit.lane]!));

/** Selects one of several values by the bits of an index; bits of the lane select at run time. */
export function selectByIndex(ir: RowBuilder, bits: readonly Coordinate[], pick: (index: number) => Value): Value {
  const at = bits.findIndex((bit) => typeof bit !== 'number');
  if (at < 0) return pick(bits.reduce<number>((sum, bit, i) => sum + (bit === 1 ? 2 ** i : 0), 0));
  const { lane } = bits[at] as { lane: number };
  const [no, yes] = ([0, 1] as const).map((bit) =>
    selectByIndex(
      ir,
      bits.map((each, i) => (i === at ? bit : each)),
      pick,
    ),
  ) as [Value, Value];
  return cached(ir, `${yes} or ${no} by ${lane}`, () => ir.select(isLaneBitSet(ir, lane), yes, no));
}

/** The register of a fragment that contains an element. */
export const registerAt = (ir: RowBuilder, registers: readonly Value[], { lane, register }: Location): Value =>
  selectByIndex(ir, register, (index) => fromLane(ir, registers[index]!, lane));
