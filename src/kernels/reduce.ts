/** Reductions of arrays, and of the rows of a matrix: one value of many, and where it is. */
import type { KernelBuffer } from '../api/index.ts';
import {
  blockIndex,
  blockReduce,
  constant,
  kernel,
  laneIndex,
  local,
  loop,
  ptr,
  shared,
  shuffleXor,
  syncThreads,
  type Type,
  threadIndex,
  u32,
  u64,
  type Value,
  when,
} from '../build/index.ts';
import { type Any, type AnyValue, identityOf, isBefore, type Joining, join, joinedType, type Reduced, reducedTypes } from './combine.ts';
import { assertHolds, assertSize, type elements, Procedure } from './procedure.ts';
import { blocksFor, named, portable, type Routine, routine } from './routine.ts';

type Word = Value<'u32'>;
type BufferOf<T extends Reduced> = KernelBuffer<(typeof elements)[T]> | bigint;

/** What a launch of a reduction is given. */
export interface ReduceArguments<T extends Reduced, R extends Reduced = T> {
  /** The elements: `rows` times `n`. */
  readonly x: BufferOf<T>;
  /** A result for each row. */
  readonly y: BufferOf<R>;
  /** The elements of a row. */
  readonly n: number;
  /** The rows, which follow each other: 1 by default. */
  readonly rows?: number;
}
interface ReduceOptions<T extends Reduced> {
  /** The type of the elements; f32 by default. */
  readonly type?: Type<T>;
}

const threads = 256;
const step = 4 * threads;
/** A row of more elements is reduced by several blocks. */
const longest = 16 * step;
const maxBlocks = 1024;

const parametersOf = (from: Any, to: Any) => ({ x: ptr(from), y: ptr(to), total: u64, chunk: u32 });
type PartParameters = ReturnType<typeof parametersOf>;

/** The elements of this block: where they start, and how many there are. */
function chunkOf(total: Value<'u64'>, chunk: Word): { start: Value<'u64'>; count: Word } {
  const start = blockIndex().mulWide(chunk);
  const rest = total.sub(start);
  return { start, count: rest.lt(chunk.to(u64)).select(rest.to(u32), chunk) };
}

/** Calls a function with the indices of this thread, four at a time as long as the block has four for each. */
function along(count: Word, visit: (indices: readonly Word[]) => void): void {
  const whole = count.sub(count.and(step - 1));
  loop(threadIndex(), whole, step, (i) => visit([i, i.add(threads), i.add(2 * threads), i.add(3 * threads)]));
  loop(whole.add(threadIndex()), count, threads, (i) => visit([i]));
}

/** A block for each chunk of an array. */
export function chunkReduction(how: Joining, fromName: Reduced, toName: Reduced) {
  const [from, to, type] = [reducedTypes[fromName] as unknown as Any, reducedTypes[toName] as unknown as Any, joinedType(fromName)];
  return routine(
    named('reduce', how, fromName, toName !== fromName && toName),
    (name) =>
      kernel(
        name,
        parametersOf(from, to),
        ({ x, y, total, chunk }) => {
          const { start, count } = chunkOf(total, chunk);
          const own = x.add(start);
          const identity = identityOf(how, type.name) as number;
          const sum = local(type, identity);
          along(count, (indices) => {
            const values = indices.map((i) => own.at(i).get().to(type));
            sum.set(values.reduce(join(how), sum.get()));
          });
          const whole = blockReduce(sum.get(), join(how), { threads, identity });
          when(threadIndex().eq(0), () => y.at(blockIndex()).set(whole.to(to)));
        },
        { ...portable, block: threads },
      ),
    ({ blocks, ...args }: { x: unknown; y: unknown; total: number; chunk: number; blocks: number }) => ({
      grid: blocks,
      block: threads,
      args: args as never,
    }),
  ) as unknown as Routine<PartParameters, { x: unknown; y: unknown; total: number; chunk: number; blocks: number }>;
}

/** How the blocks share a long row. */
function chunksOf(n: number): { chunk: number; blocks: number } {
  const wanted = Math.min(maxBlocks, blocksFor(n, longest / 2));
  const chunk = blocksFor(blocksFor(n, wanted), step) * step;
  return { chunk, blocks: blocksFor(n, chunk) };
}

function checked(name: string, { x, y, n, rows = 1 }: ReduceArguments<Reduced>, least: number): number {
  assertSize(name, 'n', n, 0xffff_ffff - step, rows === 0 ? 0 : least);
  assertSize(name, 'rows', rows, 0x7fff_ffff);
  assertHolds(name, 'x', x, rows * n);
  assertHolds(name, 'y', y, rows);
  return rows;
}

/**
 * The sum, the minimum or the maximum of each row: `y[r] = Σ x[r * n + i]`. Integers wrap, f16 and bf16 are summed as f32 and rounded once, and a row with
 * a NaN has NaN. No elements have the sum 0, and as minimum or maximum the value that changes no other. One row of more than 16384 elements takes two
 * launches. Deterministic.
 */
export function reduce<T extends Reduced = 'f32'>(how: Joining, options: ReduceOptions<T> = {}): Procedure<ReduceArguments<T>> {
  const type = (options.type?.name ?? 'f32') as Reduced;
  const between = joinedType(type).name as Reduced;
  const [whole, first, second] = [
    chunkReduction(how, type, type),
    chunkReduction(how, type, between),
    chunkReduction(how, between, type),
  ] as const;
  const name = named('reduce', how, type);
  return new Procedure(
    name,
    () => [...new Set([whole, first, second])],
    (steps, given: ReduceArguments<T>) => {
      const rows = checked(name, given as unknown as ReduceArguments<Reduced>, 0);
      const { x, y, n } = given;
      if (rows !== 1 || n <= longest) {
        steps.launch(whole, { x, y, total: rows * n, chunk: n, blocks: rows });
        return;
      }
      const { chunk, blocks } = chunksOf(n);
      const parts = steps.scratch(between, blocks);
      steps.launch(first, { x, y: parts, total: n, chunk, blocks });
      steps.launch(second, { x: parts, y, total: blocks, chunk: blocks, blocks: 1 });
    },
  );
}

