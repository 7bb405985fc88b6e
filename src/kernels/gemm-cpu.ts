/**
 * Matrix products for CPUs: a block packs parts of both factors into shared memory, where a lane group finds them without gaps, and its threads go over some rows of
 * the result at a time. The threads of a lane group have neighboring columns and share the elements of `a`. The sums that a lane group has at a time fill the
 * vector registers. Where the engine has no fused operation, a product and a sum are rounded each. Source: K. Goto, R. van de Geijn, "Anatomy of
 * high-performance matrix multiplication", 2008.
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

/** The bits of the vectors that a form is for. */
export const cpuVectorBits = [128, 256, 512] as const;
export type CpuVectorBits = (typeof cpuVectorBits)[number];

/** How a kernel divides its work. */
export interface CpuShape {
  /** The threads of a lane group. */
  readonly lanes: number;
  /** The columns of a thread, each as many from the next as there are lanes, and the rows that it computes at a time. */
  readonly vectors: number;
  readonly rows: number;
  /** The lines of a packed panel of `a`: a multiple of the rows, and of 4. */
  readonly lines: number;
  /** The indices of k of a packed part: a panel of either factor stays in the first cache. */
  readonly depth: number;
  /** The rows and columns of the result of a block: what both parts and the sums leave of 227 KiB of shared memory. */
  readonly tile: readonly [number, number];
}

/** For elements of 4 bytes. */
const shapes: Readonly<Record<CpuVectorBits, CpuShape>> = {
  // Four vectors of 128 bits for each row: the sums, a row of `b` and an element of `a` are 14 vectors, and WebAssembly's engines have 15.
  128: { lanes: 16, vectors: 1, rows: 2, lines: 16, depth: 128, tile: [128, 128] },
  // 12 of 16 registers have sums, two a row of `b`. The more rows a block has, the less often the right factor is packed.
  256: { lanes: 8, vectors: 2, rows: 6, lines: 12, depth: 64, tile: [252, 128] },
  // 24 of 32.
  512: { lanes: 16, vectors: 2, rows: 12, lines: 12, depth: 64, tile: [252, 128] },
};

/** The shape for vectors of so many bits: 128 by default. */
export function shapeOf(type: FactorKind, bits: CpuVectorBits = 128): CpuShape {
  const shape = shapes[bits];
  if (type !== 'f64') return shape;
  return { ...shape, lanes: shape.lanes / 2, tile: bits === 128 ? [64, 64] : [180, 64] };
}

/** The indices of k in a turn of the innermost loop: what a turn takes besides its products is shared by so many. */
const unrolled = 4;

interface Form {
  readonly type: FactorKind;
  readonly isFused: boolean;
  readonly transposeA: boolean;
  readonly transposeB: boolean;
  readonly activation: Activation;
  readonly shape: CpuShape;
}

const sumBytes = (type: FactorKind): number => (type === 'f64' ? 8 : 4);
/** The bytes of shared memory. */
export const bytesOf = (type: FactorKind, { depth, tile: [m, n] }: CpuShape): number => (depth * (m + n) + m * n) * sumBytes(type);
/** The threads of a block. */
export const blockOf = ({ lanes, vectors, tile }: CpuShape): [number, number] => [lanes, tile[1] / (lanes * vectors)];

/** Options of `cpuGemm`. */
export type CpuGemmOptions<T extends GemmType> = GemmOptions<T> & {
  /** Whether a product and a sum are rounded once, which is fast where `device.info.emulatesFma` is not set; false by default. */
  readonly isFused?: boolean;
  /** The bits of the vectors that it is for: `device.info.vectorBits` is fastest; 128 by default. */
  readonly vectorBits?: CpuVectorBits;
};

/** `gemm` by the kernel for CPUs, with the same arguments. */
export function cpuGemm<T extends GemmType = 'f32'>(options: CpuGemmOptions<T> = {}): Routine<GemmParameters<T>, GemmArguments<T>> {
  const element = (options.type?.name ?? 'f32') as T;
  const type = kindOf(options as GemmOptions);
  const { transposeA = false, transposeB = false, activation = 'identity', isFused = false, vectorBits = 128 } = options;
  const name = named(
    'gemm',
    type,
    'cpu',
    isFused && 'fused',
    vectorBits > 128 && `v${vectorBits}`,
    transposeA && 'ta',
    transposeB && 'tb',
    activation !== 'identity' && activation,
  );
  if (activation !== 'identity' && sums[type].name !== 'f32') refuse(name, 'activations are functions of f32');
  const shape = shapeOf(type, vectorBits);
  const form: Form = { type, isFused, transposeA, transposeB, activation, shape };
  const block = blockOf(shape);
  const make = (word: string): TypedKernel<GemmParameters<T>> =>
    kernel(word, gemmParameters(element), (p) => body(p as unknown as GemmInside, form), { ...portable, block });
  const plan = (given: GemmArguments<T>): Plan<GemmParameters<T>> =>
    gemmPlan({ ...form, tile: shape.tile, threads: block, shared: bytesOf(type, shape) }, given);
  return routine(name, make, plan);
}

