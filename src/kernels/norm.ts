/** Layer norm and RMS norm of rows, and their backward kernels. */
import {
  type Arguments,
  blockIndex,
  constant,
  f32,
  kernel,
  local,
  loop,
  type Parameters,
  type Pointer,
  ptr,
  shared,
  syncThreads,
  type Type,
  type TypedKernel,
  threadIndex,
  u32,
  type Value,
  when,
} from '../build/index.ts';
import { plus } from './functions.ts';
import { blocksFor, type Floating, named, portable, type Routine, routine, type TypeOption, typeOf } from './routine.ts';
import { alongRow, type RowOptions, reads, rowOf, rowSum, threadsOf } from './row.ts';
import { blockOf, byPairs, formOf, forRow, HeldRow, indexInRow, maxColumns, type RowForm } from './rows.ts';
import { byColumns, type Rows, rowPlan, type Steps } from './softmax.ts';

type Real = Value<'f32'>;

/** Options of norms. */
export type NormOptions<T extends Floating> = TypeOption<T> & RowOptions;

/** 1 / columns. */
const inverse = (columns: Value<'u32'>): Real => constant(f32, 1).div(columns.to(f32));

/** The mean of a function of the columns of a row. */
function meanOf(columns: Value<'u32'>, threads: number, values: (indices: readonly Value<'u32'>[]) => Real[], index = threadIndex()): Real {
  const own = local(f32, 0);
  alongRow(
    columns,
    threads,
    (indices) => {
      // The sum of four first: shorter chains of sums are more exact.
      const [first, ...rest] = values(indices);
      own.set(own.add(rest.reduce((sum, value) => sum.add(value), first!)));
    },
    index,
  );
  return rowSum(own.get(), threads).mul(inverse(columns));
}

const reciprocalRoot = (variance: Real, epsilon: Value<'f32'>): Real => constant(f32, 1).div(variance.add(epsilon).sqrt());

type Pointers<T extends Floating, N extends string> = Record<N, Pointer<T, 'global'>>;
interface Scalars {
  readonly columns: Value<'u32'>;
  readonly epsilon: Value<'f32'>;
}

type LayerNorm<T extends Floating> = ReturnType<typeof layerNormParameters<T>>;
const layerNormParameters = <T extends Floating>(type: Type<T>) => ({
  x: ptr(type),
  weight: ptr(type),
  bias: ptr(type),
  y: ptr(type),
  mean: ptr(f32),
  scale: ptr(f32),
  columns: u32,
  epsilon: f32,
  rows: u32,
});
type Given<P extends Parameters> = Omit<Arguments<P>, 'rows'> & Rows;

/**
 * Layer norm of each row: `y = (x - mean) * scale * weight + bias` with `scale = 1 / sqrt(variance + epsilon)`. `weight` and `bias` may be null (1 and
 * 0), and so may `mean` and `scale`, which the backward kernel needs, and which are NaN without columns. The variance is computed from the differences.
 * Deterministic.
 */
export function layerNorm<T extends Floating = 'f32'>(options: NormOptions<T> = {}): Routine<LayerNorm<T>, Given<LayerNorm<T>>> {
  const [type, threads] = [typeOf(options), threadsOf(options)];
  const form = formOf(threads);
  const make = (name: string): TypedKernel<LayerNorm<T>> =>
    kernel(name, layerNormParameters(type), (p) => normBody(form, p as unknown as NormInside<T>), { ...portable, block: blockOf(form) });
  const others = { weight: 'columns', bias: 'columns', mean: 'results', scale: 'results' } as const;
  const choose =
    options.threads === undefined
      ? byColumns<LayerNorm<T>, Given<LayerNorm<T>>>(normSteps, (own) => layerNorm({ ...options, threads: own }))
      : undefined;
  const key = named('layer_norm', type.name, options.threads === undefined ? 'rows' : threads);
  return routine(key, make, rowPlan<LayerNorm<T>>(threads, ['x', 'y'], others, form), choose);
}

