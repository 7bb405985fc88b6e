/**
 * Tiles of 16-bit factors in shared memory: rows of 128 bytes whose parts of 16 bytes are exchanged by the number of the row, as tensor cores read them without
 * conflicts of banks. Copies are asynchronous where memory is aligned to 16 bytes, and element by element elsewhere.
 */
import {
  b32,
  copyAsync,
  type Factor,
  f16,
  inline,
  laneIndex,
  local,
  loop,
  pointerAt,
  threadIndex,
  u16,
  u32,
  u64,
  type Value,
  v4,
  when,
} from '../build/index.ts';

import { refuse } from './refuse.ts';

type Word = Value<'u32'>;
type Long = Value<'u64'>;

/** The elements of 16 bits in a row of a tile. */
export const tileDepth = 64;
const partBytes = 16;
const perPart = 8;
const rowBytes = 128;

/** A factor in memory, and the part of it that a block reads. */
export interface FactorFrom {
  /** The first element. */
  readonly start: Long;
  /** The elements from one row in memory to the next. */
  readonly pitch: Long;
  /** The first row of `a` or column of `b` of this block, and how many there are in all. */
  readonly line: Word;
  readonly lines: Word;
  readonly k: Word;
}

/** Which tile: its lines, whether k is contiguous in memory, and the threads that load it. */
export interface TileForm {
  readonly lines: number;
  readonly isAlong: boolean;
  readonly threads: number;
}

/** The bytes of a tile. */
export const bytesOfTile = (lines: number): number => lines * rowBytes;

/**
 * Loads of a tile. `isAlong`: a row of the tile is a line with 64 indices of k. Otherwise it is an index of k with 64 lines, and panels of 64 lines follow each
 * other. Lines and indices of k beyond the last are zeros.
 */
export function tileLoader({ lines: count, isAlong, threads }: TileForm, from: FactorFrom): (to: Word, k: Word) => void {
  const index = threadIndex();
  const across = isAlong ? tileDepth / perPart : count / perPart;
  const [part, row] = [index.rem(across), index.div(across)];
  const step = threads / across;
  const copies = (count * tileDepth) / perPart / threads;
  if (step % 8 !== 0 || !Number.isInteger(copies) || copies < 1)
    refuse('gemm', `${threads} threads do not divide tiles of ${count} lines: eight rows of 128 bytes at a time`);
  // Rows of a thread are a multiple of eight apart, so that their parts are exchanged alike.
  const turned = isAlong ? part.xor(row.and(7)) : part.and(7).xor(row.and(7));
  const panel = isAlong ? turned : turned.add(part.shr(3).mul(tileDepth * perPart));
  const place = row.mul(rowBytes).add(panel.mul(partBytes));
  const pitch = from.pitch.mul(2);
  const own = isAlong
    ? from.line.add(row).to(u64).mul(pitch).add(part.mulWide(partBytes))
    : row
        .to(u64)
        .mul(pitch)
        .add(from.line.add(part.mul(perPart)).mulWide(2));
  const base = from.start.add(own);
  const stride = pitch.mul(step);
  const isAligned = from.start
    .and(partBytes - 1)
    .eq(0)
    .and(from.pitch.and(perPart - 1).eq(0));
  const left = (end: Word, at: Word): Word => at.lt(end).select(end.sub(at), 0).min(perPart).mul(2);
  const linesLeft = isAlong ? undefined : left(from.lines, from.line.add(part.mul(perPart)));
  const isInside = from.line.add(count).le(from.lines).and(isAligned);
  return (to, k) => {
    const first = base.add(isAlong ? k.mulWide(2) : k.to(u64).mul(pitch));
    const copyAll = (readOf?: (i: number) => Word): void => {
      let source = first;
      for (let i = 0; i < copies; i++) {
        const [into, out] = [pointerAt(f16, 'shared', to.add(place)).at(0, i * step * tileDepth), pointerAt(f16, 'global', source).at(0)];
        copyAsync(into, out, 16, readOf ? { read: readOf(i) } : {});
        if (i + 1 < copies) source = source.add(stride);
      }
    };
    const readOf = (i: Word | number): Word => {
      const at = row.add(typeof i === 'number' ? i * step : i.mul(step));
      if (isAlong)
        return from.line
          .add(at)
          .lt(from.lines)
          .select(left(from.k, k.add(part.mul(perPart))), 0);
      return k.add(at).lt(from.k).select(linesLeft!, 0);
    };
    const copyEdge = (): void =>
      when(
        isAligned,
        () => copyAll(readOf),
        () =>
          loop(0, copies, 1, (i) => {
            const into = to.add(place).add(i.mul(step * rowBytes));
            copyElements(into, first.add(i.to(u64).mul(stride)), readOf(i).shr(1));
          }),
      );
    when(isInside.and(k.add(tileDepth).le(from.k)), () => copyAll(), copyEdge);
  };
}