/** Loads a part of the right factor from an index of k on: its columns from one on become panels in shared memory. */
export type LoadRight = (to: Shared, column: Word) => (first: Word, count: Word) => void;

/** The body of a kernel, whose right factor may be loaded in another way. */
export function body(p: GemmInside, form: Form, loadRight?: LoadRight): void {
  const { type, transposeA, transposeB, shape } = form;
  const { lanes, vectors, rows, lines, depth, tile } = shape;
  const sum = sums[type] as unknown as Type<'f32'>;
  const batch = blockIndex('z').to(u64);
  const [row, column] = [blockIndex('y').mul(tile[0]), blockIndex('x').mul(tile[1])];
  const left = dynamicShared(sum) as Shared;
  const right = left.add(depth * tile[0]);
  const total = right.add(depth * tile[1]);
  const group = threadIndex('y').mul(lanes * vectors);
  const own = group.add(threadIndex('x'));
  const rowsHere = p.m.sub(row).min(tile[0]);
  const leftPart = { to: left, line: row, lines: p.m, pitch: p.lda, panel: lines, most: tile[0] };
  const loadA = packer(form, !transposeA, p.a.add(batch.mul(p.strideA)), leftPart);
  const rightPart = { to: right, line: column, lines: p.n, pitch: p.ldb, panel: lanes * vectors, most: tile[1] };
  const loadB = loadRight?.(right, column) ?? packer(form, transposeB, p.b.add(batch.mul(p.strideB)), rightPart);
  /** Visits the sums of this thread, some rows at a time; lane groups behind the last column have none. */
  const eachRows = (visit: (first: Word, places: Element<'f32', 'shared'>[][]) => void): void =>
    when(column.add(group).lt(p.n), () =>
      loop(0, rowsHere, rows, (first) => {
        const start = total.add(first.mul(tile[1]).add(own));
        visit(
          first,
          range(rows).map((i) => range(vectors).map((vector) => start.at(i * tile[1] + vector * lanes))),
        );
      }),
    );
  eachRows((_, places) => {
    for (const place of places.flat()) place.set(0);
  });
  loop(0, p.k, depth, (first) => {
    const count = p.k.sub(first).min(depth);
    syncThreads();
    loadA(first, count);
    loadB(first, count);
    syncThreads();
    eachRows((at, places) => {
      const mine = places.map((each) => each.map((place) => local(sum, place.get())));
      const [a, b] = [left.add(panelOf(at, lines, depth)), right.add(panelOf(group, lanes * vectors, depth)).add(threadIndex('x'))];
      multiply(form, mine, [a, b], count);
      for (const [i, each] of places.entries()) for (const [vector, place] of each.entries()) place.set(mine[i]![vector]!);
    });
  });
  store(p, form, total.add(own), { row, column: column.add(own), batch, rowsHere });
}

const range = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

type Local = ReturnType<typeof local<'f32'>>;

/** Adds the products of two panels, some indices of k a turn, to the sums of a thread by rows and vectors. */
function multiply({ isFused, shape }: Form, sums: readonly (readonly Local[])[], [a, b]: readonly [Shared, Shared], count: Word): void {
  const { lanes, vectors, lines } = shape;
  const width = lanes * vectors;
  const add = (k: Word, at: number): void => {
    const factors = range(vectors).map((vector) =>
      b
        .add(k.mul(width))
        .at(at * width + vector * lanes)
        .get(),
    );
    for (const [i, values] of sums.entries()) {
      const left = a
        .add(k.mul(lines))
        .at(at * lines + i)
        .get();
      for (const [vector, value] of values.entries()) {
        const factor = factors[vector]!;
        value.set(isFused ? left.fma(factor, value) : value.add(left.mul(factor)));
      }
    }
  };
  const whole = count.sub(count.rem(unrolled));
  loop(0, whole, unrolled, (k) => {
    for (let at = 0; at < unrolled; at++) add(k, at);
  });
  loop(whole, count, 1, (k) => add(k, 0));
}

