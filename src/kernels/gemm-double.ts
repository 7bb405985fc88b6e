/**
 * Products of f64 by tensor cores, by asynchronous copies in several stages: `mma` of 8 rows from sm_80 on, and of 16 rows on sm_90. A product and a sum are
 * rounded once, in the order of k.
 */
import {
  type Accumulator,
  accumulator,
  blockIndex,
  commitCopies,
  constant,
  dynamicShared,
  eachElement,
  type Factor,
  f64,
  kernel,
  type LargeDoubleName,
  laneIndex,
  local,
  loop,
  mma,
  type Pointer,
  shapes,
  syncThreads,
  type TypedKernel,
  u32,
  u64,
  type Value,
  waitCopies,
  warpIndex,
  when,
} from '../build/index.ts';
import { type DoubleTileForm, doubleCopies, doublePitch } from './gemm-double-copies.ts';
import { type GemmArguments, type GemmInside, type GemmOptions, gemmParameters, gemmPlan } from './gemm-plan.ts';
import { storeWide } from './gemm-store-wide.ts';
import { refuse } from './refuse.ts';
import { named, portable, routine } from './routine.ts';
import { advance } from './stages.ts';
import { eachPair } from './sum-pairs.ts';

type Word = Value<'u32'>;
type Shared = Pointer<'f64', 'shared'>;
/** Which `mma` multiplies: `f64` has 8 rows, the others 16. */
export type DoubleMma = 'f64' | LargeDoubleName;

/** How a block of `doubleGemm` is divided. */
export interface DoubleTile {
  readonly rows: number;
  readonly columns: number;
  /** The rows and columns of a warp: multiples of 16 and of 8. */
  readonly warp: readonly [rows: number, columns: number];
  /** Tiles along k in flight. */
  readonly stages: number;
  readonly minBlocks?: number;
}

/** Options of `doubleGemm`. */
export interface DoubleGemmOptions extends Omit<GemmOptions<'f64'>, 'tile' | 'type' | 'tf32' | 'activation'> {
  /** `f64` by default; the others need sm_90. */
  readonly by?: DoubleMma;
  readonly tile?: DoubleTile;
}

interface Form {
  readonly by: DoubleMma;
  readonly tile: DoubleTile;
  readonly threads: number;
  readonly transposeA: boolean;
  readonly transposeB: boolean;
}

/** Indices of k in a tile. */
const depth = 16;

/** The threads of a block for a tile. */
export const doubleThreads = ({ rows, columns, warp }: DoubleTile): number => (rows / warp[0]) * (columns / warp[1]) * 32;

/** `gemm` of f64 by tensor cores. Deterministic. */
export function doubleGemm(options: DoubleGemmOptions = {}) {
  const { by = 'f64', transposeA = false, transposeB = false } = options;
  const tile = options.tile ?? { rows: 128, columns: 128, warp: [64, 32], stages: 4 };
  const { rows, columns, warp, stages, minBlocks } = tile;
  const threads = doubleThreads(tile);
  const size = `${rows}x${columns}`;
  const name = named('gemm', 'mma', by, size, stages, warp.join('x'), minBlocks, transposeA && 'ta', transposeB && 'tb');
  if (!Number.isInteger(threads / 32) || threads > 1024 || warp[0] % 16 !== 0 || warp[1] % 8 !== 0)
    refuse(name, 'a block has whole warps, each with multiples of 16 rows and of 8 columns');
  const form: Form = { by, tile, threads, transposeA, transposeB };
  const make = (key: string): TypedKernel<ReturnType<typeof gemmParameters<'f64'>>> =>
    kernel(key, gemmParameters('f64'), (p) => body(p as unknown as GemmInside, form), { ...portable, block: threads, minBlocks });
  const [formA, formB] = formsOf(form);
  return routine(name, make, (given: GemmArguments<'f64'>) =>
    gemmPlan({ tile: [rows, columns], threads, shared: 8 * stages * (sizeOf(formA) + sizeOf(formB)), transposeA, transposeB }, given),
  );
}

const formsOf = ({ tile, transposeA, transposeB, threads }: Form): readonly [DoubleTileForm, DoubleTileForm] => [
  { lines: tile.rows, depth, isAlong: !transposeA, threads },
  { lines: tile.columns, depth, isAlong: transposeB, threads },
];
/** The elements of a tile in shared memory. */
const sizeOf = (form: DoubleTileForm): number => (form.isAlong ? form.lines : depth) * doublePitch(form);

