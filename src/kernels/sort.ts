/**
 * Radix sort by eight bits at a time, from the lowest on. On GPUs blocks count the digits of their tiles, a scan of the counts says where each digit of each tile
 * goes, and blocks order their tiles in shared memory and write them there. Source: D. Merrill, A. Grimshaw, "High performance and scalable radix sorting",
 * 2011.
 */
import type { KernelBuffer } from '../api/index.ts';
import {
  ballot,
  blockIndex,
  constant,
  kernel,
  laneIndex,
  lanesBefore,
  local,
  loop,
  type Pointer,
  ptr,
  reduction,
  shared,
  syncThreads,
  syncWarp,
  type Type,
  threadIndex,
  u16,
  u32,
  type Value,
  when,
} from '../build/index.ts';
import type { Any, AnyValue } from './combine.ts';
import { assertHolds, assertSize, type elements, Procedure } from './procedure.ts';
import { blocksFor, portable, type Routine, routine } from './routine.ts';
import { blockScan, exclusiveScan } from './scan.ts';
import {
  bitsType,
  digitOf,
  digits,
  isLong,
  keyType,
  type SortForm,
  type SortKey,
  type SortPass,
  type SortValue,
  sortName,
} from './sort-form.ts';
import { serialCount, serialScatter, serialTile } from './sort-serial.ts';

export type { SortKey, SortValue } from './sort-form.ts';

/** How a tile of keys is ordered. */
export type SortAlgorithm = 'parallel' | 'serial';

/** Options of `radixSort`. */
export interface SortOptions<K extends SortKey> {
  /** The type of the keys; u32 by default. */
  readonly key?: Type<K>;
  /** The largest first. */
  readonly descending?: boolean;
  /**
   * How a tile of keys is ordered: by a block of threads that vote, or key after key by one thread, which is the default on the CPU device. The result is the
   * same.
   */
  readonly algorithm?: SortAlgorithm;
}
/** Options of `radixSortPairs`. */
export interface PairOptions<K extends SortKey, V extends SortValue> extends SortOptions<K> {
  /** The type of the values; u32 by default. */
  readonly value?: Type<V>;
}
/** What a launch of a sort is given. */
export interface SortArguments<K extends SortKey> {
  /** The keys, which are sorted in place. */
  readonly keys: KernelBuffer<(typeof elements)[K]>;
  readonly n: number;
}
/** What a launch of a sort of pairs is given. */
export interface PairArguments<K extends SortKey, V extends SortValue> extends SortArguments<K> {
  /** What belongs to the keys, and is moved as they are. */
  readonly values: KernelBuffer<(typeof elements)[V]>;
}

type Word = Value<'u32'>;
const threads = 256;
const warps = threads / 32;

/** The elements of a thread: such that shared memory of 48 KiB has all. */
const eachOf = ({ key, value }: SortForm): number => (isLong(key) || value > 0 ? 8 : 16);

function countRoutine(form: SortForm): Routine<never, SortPass> {
  const each = eachOf(form);
  const tile = threads * each;
  return routine(
    sortName('count', form),
    (name) =>
      kernel(
        name,
        { keys: ptr(keyType(form)), counts: ptr(u32), n: u32, tiles: u32, shift: u32 },
        ({ keys, counts, n, tiles, shift }) => {
          const own = shared(u32, digits);
          own.at(threadIndex()).set(0);
          syncThreads();
          const first = blockIndex().mul(tile);
          loop(first.add(threadIndex()), first.add(tile).min(n), threads, (i) =>
            reduction('add', own.at(digitOf(form, keys.at(i).get(), shift)), 1),
          );
          syncThreads();
          counts.at(threadIndex().mad(tiles, blockIndex())).set(own.at(threadIndex()).get());
        },
        { ...portable, block: threads },
      ),
    ({ keys, counts, n, tiles, shift }: SortPass) => ({
      grid: tiles,
      block: threads,
      args: { keys, counts, n, tiles, shift } as never,
    }),
  ) as unknown as Routine<never, SortPass>;
}

/** The lanes with the same digit. */
function peersOf(digit: Word): Word {
  let peers = constant(u32, 0xffffffff);
  for (let bit = 0; bit < 8; bit++) {
    const isSet = digit.bfe(bit, 1).ne(0);
    const mask = ballot(isSet);
    peers = peers.and(isSet.select(mask, mask.not()));
  }
  return peers;
}