/** The most columns that a number of threads is best for. Measured on an H200. */
const normSteps: Steps = [
  [512, 32],
  [1024, 64],
  [2048, 128],
  [4096, 256],
  [8192, 512],
  [Number.POSITIVE_INFINITY, 1024],
];

/** What both norms have; `mean` and `bias` are those of layer norm. */
interface NormInside<T extends Floating> extends Scalars, Pointers<T, 'x' | 'y' | 'weight'>, Pointers<'f32', 'scale'> {
  readonly bias?: Pointer<T, 'global'>;
  readonly mean?: Pointer<'f32', 'global'>;
  readonly rows: Value<'u32'>;
}

function normBody<T extends Floating>(form: RowForm, p: NormInside<T>): void {
  const { x, y, weight, bias, mean, scale, columns, epsilon, rows } = p;
  forRow(form, rows, (row) => {
    const [from, to] = [rowOf(x, columns, row), rowOf(y, columns, row)];
    const index = indexInRow(form);
    const note = (middle: Real | undefined, factor: Real): void => {
      const isFirst = index.eq(0);
      if (mean && middle) when(isFirst.and(isThere(mean)), () => mean.at(row).set(middle));
      when(isFirst.and(isThere(scale)), () => scale.at(row).set(factor));
    };
    const held = (): void => {
      const own = new HeldRow(form, columns, [from, to, weight, ...(bias ? [bias] : [])]);
      const values = own.load(from, 0);
      const middle = mean && own.sum(byPairs(values, plus)).mul(inverse(columns));
      const squares = values.map((value, i) => {
        const difference = middle ? value.sub(middle) : value.get();
        const square = difference.mul(difference);
        return middle ? own.has(i).select(square, 0) : square;
      });
      const factor = reciprocalRoot(own.sum(byPairs(squares, plus)).mul(inverse(columns)), epsilon);
      note(middle, factor);
      const arrays = [{ from: weight, otherwise: 1 }, ...(bias ? [{ from: bias, otherwise: 0 }] : [])];
      const resultOf = (i: number, [w, b]: readonly Real[]): Real => {
        const normal = (middle ? values[i]!.sub(middle) : values[i]!).mul(factor);
        return b ? normal.fma(w!, b) : normal.mul(w!);
      };
      own.store(to, resultOf, arrays);
    };
    const streamed = (): void => {
      const middle = mean && meanOf(columns, form.threads, (indices) => reads(from, indices), index);
      const square = (indices: readonly Value<'u32'>[]): Real[] =>
        reads(from, indices).map((value) => {
          const difference = middle ? value.sub(middle) : value;
          return difference.mul(difference);
        });
      const factor = reciprocalRoot(meanOf(columns, form.threads, square, index), epsilon);
      note(middle, factor);
      const store = (indices: readonly Value<'u32'>[]): void => {
        const values = reads(from, indices);
        const [weights, biases] = [orElse(weight, indices, 1), bias && orElse(bias, indices, 0)];
        for (const [k, value] of values.entries()) {
          const normal = (middle ? value.sub(middle) : value).mul(factor);
          to.at(indices[k]!).set(
            (biases ? normal.fma(weights[k]!, biases[k]!) : normal.mul(weights[k]!)).to({ kind: 'scalar', name: x.type } as Type<T>),
          );
        }
      };
      alongRow(columns, form.threads, store, index);
    };
    when(columns.le(maxColumns(form)), held, streamed);
  });
}

/** Whether a pointer is not null. */
const isThere = (pointer: Pointer<Floating, 'global'>): Value<'pred'> => pointer.address().ne(0);

/** The elements of an array, or a constant if it is null. */
function orElse<T extends Floating>(from: Pointer<T, 'global'>, indices: readonly Value<'u32'>[], otherwise: number): Real[] {
  const values = indices.map(() => local(f32, otherwise));
  when(isThere(from as unknown as Pointer<Floating, 'global'>), () => {
    for (const [k, value] of reads(from, indices).entries()) values[k]!.set(value);
  });
  return values;
}

