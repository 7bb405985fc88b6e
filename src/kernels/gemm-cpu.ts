/**
 * Matrix products for CPUs: a block packs parts of both factors into shared memory, where a lane group finds them without gaps, and its threads go over two rows of
 * the result at a time. The threads of a lane group have neighboring columns, four vectors of 128 bits of them, and share the elements of `a`. Where the
 * engine has no fused operation, a product and a sum are rounded each. Source: K. Goto, R. van de Geijn, "Anatomy of high-performance matrix
 * multiplication", 2008.
 */
import {
  blockIndex,
  dynamicShared,
  type Element,
  kernel,
  local,
  loop,
  type Pointer,
  syncThreads,
  type Type,
  type TypedKernel,
  threadIndex,
  toTf32,
  u64,
  type Value,
  v2,
  v4,
  vector,
  when,
} from '../build/index.ts';
import { type Activation, activations } from './functions.ts';
import {
  type FactorKind,
  type GemmArguments,
  type GemmInside,
  type GemmOptions,
  type GemmParameters,
  type GemmType,
  gemmParameters,
  gemmPlan,
  kindOf,
  results,
  sums,
} from './gemm-plan.ts';
import { refuse } from './refuse.ts';
import { named, type Plan, portable, type Routine, routine } from './routine.ts';

type Word = Value<'u32'>;
type Sum = Value<'f32'>;
type Shared = Pointer<'f32', 'shared'>;

/** The rows and columns of the result of a block: what both parts and the sums leave of 227 KiB of shared memory. */
export const tileOf = (type: FactorKind): 64 | 128 => (type === 'f64' ? 64 : 128);
/** The indices of k of a packed part: a panel of either factor stays in the first cache. */
export const depth = 128;
/** The rows of the result that a thread computes at a time: their sums, a row of `b` and an element of `a` are 14 vectors, and WebAssembly's engines have 15. */
const rows = 2;

/** The indices of k in a turn of the innermost loop: what a turn takes besides its products is shared by so many. */
const unrolled = 4;

interface Form {
  readonly type: FactorKind;
  readonly isFused: boolean;
  readonly transposeA: boolean;
  readonly transposeB: boolean;
  readonly activation: Activation;
}

const sumBytes = (type: FactorKind): number => (type === 'f64' ? 8 : 4);
/** The threads of a lane group: those of four vectors. */
export const lanesOf = (type: FactorKind): number => (type === 'f64' ? 8 : 16);
/** The bytes of shared memory. */
export const bytesOf = (type: FactorKind): number => (2 * depth + tileOf(type)) * tileOf(type) * sumBytes(type);

/** Options of `cpuGemm`. */
export type CpuGemmOptions<T extends GemmType> = GemmOptions<T> & {
  /** Whether a product and a sum are rounded once, which is fast where `device.info.emulatesFma` is not set; false by default. */
  readonly isFused?: boolean;
};

/** `gemm` by the kernel for CPUs, with the same arguments. */
export function cpuGemm<T extends GemmType = 'f32'>(options: CpuGemmOptions<T> = {}): Routine<GemmParameters<T>, GemmArguments<T>> {
  const element = (options.type?.name ?? 'f32') as T;
  const type = kindOf(options as GemmOptions);
  const { transposeA = false, transposeB = false, activation = 'identity', isFused = false } = options;
  const name = named(
    'gemm',
    type,
    'cpu',
    isFused && 'fused',
    transposeA && 'ta',
    transposeB && 'tb',
    activation !== 'identity' && activation,
  );
  if (activation !== 'identity' && sums[type].name !== 'f32') refuse(name, 'activations are functions of f32');
  const form: Form = { type, isFused, transposeA, transposeB, activation };
  const tile = tileOf(type);
  const block: [number, number] = [lanesOf(type), tile / lanesOf(type)];
  const make = (word: string): TypedKernel<GemmParameters<T>> =>
    kernel(word, gemmParameters(element), (p) => body(p as unknown as GemmInside, form), { ...portable, block });
  const plan = (given: GemmArguments<T>): Plan<GemmParameters<T>> =>
    gemmPlan({ ...form, tile: [tile, tile], threads: block, shared: bytesOf(type) }, given);
  return routine(name, make, plan);
}