/** Where things of a block are. */
interface Block {
  readonly form: SortForm;
  readonly shift: Word;
  readonly n: Word;
  readonly tiles: Word;
  /** The number of each digit in each warp, and then where the digit of the warp starts in the ordered tile. */
  readonly counters: Pointer<'u32', 'shared'>;
  /** The keys of a warp with the same digit before each key. */
  readonly ranks: Pointer<'u16', 'shared'>;
  /** What is added to a place in the ordered tile for where it goes, by digit. */
  readonly bases: Pointer<'u32', 'shared'>;
}

/** Calls a function with the elements of this thread: the place in the tile, and that in the array, rows of 32 of a warp after each other. */
function eachOwn({ form, n }: Block, visit: (slot: Word, i: Word) => void): void {
  const each = eachOf(form);
  const first = threadIndex()
    .shr(5)
    .mul(32 * each)
    .add(laneIndex());
  const start = blockIndex().mul(threads * each);
  loop(0, 32 * each, 32, (row) => {
    const slot = first.add(row);
    visit(slot, start.add(slot).min(n));
  });
}

/** Counts the keys of each warp by digit. What is behind the last key has the last digit, and is behind all others. */
function rank(block: Block, keys: Pointer<'f32', 'global'>): void {
  const { form, shift, n, counters, ranks } = block;
  const row = counters.add(threadIndex().shr(5).mul(digits));
  eachOwn(block, (slot, i) => {
    const digit = local(u32, digits - 1);
    when(i.lt(n), () => digit.set(digitOf(form, keys.at(i).get(), shift)));
    const peers = peersOf(digit.get());
    const before = row.at(digit).get();
    const place = peers.and(lanesBefore()).popc();
    ranks.at(slot).set(before.add(place).to(u16));
    syncWarp();
    when(place.eq(0), () => row.at(digit).set(before.add(peers.popc())));
    syncWarp();
  });
}

/** Makes starts of the counts. The threads of the block have a digit each. */
function start({ counters, bases, tiles }: Block, counts: Pointer<'u32', 'global'>): void {
  const sum = local(u32, 0);
  const own = counters.add(threadIndex());
  for (let w = 0; w < warps; w++) {
    const counter = own.at(w * digits);
    const count = counter.get();
    counter.set(sum);
    sum.set(sum.add(count));
  }
  const { before } = blockScan(sum as unknown as AnyValue, 'sum', u32 as unknown as Any);
  const first = before as unknown as Word;
  bases.at(threadIndex()).set(counts.at(threadIndex().mad(tiles, blockIndex())).get().sub(first));
  for (let w = 0; w < warps; w++)
    own.at(w * digits).set(
      own
        .at(w * digits)
        .get()
        .add(first),
    );
}

/** Orders the tile by the digit: keys of equal digits stay in their order. */
function scatter(
  p: Record<'keys' | 'values' | 'toKeys' | 'toValues', Pointer<'f32', 'global'>>,
  counts: Pointer<'u32', 'global'>,
  block: Block,
): void {
  const { form, shift, n, counters, ranks, bases } = block;
  const tile = threads * eachOf(form);
  const ordered = shared(keyType(form), tile);
  const moved = form.value === 0 ? undefined : shared(bitsType(form.value), tile);
  const row = counters.add(threadIndex().shr(5).mul(digits));
  for (let w = 0; w < warps; w++) counters.at(threadIndex(), w * digits).set(0);
  syncThreads();
  rank(block, p.keys);
  syncThreads();
  start(block, counts);
  syncThreads();
  eachOwn(block, (slot, i) =>
    when(i.lt(n), () => {
      const key = p.keys.at(i).get();
      const place = row
        .at(digitOf(form, key, shift))
        .get()
        .add(ranks.at(slot).get().to(u32));
      ordered.at(place).set(key);
      moved?.at(place).set(p.values.at(i).get());
    }),
  );
  syncThreads();
  loop(threadIndex(), n.sub(blockIndex().mul(tile)).min(tile), threads, (at) => {
    const key = ordered.at(at).get();
    const to = bases
      .at(digitOf(form, key, shift))
      .get()
      .add(at);
    p.toKeys.at(to).set(key);
    if (moved) p.toValues.at(to).set(moved.at(at).get());
  });
}

