/** Softmax and cross-entropy of rows, by the online recurrence: one pass gives the maximum and the sum. */
import {
  type Arguments,
  blockIndex,
  constant,
  f32,
  kernel,
  local,
  type Parameters,
  type Pointer,
  ptr,
  s32,
  type Type,
  type TypedKernel,
  threadIndex,
  u32,
  type Value,
  when,
} from '../build/index.ts';
import { larger, plus } from './functions.ts';
import {
  blocksFor,
  type Choose,
  type Floating,
  named,
  type Plan,
  portable,
  type Routine,
  routine,
  type TypeOption,
  typeOf,
} from './routine.ts';
import { alongRow, type RowOptions, reads, rowMaximum, rowOf, rowSum, threadsOf } from './row.ts';
import { blockOf, byPairs, formOf, forRow, HeldRow, indexInRow, maxColumns, type RowForm, rowsOf } from './rows.ts';

type Real = Value<'f32'>;

/** Options of softmax and its relatives. */
export type SoftmaxOptions<T extends Floating> = TypeOption<T> & RowOptions;

/** The number of rows, which the launch needs and the kernel does not. */
export interface Rows {
  /** The number of rows. */
  readonly rows: number;
}

/** The least f32: the maximum of no elements, so that a row that starts with -Infinity has no difference of two infinities. */
const least = -3.4028234663852886e38;

/**
 * e to the power of a difference that is 0 or less: its relative error grows with the difference, where the result is small beside the largest of the row.
 * `exp` of the builder is exact to 2 ulp everywhere, and takes three times as many instructions.
 */
const power = (difference: Real): Real => difference.mul(Math.LOG2E).exp2();

/** The maximum of a row and the sum of `exp(x - maximum)`, which every thread has. */
function extent<T extends Floating>(
  x: Pointer<T, 'global'>,
  columns: Value<'u32'>,
  threads: number,
  index = threadIndex(),
): { maximum: Real; sum: Real } {
  const maximum = local(f32, least);
  const sum = local(f32, 0);
  alongRow(
    columns,
    threads,
    (indices) => {
      const values = reads(x, indices);
      const next = values.reduce<Real>((most, value) => larger(most, value), maximum.get());
      const before = sum.mul(power(maximum.sub(next)));
      sum.set(values.reduce<Real>((total, value) => total.add(power(value.sub(next))), before));
      maximum.set(next);
    },
    index,
  );
  const whole = rowMaximum(maximum.get(), threads);
  return { maximum: whole, sum: rowSum(sum.mul(power(maximum.sub(whole))), threads) };
}

/** The plan of a kernel with a block for each row. */
export const rowPlan =
  <P extends Parameters & { readonly columns: Type<'u32'> }>(
    threads: number,
    matrices: readonly string[],
    others: RowNeeds = {},
    form: RowForm | undefined = undefined,
  ) =>
  ({ rows, ...others1 }: Arguments<P> & Rows): Plan<P> => {
    // A kernel that holds rows is given their number.
    const args = form ? { ...others1, rows } : others1;
    const columns = (args as unknown as { columns: number }).columns;
    const needs = Object.fromEntries([
      ...matrices.map((name) => [name, rows * columns]),
      ...Object.entries(others).map(([name, of]) => [name, of === 'columns' ? columns : rows]),
    ]);
    // Rows without elements have results, too.
    const isEmpty = columns === 0 && !Object.values(others).includes('results');
    return {
      grid: isEmpty ? 0 : form ? blocksFor(rows, rowsOf(form)) : rows,
      block: form ? blockOf(form) : threads,
      args: args as unknown as Arguments<P>,
      // A step of four times the threads beyond the last column must not wrap.
      sizes: { rows: rows > 0x7fff_ffff ? Number.NaN : rows, columns: columns > 0xffff_ffff - 4096 ? Number.NaN : columns },
      needs: needs as { [N in keyof P]?: number },
    };
  };
/** Arrays with an element for each row or column: `results` is written for each row. */
type RowNeeds = Readonly<Record<string, 'rows' | 'columns' | 'results'>>;

type Softmax<T extends Floating> = ReturnType<typeof softmaxParameters<T>>;
const softmaxParameters = <T extends Floating>(type: Type<T>) => ({ x: ptr(type), y: ptr(type), columns: u32, rows: u32 });
type SoftmaxGiven<T extends Floating> = Omit<Arguments<Softmax<T>>, 'rows'> & Rows;