/** Where a line of a packed factor is: panels of some lines, each with its indices of k one after another. */
export const panelOf = (line: Word, panel: number, depth: number): Word =>
  line
    .div(panel)
    .mul(depth * panel)
    .add(line.rem(panel));

interface Packed {
  readonly to: Shared;
  /** The first row of `a` or column of `b`, and how many there are. */
  readonly line: Word;
  readonly lines: Word;
  readonly pitch: Value<'u64'>;
  /** The lines of a panel, and of all. */
  readonly panel: number;
  readonly most: number;
}

/** The indices of k, or lines, that a thread copies at a time. */
const copied = 4;

/** Loads a part of a factor into shared memory, a row for each index of k. `isAlong`: k is contiguous in memory. */
function packer(
  { type, shape }: Form,
  isAlong: boolean,
  from: Pointer<'f32', 'global'>,
  { to, line, lines, pitch, panel, most }: Packed,
): (first: Word, count: Word) => void {
  const sum = sums[type] as unknown as Type<'f32'>;
  const { lanes, depth } = shape;
  const groups = blockOf(shape)[1];
  const [x, y] = [threadIndex('x'), threadIndex('y')];
  const here = lines.sub(line).min(most);
  const get = (row: Word, at: Word): Sum => {
    const value = from.add(row.to(u64).mul(pitch)).at(at).get().to(sum);
    return type === 'tf32' ? toTf32(value) : value;
  };
  const panels = here
    .add(panel - 1)
    .div(panel)
    .mul(panel);
  if (!isAlong) {
    const width = Math.min(lanes, panel);
    const withinWidth = (act: () => void): void => (width === lanes ? act() : when(x.lt(width), act));
    return (first, count) =>
      // A lane group copies neighboring lines of some indices of k, whose rows are far apart, so that it waits for all of them together. Lines behind
      // the last one are zeros, and what is behind the last index is not read.
      loop(y.mul(copied), count, groups * copied, (k) =>
        loop(0, panels, width, (group) =>
          withinWidth(() => {
            const at = group.add(x);
            const values = range(copied).map(() => local(sum, 0));
            when(at.lt(here), () => {
              for (const [i, value] of values.entries()) value.set(get(first.add(k.add(i).min(count.sub(1))), line.add(at)));
            });
            const place = to
              .add(panelOf(group, panel, depth))
              .add(k.mul(panel))
              .add(x);
            for (const [i, value] of values.entries()) place.at(i * panel).set(value);
          }),
        ),
      );
  }
  // A lane group has neighboring indices of k of four lines, which are stored together. Those behind the last one are that one again.
  return (first, count) =>
    loop(y.mul(copied), panels, groups * copied, (own) =>
      loop(0, count, lanes, (group) => {
        const k = group.add(x);
        const values = range(copied).map(() => local(sum, 0));
        when(k.lt(count), () => {
          for (const [i, value] of values.entries()) value.set(get(line.add(own.add(i).min(here.sub(1))), first.add(k)));
        });
        const place = to.add(panelOf(own, panel, depth)).add(k.mul(panel));
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

/** Stores the sums of the columns of a thread with the scale, what was there before, the bias and the function. */
function store(p: GemmInside, form: Form, total: Shared, where: Where): void {
  const { lanes, vectors } = form.shape;
  for (const vector of range(vectors))
    storeColumn(p, form, total.add(vector * lanes), { ...where, column: where.column.add(vector * lanes) });
}

function storeColumn(p: GemmInside, { type, activation, shape }: Form, total: Shared, { row, column, batch, rowsHere }: Where): void {
  const sum = sums[type] as unknown as Type<'f32'>;
  const result = results[type] as unknown as Type<'f32'>;
  when(column.lt(p.n), () => {
    const bias = local(sum, 0);
    when(p.bias.address().ne(0), () => bias.set(p.bias.at(column)));
    const start = p.c.add(batch.mul(p.strideC));
    loop(0, rowsHere, 1, (r) => {
      const place = start.add(row.add(r).to(u64).mul(p.ldc)).at(column);
      const value = local(sum, p.alpha.mul(total.at(r.mul(shape.tile[1])).get()).add(bias));
      when(p.beta.ne(0), () => value.set(value.add(p.beta.mul(place.get().to(sum)))));
      place.set(activations[activation](value.get()).to(result));
    });
  });
}
