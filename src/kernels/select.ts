/** Kernels of masks and indices: elements by a mask, elements that a mask keeps, and the backward kernel of `gather`. */
import type { KernelBuffer } from '../api/index.ts';
import {
  type Arguments,
  blockIndex,
  f32,
  kernel,
  local,
  loop,
  loopWhile,
  type Pointer,
  ptr,
  s32,
  type Type,
  threadIndex,
  u8,
  u32,
  type Value,
  when,
} from '../build/index.ts';
import type { Any } from './combine.ts';
import type { Moved } from './move.ts';
import { assertHolds, assertSize, type elements, Procedure } from './procedure.ts';
import { blocksFor, type Floating, named, portable, type Routine, routine, type TypeOption, typeOf } from './routine.ts';
import { exclusiveScan } from './scan.ts';
import { radixSortPairs } from './sort.ts';

type Word = Value<'u32'>;
type BufferOf<T extends Moved> = KernelBuffer<(typeof elements)[T]> | bigint;
const threads = 256;
const maxElements = 0xffff_ffff - threads;
const index = (): Word => blockIndex().mad(threads, threadIndex());

type Fill<T extends Moved> = ReturnType<typeof fillParameters<T>>;
const fillParameters = <T extends Moved>(type: Type<T>) => ({ x: ptr(type), mask: ptr(u8), y: ptr(type), n: u32, value: type });

/**
 * Elements by a mask of bytes: `y[i] = mask[i] ? x[i] : value`. With the value 0 it is its own backward kernel, for `dy` as `x`. `x` and `y` may be the same.
 * Deterministic.
 */
export function masked<T extends Exclude<Moved, 'u8'> = 'f32'>(options: { readonly type?: Type<T> } = {}): Routine<Fill<T>> {
  const type = options.type ?? (f32 as unknown as Type<T>);
  return routine(
    named('masked', type.name),
    (name) =>
      kernel(
        name,
        fillParameters(type),
        (p) => {
          const { x, mask, y, n, value } = p as unknown as Inside & { value: Value<'f32'> };
          const i = index();
          when(i.lt(n), () => y.at(i).set(mask.at(i).get().to(u32).ne(0).select(x.at(i).get(), value)));
        },
        { ...portable, block: threads },
      ),
    (args: Arguments<Fill<T>>) => {
      const n = args.n as number;
      const needs = { x: n, mask: n, y: n } as { [N in keyof Fill<T>]?: number };
      return { grid: blocksFor(n, threads), block: threads, args, sizes: { n: n > maxElements ? Number.NaN : n }, needs };
    },
  );
}
interface Inside {
  readonly x: Pointer<'f32', 'global'>;
  readonly y: Pointer<'f32', 'global'>;
  readonly mask: Pointer<'u8', 'global'>;
  readonly n: Word;
}

/** The routine of a kernel whose threads have an element each. */
const elementwise = <P extends Readonly<Record<string, unknown>>>(
  name: string,
  parameters: Readonly<Record<string, unknown>>,
  body: (p: never, i: Word) => void,
): Routine<never, P> =>
  routine(
    name,
    (word) =>
      kernel(
        word,
        parameters as never,
        (p: { n: Word }) => {
          const i = index();
          when(i.lt(p.n), () => body(p as never, i));
        },
        { ...portable, block: threads },
      ),
    (args: P) => ({ grid: blocksFor(args.n as number, threads), block: threads, args: args as never }),
  ) as unknown as Routine<never, P>;

interface Compaction {
  readonly x: unknown;
  readonly mask: unknown;
  readonly places: unknown;
  readonly y: unknown;
  readonly count: unknown;
  readonly n: number;
}

const flags = (): Routine<never, Pick<Compaction, 'mask' | 'places' | 'n'>> =>
  elementwise('mask_flags', { mask: ptr(u8), places: ptr(u32), n: u32 }, ({ mask, places }: Inside & Places, i) =>
    places.at(i).set(mask.at(i).get().to(u32).ne(0).select(1, mask.at(i).get().to(u32).mul(0))),
  );
interface Places {
  readonly places: Pointer<'u32', 'global'>;
  readonly count: Pointer<'u32', 'global'>;
}