/** The softmax of each row of a matrix: `y[r][c] = exp(x[r][c]) / Σ exp(x[r][i])`. `x` and `y` may be the same. Deterministic. */
export function softmax<T extends Floating = 'f32'>(options: SoftmaxOptions<T> = {}): Routine<Softmax<T>, SoftmaxGiven<T>> {
  const [type, threads] = [typeOf(options), threadsOf(options)];
  const form = formOf(threads);
  const make = (name: string): TypedKernel<Softmax<T>> =>
    kernel(
      name,
      softmaxParameters(type),
      (p) => {
        const { x, y, columns, rows } = p as unknown as Record<'x' | 'y', Pointer<T, 'global'>> & Record<'columns' | 'rows', Value<'u32'>>;
        forRow(form, rows, (row) => {
          const [from, to] = [rowOf(x, columns, row), rowOf(y, columns, row)];
          when(
            columns.le(maxColumns(form)),
            () => heldSoftmax(new HeldRow(form, columns, [from, to]), from, to),
            () => {
              const index = indexInRow(form);
              const { maximum, sum } = extent(from, columns, threads, index);
              const scale = constant(f32, 1).div(sum);
              const store = (indices: readonly Value<'u32'>[]): void => {
                const values = reads(from, indices);
                for (const [k, value] of values.entries()) to.at(indices[k]!).set(power(value.sub(maximum)).mul(scale).to(type));
              };
              alongRow(columns, threads, store, index);
            },
          );
        });
      },
      { ...portable, block: blockOf(form) },
    );
  const plan = rowPlan<Softmax<T>>(threads, ['x', 'y'], {}, form);
  const choose =
    options.threads === undefined
      ? byColumns<Softmax<T>, SoftmaxGiven<T>>(softmaxSteps, (own) => softmax({ ...options, threads: own }))
      : undefined;
  return routine(named('softmax', type.name, options.threads === undefined ? 'rows' : threads), make, plan, choose);
}

/** The softmax of a row in registers. */
function heldSoftmax<T extends Floating>(row: HeldRow, from: Pointer<T, 'global'>, to: Pointer<T, 'global'>): void {
  const values = row.load(from, least);
  const maximum = row.maximum(larger(byPairs(values, larger), least));
  for (const value of values) value.set(power(value.sub(maximum)));
  const scale = constant(f32, 1).div(row.sum(byPairs(values, plus)));
  row.store(to, (i) => values[i]!.mul(scale));
}

type Threads = NonNullable<RowOptions['threads']>;
/** The most columns that a number of threads is best for. Measured on an H200. */
export type Steps = readonly (readonly [columns: number, threads: Threads])[];
const softmaxSteps: Steps = [
  [1024, 32],
  [2048, 128],
  [4096, 256],
  [8192, 512],
  [Number.POSITIVE_INFINITY, 1024],
];

/** The routine with as many threads as rows of a length are fastest with. */
export const byColumns =
  <P extends Parameters, G>(steps: Steps, make: (threads: Threads) => Routine<P, G>): Choose<P, G> =>
  (_, given) => {
    const { columns } = given as { columns: number };
    const [, threads] = steps.find(([most]) => columns <= most)!;
    return make(threads);
  };

type SoftmaxBackward<T extends Floating> = ReturnType<typeof softmaxBackwardParameters<T>>;
const softmaxBackwardParameters = <T extends Floating>(type: Type<T>) => ({ y: ptr(type), dy: ptr(type), dx: ptr(type), columns: u32 });

/** The backward kernel of `softmax`: `dx = y * (dy - Σ y dy)`. Deterministic. */
export function softmaxBackward<T extends Floating = 'f32'>(
  options: SoftmaxOptions<T> = {},
): Routine<SoftmaxBackward<T>, Arguments<SoftmaxBackward<T>> & Rows> {
  const [type, threads] = [typeOf(options), threadsOf(options)];
  const make = (name: string): TypedKernel<SoftmaxBackward<T>> =>
    kernel(
      name,
      softmaxBackwardParameters(type),
      (p) => {
        const { y, dy, dx, columns } = p as unknown as Record<'y' | 'dy' | 'dx', Pointer<T, 'global'>> & { columns: Value<'u32'> };
        const [results, slopes, to] = [rowOf(y, columns), rowOf(dy, columns), rowOf(dx, columns)];
        const own = local(f32, 0);
        alongRow(columns, threads, (indices) => {
          const [a, b] = [reads(results, indices), reads(slopes, indices)];
          own.set(a.reduce<Real>((sum, value, k) => value.fma(b[k]!, sum), own.get()));
        });
        const sum = rowSum(own.get(), threads);
        alongRow(columns, threads, (indices) => {
          const [a, b] = [reads(results, indices), reads(slopes, indices)];
          for (const [k, value] of a.entries()) to.at(indices[k]!).set(value.mul(b[k]!.sub(sum)).to(type));
        });
      },
      { ...portable, block: threads },
    );
  return routine(named('softmax_backward', type.name, threads), make, rowPlan<SoftmaxBackward<T>>(threads, ['y', 'dy', 'dx']));
}

