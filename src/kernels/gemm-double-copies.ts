/** Copies of the tiles of f64 products: as the factor is stored, with rows that are apart so that the lanes of a warp read different banks. */
import { constant, copyAsync, f64, loop, type Pointer, pointerAt, threadIndex, u32, u64, type Value, when } from '../build/index.ts';
import type { FactorFrom } from './gemm-tiles.ts';
import { refuse } from './refuse.ts';

type Word = Value<'u32'>;

/** The form of a tile. */
export interface DoubleTileForm {
  readonly lines: number;
  /** Indices of k. */
  readonly depth: number;
  /** Whether a line is contiguous in memory: its elements are along k. */
  readonly isAlong: boolean;
  readonly threads: number;
}

/** Elements from a row of a tile to the next: four lanes along k and four along the lines read 16 different pairs of banks. */
export const doublePitch = ({ lines, depth, isAlong }: DoubleTileForm): number => (isAlong ? depth : lines) + 4;

/** The copies of a tile from an index of k on: 16 bytes at a time where memory is aligned and the tile whole, else 8. What is beyond the factor is 0. */
export function doubleCopies(form: DoubleTileForm, from: FactorFrom): (to: Pointer<'f64', 'shared'>, k: Word) => void {
  const { lines, depth, isAlong, threads } = form;
  const [rows, across] = isAlong ? [lines, depth] : [depth, lines];
  const tilePitch = doublePitch(form);
  const pitch = from.pitch.mul(8);
  const isInside = from.start.and(15).eq(0).and(from.pitch.and(1).eq(0)).and(from.line.add(lines).le(from.lines));
  /** The place of a thread in rows of so many elements, and how many copies it makes. */
  const share = (width: number) => {
    const each = across / width;
    const [step, count] = [threads / each, (rows * each) / threads];
    if (!Number.isInteger(step) || !Number.isInteger(count)) refuse('gemm', `${threads} threads do not divide a tile of ${lines} lines`);
    return { step, count, row: threadIndex().div(each), at: threadIndex().rem(each).mul(width) };
  };
  const [pairs, singles] = [share(2), share(1)];
  const firstOf = (row: Word, at: Word): Value<'u64'> =>
    isAlong
      ? from.start.add(from.line.add(row).to(u64).mul(pitch)).add(at.mulWide(8))
      : from.start.add(row.to(u64).mul(pitch)).add(from.line.add(at).mulWide(8));
  const base = firstOf(pairs.row, pairs.at);
  const stride = pitch.mul(pairs.step);
  const copyWhole = (to: Pointer<'f64', 'shared'>, k: Word): void => {
    const own = to.add(pairs.row.mad(tilePitch, pairs.at));
    let source = base.add(isAlong ? k.mulWide(8) : k.to(u64).mul(pitch));
    for (let i = 0; i < pairs.count; i++) {
      copyAsync(own.at(i * pairs.step * tilePitch), pointerAt(f64, 'global', source).at(0), 16);
      if (i + 1 < pairs.count) source = source.add(stride);
    }
  };
  const copyEdge = (to: Pointer<'f64', 'shared'>, k: Word): void =>
    loop(0, singles.count, 1, (i) => {
      const row = singles.row.add(i.mul(singles.step));
      const [line, along] = isAlong ? [row, singles.at] : [singles.at, row];
      const [lineAt, kAt] = [from.line.add(line), k.add(along)];
      const isThere = lineAt.lt(from.lines).and(kAt.lt(from.k));
      const [most, last] = [lineAt.min(from.lines.sub(1)), kAt.min(from.k.sub(1))];
      const source = isAlong
        ? from.start.add(most.to(u64).mul(pitch)).add(last.mulWide(8))
        : from.start.add(last.to(u64).mul(pitch)).add(most.mulWide(8));
      copyAsync(to.add(row.mad(tilePitch, singles.at)).at(0), pointerAt(f64, 'global', source).at(0), 8, {
        read: isThere.select(constant(u32, 8), 0),
      });
    });
  return (to, k) =>
    when(
      isInside.and(k.add(depth).le(from.k)),
      () => copyWhole(to, k),
      () => copyEdge(to, k),
    );
}
