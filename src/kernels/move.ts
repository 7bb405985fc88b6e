/** Kernels that move elements: the transpose of a matrix, and rows by their indices. */
import {
  type Arguments,
  blockIndex,
  f32,
  kernel,
  loop,
  type MemoryName,
  type Pointer,
  ptr,
  s32,
  shared,
  syncThreads,
  type Type,
  type TypedKernel,
  threadIndex,
  u32,
  type Value,
  when,
} from '../build/index.ts';
import { blocksFor, named, type Plan, portable, type Routine, routine } from './routine.ts';

/** The types of elements that are moved. */
export type Moved = 'f32' | 'f64' | 'f16' | 'bf16' | 'u8' | 's32' | 'u32' | 'u64';
interface MoveOptions<T extends Moved> {
  /** The type of the elements; f32 by default. */
  readonly type?: Type<T>;
}
type Word = Value<'u32'>;
const elementOf = <T extends Moved>({ type }: MoveOptions<T>): Type<T> => type ?? (f32 as unknown as Type<T>);

type Transpose<T extends MemoryName> = ReturnType<typeof transposeParameters<T>>;
const transposeParameters = <T extends MemoryName>(type: Type<T>) => ({ x: ptr(type), y: ptr(type), rows: u32, columns: u32 });
const side = 32;
const blockRows = 8;

/** The transpose of a matrix: `y[c][r] = x[r][c]`. `x` and `y` are not the same. */
export function transpose<T extends Moved = 'f32'>(options: MoveOptions<T> = {}): Routine<Transpose<T>> {
  const type = elementOf(options);
  const make = (name: string): TypedKernel<Transpose<T>> =>
    kernel(
      name,
      transposeParameters(type),
      (p) => {
        const { x, y, rows, columns } = p as unknown as Record<'x' | 'y', Pointer<Moved, 'global'>> & Record<'rows' | 'columns', Word>;
        const tile = shared(type as Type<Moved>, [side, side + 1]);
        const [lane, line] = [threadIndex('x'), threadIndex('y')];
        const [left, top] = [blockIndex('x').mul(side), blockIndex('y').mul(side)];
        const steps = Array.from({ length: side / blockRows }, (_, i) => line.add(i * blockRows));
        for (const own of steps) {
          const [row, column] = [top.add(own), left.add(lane)];
          when(row.lt(rows).and(column.lt(columns)), () => tile.in(own, lane).set(x.add(row.mulWide(columns)).at(column).get()));
        }
        syncThreads();
        for (const own of steps) {
          const [row, column] = [left.add(own), top.add(lane)];
          when(row.lt(columns).and(column.lt(rows)), () => y.add(row.mulWide(rows)).at(column).set(tile.in(lane, own).get()));
        }
      },
      { ...portable, block: [side, blockRows] },
    );
  return routine(named('transpose', type.name), make, (args): Plan<Transpose<T>> => {
    const { rows, columns } = args as unknown as { rows: number; columns: number };
    return {
      grid: [blocksFor(columns, side), blocksFor(rows, side)],
      block: [side, blockRows],
      args,
      sizes: { rows: rows > 65535 * side ? Number.NaN : rows, columns: columns > 0xffff_ffff - side ? Number.NaN : columns },
      needs: { x: rows * columns, y: rows * columns } as { [N in keyof Transpose<T>]?: number },
    };
  });
}

type Gather<T extends MemoryName> = ReturnType<typeof gatherParameters<T>>;
const gatherParameters = <T extends MemoryName>(type: Type<T>) => ({
  ...{ table: ptr(type), indices: ptr(s32), y: ptr(type), tableRows: u32, columns: u32 },
});
const threads = 128;

/**
 * Rows of a table by their indices, as an embedding: `y[r] = table[indices[r]]` for `rows` indices. An index that is no row of the table gives zeros.
 */
export function gather<T extends Moved = 'f32'>(
  options: MoveOptions<T> = {},
): Routine<Gather<T>, Arguments<Gather<T>> & { readonly rows: number }> {
  const type = elementOf(options);
  const make = (name: string): TypedKernel<Gather<T>> =>
    kernel(
      name,
      gatherParameters(type),
      (p) => {
        const { table, indices, y, tableRows, columns } = p as unknown as Record<'table' | 'y', Pointer<Moved, 'global'>> & {
          indices: Pointer<'s32', 'global'>;
        } & Record<'tableRows' | 'columns', Word>;
        const row = indices.at(blockIndex()).get().as(u32);
        const to = y.add(blockIndex().mulWide(columns));
        const from = table.add(row.mulWide(columns));
        when(
          row.lt(tableRows),
          () => loop(threadIndex(), columns, threads, (c) => to.at(c).set(from.at(c).get())),
          () => loop(threadIndex(), columns, threads, (c) => to.at(c).set(0)),
        );
      },
      { ...portable, block: threads },
    );
  return routine(named('gather', type.name), make, ({ rows, ...args }: Arguments<Gather<T>> & { readonly rows: number }) => {
    const { tableRows, columns } = args as unknown as { tableRows: number; columns: number };
    return {
      grid: columns === 0 ? 0 : rows,
      block: threads,
      args: args as unknown as Arguments<Gather<T>>,
      sizes: { rows: rows > 0x7fff_ffff ? Number.NaN : rows, tableRows, columns: columns > 0xffff_ffff - threads ? Number.NaN : columns },
      needs: { table: tableRows * columns, indices: rows, y: rows * columns } as { [N in keyof Gather<T>]?: number },
    };
  });
}
