/** Rows that a block or a warp keeps in registers: memory is read once and written once, four elements at a time where rows are aligned to as many. */
import {
  blockIndex,
  f32,
  local,
  type Pointer,
  type Type,
  threadIndex,
  u32,
  u64,
  type Value,
  type Variable,
  v4,
  warpIndex,
  when,
} from '../build/index.ts';
import type { Floating } from './routine.ts';
import { rowMaximum, rowSum } from './row.ts';

type Real = Value<'f32'>;
type Word = Value<'u32'>;

/** How a kernel holds rows. */
export interface RowForm {
  /** The threads of a row: those of the block, or a warp. */
  readonly threads: number;
  /** The elements of a thread: a multiple of four. */
  readonly per: number;
}

/** The rows of a block: with a warp for each row, eight. */
export const rowsOf = ({ threads }: RowForm): number => (threads === 32 ? 8 : 1);
/** The threads of a block. */
export const blockOf = (form: RowForm): number => form.threads * rowsOf(form);
/** The row of this thread. */
export const rowIndex = (form: RowForm): Word => (rowsOf(form) === 1 ? blockIndex() : blockIndex().mul(rowsOf(form)).add(warpIndex()));
/** The index of this thread in its row. */
export const indexInRow = (form: RowForm): Word => (rowsOf(form) === 1 ? threadIndex() : threadIndex().and(31));

/** How a number of threads holds rows: 32 elements in each of the threads of a warp or of 1024, 16 elsewhere, so that a multiprocessor has many rows. */
export const formOf = (threads: number): RowForm => ({ threads, per: threads === 32 || threads === 1024 ? 32 : 16 });
/** The most elements of a row that is held. */
export const maxColumns = ({ threads, per }: RowForm): number => threads * per;

/** Runs a part of the kernel for the row of this thread, if there is one. */
export function forRow(form: RowForm, rows: Word, run: (row: Word) => void): void {
  const row = rowIndex(form);
  if (rowsOf(form) === 1) run(row);
  else when(row.lt(rows), () => run(row));
}

/** A row that fits the registers. */
export class HeldRow {
  readonly form: RowForm;
  readonly columns: Word;
  readonly isWide: Value<'pred'>;
  readonly #first: Word;
  readonly #wide: readonly Word[];
  readonly #stride: Word;
  /** A bit for each element of this thread that the row has, once elements were loaded. */
  readonly #held: Variable<'u32'>;

  /** `pointers` are those of the rows that are read and written; null ones are aligned. */
  constructor(form: RowForm, columns: Word, pointers: readonly Pointer<Floating, 'global'>[]) {
    this.form = form;
    this.columns = columns;
    const index = indexInRow(form);
    const together = pointers.reduce<Value<'u64'>>(
      (bits, each) => bits.or((each.address() as Value<'u64'>).and(4 * bytesOf(each.type) - 1)),
      columns.and(3).to(u64),
    );
    this.isWide = together.eq(0);
    this.#wide = Array.from({ length: form.per / 4 }, (_, c) => index.mul(4).add(4 * c * form.threads));
    this.#first = this.isWide.select(index.mul(4), index);
    this.#held = local(u32, 0);
    this.#stride = this.isWide.select(columns.mul(0).add(1), form.threads);
  }

  /** The column of an element of this thread. */
  #column(i: number): Word {
    return this.#first.add(4 * this.form.threads * (i >> 2)).add(this.#stride.mul(i & 3));
  }

  /** Whether the row has an element: after `load`. */
  has(i: number): Value<'pred'> {
    return this.#held.and(2 ** i).ne(0);
  }

  /** The elements of this thread; what is beyond the row has another value. */
  load<T extends Floating>(from: Pointer<T, 'global'>, otherwise: number): Variable<'f32'>[] {
    const values = Array.from({ length: this.form.per }, () => local(f32, otherwise));
    const type: Type<T> = { kind: 'scalar', name: from.type };
    const note = (bits: number): void => this.#held.set(this.#held.or(bits));
    const wide = (): void => {
      for (const [c, column] of this.#wide.entries())
        when(column.lt(this.columns), () => {
          const { lanes } = from.add(column).as(v4(type)).at(0).get();
          for (const [e, lane] of lanes.entries()) values[4 * c + e]!.set((lane as Value<'f32'>).to(f32));
          note((15 << (4 * c)) >>> 0);
        });
    };
    const narrow = (): void => {
      for (const [i, value] of values.entries())
        when(this.#column(i).lt(this.columns), () => {
          value.set((from.at(this.#column(i)).get() as Value<'f32'>).to(f32));
          note(2 ** i);
        });
    };
    when(this.isWide, wide, narrow);
    return values;
  }

  /**
   * Stores a result for each element, with the elements of other arrays in the same columns: those are loaded four at a time, when they are needed, so that
   * few registers hold them. Arrays that are null have a value of their own.
   */
  store<T extends Floating>(
    to: Pointer<T, 'global'>,
    resultOf: (i: number, others: readonly Real[]) => Real,
    arrays: readonly { readonly from: Pointer<T, 'global'>; readonly otherwise: number }[] = [],
  ): void {
    const type: Type<T> = { kind: 'scalar', name: to.type };
    const wide = (): void => {
      for (const [c, column] of this.#wide.entries())
        when(column.lt(this.columns), () => {
          const others = arrays.map(({ from, otherwise }) => {
            const found = [0, 1, 2, 3].map(() => local(f32, otherwise));
            when(from.address().ne(0), () => {
              const { lanes } = from.add(column).as(v4(type)).at(0).get();
              for (const [e, lane] of lanes.entries()) found[e]!.set((lane as Value<'f32'>).to(f32));
            });
            return found;
          });
          const results = [0, 1, 2, 3].map((e) =>
            resultOf(
              4 * c + e,
              others.map((each) => each[e]!),
            ).to(type),
          );
          to.add(column)
            .as(v4(type))
            .at(0)
            .set(results as never);
        });
    };
    const narrow = (): void => {
      for (let i = 0; i < this.form.per; i++)
        when(this.#column(i).lt(this.columns), () => {
          const others = arrays.map(({ from, otherwise }) => {
            const found = local(f32, otherwise);
            when(from.address().ne(0), () => found.set((from.at(this.#column(i)).get() as Value<'f32'>).to(f32)));
            return found;
          });
          to.at(this.#column(i)).set(resultOf(i, others).to(type));
        });
    };
    when(this.isWide, wide, narrow);
  }

  /** The sum of one value of each thread. */
  sum(value: Real): Real {
    return rowSum(value, this.form.threads);
  }

  /** The largest of one value of each thread; NaN if one is. */
  maximum(value: Real): Real {
    return rowMaximum(value, this.form.threads);
  }
}

const bytesOf = (type: Floating): number => (type === 'f32' ? 4 : 2);

/** A sum or another function of many values by pairs: short chains, and small errors. */
export const byPairs = (values: readonly Real[], combine: (a: Real, b: Real) => Real): Real =>
  values.length === 1
    ? values[0]!
    : byPairs(
        Array.from({ length: Math.ceil(values.length / 2) }, (_, i) =>
          2 * i + 1 < values.length ? combine(values[2 * i]!, values[2 * i + 1]!) : values[2 * i]!,
        ),
        combine,
      );