/** Copies up to eight elements one by one, with zeros behind them. */
function copyElements(to: Word, from: Long, count: Word): void {
  const source = pointerAt(u16, 'global', from);
  const values = Array.from({ length: perPart }, (_, e) => {
    const value = local(u32, 0);
    when(count.gt(e), () => value.set(source.at(e).get().to(u32)));
    return value;
  });
  const words = [0, 2, 4, 6].map((e) => values[e]!.or(values[e + 1]!.shl(16)).as(b32));
  pointerAt(b32, 'shared', to)
    .as(v4(b32))
    .at(0)
    .set(words as unknown as Quad);
}

/** Registers of four matrices of eight by eight. */
export type Quad = readonly [Value<'b32'>, Value<'b32'>, Value<'b32'>, Value<'b32'>];

/** Four matrices of eight by eight, by the addresses of their rows in the lanes. */
const loadMatrices = (address: Word, offset: number, isTurned: boolean): Quad =>
  inline(
    `ldmatrix.sync.aligned.m8n8.x4${isTurned ? '.trans' : ''}.shared.b16 {%0, %1, %2, %3}, [%4+${offset}];`,
    [b32, b32, b32, b32],
    [address],
  );

/**
 * Loads of 16 lines by 16 indices of k from a tile: the registers of a factor `a`, or of two factors `b` of eight columns. `first` is the first line of the
 * warp, a multiple of 16.
 */
export function fragments(which: 'a' | 'b', isAlong: boolean, first: Word): (tile: Word, line: number, step: number) => Quad {
  const lane = laneIndex();
  const [low, high] = [lane.and(7), lane.shr(3).and(1)];
  // The order of the four matrices: `a` goes down its rows first, `b` along k.
  const isLineFirst = which === 'a';
  const upper = lane.shr(4);
  const [lineBit, depthBit] = isLineFirst ? [high, upper] : [upper, high];
  if (isAlong) {
    const row = first.add(low).add(lineBit.mul(8)).mul(rowBytes);
    const places = Array.from({ length: tileDepth / 16 }, (_, step) =>
      row.add(
        depthBit
          .add(2 * step)
          .xor(low)
          .mul(partBytes),
      ),
    );
    return (tile, line, step) => loadMatrices(tile.add(places[step]!), line * rowBytes, false);
  }
  const row = low.add(depthBit.mul(8)).mul(rowBytes);
  // A warp starts at a multiple of 64 lines or within a panel.
  const cache = new Map<number, Word>();
  const placeOf = (line: number): Word => {
    const known = cache.get(line);
    if (known) return known;
    const part = first.add(line).shr(3).add(lineBit);
    const made = row.add(part.shr(3).mul(tileDepth * rowBytes)).add(part.and(7).xor(low).mul(partBytes));
    cache.set(line, made);
    return made;
  };
  return (tile, line, step) => loadMatrices(tile.add(placeOf(line)), step * 16 * rowBytes, true);
}

/** The registers as a factor of `mma`. */
export const factorA = <F extends 'f16' | 'bf16'>(type: F, registers: Quad): Factor<F, 'a'> =>
  ({ which: 'a', type, registers }) as unknown as Factor<F, 'a'>;
/** Two factors next to each other along the columns. */
export const factorsB = <F extends 'f16' | 'bf16'>(type: F, [a, b, c, d]: Quad): readonly [Factor<F, 'b'>, Factor<F, 'b'>] =>
  [
    { which: 'b', type, registers: [a, b] },
    { which: 'b', type, registers: [c, d] },
  ] as unknown as readonly [Factor<F, 'b'>, Factor<F, 'b'>];
