/** Tiles: parts of matrices in shared memory, laid out so that threads find their elements in different banks. */
import { commitCopies, copyAsync, waitCopies } from './async.ts';
import { syncThreads } from './atomic.ts';
import { blockHasAtLeast } from './block.ts';
import { loop, when } from './control.ts';
import { fail } from './fail.ts';
import { type Operand, settled } from './handle.ts';
import { shared } from './memory.ts';
import type { Element, Index, Pointer, VectorElement } from './pointer.ts';
import { trace } from './trace.ts';
import { bytesOfType, type MemoryName, type Type, u32 } from './types.ts';
import { constant, Value } from './value.ts';

/** How the rows of a tile lie. */
export interface TileOptions {
  /** Elements between one row and the next that are not used; those of 16 bytes keep rows aligned for `mma` and asynchronous copies. */
  readonly pad?: number;
  /** Exchanges the parts of 16 bytes of each row by its number (XOR), so that a column is spread over the banks without padding. */
  readonly swizzle?: boolean;
  /** The number of tiles, for a pipeline; 1 by default. */
  readonly stages?: number;
}

const partBytes = 16;

/** A tile of rows and columns in shared memory. */
export class Tile<T extends MemoryName = MemoryName> {
  /** The name of the type of an element. */
  readonly type: T;
  /** The number of rows. */
  readonly rows: number;
  /** The number of columns. */
  readonly columns: number;
  /** The elements from one row to the next. */
  readonly pitch: number;
  readonly #origin: Pointer<T, 'shared'>;
  readonly #options: TileOptions;

  /** @internal */
  constructor(origin: Pointer<T, 'shared'>, rows: number, columns: number, options: TileOptions) {
    this.type = origin.type;
    this.rows = rows;
    this.columns = columns;
    this.pitch = columns + (options.pad ?? 0);
    this.#origin = origin;
    this.#options = options;
  }

  /** The tile of a stage of a pipeline. */
  stage(index: Index): Tile<T> {
    return new Tile(
      this.#origin.add(typeof index === 'object' ? wordOf(index).mul(this.rows * this.pitch) : Number(index) * this.rows * this.pitch),
      this.rows,
      this.columns,
      this.#options,
    );
  }

  /** The element in a row and a column. */
  at(row: Index, column: Index): Element<T, 'shared'> {
    return this.#origin.at(this.#offset(row, column));
  }