type LayerNormBackward<T extends Floating> = ReturnType<typeof layerNormBackwardParameters<T>>;
const layerNormBackwardParameters = <T extends Floating>(type: Type<T>) => ({
  x: ptr(type),
  weight: ptr(type),
  dy: ptr(type),
  mean: ptr(f32),
  scale: ptr(f32),
  dx: ptr(type),
  columns: u32,
});

/**
 * The backward kernel of `layerNorm` for x: `dx = scale * (g - mean(g) - n * mean(g n))` with `g = dy * weight` and `n = (x - mean) * scale`. `mean` may be
 * null: then it is the backward kernel of `rmsNorm`, which has no mean(g). Deterministic.
 */
export function layerNormBackward<T extends Floating = 'f32'>(
  options: NormOptions<T> = {},
): Routine<LayerNormBackward<T>, Arguments<LayerNormBackward<T>> & Rows> {
  return normBackward('layer_norm_backward', true, options);
}

/** The backward kernel of `rmsNorm` for x, with the scales that it wrote; `mean` is null. Deterministic. */
export function rmsNormBackward<T extends Floating = 'f32'>(
  options: NormOptions<T> = {},
): Routine<LayerNormBackward<T>, Arguments<LayerNormBackward<T>> & Rows> {
  return normBackward('rms_norm_backward', false, options);
}

function normBackward<T extends Floating>(
  word: string,
  hasMean: boolean,
  options: NormOptions<T>,
): Routine<LayerNormBackward<T>, Arguments<LayerNormBackward<T>> & Rows> {
  const [type, threads] = [typeOf(options), threadsOf(options)];
  const make = (name: string): TypedKernel<LayerNormBackward<T>> =>
    kernel(
      name,
      layerNormBackwardParameters(type),
      (p) => {
        const { x, weight, dy, dx, mean, scale, columns } = p as unknown as Pointers<T, 'x' | 'weight' | 'dy' | 'dx'> &
          Pointers<'f32', 'mean' | 'scale'> &
          Scalars;
        const [from, slopes, to] = [rowOf(x, columns), rowOf(dy, columns), rowOf(dx, columns)];
        const row = blockIndex();
        const factor = scale.at(row).get();
        const middle = hasMean ? mean.at(row).get() : undefined;
        const parts = (indices: readonly Value<'u32'>[]): { g: Real; n: Real }[] => {
          const [values, given, weights] = [reads(from, indices), reads(slopes, indices), orElse(weight, indices, 1)];
          return values.map((value, k) => ({
            g: given[k]!.mul(weights[k]!),
            n: (middle ? value.sub(middle) : value).mul(factor),
          }));
        };
        const slopeMean = hasMean ? meanOf(columns, threads, (indices) => parts(indices).map(({ g }) => g)) : undefined;
        const productMean = meanOf(columns, threads, (indices) => parts(indices).map(({ g, n }) => g.mul(n)));
        alongRow(columns, threads, (indices) => {
          for (const [k, { g, n }] of parts(indices).entries()) {
            const centered = slopeMean ? g.sub(slopeMean) : g;
            to.at(indices[k]!).set(factor.mul(centered.sub(n.mul(productMean))).to(type));
          }
        });
      },
      { ...portable, block: threads },
    );
  const others = { weight: 'columns', mean: 'rows', scale: 'rows' } as const;
  return routine(named(word, type.name, threads), make, rowPlan<LayerNormBackward<T>>(threads, ['x', 'dy', 'dx'], others));
}

type RmsNorm<T extends Floating> = ReturnType<typeof rmsNormParameters<T>>;
const rmsNormParameters = <T extends Floating>(type: Type<T>) => ({
  x: ptr(type),
  weight: ptr(type),
  y: ptr(type),
  scale: ptr(f32),
  columns: u32,
  epsilon: f32,
  rows: u32,
});

/**
 * RMS norm of each row: `y = x * scale * weight` with `scale = 1 / sqrt(mean(x²) + epsilon)`. `weight` may be null (1), and so may `scale`, which the
 * backward kernel needs. With `threads: 32` a warp has a row: the norm of queries and keys by head (QK-norm), with as many rows as tokens times
 * heads. Deterministic.
 */
