/**
 * Products of halves and bfloats by tensor cores: `mma.sync` from sm_80 on, and `wgmma` on sm_90a. Tiles of both factors come to shared memory by asynchronous
 * copies in several stages.
 */
import {
  accumulator,
  b8,
  blockIndex,
  commitCopies,
  commitGroup,
  constant,
  dynamicShared,
  eachElement,
  eachGroupElement,
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
  waitCopies,
  waitGroup,
  warpIndex,
  when,
} from '../build/index.ts';
import type { activations } from './functions.ts';
import { type GemmArguments, type GemmInside, type GemmOptions, gemmParameters, gemmPlan, type HalfType } from './gemm-plan.ts';
import { storeHalf } from './gemm-store.ts';
import { bytesOfTile, factorA, factorsB, fragments, tileDepth, tileLoader } from './gemm-tiles.ts';
import { refuse } from './refuse.ts';
import { named, portable, routine } from './routine.ts';
import { advance } from './stages.ts';
import { eachPair, type TakePair } from './sum-pairs.ts';

type Word = Value<'u32'>;

/** How a block of a tensor kernel is divided. */
export interface TensorTile {
  /** Rows and columns of the result that a block computes. */
  readonly rows: number;
  readonly columns: number;
  /** Tiles of 64 along k in flight. */
  readonly stages: number;
  /** `mma`: the rows and columns of a warp. `wgmma` gives each warp group 64 rows and all columns. */
  readonly warp?: readonly [rows: number, columns: number];
}

/** Options of `tensorGemm`. */
export interface TensorGemmOptions<T extends HalfType> extends Omit<GemmOptions<T>, 'tile'> {
  /** `wgmma` needs sm_90a, that chip alone. */
  readonly by?: 'mma' | 'wgmma';
  readonly tile?: TensorTile;
}

interface Form {
  readonly type: HalfType;
  readonly by: 'mma' | 'wgmma';
  readonly tile: TensorTile;
  readonly threads: number;
  readonly transposeA: boolean;
  readonly transposeB: boolean;
  readonly activation: keyof typeof activations;
}

const usual = {
  mma: { rows: 128, columns: 128, stages: 3, warp: [64, 64] },
  wgmma: { rows: 128, columns: 256, stages: 4 },
} as const satisfies Record<string, TensorTile>;

/** `gemm` of halves or bfloats by tensor cores, which sum with f32. Factors whose rows are aligned to 16 bytes are copied faster. Deterministic. */
export function tensorGemm<T extends HalfType>(options: TensorGemmOptions<T>) {
  const { by = 'mma', transposeA = false, transposeB = false, activation = 'identity' } = options;
  const type = (options.type?.name ?? 'f16') as T;
  const tile: TensorTile = options.tile ?? usual[by];
  const { rows, columns, stages, warp = [64, 64] } = tile;
  const threads = by === 'wgmma' ? 2 * rows : (rows / warp[0]) * (columns / warp[1]) * 32;
  const name = named(
    ...['gemm', by, type, `${rows}x${columns}`, stages, by === 'mma' && warp.join('x')],
    transposeA && 'ta',
    transposeB && 'tb',
    activation !== 'identity' && activation,
  );
  if (rows % 64 !== 0 || columns % 64 !== 0 || threads < 128 || threads > 1024) refuse(name, 'tiles have multiples of 64 rows and columns');
  const form: Form = { type, by, tile, threads, transposeA, transposeB, activation };
  const make = (key: string): TypedKernel<ReturnType<typeof gemmParameters<T>>> =>
    kernel(key, gemmParameters(type), (p) => body(p as unknown as GemmInside, form), { ...portable, block: threads });
  const shared = stages * (bytesOfTile(rows) + bytesOfTile(columns)) + 1024;
  return routine(name, make, (given: GemmArguments<T>) =>
    gemmPlan({ tile: [rows, columns], threads, shared, transposeA, transposeB }, given),
  );
}

function body(p: GemmInside, form: Form): void {
  const { rows, columns } = form.tile;
  const batch = blockIndex('z').to(u64);
  const [row, column] = [blockIndex('y').mul(rows), blockIndex('x').mul(columns)];
  const start = (of: GemmInside['a'], stride: Value<'u64'>): Value<'u64'> => (of.address() as Value<'u64'>).add(batch.mul(stride).mul(2));
  const loads = () => {
    const { threads } = form;
    const [fromA, fromB] = [
      { start: start(p.a, p.strideA), pitch: p.lda, line: row, lines: p.m, k: p.k },
      { start: start(p.b, p.strideB), pitch: p.ldb, line: column, lines: p.n, k: p.k },
    ];
    return [
      tileLoader({ lines: rows, isAlong: !form.transposeA, threads }, fromA),
      tileLoader({ lines: columns, isAlong: form.transposeB, threads }, fromB),
    ] as const;
  };
  // Rows of 128 bytes are exchanged by the bits of the address, so that tiles start at a multiple of 1024.
  const origin = (dynamicShared(b8).address() as Word).add(1023).and(~1023 >>> 0);
  const stageBytes = bytesOfTile(rows) + bytesOfTile(columns);
  const at = (stage: Word): Word => origin.add(stage.mul(stageBytes));
  const loader = (): Rounds['load'] => {
    const [loadA, loadB] = loads();
    return (stage, round) => {
      const to = at(stage);
      loadA(to, round.mul(tileDepth));
      loadB(to.add(bytesOfTile(rows)), round.mul(tileDepth));
    };
  };
  const rounds = p.k.add(tileDepth - 1).div(tileDepth);
  const finish = (visit: (take: TakePair) => void): void => storeHalf(p, form, { row, column, batch }, visit);
  const load = loader();
  if (form.by === 'mma') byWarps(form, { rounds, at, load, finish });
  else byGroups(form, { rounds, at, load, finish });
}

