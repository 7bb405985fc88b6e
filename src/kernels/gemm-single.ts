/**
 * Products of f32 without tensor cores, by asynchronous copies in several stages. A warp has four by eight threads, each with 8 or 16 rows and 8 columns; a
 * factor stays in shared memory as it is in global memory, and threads read four elements of it at a time.
 */
import {
  blockIndex,
  commitCopies,
  constant,
  copyAsync,
  dynamicShared,
  f32,
  kernel,
  laneIndex,
  local,
  loop,
  type Pointer,
  pointerAt,
  syncThreads,
  type TypedKernel,
  threadIndex,
  u32,
  u64,
  type Value,
  type Variable,
  v4,
  waitCopies,
  warpIndex,
  when,
} from '../build/index.ts';
import { activations } from './functions.ts';
import { type GemmArguments, type GemmInside, type GemmOptions, gemmParameters, gemmPlan } from './gemm-plan.ts';
import { refuse } from './refuse.ts';
import { named, portable, routine } from './routine.ts';

type Word = Value<'u32'>;
type Real = Value<'f32'>;

/** How a block of `singleGemm` is divided. */
export interface SingleTile {
  /** Rows of the result of a block: a multiple of four times those of a thread. */
  readonly rows: number;
  /** Columns of the result of a block: a multiple of 64. */
  readonly columns: number;
  /** Tiles along k in flight. */
  readonly stages: number;
  /** Indices of k in a tile. */
  readonly depth: 8 | 16 | 32;
  /** Rows of a thread. */
  readonly own: 4 | 8 | 16;
  readonly minBlocks?: number;
}

/** Options of `singleGemm`. */
export interface SingleGemmOptions extends Omit<GemmOptions<'f32'>, 'tile' | 'type'> {
  readonly tile?: SingleTile;
}

interface Form {
  readonly tile: SingleTile;
  readonly threads: number;
  readonly transposeA: boolean;
  readonly transposeB: boolean;
  readonly activation: keyof typeof activations;
}

const ownColumns = 8;
const [down, across] = [4, 8];
/** Elements between lines whose elements are along k, so that threads find theirs in different banks. */
const gap = 4;

/** `gemm` of f32, which sums in the order of k. It needs sm_80. Deterministic, with the bits of `gemm`. */
export function singleGemm(options: SingleGemmOptions = {}) {
  const { transposeA = false, transposeB = false, activation = 'identity' } = options;
  const tile = options.tile ?? { rows: 128, columns: 128, stages: 3, depth: 16, own: 8, minBlocks: 2 };
  const { rows, columns, stages, depth, own, minBlocks } = tile;
  const threads = (rows / (down * own)) * (columns / (across * ownColumns)) * 32;
  const name = named(
    ...['gemm', 'single', `${rows}x${columns}x${depth}`, stages, own, minBlocks],
    transposeA && 'ta',
    transposeB && 'tb',
    activation !== 'identity' && activation,
  );
  if (!Number.isInteger(threads / 32) || threads > 1024) refuse(name, 'a block has whole warps');
  const form: Form = { tile, threads, transposeA, transposeB, activation };
  const make = (key: string): TypedKernel<ReturnType<typeof gemmParameters<'f32'>>> =>
    kernel(key, gemmParameters('f32'), (p) => body(p as unknown as GemmInside, form), { ...portable, block: threads, minBlocks });
  const shared = 4 * stages * (elementsOf(rows, depth, !transposeA) + elementsOf(columns, depth, transposeB));
  return routine(name, make, (given: GemmArguments<'f32'>) =>
    gemmPlan({ tile: [rows, columns], threads, shared, transposeA, transposeB }, given),
  );
}

const elementsOf = (lines: number, depth: number, isAlong: boolean): number => (isAlong ? lines * (depth + gap) : lines * depth);

interface From {
  readonly start: Value<'u64'>;
  readonly pitch: Value<'u64'>;
  readonly line: Word;
  readonly lines: Word;
  readonly k: Word;
}