/** Where each element goes: the number of kept ones before it. */
function placesOf(steps: Parameters<ConstructorParameters<typeof Procedure>[2]>[0], mask: unknown, n: number): unknown {
  const places = steps.scratch('u32', n);
  steps.launch(flags(), { mask, places, n });
  steps.run(exclusiveScan({ type: u32 }), { x: places, y: places, n });
  return places;
}

/** What a launch of `compact` is given. */
export interface CompactArguments<T extends Moved> {
  readonly x: BufferOf<T>;
  /** A byte for each element: not 0 to keep it. */
  readonly mask: KernelBuffer<'u8'> | bigint;
  /** Room for all elements that are kept. */
  readonly y: BufferOf<T>;
  /** Receives how many these are. */
  readonly count: KernelBuffer<'u32'> | bigint;
  readonly n: number;
}

/** The elements that a mask keeps, in their order, and how many they are. Deterministic. */
export function compact<T extends Moved = 'f32'>(options: { readonly type?: Type<T> } = {}): Procedure<CompactArguments<T>> {
  const type = (options.type ?? f32) as unknown as Any;
  const name = named('compact', type.name);
  const parameters = { x: ptr(type), mask: ptr(u8), places: ptr(u32), y: ptr(type), count: ptr(u32), n: u32 };
  const move = elementwise<Compaction & Record<string, unknown>>(
    name,
    parameters,
    ({ x, mask, places, y, count, n }: Inside & Places, i) => {
      const place = places.at(i).get();
      const isKept = mask.at(i).get().to(u32).ne(0);
      when(isKept, () => y.at(place).set(x.at(i).get()));
      when(i.add(1).eq(n), () => count.at(0).set(isKept.select(place.add(1), place)));
    },
  );
  return new Procedure(
    name,
    () => [flags(), exclusiveScan({ type: u32 }), move],
    (steps, { x, mask, y, count, n }: CompactArguments<T>) => {
      assertSize(name, 'n', n, maxElements - 2048);
      assertHolds(name, 'x', x, n);
      assertHolds(name, 'mask', mask, n);
      if (n === 0) steps.clear(count, 1);
      else steps.launch(move, { x, mask, y, count, n, places: placesOf(steps, mask, n) });
    },
  );
}

/** What a launch of `compactBackward` is given. */
export interface CompactBackwardArguments<T extends Moved> {
  /** Gradients of the elements that were kept. */
  readonly dy: BufferOf<T>;
  readonly mask: KernelBuffer<'u8'> | bigint;
  /** Receives gradients of all n elements. */
  readonly dx: BufferOf<T>;
  readonly n: number;
}

/** The backward kernel of `compact`: gradients where the mask keeps an element, and zeros elsewhere. Deterministic. */
export function compactBackward<T extends Exclude<Moved, 'u8'> = 'f32'>(
  options: { readonly type?: Type<T> } = {},
): Procedure<CompactBackwardArguments<T>> {
  const type = (options.type ?? f32) as unknown as Any;
  const name = named('compact_backward', type.name);
  const parameters = { x: ptr(type), mask: ptr(u8), places: ptr(u32), y: ptr(type), n: u32 };
  type Moves = Omit<Compaction, 'count'> & Record<string, unknown>;
  const move = elementwise<Moves>(name, parameters, ({ x, mask, places, y }: Inside & Places, i) =>
    when(
      mask.at(i).get().to(u32).ne(0),
      () => y.at(i).set(x.at(places.at(i).get()).get()),
      () => y.at(i).set(0),
    ),
  );
  return new Procedure(
    name,
    () => [flags(), exclusiveScan({ type: u32 }), move],
    (steps, { dy, mask, dx, n }: CompactBackwardArguments<T>) => {
      assertSize(name, 'n', n, maxElements - 2048);
      assertHolds(name, 'mask', mask, n);
      assertHolds(name, 'dx', dx, n);
      if (n > 0) steps.launch(move, { x: dy, mask, y: dx, n, places: placesOf(steps, mask, n) });
    },
  );
}

/** What a launch of `gatherBackward` is given. */
export interface GatherBackwardArguments<T extends Floating> {
  /** Gradients of the rows that were gathered: `rows` times `columns`. */
  readonly dy: BufferOf<T>;
  readonly indices: KernelBuffer<'i32'> | bigint;
  /** Receives the gradients of the table; rows without an index are 0. */
  readonly dtable: KernelBuffer<(typeof elements)[T]>;
  readonly rows: number;
  readonly tableRows: number;
  readonly columns: number;
}
interface RowSums {
  readonly dy: unknown;
  readonly sorted: unknown;
  readonly places: unknown;
  readonly dtable: unknown;
  readonly rows: number;
  readonly tableRows: number;
  readonly columns: number;
}

