/** Copies of the tiles of f32 products: in shared memory a row of a tile has the lines of a factor at one index of k, however the factor is stored. */
import {
  constant,
  copyAsync,
  f32,
  local,
  type Pointer,
  pointerAt,
  threadIndex,
  u32,
  u64,
  type Value,
  type Variable,
} from '../build/index.ts';
import { refuse } from './refuse.ts';

type Word = Value<'u32'>;
type Long = Value<'u64'>;
type Place = Pointer<'f32', 'shared'>;

/** Elements behind the rows of a tile that is transposed on its way, so that threads write to different banks. */
const gap = 4;

/** What a factor is, and which part of it a block needs. */
export interface Factor {
  /** The address of the first element. */
  readonly start: Long;
  /** Elements from a row in memory to the next. */
  readonly pitch: Long;
  /** The first line of the block: a row of the result for the left factor, a column for the right one. */
  readonly line: Word;
  /** The lines of the factor. */
  readonly lines: Word;
  /** The indices of k. */
  readonly k: Word;
}

/** The form of a tile. */
export interface CopiedTile {
  readonly lines: number;
  /** Indices of k. */
  readonly depth: number;
  /** Whether a line is contiguous in memory: its elements are along k. */
  readonly isAlong: boolean;
  readonly threads: number;
}

/** Elements from a row of a tile in shared memory to the next. */
export const tilePitch = ({ lines, isAlong }: CopiedTile): number => (isAlong ? lines + gap : lines);

/** Copies tiles of a factor, one after the other along k. */
export interface TileCopies {
  /** Whether a tile that is whole along k needs no more than `quick`. */
  readonly isQuick: Value<'pred'>;
  /** The copies of a tile that is whole along k, without a branch, where the condition holds. */
  quick(to: Place, holds: Value<'pred'>): void;
  /**
   * The copies of a tile from an index of k on. Lines beyond the last are the last one. What is beyond the last index of k is 0, but for `isWhole`, which
   * says that there is nothing.
   */
  any(to: Place, k: Word, isWhole: boolean): void;
  /** Goes to the next tile. */
  step(): void;
}

/** The copies of a factor by the threads of a block. */
export const tileCopies = (tile: CopiedTile, from: Factor): TileCopies =>
  tile.isAlong ? alongCopies(tile, from) : acrossCopies(tile, from);

const shared = (count: number): number =>
  Number.isInteger(count) && count > 0 ? count : refuse('gemm', 'the threads do not divide a tile');
const indices = (count: number): number[] => Array.from({ length: count }, (_, i) => i);
const wordAt = (address: Long) => pointerAt(f32, 'global', address).at(0);
const bytesOf = (pitch: Long): Word => pitch.to(u32).shl(2);

/** Lines along k are transposed: eight lanes read eight elements of a line, and a row in shared memory has elements of many lines. */
function alongCopies(tile: CopiedTile, from: Factor): TileCopies {
  const { lines, depth, threads } = tile;
  const [width, pitch] = [8, tilePitch(tile)];
  const step = threads / width;
  const [element, line] = [threadIndex().and(width - 1), threadIndex().div(width)];
  const last = from.lines.sub(1);
  const bytes = bytesOf(from.pitch);
  const base = from.start.add(element.mulWide(4));
  const source = local(u64, base);
  const place = element.mul(pitch).add(line);
  const rows = indices(shared(lines / step)).map((i) => ({
    i,
    row: from.line
      .add(line)
      .add(i * step)
      .min(last),
  }));
  const parts = indices(shared(depth / width));
  const each = (start: Long, copy: (to: number, from: Long, part: number) => void): void => {
    for (const { i, row } of rows) {
      const at = row.mulWide(bytes).add(start);
      for (const part of parts) copy(i * step + part * width * pitch, at.add(4 * width * part), part);
    }
  };
  return {
    isQuick: constant(u32, 0).eq(0),
    quick: (to, holds) => each(source.get(), (at, address) => copyAsync(to.add(place).at(at), wordAt(address), 4, { guard: holds })),
    any: (to, k, isWhole) =>
      each(base.add(k.mulWide(4)), (at, address, part) => {
        const read = isWhole
          ? 4
          : k
              .add(element)
              .add(part * width)
              .lt(from.k)
              .select(constant(u32, 4), 0);
        copyAsync(to.add(place).at(at), wordAt(address), 4, isWhole ? {} : { read });
      }),
    step: () => source.set(source.add(4 * depth)),
  };
}

/** Lines across k are copied as they are, four at a time if they are aligned and all inside. */
function acrossCopies({ lines, depth, threads }: CopiedTile, from: Factor): TileCopies {
  const pitch = from.pitch.mul(4);
  const parts = lines / 4;
  const step = threads / parts;
  const [part, row] = [threadIndex().rem(parts), threadIndex().div(parts)];
  const count = shared(depth / step);
  const source: Variable<'u64'> = local(u64, from.start.add(row.to(u64).mul(pitch)).add(from.line.add(part.mul(4)).mulWide(4)));
  const place = row.mul(lines).add(part.mul(4));
  const isQuick = from.start.and(15).eq(0).and(from.pitch.and(3).eq(0)).and(from.line.add(lines).le(from.lines));
  const [tilePart, stride] = [pitch.mul(depth), pitch.mul(step)];
  return {
    isQuick,
    quick: (to, holds) => {
      let at = source.get();
      for (const i of indices(count)) {
        copyAsync(to.add(place).at(i * step * lines), wordAt(at), 16, { guard: holds });
        if (i + 1 < count) at = at.add(stride);
      }
    },
    any: (to, k, isWhole) => single({ lines, depth, threads }, from, to, { k, isWhole }),
    step: () => source.set(source.add(tilePart)),
  };
}

/** The copies of single elements of lines across k. */
function single(
  { lines, depth, threads }: Omit<CopiedTile, 'isAlong'>,
  from: Factor,
  to: Place,
  { k, isWhole }: { k: Word; isWhole: boolean },
): void {
  const side = Math.min(threads, lines);
  const step = threads / side;
  const [column, row] = [threadIndex().rem(side), threadIndex().div(side)];
  const pitch = from.pitch.mul(4);
  for (const more of indices(shared(lines / side))) {
    const line = from.line
      .add(column)
      .add(more * side)
      .min(from.lines.sub(1));
    let at = from.start.add(line.mulWide(4)).add(k.add(row).to(u64).mul(pitch));
    for (const i of indices(shared(depth / step))) {
      const options = isWhole
        ? {}
        : {
            read: k
              .add(row)
              .add(i * step)
              .lt(from.k)
              .select(constant(u32, 4), 0),
          };
      copyAsync(
        to
          .add(row.mul(lines))
          .add(column)
          .at(i * step * lines + more * side),
        wordAt(at),
        4,
        options,
      );
      at = at.add(pitch.mul(step));
    }
  }
}