/** Copies a tile: lines of indices of k if k is contiguous, else indices of k of lines. What is beyond the matrix is 0. */
function loader(
  lines: number,
  { depth }: SingleTile,
  isAlong: boolean,
  threads: number,
  from: From,
): (to: Pointer<'f32', 'shared'>, k: Word) => void {
  const parts = (isAlong ? depth : lines) / 4;
  const rows = isAlong ? lines : depth;
  const index = threadIndex();
  const [part, row] = [index.rem(parts), index.div(parts)];
  const step = threads / parts;
  const copies = rows / step;
  const rowPitch = isAlong ? depth + gap : lines;
  const place = row.mul(rowPitch).add(part.mul(4));
  const pitch = from.pitch.mul(4);
  const line = from.line.add(isAlong ? row : part.mul(4));
  const base = from.start.add(isAlong ? line.to(u64).mul(pitch).add(part.mulWide(16)) : row.to(u64).mul(pitch).add(line.mulWide(4)));
  const stride = pitch.mul(step);
  const isAligned = from.start.and(15).eq(0).and(from.pitch.and(3).eq(0));
  const left = (end: Word, at: Word): Word => at.lt(end).select(end.sub(at), 0).min(4).mul(4);
  const linesLeft = isAlong ? undefined : left(from.lines, line);
  if (!Number.isInteger(copies) || copies < 1) refuse('gemm', 'the threads do not divide a tile');
  return (to, k) => {
    const first = base.add(isAlong ? k.mulWide(4) : k.to(u64).mul(pitch));
    const alongLeft = isAlong ? left(from.k, k.add(part.mul(4))) : undefined;
    const readOf = (i: number): Word =>
      isAlong
        ? line
            .add(i * step)
            .lt(from.lines)
            .select(alongLeft!, 0)
        : k
            .add(row)
            .add(i * step)
            .lt(from.k)
            .select(linesLeft!, 0);
    const each = (copy: (to: Pointer<'f32', 'shared'>, from: Pointer<'f32', 'global'>, read: Word) => void): void => {
      let source = first;
      for (let i = 0; i < copies; i++) {
        copy(to.add(place).add(i * step * rowPitch), pointerAt(f32, 'global', source), readOf(i));
        if (i + 1 < copies) source = source.add(stride);
      }
    };
    when(
      isAligned,
      () => each((into, out, read) => copyAsync(into.at(0), out.at(0), 16, { read })),
      () =>
        each((into, out, read) => {
          for (let e = 0; e < 4; e++) copyAsync(into.at(e), out.at(e), 4, { read: read.gt(4 * e).select(constant(u32, 4), 0) });
        }),
    );
  };
}

/** The lines of a thread among those of its warp, by the thread's index along them. */
const linesOf = (isAlong: boolean, count: number, side: number): { factor: number; each: number[] } =>
  isAlong
    ? { factor: 1, each: Array.from({ length: count }, (_, i) => i * side) }
    : { factor: 4, each: Array.from({ length: count }, (_, i) => (i & 3) + 4 * side * (i >> 2)) };

/** The elements of the lines of a thread at four indices of k, by index of k. */
function reader(isAlong: boolean, lines: number[], rowPitch: number): (from: Pointer<'f32', 'shared'>, k: number) => (e: number) => Real[] {
  if (isAlong)
    return (from, k) => {
      const loaded = lines.map(
        (line) =>
          from
            .add(line * rowPitch + k)
            .as(v4(f32))
            .at(0)
            .get().lanes,
      );
      return (e) => loaded.map((lanes) => lanes[e]!);
    };
  return (from, k) => (e) =>
    lines
      .filter((_, i) => i % 4 === 0)
      .flatMap((line) => [
        ...from
          .add((k + e) * rowPitch + line)
          .as(v4(f32))
          .at(0)
          .get().lanes,
      ]);
}

/** Tiles of both factors in shared memory: their loads, the places of a thread in them, and its reads. */
function tilesOf(p: GemmInside, { tile, transposeA, transposeB, threads }: Form) {
  const { rows, columns, depth, own } = tile;
  const batch = blockIndex('z').to(u64);
  const [row, column] = [blockIndex('y').mul(rows), blockIndex('x').mul(columns)];
  const start = (of: GemmInside['a'], stride: Value<'u64'>): Value<'u64'> => (of.address() as Value<'u64'>).add(batch.mul(stride).mul(4));
  const fromA = { start: start(p.a, p.strideA), pitch: p.lda, line: row, lines: p.m, k: p.k };
  const fromB = { start: start(p.b, p.strideB), pitch: p.ldb, line: column, lines: p.n, k: p.k };
  const loadA = loader(rows, tile, !transposeA, threads, fromA);
  const loadB = loader(columns, tile, transposeB, threads, fromB);
  const sizeA = elementsOf(rows, depth, !transposeA);
  const warpsAcross = columns / (across * ownColumns);
  const [linesA, linesB] = [linesOf(!transposeA, own, down), linesOf(transposeB, ownColumns, across)];
  const [warpRow, warpColumn] = [warpIndex().div(warpsAcross), warpIndex().rem(warpsAcross)];
  const top = warpRow.mul(down * own).add(laneIndex().shr(3).mul(linesA.factor));
  const side = warpColumn.mul(across * ownColumns).add(laneIndex().and(7).mul(linesB.factor));
  const [pitchA, pitchB] = [transposeA ? rows : depth + gap, transposeB ? depth + gap : columns];
  const [placeA, placeB] = [transposeA ? top : top.mul(pitchA), transposeB ? side.mul(pitchB) : side];
  const stageSize = sizeA + elementsOf(columns, depth, transposeB);
  const origin = dynamicShared(f32);
  return {
    load: (stage: Word, round: Word): void => {
      const to = origin.add(stage.mul(stageSize));
      loadA(to, round.mul(depth));
      loadB(to.add(sizeA), round.mul(depth));
    },
    reads: (stage: Word) => {
      const from = origin.add(stage.mul(stageSize));
      const [readA, readB] = [reader(!transposeA, linesA.each, pitchA), reader(transposeB, linesB.each, pitchB)];
      const [left, right] = [from.add(placeA), from.add(sizeA).add(placeB)];
      return (k: number) => [readA(left, k), readB(right, k)] as const;
    },
    where: {
      rows: linesA.each.map((line) => row.add(top).add(line)),
      columns: linesB.each.map((line) => column.add(side).add(line)),
      batch,
    },
  };
}