/** Loads a part of the right factor from an index of k on: its columns from one on become panels in shared memory. */
export type LoadRight = (to: Shared, column: Word) => (first: Word, count: Word) => void;

/** The body of a kernel, whose right factor may be loaded in another way. */
export function body(p: GemmInside, form: Form, loadRight?: LoadRight): void {
  const { type, isFused, transposeA, transposeB } = form;
  const sum = sums[type] as unknown as Type<'f32'>;
  const [lanes, tile] = [lanesOf(type), tileOf(type)];
  const batch = blockIndex('z').to(u64);
  const [row, column] = [blockIndex('y').mul(tile), blockIndex('x').mul(tile)];
  const left = dynamicShared(sum) as Shared;
  const [right, total] = [left.add(depth * tile), left.add(2 * depth * tile)];
  const group = threadIndex('y').mul(lanes);
  const own = group.add(threadIndex('x'));
  const rowsHere = p.m.sub(row).min(tile);
  const loadA = packer(form, !transposeA, p.a.add(batch.mul(p.strideA)), { to: left, line: row, lines: p.m, pitch: p.lda });
  const loadB =
    loadRight?.(right, column) ??
    packer(form, transposeB, p.b.add(batch.mul(p.strideB)), { to: right, line: column, lines: p.n, pitch: p.ldb });
  /** Visits the sums of this thread, some rows at a time; lane groups behind the last column have none. */
  const eachRows = (visit: (first: Word, places: Element<'f32', 'shared'>[]) => void): void =>
    when(column.add(group).lt(p.n), () =>
      loop(0, rowsHere, rows, (first) =>
        visit(
          first,
          Array.from({ length: rows }, (_, i) => total.add(first.mul(tile).add(own)).at(i * tile)),
        ),
      ),
    );
  eachRows((_, places) => {
    for (const place of places) place.set(0);
  });
  loop(0, p.k, depth, (first) => {
    const count = p.k.sub(first).min(depth);
    syncThreads();
    loadA(first, count);
    loadB(first, count);
    syncThreads();
    eachRows((at, places) => {
      const mine = places.map((place) => local(sum, place.get()));
      const [a, b] = [left.add(panelOf(at, lanes)), right.add(panelOf(group, lanes)).add(threadIndex('x'))];
      const add = (k: Word, at: number): void => {
        const factor = b
          .add(k.mul(lanes))
          .at(at * lanes)
          .get();
        for (const [i, value] of mine.entries()) {
          const left = a
            .add(k.mul(lanes))
            .at(at * lanes + i)
            .get();
          value.set(isFused ? left.fma(factor, value) : value.add(left.mul(factor)));
        }
      };
      const whole = count.sub(count.rem(unrolled));
      loop(0, whole, unrolled, (k) => {
        for (let at = 0; at < unrolled; at++) add(k, at);
      });
      loop(whole, count, 1, (k) => add(k, 0));
      for (const [i, place] of places.entries()) place.set(mine[i]!);
    });
  });
  store(p, form, total.add(own), { row, column: column.add(own), batch, rowsHere });
}

/** Where a line of a packed factor is: panels of as many lines as a lane group has threads, each with its indices of k one after another. */
export const panelOf = (line: Word, lanes: number): Word =>
  line
    .div(lanes)
    .mul(depth * lanes)
    .add(line.rem(lanes));

interface Packed {
  readonly to: Shared;
  /** The first row of `a` or column of `b`, and how many there are. */
  readonly line: Word;
  readonly lines: Word;
  readonly pitch: Value<'u64'>;
}

