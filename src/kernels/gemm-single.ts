/**
 * Products of f32 without tensor cores, by asynchronous copies in several stages. A warp has four by eight threads, each with 8 or 16 rows and 8 columns.
 * Threads read four elements of a factor at a time, and those of the next index of k while they multiply those of this one, also over the barrier between
 * tiles.
 */
import {
  blockIndex,
  commitCopies,
  constant,
  dynamicShared,
  f32,
  kernel,
  laneIndex,
  local,
  loop,
  type Pointer,
  syncThreads,
  type TypedKernel,
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
import { type CopiedTile, type TileCopies, tileCopies, tilePitch } from './gemm-copies.ts';
import { type GemmArguments, type GemmInside, type GemmOptions, gemmParameters, gemmPlan } from './gemm-plan.ts';
import { refuse } from './refuse.ts';
import { named, portable, routine } from './routine.ts';
import { advance } from './stages.ts';

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

/** The threads of a block for a tile. */
export const singleThreads = ({ rows, columns, own }: SingleTile): number => (rows / (down * own)) * (columns / (across * ownColumns)) * 32;

/** `gemm` of f32, which sums in the order of k. It needs sm_80. Deterministic, with the bits of `gemm`. */
export function singleGemm(options: SingleGemmOptions = {}) {
  const { transposeA = false, transposeB = false, activation = 'identity' } = options;
  const tile = options.tile ?? { rows: 128, columns: 128, stages: 4, depth: 8, own: 16, minBlocks: 2 };
  const { rows, columns, stages, depth, own, minBlocks } = tile;
  const threads = singleThreads(tile);
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
  const pitch = (lines: number, isAlong: boolean): number => tilePitch({ lines, isAlong, depth, threads });
  const shared = 4 * stages * depth * (pitch(rows, !transposeA) + pitch(columns, transposeB));
  return routine(name, make, (given: GemmArguments<'f32'>) =>
    gemmPlan({ tile: [rows, columns], threads, shared, transposeA, transposeB }, given),
  );
}

/** The lines of a thread among those of its warp, in fours: the first four of all threads, then the next. */
const linesOf = (count: number, side: number): number[] => Array.from({ length: count }, (_, i) => (i & 3) + 4 * side * (i >> 2));

/** Lines of a thread at an index of k. */
type Fragment = readonly Variable<'f32'>[];

/** The lines of a thread in the tile of a block. */
function linesOfThread({ tile: { columns, own } }: Form) {
  const warpsAcross = columns / (across * ownColumns);
  const [warpRow, warpColumn] = [warpIndex().div(warpsAcross), warpIndex().rem(warpsAcross)];
  // Lanes next to each other have the same columns, and those at a distance of two the same rows: both make reads of 16 bytes take half the time.
  const lane = laneIndex();
  const [laneRow, laneColumn] = [lane.and(1).or(lane.shr(4).shl(1)), lane.shr(1).and(7)];
  return {
    top: warpRow.mul(down * own).add(laneRow.mul(4)),
    side: warpColumn.mul(across * ownColumns).add(laneColumn.mul(4)),
    linesA: linesOf(own, down),
    linesB: linesOf(ownColumns, across),
  };
}

/** Reads lines of a thread, four at a time. */
function readLines(from: Pointer<'f32', 'shared'>, lines: readonly number[], to: Fragment): void {
  for (let i = 0; i < lines.length; i += 4) {
    const four = from.add(lines[i]!).as(v4(f32)).at(0).get();
    for (const [e, value] of four.lanes.entries()) to[i + e]!.set(value);
  }
}

/** Where a block is. */
interface Corner {
  readonly row: Word;
  readonly column: Word;
  readonly batch: Value<'u64'>;
}

/** Copies of both factors, one tile after the other. */
function copierOf(p: GemmInside, { tile, transposeA, transposeB, threads }: Form, { row, column, batch }: Corner) {
  const { rows, columns, depth, stages } = tile;
  const start = (of: GemmInside['a'], stride: Value<'u64'>): Value<'u64'> => (of.address() as Value<'u64'>).add(batch.mul(stride).mul(4));
  const forms: [CopiedTile, CopiedTile] = [
    { lines: rows, depth, isAlong: !transposeA, threads },
    { lines: columns, depth, isAlong: transposeB, threads },
  ];
  const copies = [
    tileCopies(forms[0], { start: start(p.a, p.strideA), pitch: p.lda, line: row, lines: p.m, k: p.k }),
    tileCopies(forms[1], { start: start(p.b, p.strideB), pitch: p.ldb, line: column, lines: p.n, k: p.k }),
  ] as const;
  const [pitchA, pitchB] = [tilePitch(forms[0]), tilePitch(forms[1])];
  const [sizeA, size] = [depth * pitchA, depth * (pitchA + pitchB)];
  const isQuick = copies[0].isQuick.and(copies[1].isQuick);
  const stage = local(u32, 0);
  const each = (run: (of: TileCopies, to: Pointer<'f32', 'shared'>) => void): void => {
    const to = dynamicShared(f32).add(stage.mul(size));
    run(copies[0], to);
    run(copies[1], to.add(sizeA));
  };
  const end = (): void => {
    for (const of of copies) of.step();
    advance(stage, stages);
    commitCopies();
  };
  return {
    ...{ pitchA, pitchB, sizeA, size },
    /** Copies the tile of a round. */
    copy: (round: Word): void => {
      const k = round.mul(depth);
      const isWhole = p.k.ge(depth).and(k.le(p.k.sub(depth)));
      const isUsual = isWhole.and(isQuick);
      const any = (whole: boolean) => () => each((of, to) => of.any(to, k, whole));
      when(isUsual.not(), () => when(isWhole, any(true), any(false)));
      each((of, to) => of.quick(to, isUsual));
      end();
    },
    /** The same with less code. */
    copyShortly: (round: Word): void => {
      each((of, to) => of.any(to, round.mul(depth), false));
      end();
    },
  };
}

function body(p: GemmInside, form: Form): void {
  const { stages, depth, own, rows: tileRows, columns: tileColumns } = form.tile;
  const corner = { row: blockIndex('y').mul(tileRows), column: blockIndex('x').mul(tileColumns), batch: blockIndex('z').to(u64) };
  const { pitchA, pitchB, sizeA, size, copy, copyShortly } = copierOf(p, form, corner);
  const { top, side, linesA, linesB } = linesOfThread(form);
  const totals = Array.from({ length: own * ownColumns }, () => local(f32, 0));
  const rounds = p.k.add(depth - 1).div(depth);
  const fragment = (count: number): Fragment => Array.from({ length: count }, () => local(f32, 0));
  const fragments = [0, 1].map(() => [fragment(own), fragment(ownColumns)] as const);
  const stage = local(u32, 0);
  const read = (k: number): void => {
    const from = dynamicShared(f32).add(stage.mul(size));
    const [a, b] = fragments[k % 2]!;
    readLines(from.add(top).add((k % depth) * pitchA), linesA, a);
    readLines(
      from
        .add(sizeA)
        .add(side)
        .add((k % depth) * pitchB),
      linesB,
      b,
    );
  };
  const arrive = (): void => {
    waitCopies(stages - 2);
    syncThreads();
  };
  loop(0, stages - 1, 1, copyShortly);
  arrive();
  read(0);
  loop(constant(u32, 0), rounds, 1, (round) => {
    // Into the stage of which the round before read last. Behind the last tile these are zeros, because a round reads the first lines of the next one.
    copy(round.add(stages - 1));
    for (let k = 0; k < depth; k++) {
      if (k + 1 === depth) {
        arrive();
        advance(stage, stages);
      }
      read(k + 1);
      multiply(totals, ...fragments[k % 2]!);
    }
  });
  waitCopies(0);
  const { row, column, batch } = corner;
  const where = { rows: linesA.map((line) => row.add(top).add(line)), columns: linesB.map((line) => column.add(side).add(line)), batch };
  store(p, form, totals, where);
}

/** Adds the products of a column and a row. */
function multiply(totals: readonly Variable<'f32'>[], column: Fragment, row: Fragment): void {
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
