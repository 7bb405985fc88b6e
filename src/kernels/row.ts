/** What kernels of rows share: a block for each row, whose threads go along it, four elements at a time. */
import { blockIndex, blockReduce, f32, loop, type Pointer, threadIndex, type Value, warpReduce } from '../build/index.ts';
import { larger, plus } from './functions.ts';
import { refuse } from './refuse.ts';
import type { Floating } from './routine.ts';

type Real = Value<'f32'>;

/** The option of kernels of rows. */
export interface RowOptions {
  /**
   * The threads of each row: a power of two from 32 to 1024, 256 by default. 32 is best for rows of up to some hundred elements, and 1024 for rows
   * of many thousands.
   */
  readonly threads?: 32 | 64 | 128 | 256 | 512 | 1024;
}

/** The threads of a row. */
export function threadsOf({ threads = 256 }: RowOptions): number {
  if (![32, 64, 128, 256, 512, 1024].includes(threads))
    refuse('a kernel of rows', `${threads} threads are no power of two from 32 to 1024`);
  return threads;
}

/** The start of the row of this block, or of another one. */
export const rowOf = <T extends Floating>(x: Pointer<T, 'global'>, columns: Value<'u32'>, row = blockIndex()): Pointer<T, 'global'> =>
  x.add(row.mulWide(columns));

/** Elements as f32. */
export const reads = <T extends Floating>(x: Pointer<T, 'global'>, indices: readonly Value<'u32'>[]): Real[] =>
  indices.map((i) => x.at(i).get().to(f32));

/** Calls a function with the columns of this thread: four at a time as long as the whole block has four, then one at a time. */
export function alongRow(
  columns: Value<'u32'>,
  threads: number,
  visit: (columns: readonly Value<'u32'>[]) => void,
  index = threadIndex(),
): void {
  const step = 4 * threads;
  const whole = columns.sub(columns.and(step - 1));
  loop(index, whole, step, (c) => visit([c, c.add(threads), c.add(2 * threads), c.add(3 * threads)]));
  loop(whole.add(index), columns, threads, (c) => visit([c]));
}

/** The sum of a value over the threads of the row: those of the block, or a warp of a block with several rows. */
export const rowSum = (value: Real, threads: number): Real =>
  threads === 32 ? warpReduce(value, plus) : blockReduce(value, plus, { threads, identity: 0 });
/** The maximum of a value over the threads of the row. */
export const rowMaximum = (value: Real, threads: number): Real =>
  threads === 32
    ? warpReduce(value, (a, b) => larger(a, b))
    : blockReduce(value, (a, b) => larger(a, b), { threads, identity: Number.NEGATIVE_INFINITY });