/** Loads a part of a factor into shared memory, a row for each index of k. `isAlong`: k is contiguous in memory. */
function packer(
  { type }: Form,
  isAlong: boolean,
  from: Pointer<'f32', 'global'>,
  { to, line, lines, pitch }: Packed,
): (first: Word, count: Word) => void {
  const sum = sums[type] as unknown as Type<'f32'>;
  const [lanes, tile] = [lanesOf(type), tileOf(type)];
  const groups = tile / lanes;
  const [x, y] = [threadIndex('x'), threadIndex('y')];
  const here = lines.sub(line).min(tile);
  const get = (row: Word, at: Word): Sum => {
    const value = from.add(row.to(u64).mul(pitch)).at(at).get().to(sum);
    return type === 'tf32' ? toTf32(value) : value;
  };
  const width = 4;
  if (!isAlong)
    return (first, count) =>
      // A lane group copies neighboring lines of some indices of k, whose rows are far apart, so that it waits for all of them together. Lines behind
      // the last one are zeros, and what is behind the last index is not read.
      loop(y.mul(width), count, groups * width, (k) =>
        loop(0, here, lanes, (group) => {
          const at = group.add(x);
          const values = Array.from({ length: width }, () => local(sum, 0));
          when(at.lt(here), () => {
            for (const [i, value] of values.entries()) value.set(get(first.add(k.add(i).min(count.sub(1))), line.add(at)));
          });
          const place = to.add(group.mul(depth).add(k.mul(lanes)).add(x));
          for (const [i, value] of values.entries()) place.at(i * lanes).set(value);
        }),
      );
  // A lane group has neighboring indices of k of four lines, which are stored together. Those behind the last one are that one again.
  const panels = here
    .add(lanes - 1)
    .div(lanes)
    .mul(lanes);
  return (first, count) =>
    loop(y.mul(width), panels, groups * width, (own) =>
      loop(0, count, lanes, (group) => {
        const k = group.add(x);
        const values = Array.from({ length: width }, () => local(sum, 0));
        when(k.lt(count), () => {
          for (const [i, value] of values.entries()) value.set(get(line.add(own.add(i).min(here.sub(1))), first.add(k)));
        });
        const place = to.add(panelOf(own, lanes).add(k.mul(lanes)));
        const stored = values.map((value) => value.get());
        if (type === 'f64')
          for (const i of [0, 2])
            place
              .add(i)
              .as(v2(sum))
              .at(0)
              .set(vector(sum, [stored[i]!, stored[i + 1]!]));
        else
          place
            .as(v4(sum))
            .at(0)
            .set(vector(sum, [stored[0]!, stored[1]!, stored[2]!, stored[3]!]));
      }),
    );
}

interface Where {
  readonly row: Word;
  readonly column: Word;
  readonly batch: Value<'u64'>;
  readonly rowsHere: Word;
}

/** Stores the sums of a column with the scale, what was there before, the bias and the function. */
function store(p: GemmInside, { type, activation }: Form, total: Shared, { row, column, batch, rowsHere }: Where): void {
  const tile = tileOf(type);
  const sum = sums[type] as unknown as Type<'f32'>;
  const result = results[type] as unknown as Type<'f32'>;
  when(column.lt(p.n), () => {
    const bias = local(sum, 0);
    when(p.bias.address().ne(0), () => bias.set(p.bias.at(column)));
    const start = p.c.add(batch.mul(p.strideC));
    loop(0, rowsHere, 1, (r) => {
      const place = start.add(row.add(r).to(u64).mul(p.ldc)).at(column);
      const value = local(sum, p.alpha.mul(total.at(r.mul(tile)).get()).add(bias));
      when(p.beta.ne(0), () => value.set(value.add(p.beta.mul(place.get().to(sum)))));
      place.set(activations[activation](value.get()).to(result));
    });
  });
}