function scatterRoutine(form: SortForm): Routine<never, SortPass> {
  const tile = threads * eachOf(form);
  const [type, valueType] = [keyType(form), bitsType(form.value)];
  const arrays = { keys: ptr(type), values: ptr(valueType), toKeys: ptr(type), toValues: ptr(valueType), counts: ptr(u32) };
  return routine(
    sortName('scatter', form),
    (name) =>
      kernel(
        name,
        { ...arrays, n: u32, tiles: u32, shift: u32 },
        ({ counts, n, tiles, shift, ...p }) => {
          const [counters, ranks, bases] = [shared(u32, warps * digits), shared(u16, tile), shared(u32, digits)];
          scatter(p, counts, { form, shift, n, tiles, counters, ranks, bases });
        },
        { ...portable, block: threads },
      ),
    (args: SortPass) => ({ grid: args.tiles, block: threads, args: args as never }),
  ) as unknown as Routine<never, SortPass>;
}

interface Given {
  readonly keys: unknown;
  readonly values?: unknown;
  readonly n: number;
}

function sortOf(form: SortForm, algorithm: SortAlgorithm | undefined): Procedure<Given> {
  const scan = exclusiveScan({ type: u32 });
  const ways = {
    parallel: { count: countRoutine(form), scatter: scatterRoutine(form), tileOf: () => threads * eachOf(form) },
    serial: { count: serialCount(form), scatter: serialScatter(form), tileOf: serialTile },
  };
  const used = algorithm ? [ways[algorithm]] : Object.values(ways);
  const name = sortName('sort', form);
  return new Procedure(
    name,
    () => [...used.flatMap(({ count, scatter }) => [count, scatter]), scan],
    (steps, { keys, values = null, n }: Given) => {
      const { count, scatter, tileOf } = ways[algorithm ?? (steps.isProcessor ? 'serial' : 'parallel')];
      const tile = tileOf(n);
      assertSize(name, 'n', n, 0xffff_ffff - tile);
      assertHolds(name, 'keys', keys, n);
      if (form.value > 0) assertHolds(name, 'values', values, n);
      if (n < 2) return;
      const tiles = blocksFor(n, tile);
      const counts = steps.scratch('u32', digits * tiles);
      const otherKeys = steps.scratch(isLong(form.key) ? 'u64' : 'u32', n);
      const otherValues = form.value > 0 ? steps.scratch(form.value === 8 ? 'u64' : 'u32', n) : null;
      let [from, to] = [
        { keys, values },
        { keys: otherKeys as unknown, values: otherValues as unknown },
      ];
      for (let shift = 0; shift < (isLong(form.key) ? 64 : 32); shift += 8) {
        const args = { ...from, toKeys: to.keys, toValues: to.values, counts, n, tiles, shift };
        steps.launch(count, args);
        steps.run(scan, { x: counts, y: counts, n: digits * tiles });
        steps.launch(scatter, args);
        [from, to] = [to, from];
      }
    },
  );
}

/**
 * Sorts keys in place, by their order as numbers: -0 before 0, and NaN by its bits, behind infinity, or before -infinity if its sign is set. Memory for the
 * keys once more, and for counts, is allocated. Deterministic.
 */
export function radixSort<K extends SortKey = 'u32'>(options: SortOptions<K> = {}): Procedure<SortArguments<K>> {
  const { key, descending = false, algorithm } = options;
  const form: SortForm = { key: (key?.name ?? 'u32') as SortKey, value: 0, isDescending: descending };
  return sortOf(form, algorithm) as unknown as Procedure<SortArguments<K>>;
}

/** Sorts keys, and moves values as their keys: of equal keys in the order that they had. Otherwise as `radixSort`. */
export function radixSortPairs<K extends SortKey = 'u32', V extends SortValue = 'u32'>(
  options: PairOptions<K, V> = {},
): Procedure<PairArguments<K, V>> {
  const { key, value, descending = false, algorithm } = options;
  const bytes = (value?.name ?? 'u32').endsWith('64') ? 8 : 4;
  const form: SortForm = { key: (key?.name ?? 'u32') as SortKey, value: bytes, isDescending: descending };
  return sortOf(form, algorithm) as unknown as Procedure<PairArguments<K, V>>;
}