/** The registers of a factor: elements of a line of eight or of two, at every fourth index of k. */
function fragments(which: 'a' | 'b', by: DoubleMma, form: DoubleTileForm, first: Word) {
  const { m, k } = shapes[by];
  const lane = laneIndex();
  const [line, along] = [first.add(lane.shr(2)), lane.and(3)];
  const pitch = doublePitch(form);
  const place = form.isAlong ? line.mul(pitch).add(along) : along.mul(pitch).add(line);
  const lines = which === 'a' && m === 16 ? [0, 8] : [0];
  return (tile: Shared, more: number, start: number): Factor<'f64', 'a' & 'b'> => {
    const from = tile.add(place);
    const registers = Array.from({ length: k / 4 }, (_, part) => start + 4 * part).flatMap((at) =>
      lines.map((each) => from.at(form.isAlong ? (more + each) * pitch + at : at * pitch + more + each).get()),
    );
    return { which: which as never, type: by as 'f64', registers };
  };
}

function body(p: GemmInside, form: Form): void {
  const { by, tile } = form;
  const { m, n, k: deep } = shapes[by];
  const batch = blockIndex('z').to(u64);
  const [row, column] = [blockIndex('y').mul(tile.rows), blockIndex('x').mul(tile.columns)];
  const start = (of: GemmInside['a'], stride: Value<'u64'>): Value<'u64'> => (of.address() as Value<'u64'>).add(batch.mul(stride).mul(8));
  const [formA, formB] = formsOf(form);
  const [sizeA, size] = [sizeOf(formA), sizeOf(formA) + sizeOf(formB)];
  const copies = [
    doubleCopies(formA, { start: start(p.a, p.strideA), pitch: p.lda, line: row, lines: p.m, k: p.k }),
    doubleCopies(formB, { start: start(p.b, p.strideB), pitch: p.ldb, line: column, lines: p.n, k: p.k }),
  ] as const;
  const at = (stage: Word): Shared => dynamicShared(f64).add(stage.mul(size)) as Shared;
  const load = (stage: Word, round: Word): void => {
    copies[0](at(stage), round.mul(depth));
    copies[1](at(stage).add(sizeA), round.mul(depth));
  };
  const across = tile.columns / tile.warp[1];
  const [top, side] = [warpIndex().div(across).mul(tile.warp[0]), warpIndex().rem(across).mul(tile.warp[1])];
  const [fromA, fromB] = [fragments('a', by, formA, top), fragments('b', by, formB, side)];
  const sums = Array.from({ length: tile.warp[0] / m }, () =>
    Array.from({ length: tile.warp[1] / n }, () => accumulator(by) as Accumulator<'f64'>),
  );
  staged(p.k.add(depth - 1).div(depth), tile.stages, load, (stage) => {
    const left = at(stage);
    const right = left.add(sizeA);
    for (let k = 0; k < depth; k += deep) {
      const b = sums[0]!.map((_, j) => fromB(right, n * j, k));
      sums.forEach((line, i) => {
        const a = fromA(left, m * i, k);
        line.forEach((sum, j) => {
          mma(sum, a, b[j]!);
        });
      });
    }
  });
  storeWide(p, { kind: 'f64', activation: 'identity', tile }, { row, column, batch }, (take) =>
    sums.forEach((line, i) => {
      line.forEach((sum, j) => {
        eachPair(
          (visit) => eachElement(sum, visit as never),
          (values, r, c) => take(values, top.add(r).add(m * i), side.add(c).add(n * j)),
        );
      });
    }),
  );
}

/** Rounds with copies as many rounds before their use as there are stages but one. */
function staged(rounds: Word, stages: number, load: (stage: Word, round: Word) => void, use: (stage: Word) => void): void {
  const ahead = stages - 1;
  loop(0, ahead, 1, (round) => {
    when(round.lt(rounds), () => load(round, round));
    commitCopies();
  });
  const [reading, writing] = [local(u32, 0), local(u32, ahead)];
  loop(constant(u32, 0), rounds, 1, (round) => {
    waitCopies(ahead - 1);
    // The copies of all threads are there, and the stage that is loaded next is not read any more.
    syncThreads();
    const later = round.add(ahead);
    when(later.lt(rounds), () => load(writing.get(), later));
    commitCopies();
    use(reading.get());
    advance(reading, stages);
    advance(writing, stages);
  });
  waitCopies(0);
}