function body(p: GemmInside, form: Form): void {
  const { stages, depth, own } = form.tile;
  const { load, reads, where } = tilesOf(p, form);
  const totals = Array.from({ length: own * ownColumns }, () => local(f32, 0));
  const rounds = p.k.add(depth - 1).div(depth);
  loop(0, stages - 1, 1, (round) => {
    when(round.lt(rounds), () => load(round, round));
    commitCopies();
  });
  const [reading, writing] = [local(u32, 0), local(u32, stages - 1)];
  const next = (stage: Variable<'u32'>): void => stage.set(stage.add(1).eq(stages).select(constant(u32, 0), stage.add(1)));
  loop(constant(u32, 0), rounds, 1, (round) => {
    waitCopies(stages - 2);
    syncThreads();
    const later = round.add(stages - 1);
    when(later.lt(rounds), () => load(writing.get(), later));
    commitCopies();
    const read = reads(reading);
    for (let k = 0; k < depth; k += 4) {
      const [a, b] = read(k);
      for (let e = 0; e < 4; e++) multiply(totals, a(e), b(e));
    }
    next(reading);
    next(writing);
  });
  waitCopies(0);
  store(p, form, totals, where);
}

/** Adds the products of a column and a row. */
function multiply(totals: readonly Variable<'f32'>[], column: readonly Real[], row: readonly Real[]): void {
  for (const [r, u] of column.entries()) {
    // Back and forth, so that a register that was read is read again.
    for (let i = 0; i < ownColumns; i++) {
      const c = r % 2 === 0 ? i : ownColumns - 1 - i;
      const total = totals[r * ownColumns + c]!;
      total.set(u.fma(row[c]!, total));
    }
  }
}

interface Where {
  readonly rows: readonly Word[];
  readonly columns: readonly Word[];
  readonly batch: Value<'u64'>;
}

function store(p: GemmInside, { transposeB, activation }: Form, totals: readonly Variable<'f32'>[], { rows, columns, batch }: Where): void {
  const start = p.c.add(batch.mul(p.strideC));
  const isAligned = (start.address() as Value<'u64'>).and(15).eq(0).and(p.ldc.and(3).eq(0));
  const hasBias = p.bias.address().ne(0);
  const biases = columns.map((each) => {
    const own = local(f32, 0);
    when(hasBias.and(each.lt(p.n)), () => own.set(p.bias.at(each)));
    return own;
  });
  const isPlain = p.beta.eq(0);
  rows.forEach((row, r) => {
    when(row.lt(p.m), () => {
      const line = start.add(row.to(u64).mul(p.ldc));
      const sumAt = (c: number): Real => p.alpha.fma(totals[r * ownColumns + c]!, biases[c]!);
      const one = (c: number): void =>
        when(columns[c]!.lt(p.n), () => {
          const value = local(f32, sumAt(c));
          when(isPlain.not(), () => value.set(p.beta.fma(line.at(columns[c]!).get(), value)));
          line.at(columns[c]!).set(activations[activation](value.get()));
        });
      if (transposeB) {
        columns.forEach((_, c) => {
          one(c);
        });
        return;
      }
      for (let c = 0; c < ownColumns; c += 4)
        when(
          isPlain.and(isAligned).and(columns[c + 3]!.lt(p.n)),
          () =>
            line
              .add(columns[c]!)
              .as(v4(f32))
              .at(0)
              .set([0, 1, 2, 3].map((e) => activations[activation](sumAt(c + e))) as unknown as readonly [Real, Real, Real, Real]),
          () =>
            [0, 1, 2, 3].forEach((e) => {
              one(c + e);
            }),
        );
    });
  });
}