export function rmsNorm<T extends Floating = 'f32'>(options: NormOptions<T> = {}): Routine<RmsNorm<T>, Given<RmsNorm<T>>> {
  const [type, threads] = [typeOf(options), threadsOf(options)];
  const form = formOf(threads);
  const make = (name: string): TypedKernel<RmsNorm<T>> =>
    kernel(name, rmsNormParameters(type), (p) => normBody(form, p as unknown as NormInside<T>), { ...portable, block: blockOf(form) });
  const others = { weight: 'columns', scale: 'results' } as const;
  const choose =
    options.threads === undefined
      ? byColumns<RmsNorm<T>, Given<RmsNorm<T>>>(normSteps, (own) => rmsNorm({ ...options, threads: own }))
      : undefined;
  const key = named('rms_norm', type.name, options.threads === undefined ? 'rows' : threads);
  return routine(key, make, rowPlan<RmsNorm<T>>(threads, ['x', 'y'], others, form), choose);
}

type NormWeights<T extends Floating> = ReturnType<typeof normWeightsParameters<T>>;
const normWeightsParameters = <T extends Floating>(type: Type<T>) => ({
  x: ptr(type),
  dy: ptr(type),
  mean: ptr(f32),
  scale: ptr(f32),
  dweight: ptr(f32),
  dbias: ptr(f32),
  rows: u32,
  columns: u32,
});

const groupRows = 8;

/**
 * The backward kernel of both norms for their weights: `dweight[c] = Σ dy * (x - mean) * scale` over the rows and `dbias[c] = Σ dy`. `mean` is null for
 * `rmsNorm`, and `dbias` may be null. Deterministic: eight threads of each column sum every eighth row.
 */
export function normWeightsBackward<T extends Floating = 'f32'>(options: TypeOption<T> = {}): Routine<NormWeights<T>> {
  const type = typeOf(options);
  const make = (name: string): TypedKernel<NormWeights<T>> =>
    kernel(
      name,
      normWeightsParameters(type),
      (p) => {
        const { x, dy, mean, scale, dweight, dbias, rows, columns } = p as unknown as Pointers<T, 'x' | 'dy'> &
          Pointers<'f32', 'mean' | 'scale' | 'dweight' | 'dbias'> &
          Scalars & { rows: Value<'u32'> };
        const [weights, biases] = [shared(f32, [groupRows, 32]), shared(f32, [groupRows, 32])];
        const [lane, group] = [threadIndex('x'), threadIndex('y')];
        const column = blockIndex().mad(32, lane);
        const [weightSum, biasSum] = [local(f32, 0), local(f32, 0)];
        when(column.lt(columns), () =>
          loop(group, rows, groupRows, (row) => {
            const at = row.mulWide(columns);
            const slope = dy.add(at).at(column).get().to(f32);
            const middle = local(f32, 0);
            when(isThere(mean), () => middle.set(mean.at(row)));
            const normal = x.add(at).at(column).get().to(f32).sub(middle).mul(scale.at(row));
            weightSum.set(slope.fma(normal, weightSum));
            biasSum.set(biasSum.add(slope));
          }),
        );
        weights.in(group, lane).set(weightSum);
        biases.in(group, lane).set(biasSum);
        syncThreads();
        when(group.eq(0).and(column.lt(columns)), () => {
          const total = (of: typeof weights): Real =>
            Array.from({ length: groupRows }, (_, k) => of.in(k, lane).get()).reduce((sum, value) => sum.add(value));
          dweight.at(column).set(total(weights));
          when(isThere(dbias), () => dbias.at(column).set(total(biases)));
        });
      },
      { ...portable, block: [32, groupRows] },
    );
  return routine(named('norm_weights_backward', type.name), make, (args) => {
    const { rows, columns } = args as unknown as { rows: number; columns: number };
    const matrix = rows * columns;
    const needs = { x: matrix, dy: matrix, mean: rows, scale: rows, dweight: columns, dbias: columns };
    return { grid: blocksFor(columns, 32), block: [32, groupRows], args, sizes: { rows, columns }, needs };
  });
}