interface Rounds {
  readonly rounds: Word;
  readonly at: (stage: Word) => Word;
  readonly load: (stage: Word, round: Word) => void;
  readonly finish: (visit: (take: TakePair) => void) => void;
}

/** Rounds with copies `ahead` rounds before their use, in as many stages as there are. */
function staged({ rounds, load }: Rounds, stages: number, ahead: number, use: (stage: Word, loadNext: () => void) => void): void {
  loop(0, ahead, 1, (round) => {
    when(round.lt(rounds), () => load(round, round));
    commitCopies();
  });
  const [reading, writing] = [local(u32, 0), local(u32, ahead % stages)];
  loop(constant(u32, 0), rounds, 1, (round) => {
    waitCopies(ahead - 1);
    use(reading.get(), () => {
      const later = round.add(ahead);
      when(later.lt(rounds), () => load(writing.get(), later));
      commitCopies();
    });
    advance(reading, stages);
    advance(writing, stages);
  });
}

function byWarps(form: Form, rounds: Rounds): void {
  const { tile, type } = form;
  const [warpRows, warpColumns] = tile.warp ?? [64, 64];
  const across = tile.columns / warpColumns;
  const warp = warpIndex();
  const [top, side] = [warp.div(across).mul(warpRows), warp.rem(across).mul(warpColumns)];
  const [fromA, fromB] = [fragments('a', !form.transposeA, top), fragments('b', form.transposeB, side)];
  const sums = Array.from({ length: warpRows / 16 }, () => Array.from({ length: warpColumns / 8 }, () => accumulator(type)));
  staged(rounds, tile.stages, tile.stages - 1, (stage, loadNext) => {
    // The copies of all threads are there, and the stage that is loaded next is not read any more.
    syncThreads();
    loadNext();
    const left = rounds.at(stage);
    const right = left.add(bytesOfTile(tile.rows));
    for (let step = 0; step < tileDepth / 16; step++) {
      const a = sums.map((_, i) => factorA(type, fromA(left, 16 * i, step)));
      const b = Array.from({ length: warpColumns / 16 }, (_, j) => factorsB(type, fromB(right, 16 * j, step))).flat();
      sums.forEach((line, i) => {
        line.forEach((sum, j) => {
          mma(sum, a[i]!, b[j]!);
        });
      });
    }
  });
  waitCopies(0);
  rounds.finish((take) =>
    sums.forEach((line, i) => {
      line.forEach((sum, j) => {
        eachPair(
          (visit) => eachElement(sum, visit as never),
          (values, r, c) => take(values, top.add(r).add(16 * i), side.add(c).add(8 * j)),
        );
      });
    }),
  );
}

/** The products of a warp group, of the rows from `top` on: a round, and the end. */
function groupProducts({ tile, type, transposeA, transposeB }: Form, top: Word, { at, finish }: Pick<Rounds, 'at' | 'finish'>) {
  const sum = groupAccumulator(type, tile.columns);
  const panel = tileDepth * 128;
  // Along k the next 16 are 32 bytes on, or 16 rows of 128 bytes.
  const describe = (from: Word, isAlong: boolean, step: number): Value<'u64'> => {
    const place = pointerAt(b8, 'shared', from.add(step * (isAlong ? 32 : 2048)));
    return groupDescriptor(place, { leading: isAlong ? 16 : panel, stride: 1024, swizzle: 128 });
  };
  return {
    multiply: (stage: Word): void => {
      const left = at(stage).add(transposeA ? top.mul(panel / 64) : top.mul(128));
      const right = at(stage).add(bytesOfTile(tile.rows));
      groupFence();
      for (let step = 0; step < tileDepth / 16; step++)
        groupMma(sum, describe(left, !transposeA, step), describe(right, transposeB, step), { transposeA, transposeB: !transposeB });
      commitGroup();
    },
    finish: (): void => {
      waitGroup(0);
      finish((take) =>
        eachPair(
          (visit) => eachGroupElement(sum, visit as never),
          (values, r, c) => take(values, top.add(r), c),
        ),
      );
    },
  };
}

function byGroups(form: Form, rounds: Rounds): void {
  const { stages } = form.tile;
  const products = groupProducts(form, threadIndex().shr(7).mul(64), rounds);
  staged(rounds, stages, stages - 2, (stage, loadNext) => {
    fenceAsync();
    syncThreads();
    products.multiply(stage);
    // Two rounds back is done in all warps since the barrier, and its stage is free.
    loadNext();
    waitGroup(1);
  });
  waitCopies(0);
  products.finish();
}
