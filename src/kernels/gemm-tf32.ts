/**
 * Products of f32 by tensor cores, rounded to tf32: `mma.sync` from sm_80 on, and `wgmma` on sm_90a. Each element is rounded once, on its way through registers
 * to shared memory, where a line of either factor has its indices of k next to each other, however the factor is stored. What is loaded in a round is stored
 * in the next one, so that products hide the time that memory takes.
 */
import {
  accumulator,
  b8,
  blockIndex,
  commitGroup,
  constant,
  dynamicShared,
  eachElement,
  eachGroupElement,
  type Factor,
  fenceAsync,
  groupAccumulator,
  groupDescriptor,
  groupFence,
  groupMma,
  kernel,
  local,
  loop,
  mma,
  pointerAt,
  syncThreads,
  type TypedKernel,
  threadIndex,
  u32,
  u64,
  type Value,
  waitGroup,
  warpIndex,
  when,
} from '../build/index.ts';
import type { Activation } from './functions.ts';
import { type GemmArguments, type GemmInside, type GemmOptions, gemmParameters, gemmPlan } from './gemm-plan.ts';
import { roundedLoads } from './gemm-rounded.ts';
import { storeWide } from './gemm-store-wide.ts';
import { bytesOfTile, fragments, type Quad } from './gemm-tiles.ts';
import { refuse } from './refuse.ts';
import { named, portable, routine } from './routine.ts';
import { advance } from './stages.ts';
import { eachPair, type TakePair } from './sum-pairs.ts';

type Word = Value<'u32'>;

/** The indices of k in a tile: a row of 128 bytes. */
const depth = 32;
/** Indices of k of one product. */
const deep = 8;

/** How a block of `tf32Gemm` is divided. */
export interface RoundedTile {
  /** Rows and columns of the result that a block computes. */
  readonly rows: number;
  readonly columns: number;
  /** `mma`: the rows and columns of a warp. `wgmma` gives each warp group 64 rows and all columns. */
  readonly warp?: readonly [rows: number, columns: number];
  readonly minBlocks?: number;
}

/** Options of `tf32Gemm`. */
export interface RoundedGemmOptions extends Omit<GemmOptions<'f32'>, 'tile' | 'type' | 'tf32'> {
  /** `mma` by default. `wgmma` needs sm_90a, that chip alone. */
  readonly by?: 'mma' | 'wgmma';
  readonly tile?: RoundedTile;
}

interface Form {
  readonly by: 'mma' | 'wgmma';
  readonly tile: RoundedTile;
  readonly threads: number;
  readonly transposeA: boolean;
  readonly transposeB: boolean;
  readonly activation: Activation;
}

const usual = {
  mma: { rows: 128, columns: 128, warp: [64, 32] },
  wgmma: { rows: 128, columns: 256 },
} as const satisfies Record<string, RoundedTile>;

/** Tiles in shared memory: warp groups read one until the next round is under way. */
const stagesOf = { mma: 2, wgmma: 3 } as const;

/** `gemm` with `tf32` by tensor cores. Deterministic. */
export function tf32Gemm(options: RoundedGemmOptions = {}) {
  const { by = 'mma', transposeA = false, transposeB = false, activation = 'identity' } = options;
  const tile: RoundedTile = options.tile ?? usual[by];
  const { rows, columns, warp = usual.mma.warp, minBlocks } = tile;
  const threads = by === 'wgmma' ? 2 * rows : (rows / warp[0]) * (columns / warp[1]) * 32;
  const name = named(
    ...['gemm', 'tf32', by, `${rows}x${columns}`, by === 'mma' && warp.join('x'), minBlocks],
    transposeA && 'ta',
    transposeB && 'tb',
    activation !== 'identity' && activation,
  );
  if (rows % 64 !== 0 || columns % 64 !== 0 || threads < 128 || threads > 1024) refuse(name, 'tiles have multiples of 64 rows and columns');
  const form: Form = { by, tile, threads, transposeA, transposeB, activation };
  const make = (key: string): TypedKernel<ReturnType<typeof gemmParameters<'f32'>>> =>
    kernel(key, gemmParameters('f32'), (p) => body(p as unknown as GemmInside, form), { ...portable, block: threads, minBlocks });
  const shared = stagesOf[by] * (bytesOfTile(rows) + bytesOfTile(columns)) + 1024;
  return routine(name, make, (given: GemmArguments<'f32'>) =>
    gemmPlan({ tile: [rows, columns], threads, shared, transposeA, transposeB }, given),
  );
}

/** What both kinds of products need. */
interface Rounds {
  readonly rounds: Word;
  readonly at: (stage: Word) => Word;
  /** Loads the tiles of a round into registers. */
  readonly load: (round: Word) => void;
  /** Rounds what was loaded last, and stores it in a stage. */
  readonly store: (stage: Word) => void;
}

