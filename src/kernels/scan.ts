/**
 * Scans: sums of all elements before each, and other operations. Blocks reduce their tiles, the results are scanned, and blocks scan their tiles from
 * there on. A look-back of one pass would wait for blocks that not every device promises to run, and float sums would depend on which is first.
 */
import type { KernelBuffer } from '../api/index.ts';
import {
  blockIndex,
  kernel,
  laneIndex,
  local,
  ptr,
  shared,
  shuffleUp,
  syncThreads,
  type Type,
  threadIndex,
  u32,
  type Value,
  when,
} from '../build/index.ts';
import { type Any, type AnyValue, identityOf, type Joined, type Joining, join, joinedType } from './combine.ts';
import { assertHolds, assertSize, type elements, Procedure, type Steps } from './procedure.ts';
import { chunkReduction } from './reduce.ts';
import { blocksFor, named, portable, type Routine, routine } from './routine.ts';

type Word = Value<'u32'>;
type BufferOf<T extends Joined> = KernelBuffer<(typeof elements)[T]> | bigint;

/** Options of a scan. */
export interface ScanOptions<T extends Joined> {
  /** The type of the elements; f32 by default. */
  readonly type?: Type<T>;
  /** The operation; the sum by default. */
  readonly operation?: Joining;
}
/** What a launch of a scan is given. `x` and `y` may be the same. */
export interface ScanArguments<T extends Joined> {
  readonly x: BufferOf<T>;
  readonly y: BufferOf<T>;
  readonly n: number;
}

const threads = 256;
const warps = threads / 32;
const each = 8;
const tile = threads * each;

/** What all threads of the block before this one have, of a value of each; and what all have. Blocks have 256 threads. */
export function blockScan(value: AnyValue, how: Joining, type: Any): { before: AnyValue; whole: AnyValue } {
  const lane = laneIndex();
  const combine = join(how);
  const identity = identityOf(how, type.name) as number;
  let own = value;
  for (let distance = 1; distance < 32; distance *= 2) {
    const other = shuffleUp(own, distance);
    own = lane.ge(distance).select(combine(other, own), own);
  }
  const totals = shared(type, warps);
  when(lane.eq(31), () => totals.at(threadIndex().shr(5)).set(own));
  syncThreads();
  const warp = threadIndex().shr(5);
  const [before, whole] = [local(type, identity), local(type, identity)];
  for (let i = 0; i < warps; i++) {
    when(warp.eq(i), () => before.set(whole));
    whole.set(combine(whole.get(), totals.at(i).get()));
  }
  const left = shuffleUp(own, 1);
  const inWarp = lane.eq(0).select(identity, left);
  // The next use of the totals waits for this one.
  syncThreads();
  return { before: combine(before.get(), inWarp), whole: whole.get() };
}

interface ScanLaunch {
  readonly x: unknown;
  readonly y: unknown;
  readonly carries: unknown;
  readonly n: number;
}
const parametersOf = (type: Any) => ({ x: ptr(type), y: ptr(type), carries: ptr(type), n: u32 });

/** A place in shared memory such that threads with eight elements each read from different banks. */
const padded = (i: Word): Word => i.add(i.shr(5));

function tileScan(how: Joining, name: Joined, isInclusive: boolean): Routine<never, ScanLaunch> {
  const type = joinedType(name);
  return routine(
    named('scan', isInclusive ? 'inclusive' : 'exclusive', how, name),
    (word) =>
      kernel(
        word,
        parametersOf(type),
        ({ x, y, carries, n }) => {
          const combine = join(how);
          const identity = identityOf(how, name) as number;
          const values = shared(type, tile + tile / 32);
          const [first, own] = [blockIndex().mul(tile), threadIndex()];
          const strided = Array.from({ length: each }, (_, k) => own.add(k * threads));
          for (const at of strided) {
            const value = local(type, identity);
            when(first.add(at).lt(n), () => value.set(x.at(first.add(at))));
            values.at(padded(at)).set(value);
          }
          syncThreads();
          const places = Array.from({ length: each }, (_, k) => padded(own.mul(each).add(k)));
          const mine = places.map((at) => values.at(at).get());
          const { before } = blockScan(mine.reduce(combine), how, type);
          const sum = local(type, before);
          when(carries.address().ne(0), () => sum.set(combine(carries.at(blockIndex()).get(), before)));
          for (const [k, value] of mine.entries()) {
            const next = combine(sum.get(), value);
            values.at(places[k]!).set(isInclusive ? next : sum.get());
            sum.set(next);
          }
          syncThreads();
          for (const at of strided) when(first.add(at).lt(n), () => y.at(first.add(at)).set(values.at(padded(at)).get()));
        },
        { ...portable, block: threads },
      ),
    (args: ScanLaunch) => ({ grid: blocksFor(args.n, tile), block: threads, args: args as never }),
  ) as unknown as Routine<never, ScanLaunch>;
}

/** What joins the results of tiles: sums of the type, scanned without their own. */
function scanOf<T extends Joined>(isInclusive: boolean, { type, operation = 'sum' }: ScanOptions<T>): Procedure<ScanArguments<T>> {
  const element = (type?.name ?? 'f32') as Joined;
  const [scan, carry] = [tileScan(operation, element, isInclusive), tileScan(operation, element, false)];
  const sums = chunkReduction(operation, element, element);
  const name = named('scan', isInclusive ? 'inclusive' : 'exclusive', operation, element);
  const carriesOf = (steps: Steps, x: unknown, n: number): unknown => {
    const tiles = blocksFor(n, tile);
    if (tiles <= 1) return null;
    const parts = steps.scratch(element, tiles);
    steps.launch(sums, { x, y: parts, total: n, chunk: tile, blocks: tiles });
    steps.launch(carry, { x: parts, y: parts, carries: carriesOf(steps, parts, tiles), n: tiles });
    return parts;
  };
  return new Procedure(
    name,
    () => [...new Set<unknown>([scan, carry, sums])],
    (steps, { x, y, n }: ScanArguments<T>) => {
      assertSize(name, 'n', n, 0xffff_ffff - tile);
      assertHolds(name, 'x', x, n);
      assertHolds(name, 'y', y, n);
      steps.launch(scan, { x, y, carries: carriesOf(steps, x, n), n });
    },
  );
}

/**
 * The sum (the minimum, the maximum) of each element and all before it: `y[i] = x[0] + … + x[i]`. Integers wrap; what follows a NaN is NaN.
 * Deterministic: the order of additions depends on n alone.
 */
export const inclusiveScan = <T extends Joined = 'f32'>(options: ScanOptions<T> = {}): Procedure<ScanArguments<T>> => scanOf(true, options);
/** The same of all elements before each: `y[0]` is 0, or what changes no other value. */
export const exclusiveScan = <T extends Joined = 'f32'>(options: ScanOptions<T> = {}): Procedure<ScanArguments<T>> =>
  scanOf(false, options);