function rowSums(type: Any, from: Any): Routine<never, RowSums> {
  return routine(
    named('gather_rows', type.name, from !== type && from.name),
    (word) =>
      kernel(
        word,
        { dy: ptr(from), sorted: ptr(u32), places: ptr(u32), dtable: ptr(type), rows: u32, tableRows: u32, columns: u32 },
        ({ dy, sorted, places, dtable, rows, tableRows, columns }) => {
          const first = blockIndex();
          const row = sorted.at(first).get();
          const isFirst = local(u32, 1);
          when(first.gt(0), () => isFirst.set(sorted.at(first.sub(1)).get().ne(row).select(1, first.mul(0))));
          const to = dtable.add(row.mulWide(columns));
          when(isFirst.ne(0).and(row.lt(tableRows)), () =>
            loop(threadIndex(), columns, threads, (c) => {
              const [sum, r, isSame] = [local(f32, 0), local(u32, first), local(u32, 1)];
              loopWhile(
                () => isSame.ne(0),
                () => {
                  sum.set(sum.add(dy.add(places.at(r).get().mulWide(columns)).at(c).get().to(f32)));
                  r.set(r.add(1));
                  isSame.set(0);
                  when(r.lt(rows), () => isSame.set(sorted.at(r).get().eq(row).select(1, r.mul(0))));
                },
              );
              to.at(c).set(sum.get().to(type));
            }),
          );
        },
        { ...portable, block: threads },
      ),
    (args: RowSums) => ({ grid: args.rows, block: threads, args: args as never }),
  ) as unknown as Routine<never, RowSums>;
}

/**
 * The backward kernel of `gather`: `dtable[t] = Σ dy[r]` over the rows with `indices[r] = t`, summed as f32 in the order of the rows. The indices are sorted for
 * it, so that no atomics are needed. Indices that are no row of the table are left out. Deterministic.
 */
export function gatherBackward<T extends Floating = 'f32'>(options: TypeOption<T> = {}): Procedure<GatherBackwardArguments<T>> {
  return gatherSums({ type: typeOf(options) });
}

/** `gatherBackward`, whose gradients of rows may have another type. */
export function gatherSums<T extends Floating>(options: {
  readonly type: Type<T>;
  readonly from?: Type;
}): Procedure<GatherBackwardArguments<T>> {
  const type = options.type as unknown as Any;
  const from = (options.from?.name ?? type.name) === type.name ? type : (options.from as unknown as Any);
  const name = named('gather_backward', type.name, from !== type && from.name);
  const sums = rowSums(type, from);
  const number = elementwise<{ readonly from: unknown; readonly sorted: unknown; readonly places: unknown; readonly n: number }>(
    'gather_places',
    { from: ptr(s32), sorted: ptr(u32), places: ptr(u32), n: u32 },
    ({ from, sorted, places }: Places & { from: Pointer<'s32', 'global'>; sorted: Pointer<'u32', 'global'> }, i) => {
      sorted.at(i).set(from.at(i).get().as(u32));
      places.at(i).set(i);
    },
  );
  return new Procedure(
    name,
    () => [number, radixSortPairs(), sums],
    (steps, { dy, indices, dtable, rows, tableRows, columns }: GatherBackwardArguments<T>) => {
      assertSize(name, 'rows', rows, 0x7fff_ffff);
      assertSize(name, 'tableRows', tableRows);
      assertSize(name, 'columns', columns, 0xffff_ffff - threads);
      assertHolds(name, 'dy', dy, rows * columns);
      assertHolds(name, 'indices', indices, rows);
      assertHolds(name, 'dtable', dtable, tableRows * columns);
      steps.clear(dtable, tableRows * columns);
      if (rows === 0 || columns === 0) return;
      const [sorted, places] = [steps.scratch('u32', rows), steps.scratch('u32', rows)];
      steps.launch(number, { from: indices, sorted, places, n: rows });
      steps.run(radixSortPairs(), { keys: sorted, values: places, n: rows });
      steps.launch(sums, { dy, sorted, places, dtable, rows, tableRows, columns });
    },
  );
}