function body(p: GemmInside, form: Form): void {
  const { rows, columns } = form.tile;
  const { threads, by } = form;
  const batch = blockIndex('z').to(u64);
  const [row, column] = [blockIndex('y').mul(rows), blockIndex('x').mul(columns)];
  const start = (of: GemmInside['a'], stride: Value<'u64'>): Value<'u64'> => (of.address() as Value<'u64'>).add(batch.mul(stride).mul(4));
  // Rows of 128 bytes are exchanged by the bits of the address, so that tiles start at a multiple of 1024.
  const origin = (dynamicShared(b8).address() as Word).add(1023).and(~1023 >>> 0);
  const stageBytes = bytesOfTile(rows) + bytesOfTile(columns);
  const at = (stage: Word): Word => origin.add(stage.mul(stageBytes));
  const [left, right] = [
    roundedLoads(
      { lines: rows, isAlong: !form.transposeA, threads },
      { start: start(p.a, p.strideA), pitch: p.lda, line: row, lines: p.m, k: p.k },
    ),
    roundedLoads(
      { lines: columns, isAlong: form.transposeB, threads },
      { start: start(p.b, p.strideB), pitch: p.ldb, line: column, lines: p.n, k: p.k },
    ),
  ];
  const rounds: Rounds = {
    rounds: p.k.add(depth - 1).div(depth),
    at,
    load: (round) => {
      left.load(round.mul(depth));
      right.load(round.mul(depth));
    },
    store: (stage) => {
      left.store(at(stage));
      right.store(at(stage).add(bytesOfTile(rows)));
    },
  };
  const finish = (visit: (take: TakePair) => void): void =>
    storeWide(p, { kind: 'tf32', activation: form.activation, tile: form.tile }, { row, column, batch }, visit);
  if (by === 'mma') byWarps(form, rounds, finish);
  else byGroups(form, rounds, finish);
}

/** Runs all rounds: `use` multiplies the tiles of a stage, and calls `next` where the stage behind is free. */
function staged({ rounds, load, store }: Rounds, stages: number, use: (stage: Word, next: () => void) => void): void {
  const [reading, writing] = [local(u32, 0), local(u32, 1 % stages)];
  when(rounds.gt(0), () => {
    load(constant(u32, 0));
    store(constant(u32, 0));
  });
  when(rounds.gt(1), () => load(constant(u32, 1)));
  loop(constant(u32, 0), rounds, 1, (round) => {
    use(reading.get(), () => {
      when(round.add(1).lt(rounds), () => store(writing.get()));
      when(round.add(2).lt(rounds), () => load(round.add(2)));
    });
    advance(reading, stages);
    advance(writing, stages);
  });
}

const factor = <W extends 'a' | 'b'>(which: W, registers: readonly Value<'b32'>[]): Factor<'tf32', W> => ({
  which,
  type: 'tf32',
  registers,
});
const factorsB = ([a, b, c, d]: Quad): readonly [Factor<'tf32', 'b'>, Factor<'tf32', 'b'>] => [factor('b', [a, b]), factor('b', [c, d])];

function byWarps({ tile }: Form, rounds: Rounds, finish: (visit: (take: TakePair) => void) => void): void {
  const [warpRows, warpColumns] = tile.warp ?? usual.mma.warp;
  const across = tile.columns / warpColumns;
  const warp = warpIndex();
  const [top, side] = [warp.div(across).mul(warpRows), warp.rem(across).mul(warpColumns)];
  const [fromA, fromB] = [fragments('a', true, top), fragments('b', true, side)];
  const sums = Array.from({ length: warpRows / 16 }, () => Array.from({ length: warpColumns / 8 }, () => accumulator('tf32')));
  const multiply = (left: Word, step: number): void => {
    const right = left.add(bytesOfTile(tile.rows));
    const a = sums.map((_, i) => factor('a', fromA(left, 16 * i, step)));
    const b = Array.from({ length: warpColumns / 16 }, (_, j) => factorsB(fromB(right, 16 * j, step))).flat();
    sums.forEach((line, i) => {
      line.forEach((sum, j) => {
        mma(sum, a[i]!, b[j]!);
      });
    });
  };
  staged(rounds, stagesOf.mma, (stage, next) => {
    // The tiles of this round are there, and no warp reads those of the round before.
    syncThreads();
    const left = rounds.at(stage);
    const half = depth / deep / 2;
    for (let step = 0; step < half; step++) multiply(left, step);
    next();
    for (let step = half; step < 2 * half; step++) multiply(left, step);
  });
  finish((take) =>
    sums.forEach((line, i) => {
      line.forEach((sum, j) => {
        eachPair(
          (visit) => eachElement(sum, visit),
          (values, r, c) => take(values, top.add(r).add(16 * i), side.add(c).add(8 * j)),
        );
      });
    }),
  );
}

function byGroups({ tile }: Form, rounds: Rounds, finish: (visit: (take: TakePair) => void) => void): void {
  const top = threadIndex().shr(7).mul(64);
  const sum = groupAccumulator('tf32', tile.columns);
  const describe = (from: Word, step: number): Value<'u64'> =>
    groupDescriptor(pointerAt(b8, 'shared', from.add(4 * deep * step)), { leading: 16, stride: 1024, swizzle: 128 });
  staged(rounds, stagesOf.wgmma, (stage, next) => {
    fenceAsync();
    syncThreads();
    const left = rounds.at(stage).add(top.mul(128));
    const right = rounds.at(stage).add(bytesOfTile(tile.rows));
    groupFence();
    for (let step = 0; step < depth / deep; step++) groupMma(sum, describe(left, step), describe(right, step));
    commitGroup();
    // Two rounds back is done in all warps since the barrier, and its stage is free.
    next();
    waitGroup(1);
  });
  waitGroup(0);
  finish((take) =>
    eachPair(
      (visit) => eachGroupElement(sum, visit),
      (values, r, c) => take(values, top.add(r), c),
    ),
  );
}