const placeParameters = (from: Any, between: Any) => ({
  ...{ x: ptr(from), places: ptr(u32), values: ptr(between), y: ptr(u32), total: u64, chunk: u32, isOffset: u32 },
});
interface PlaceLaunch {
  readonly x: unknown;
  readonly places: unknown;
  readonly values: unknown;
  readonly y: unknown;
  readonly total: number;
  readonly chunk: number;
  readonly isOffset: number;
  readonly blocks: number;
}
interface Found {
  readonly value: AnyValue;
  readonly place: Word;
}

/** The first of two places by value; of equal values the lower one. */
const firstOf =
  (how: 'min' | 'max') =>
  (a: Found, b: Found): Found => {
    const isB = isBefore(how, b.value, a.value).or(isBefore(how, a.value, b.value).not().and(b.place.lt(a.place)));
    return { value: isB.select(b.value, a.value), place: isB.select(b.place, a.place) };
  };

function warpFirst(how: 'min' | 'max', found: Found): Found {
  let best = found;
  for (let distance = 16; distance >= 1; distance /= 2)
    best = firstOf(how)(best, { value: shuffleXor(best.value, distance), place: shuffleXor(best.place, distance) });
  return best;
}

/** The first of all threads of the block, in the first warp. */
function blockFirst(how: 'min' | 'max', found: Found, type: Any): Found {
  const warps = threads / 32;
  const [values, places] = [shared(type, warps), shared(u32, warps)];
  const own = warpFirst(how, found);
  when(laneIndex().eq(0), () => {
    values.at(threadIndex().shr(5)).set(own.value);
    places.at(threadIndex().shr(5)).set(own.place);
  });
  syncThreads();
  const from = laneIndex().and(warps - 1);
  return warpFirst(how, { value: values.at(from).get(), place: places.at(from).get() });
}

function placeReduction(how: 'min' | 'max', fromName: Reduced): Routine<never, PlaceLaunch> {
  const [from, type] = [reducedTypes[fromName] as unknown as Any, joinedType(fromName)];
  return routine(
    named('place', how, fromName),
    (name) =>
      kernel(
        name,
        placeParameters(from, type),
        ({ x, places, values, y, total, chunk, isOffset }) => {
          const { start, count } = chunkOf(total, chunk);
          const own = x.add(start);
          const first = start.to(u32).mul(isOffset);
          const placeAt = (i: Word): Word => {
            const place = local(u32, first.add(i));
            when(places.address().ne(0), () => place.set(places.at(i)));
            return place.get();
          };
          // A thread without an element has the first one of the block.
          const [value, place] = [local(type, own.at(0).get().to(type)), local(u32, placeAt(constant(u32, 0)))];
          loop(threadIndex(), count, threads, (i) => {
            const found = firstOf(how)({ value: value.get(), place: place.get() }, { value: own.at(i).get().to(type), place: placeAt(i) });
            value.set(found.value);
            place.set(found.place);
          });
          const best = blockFirst(how, { value: value.get(), place: place.get() }, type);
          when(threadIndex().eq(0), () => {
            y.at(blockIndex()).set(best.place);
            when(values.address().ne(0), () => values.at(blockIndex()).set(best.value));
          });
        },
        { ...portable, block: threads },
      ),
    ({ blocks, ...args }: PlaceLaunch) => ({ grid: blocks, block: threads, args: args as never }),
  ) as unknown as Routine<never, PlaceLaunch>;
}

function argOf<T extends Reduced>(how: 'min' | 'max', options: ReduceOptions<T>): Procedure<ReduceArguments<T, 'u32'>> {
  const type = (options.type?.name ?? 'f32') as Reduced;
  const between = joinedType(type).name as Reduced;
  const [first, second] = [placeReduction(how, type), placeReduction(how, between)];
  const name = named('arg', how, type);
  return new Procedure(
    name,
    () => [...new Set([first, second])],
    (steps, given: ReduceArguments<T, 'u32'>) => {
      const rows = checked(name, given as unknown as ReduceArguments<Reduced>, 1);
      const { x, y, n } = given;
      const none = { places: null, values: null };
      if (rows !== 1 || n <= longest) {
        steps.launch(first, { ...none, x, y, total: rows * n, chunk: n, isOffset: 0, blocks: rows });
        return;
      }
      const { chunk, blocks } = chunksOf(n);
      const [values, places] = [steps.scratch(between, blocks), steps.scratch('u32', blocks)];
      steps.launch(first, { x, places: null, values, y: places, total: n, chunk, isOffset: 1, blocks });
      steps.launch(second, { x: values, places, values: null, y, total: blocks, chunk: blocks, isOffset: 0, blocks: 1 });
    },
  );
}

/**
 * Where the maximum of each row is: the index in its row, the lowest of equal ones, and that of the first NaN if there is one. A row has one element at
 * least. Deterministic.
 */
export const argmax = <T extends Reduced = 'f32'>(options: ReduceOptions<T> = {}): Procedure<ReduceArguments<T, 'u32'>> =>
  argOf('max', options);
/** Where the minimum of each row is, as `argmax`. */
export const argmin = <T extends Reduced = 'f32'>(options: ReduceOptions<T> = {}): Procedure<ReduceArguments<T, 'u32'>> =>
  argOf('min', options);