type Loss<T extends Floating> = ReturnType<typeof lossParameters<T>>;
const lossParameters = <T extends Floating>(type: Type<T>) => ({
  x: ptr(type),
  targets: ptr(s32),
  loss: ptr(f32),
  logSum: ptr(f32),
  columns: u32,
});

/**
 * The cross-entropy of each row: `loss[r] = logSum[r] - x[r][targets[r]]` with `logSum[r] = ln Σ exp(x[r][i])`. A row whose target is no column
 * (-100, for instance) has the loss 0; without columns `logSum` is -Infinity. Deterministic.
 */
export function crossEntropy<T extends Floating = 'f32'>(options: SoftmaxOptions<T> = {}): Routine<Loss<T>, Arguments<Loss<T>> & Rows> {
  const [type, threads] = [typeOf(options), threadsOf(options)];
  const make = (name: string): TypedKernel<Loss<T>> =>
    kernel(
      name,
      lossParameters(type),
      (p) => {
        const { x, targets, loss, logSum, columns } = p as unknown as LossInside<T>;
        const from = rowOf(x, columns);
        const { maximum, sum } = extent(from, columns, threads);
        when(threadIndex().eq(0), () => {
          const row = blockIndex();
          const whole = maximum.add(sum.log());
          logSum.at(row).set(whole);
          const target = targets.at(row).get().as(u32);
          const own = local(f32, 0);
          when(target.lt(columns), () => own.set(whole.sub(from.at(target).get().to(f32))));
          loss.at(row).set(own);
        });
      },
      { ...portable, block: threads },
    );
  const others = { targets: 'rows', loss: 'results', logSum: 'results' } as const;
  return routine(named('cross_entropy', type.name, threads), make, rowPlan<Loss<T>>(threads, ['x'], others));
}
interface LossInside<T extends Floating> {
  readonly x: Pointer<T, 'global'>;
  readonly targets: Pointer<'s32', 'global'>;
  readonly loss: Pointer<'f32', 'global'>;
  readonly logSum: Pointer<'f32', 'global'>;
  readonly columns: Value<'u32'>;
}

type LossBackward<T extends Floating> = ReturnType<typeof lossBackwardParameters<T>>;
const lossBackwardParameters = <T extends Floating>(type: Type<T>) => ({
  x: ptr(type),
  targets: ptr(s32),
  logSum: ptr(f32),
  dloss: ptr(f32),
  dx: ptr(type),
  columns: u32,
});

/** The backward kernel of `crossEntropy`: `dx[r][c] = (softmax(x[r])[c] - [c = targets[r]]) * dloss[r]`, 0 without a target. Deterministic. */
export function crossEntropyBackward<T extends Floating = 'f32'>(
  options: SoftmaxOptions<T> = {},
): Routine<LossBackward<T>, Arguments<LossBackward<T>> & Rows> {
  const [type, threads] = [typeOf(options), threadsOf(options)];
  const make = (name: string): TypedKernel<LossBackward<T>> =>
    kernel(
      name,
      lossBackwardParameters(type),
      (p) => {
        const { x, targets, logSum, dloss, dx, columns } = p as unknown as Omit<LossInside<T>, 'loss'> & {
          dloss: Pointer<'f32', 'global'>;
          dx: Pointer<T, 'global'>;
        };
        const row = blockIndex();
        const [from, to] = [rowOf(x, columns), rowOf(dx, columns)];
        const target = targets.at(row).get().as(u32);
        const whole = logSum.at(row).get();
        const slope = target.lt(columns).select(dloss.at(row).get(), 0);
        alongRow(columns, threads, (indices) => {
          for (const [k, value] of reads(from, indices).entries()) {
            const share = power(value.sub(whole));
            const own = indices[k]!.eq(target).select(share.sub(1), share);
            to.at(indices[k]!).set(own.mul(slope).to(type));
          }
        });
      },
      { ...portable, block: threads },
    );
  const others = { targets: 'rows', logSum: 'rows', dloss: 'rows' } as const;
  return routine(named('cross_entropy_backward', type.name, threads), make, rowPlan<LossBackward<T>>(threads, ['x', 'dx'], others));
}
