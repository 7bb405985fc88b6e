/** Loads of f32 factors through registers, where they are rounded to tf32, into tiles of 32 indices of k: rows of 128 bytes whose parts are exchanged. */
import { b32, f32, local, pointerAt, threadIndex, toTf32, u64, type Value, type Variable, v4, vector, when } from '../build/index.ts';
import type { FactorFrom, TileForm } from './gemm-tiles.ts';
import { refuse } from './refuse.ts';

type Word = Value<'u32'>;
type Long = Value<'u64'>;

/** Elements of a part of 16 bytes, and parts of a row of a tile. */
const perPart = 4;
const parts = 8;
const depth = perPart * parts;
const rowBytes = 128;

/** The loads of a thread. */
export interface RoundedLoads {
  /** Loads this thread's elements of the tile that starts at an index of k. */
  load(k: Word): void;
  /** Rounds what was loaded, and stores it in a tile. */
  store(to: Word): void;
}

/** Four elements along k of a line. */
type Part = readonly Variable<'f32'>[];
const partsOf = (count: number): Part[] => Array.from({ length: count }, () => Array.from({ length: perPart }, () => local(f32, 0)));

/** The loads of a tile: of its last lines those of the last one are loaded again, because their results are not stored; behind the last index of k are zeros. */
export function roundedLoads(tile: TileForm, from: FactorFrom): RoundedLoads {
  const { lines, threads } = tile;
  const count = (lines * parts) / threads;
  const side = Math.min(threads, lines);
  const isShared = [count, threads / 64, lines / side, threads / side, (parts * side) / threads].every(Number.isInteger);
  if (!isShared) refuse('gemm', `${threads} threads do not divide tiles of ${lines} lines`);
  return tile.isAlong ? alongLoads(tile, from, count) : acrossLoads(tile, from, count);
}

const elementAt = (address: Long) => pointerAt(f32, 'global', address).at(0);

/** Rounds a part and stores it in its row: the part is exchanged by the bits of the row. */
function storePart(to: Word, place: Word, offset: number, part: Part): void {
  const rounded = part.map((value) => toTf32(value).as(b32)) as [Value<'b32'>, Value<'b32'>, Value<'b32'>, Value<'b32'>];
  pointerAt(b32, 'shared', to.add(place).add(offset)).as(v4(b32)).at(0).set(vector(b32, rounded));
}

/** Loads elements of a part that are not behind the last index of k; zeros behind it. */
function loadSome(part: Part, isThere: readonly Value<'pred'>[], addressOf: (e: number) => Long): void {
  part.forEach((value, e) => {
    value.set(0);
    when(isThere[e]!, () => value.set(elementAt(addressOf(e)).get()));
  });
}

/** A line lies along k: eight threads load the parts of a line, all at once where it is aligned. */
function alongLoads({ lines, threads }: TileForm, from: FactorFrom, count: number): RoundedLoads {
  const index = threadIndex();
  const [part, row] = [index.rem(parts), index.div(parts)];
  const step = threads / parts;
  const place = row.mul(rowBytes).add(part.xor(row.and(7)).mul(16));
  const pitch = from.pitch.mul(4);
  const own = part.mul(perPart);
  const isQuick = from.start.and(15).eq(0).and(from.pitch.and(3).eq(0)).and(from.line.add(lines).le(from.lines));
  const base = from.start.add(from.line.add(row).to(u64).mul(pitch)).add(own.mulWide(4));
  const stride = pitch.mul(step);
  const values = partsOf(count);
  const loadAll = (k: Word): void => {
    let at = base.add(k.mulWide(4));
    values.forEach((each, i) => {
      const four = pointerAt(f32, 'global', at).as(v4(f32)).at(0).get();
      for (const [e, value] of four.lanes.entries()) each[e]!.set(value);
      if (i + 1 < count) at = at.add(stride);
    });
  };
  const loadEdge = (k: Word): void => {
    const first = k.add(own);
    const isThere = Array.from({ length: perPart }, (_, e) => first.add(e).lt(from.k));
    const start = from.start.add(first.mulWide(4));
    values.forEach((each, i) => {
      const line = from.line
        .add(row)
        .add(i * step)
        .min(from.lines.sub(1));
      const at = start.add(line.to(u64).mul(pitch));
      loadSome(each, isThere, (e) => at.add(4 * e));
    });
  };
  return {
    load: (k) =>
      when(
        isQuick.and(k.add(depth).le(from.k)),
        () => loadAll(k),
        () => loadEdge(k),
      ),
    store: (to) =>
      values.forEach((each, i) => {
        storePart(to, place, i * step * rowBytes, each);
      }),
  };
}

/** Lines lie next to each other: threads next to each other load elements of different lines, each four indices of k of its own. */
function acrossLoads({ lines, threads }: TileForm, from: FactorFrom, count: number): RoundedLoads {
  const side = Math.min(threads, lines);
  const [more, groups] = [lines / side, threads / side];
  const [column, group] = [threadIndex().rem(side), threadIndex().div(side)];
  const pitch = from.pitch.mul(4);
  const values = partsOf(count);
  /** The parts of this thread: lines that are `side` apart, and groups of four indices of k. */
  const each = (visit: (part: Part, which: { line: number; group: number }) => void): void => {
    for (const [i, part] of values.entries()) visit(part, { line: (i % more) * side, group: Math.floor(i / more) * groups });
  };
  const starts = Array.from({ length: more }, (_, m) =>
    from.start.add(
      from.line
        .add(column)
        .add(m * side)
        .min(from.lines.sub(1))
        .mulWide(4),
    ),
  );
  const startOf = (line: number, k: Word): Long => starts[line / side]!.add(k.to(u64).mul(pitch));
  const loadAll = (k: Word): void =>
    each((part, which) => {
      let at = startOf(which.line, k.add(group.add(which.group).mul(perPart)));
      part.forEach((value, e) => {
        value.set(elementAt(at).get());
        if (e + 1 < perPart) at = at.add(pitch);
      });
    });
  const loadEdge = (k: Word): void =>
    each((part, which) => {
      const first = k.add(group.add(which.group).mul(perPart));
      const isThere = part.map((_, e) => first.add(e).lt(from.k));
      loadSome(part, isThere, (e) => startOf(which.line, first.add(e)));
    });
  return {
    load: (k) =>
      when(
        k.add(depth).le(from.k),
        () => loadAll(k),
        () => loadEdge(k),
      ),
    store: (to) =>
      each((part, which) => {
        const row = column.add(which.line);
        const turned = group.add(which.group).xor(row.and(7));
        storePart(to, row.mul(rowBytes).add(turned.mul(16)), 0, part);
      }),
  };
}