  /** `count` elements from a column on, which is a multiple of `count`; they take 16 bytes at most. */
  vectorAt<N extends 2 | 4>(row: Index, column: Index, count: N): VectorElement<T, N, 'shared'> {
    const type: Type<T> = { kind: 'scalar', name: this.type };
    return this.#origin
      .add(this.#offset(row, column))
      .as({ ...type, kind: 'vector', count })
      .at(0);
  }

  /** The index of an element: a row of a swizzled tile has its parts of 16 bytes in the order `part ^ (row % parts)`. */
  #offset(row: Index, column: Index): Index {
    if (!this.#options.swizzle) return sum(product(row, this.pitch), column);
    const [perPart, mask] = [partBytes / bytesOfType(this.type), this.#mask()];
    if (typeof row !== 'object' && typeof column !== 'object') {
      const part = Math.floor(Number(column) / perPart) ^ (Number(row) & mask);
      return Number(row) * this.pitch + part * perPart + (Number(column) % perPart);
    }
    const [r, c] = [wordOf(row), wordOf(column)];
    // The rows exchange parts; the bits below them stay, so that one XOR does both.
    return r.mad(this.pitch, c.xor(r.and(mask).mul(perPart)));
  }

  /** The parts that are exchanged: a power of two, at most eight, which is all banks. */
  #mask(): number {
    const parts = (this.columns * bytesOfType(this.type)) / partBytes;
    let count = 1;
    while (count < 8 && parts % (2 * count) === 0) count *= 2;
    return count - 1;
  }
}

/** An index as a u32. */
function wordOf(index: Index): Value<'u32'> {
  if (typeof index !== 'object') return constant(u32, Number(index));
  const handle = 'register' in index ? index : index.get();
  const value = new Value(handle.type, handle.register);
  return value.type === 'u32' ? (value as Value<'u32'>) : (value as Value<'s32'>).to(u32);
}

const product = (index: Index, by: number): Index => (typeof index === 'object' ? wordOf(index).mul(by) : Number(index) * by);
function sum(a: Index, b: Index): Index {
  if (typeof a !== 'object' && typeof b !== 'object') return Number(a) + Number(b);
  return typeof a === 'object' ? wordOf(a).add(typeof b === 'object' ? wordOf(b) : Number(b)) : wordOf(b).add(Number(a));
}

/**
 * A tile of a kernel. Without options its rows follow each other, and a column is in one bank if a row is a multiple of 128 bytes: use `pad` or
 * `swizzle`.
 */
export function sharedTile<T extends MemoryName>(type: Type<T>, rows: number, columns: number, options: TileOptions = {}): Tile<T> {
  const { pad = 0, swizzle = false, stages = 1 } = options;
  if (swizzle && (columns * bytesOfType(type.name)) % partBytes !== 0)
    fail('CM5088', { what: 'a swizzled tile', why: `a row of ${columns} elements is no multiple of ${partBytes} bytes` });
  if (swizzle && pad > 0) fail('CM5088', { what: 'a tile', why: 'a swizzled tile needs no padding' });
  return new Tile(shared(type, stages * rows * (columns + pad), { align: 128 }), rows, columns, options);
}

/** A matrix in global memory, row by row. */
export interface MatrixIn<T extends MemoryName = MemoryName> {
  /** Its first element. */
  readonly pointer: Pointer<T, 'global'>;
  /** The number of rows: what is beyond is loaded as zeros. */
  readonly rows: Operand<'u32'>;
  /** The number of columns: what is beyond is loaded as zeros. */
  readonly columns: Operand<'u32'>;
  /** The elements from one row to the next; `columns` by default. */
  readonly stride?: Operand<'u32'>;
}

/** Options of `loadTile`. */
export interface LoadTileOptions {
  /** The threads that load together: those of the block, whose number is a constant. A launch with fewer is CM5020. */
  readonly threads: number;
  /** The index of the thread among them. */
  readonly thread: Value<'u32'>;
  /**
   * The elements of one copy, 1 by default: a power of two with at most 16 bytes. The first element and every row are aligned to as many; what is
   * beyond the matrix is left out of a copy element by element.
   */
  readonly vector?: 1 | 2 | 4 | 8 | 16;
  /** Whether to copy by `cp.async` (`commitCopies` and `waitCopies` follow) if the target has it and a copy has 4 bytes at least. Default: false. */
  readonly async?: boolean;
}

/** Whether the kernel may use what needs an architecture. Kernels without a `target` may use everything. */
export const mayNeed = (sm: number): boolean => (trace('mayNeed').options.sm ?? Number.POSITIVE_INFINITY) >= sm;

/** Whether `loadTile` copies by `cp.async`. */
const isAsync = (type: MemoryName, { async: wanted = false, vector: count = 1 }: LoadTileOptions): boolean =>
  wanted && mayNeed(80) && count * bytesOfType(type) >= 4;

/**
 * Loads the part of a matrix from `row` and `column` on into a tile, by all threads together. Elements beyond the matrix are zeros. Without
 * `async`, the tile is there after `syncThreads`.
 */
export function loadTile<T extends MemoryName>(
  tile: Tile<T>,
  matrix: MatrixIn<NoInfer<T>>,
  row: Operand<'u32'>,
  column: Operand<'u32'>,
  options: LoadTileOptions,
): void {
  const { threads, thread, vector: count = 1 } = options;
  blockHasAtLeast(threads);
  const bytes = count * bytesOfType(tile.type);
  if (bytes > partBytes || tile.columns % count !== 0)
    fail('CM5088', { what: '`loadTile`', why: `copies of ${count} elements do not fit the rows of ${tile.columns}` });
  const perRow = tile.columns / count;
  const copies = tile.rows * perRow;
  const [firstRow, firstColumn] = [valueOf32(row), valueOf32(column)];
  const one = (index: Value<'u32'>): void => {
    const [r, c] = [index.div(perRow), index.rem(perRow).mul(count)];
    copyPart({ tile, matrix, options, count }, [r, c], [firstRow.add(r), firstColumn.add(c)]);
  };
  const rounds = Math.floor(copies / threads);
  if (rounds <= 16) for (let i = 0; i < rounds; i++) one(i === 0 ? thread : thread.add(i * threads));
  else loop(thread, thread.add(rounds * threads), threads, one);
  if (copies % threads !== 0) when(thread.lt(copies % threads), () => one(thread.add(rounds * threads)));
}

const valueOf32 = (given: Operand<'u32'>): Value<'u32'> => wordOf(given);

interface Part<T extends MemoryName> {
  readonly tile: Tile<T>;
  readonly matrix: MatrixIn<T>;
  readonly options: LoadTileOptions;
  readonly count: number;
}

type Pair = readonly [row: Value<'u32'>, column: Value<'u32'>];

/** Copies `count` elements of one row. */
function copyPart<T extends MemoryName>({ tile, matrix, options, count }: Part<T>, [r, c]: Pair, [row, column]: Pair): void {
  const { type } = tile;
  const [rows, columns] = [valueOf32(matrix.rows), valueOf32(matrix.columns)];
  const from = matrix.pointer
    .add(row.to({ kind: 'scalar', name: 'u64' }).mul(valueOf32(matrix.stride ?? matrix.columns).to({ kind: 'scalar', name: 'u64' })))
    .add(column);
  const isInside = row.lt(rows);
  if (isAsync(type, options)) {
    const size = bytesOfType(type);
    const left = isInside.and(column.lt(columns)).select(columns.sub(column), 0).min(count);
    copyAsync(tile.at(r, c), from.at(0), (count * size) as 4 | 8 | 16, { read: left.mul(size) });
    return;
  }
  const zero = (): Value<T> => constant({ kind: 'scalar', name: type }, 0 as never) as Value<T>;
  const single = (k: number): void => {
    const to = tile.at(r, c.add(k));
    when(
      isInside.and(column.add(k).lt(columns)),
      () => to.set(from.at(k)),
      () => to.set(zero()),
    );
  };
  if (count === 1) {
    single(0);
    return;
  }
  when(
    isInside.and(column.add(count).le(columns)),
    () => copyWhole(tile, [r, c], from, count),
    () => {
      for (let k = 0; k < count; k++) single(k);
    },
  );
}

/** Copies elements that are all there, by words of 32 bits where they are narrower. */
function copyWhole<T extends MemoryName>(tile: Tile<T>, [r, c]: Pair, from: Pointer<T, 'global'>, count: number): void {
  const bytes = count * bytesOfType(tile.type);
  const to = tile.at(r, c).pointer();
  const wide = bytesOfType(tile.type) === 8;
  const word = { kind: 'scalar', name: wide ? 'b64' : bytes % 4 === 0 ? 'b32' : bytes === 2 ? 'b16' : 'b8' } as Type<'b32'>;
  const lanes = bytes / bytesOfType(word.name);
  if (lanes === 1) {
    to.as(word).at(0).set(from.as(word).at(0));
    return;
  }
  const type = { kind: 'vector', name: word.name, count: lanes as 2 | 4 } as const;
  to.as(type)
    .at(0)
    .set(from.as(type).at(0).get() as never);
}

/** Options of `pipeline`. */
export interface PipelineOptions {
  /** The tiles in flight, 2 or more: as many as the shared memory holds. */
  readonly stages: number;
  /** The number of rounds. */
  readonly rounds: Operand<'u32'>;
  /** Starts the loads of a round into a stage (`loadTile` with `async`). */
  readonly load: (stage: Value<'u32'>, round: Value<'u32'>) => void;
  /** Uses what a stage has. */
  readonly compute: (stage: Value<'u32'>, round: Value<'u32'>) => void;
}

/**
 * A loop in which loads are ahead of their use: while round `i` is computed, rounds `i + 1` to `i + stages - 1` are loaded. Loads are
 * asynchronous from sm_80 on; for an older `target` they are ordinary ones in the same order. All threads of the block take part; after it, they
 * have passed a barrier, so that the tiles may be used for something else.
 */
export function pipeline({ stages, rounds, load, compute }: PipelineOptions): void {
  if (!Number.isInteger(stages) || stages < 2) fail('CM5088', { what: '`pipeline`', why: `${stages} stages: it has 2 or more` });
  // What a variable has now, because `compute` may change it.
  const count = new Value('u32', settled(valueOf32(rounds)));
  const isLate = mayNeed(80);
  const commit = (): void => void (isLate && commitCopies());
  for (let round = 0; round < stages - 1; round++) {
    when(count.gt(round), () => load(constant(u32, round), constant(u32, round)));
    commit();
  }
  loop(constant(u32, 0), count, 1, (round) => {
    if (isLate) waitCopies(stages - 2);
    // The loads of all threads are there, and the stage that is loaded next is not read any more.
    syncThreads();
    const next = round.add(stages - 1);
    when(next.lt(count), () => load(next.rem(stages), next));
    commit();
    compute(round.rem(stages), round);
  });
  if (isLate) waitCopies(0);
  syncThreads();
}
