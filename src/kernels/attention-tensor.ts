/**
 * Attention of halves and bfloats by tensor cores: the scheme of FlashAttention-2 (arXiv:2307.08691) with `mma.sync`. Queries stay in registers, tiles of keys and
 * values come by asynchronous copies while the ones before are used, and scores become factors of the next product in registers.
 */
import { partOf } from '../api/index.ts';
import {
  b8,
  bf16,
  blockIndex,
  commitCopies,
  constant,
  copyAsync,
  dynamicShared,
  f16,
  f32,
  fenceAsync,
  gridSize,
  kernel,
  laneIndex,
  local,
  loop,
  pack,
  pointerAt,
  s32,
  shuffleXor,
  syncThreads,
  type Type,
  type TypedKernel,
  threadIndex,
  u32,
  u64,
  type Value,
  waitCopies,
  warpIndex,
  when,
} from '../build/index.ts';
import {
  type Attention,
  type AttentionArguments,
  type AttentionInside,
  attentionParameters,
  attentionPlan,
  keyHeadOf,
  keyRows,
} from './attention-plan.ts';
import { type Form, groupProducts, mask, rowBytes, type State, warpProducts, weigh } from './attention-products.ts';
import type { HalfType } from './gemm-plan.ts';
import { fragments } from './gemm-tiles.ts';
import { refuse } from './refuse.ts';
import { named, portable, type Routine, routine } from './routine.ts';

type Word = Value<'u32'>;
type Real = Value<'f32'>;

/** Options of `tensorAttention`. */
export interface TensorAttentionOptions<T extends HalfType> {
  /** f16 by default. */
  readonly type?: Type<T>;
  readonly size: 64 | 128;
  readonly paged?: boolean;
  /** The warps of a block. */
  readonly warps?: 2 | 4 | 8 | 12;
  /** The rows of 16 queries that a warp has. */
  readonly lines?: 1 | 2;
  /** The keys of a tile. */
  readonly tile?: 32 | 48 | 64 | 96 | 128 | 144 | 160 | 192;
  readonly minBlocks?: number;
  /** `wgmma` needs sm_90a; a warp group then has 64 queries. */
  readonly by?: 'mma' | 'wgmma';
}

/** Whether memory starts at a multiple of 16 bytes. */
export function isAligned(given: unknown): boolean {
  const address = typeof given === 'bigint' ? given : partOf(given)?.address;
  return address === undefined || address % 16n === 0n;
}

const elements = { f16, bf16 } as const;
/** What was fastest on an H200, for heads of 64 and of 128 elements. */
const usual = {
  mma: [
    { warps: 8, lines: 2, tile: 64 },
    { warps: 4, lines: 1, tile: 64 },
  ],
  wgmma: [
    { warps: 8, lines: 1, tile: 96 },
    { warps: 12, lines: 1, tile: 96 },
  ],
} as const;
const panelElements = 64;

/** As `attention`, of halves or bfloats by tensor cores: the shares of keys are rounded to that type. Queries, keys, values and results are aligned to 16 bytes. */
export function tensorAttention<T extends HalfType = 'f16'>(
  options: TensorAttentionOptions<T>,
): Routine<Attention<T>, AttentionArguments<T>> {
  const { size, paged = false, by = 'mma', minBlocks } = options;
  const { warps, lines, tile } = { ...usual[by][size === 64 ? 0 : 1], ...options };
  const type = (options.type?.name ?? 'f16') as T;
  if (size !== 64 && size !== 128) refuse('attention', `a head of ${size} elements is for the kernel without tensor cores`);
  const step = (32 * warps * 8) / size;
  if (tile % step !== 0 || (16 * lines * warps) % step !== 0) refuse('attention', `${warps} warps do not divide a tile of ${tile} keys`);
  const name = named(`attention_${by}`, size, paged && 'paged', type, warps, lines, tile, minBlocks);
  const form: Form = { by, type, size, paged, warps, lines, tile };
  const threads = 32 * warps;
  const perBlock = 16 * lines * warps;
  const make = (key: string): TypedKernel<Attention<T>> =>
    kernel(key, attentionParameters(elements[type] as unknown as Type<T>), (p) => body(p as unknown as AttentionInside, form), {
      ...portable,
      block: threads,
      minBlocks,
    });
  // A warp's queries are in registers; a warp group's stay in shared memory.
  const shared = (by === 'mma' ? Math.max(4 * tile, perBlock) : 4 * tile + perBlock) * size * 2 + 1024;
  const plan = attentionPlan<T>(name, { size, paged, perBlock, threads, shared });
  return routine(name, make, (given: AttentionArguments<T>) => {
    const { q, k, v, y } = given;
    for (const [word, each] of Object.entries({ q, k, v, y })) if (!isAligned(each)) refuse(name, `\`${word}\` is not aligned to 16 bytes`);
    return plan(given);
  });
}

/** Copies rows of a head to shared memory: `rows` of them, in panels of 64 elements whose parts are exchanged by the row. */
function loader(form: Form, rows: number): (to: Word, rowAt: (row: Word) => Value<'u64'>, isThere?: (row: Word) => Value<'pred'>) => void {
  const parts = form.size / 8;
  const threads = 32 * form.warps;
  const index = threadIndex();
  const [part, row] = [index.rem(parts), index.div(parts)];
  const step = threads / parts;
  const place = part
    .shr(3)
    .mul(rows * rowBytes)
    .add(row.mul(rowBytes))
    .add(part.and(7).xor(row.and(7)).mul(16));
  return (to, rowAt, isThere) => {
    for (let i = 0; i < rows / step; i++) {
      const at = row.add(i * step);
      const from = rowAt(at).add(part.mulWide(16));
      copyAsync(
        pointerAt(f16, 'shared', to.add(place)).at(0, i * step * panelElements),
        pointerAt(f16, 'global', from).at(0),
        16,
        isThere ? { read: isThere(at).select(constant(u32, 16), 0) } : {},
      );
    }
  };
}

/** The address of an element. */
const bytesFrom = (pointer: AttentionInside['q'], element: Value<'u64'>): Value<'u64'> =>
  (pointer.address() as Value<'u64'>).add(element.mul(2));

function body(p: AttentionInside, form: Form): void {
  const { size, warps, lines, tile } = form;
  const perBlock = 16 * lines * warps;
  const [head, sequence] = [blockIndex('y'), blockIndex('z')];
  // The last queries have the most keys under a causal mask: they are first.
  const first = gridSize().sub(1).sub(blockIndex()).mul(perBlock);
  const origin = (dynamicShared(b8).address() as Word).add(1023).and(~1023 >>> 0);
  const stageBytes = tile * size * 2;
  const resultAt = (query: Word): Value<'u64'> =>
    sequence.mulWide(p.queries).add(query.to(u64)).mul(p.heads.to(u64)).add(head.to(u64)).mul(size);
  const lastQuery = p.queries.sub(1);
  loader(form, perBlock)(origin, (row) => bytesFrom(p.q, resultAt(first.add(row).min(lastQuery))));
  commitCopies();
  waitCopies(0);
  syncThreads();
  const warp = warpIndex();
  const fromQ = fragments('a', true, warp.mul(16 * lines));
  const steps = size / 16;
  // Panels of 64 elements follow each other: a tile of queries, keys or values has one or two.
  const panel = (rows: number, step: number): number => Math.floor(step / 4) * rows * rowBytes;
  const queries =
    form.by === 'wgmma'
      ? []
      : Array.from({ length: lines }, (_, i) =>
          Array.from({ length: steps }, (__, step) => fromQ(origin.add(panel(perBlock, step)), 16 * i, step % 4)),
        );
  if (form.by === 'mma') syncThreads();
  const { t, rows, ends, blockEnd, open } = sight(p, form, first);
  const stagesFrom = form.by === 'mma' ? origin : origin.add(perBlock * size * 2);
  const loadKeys = keyLoader(p, form, stagesFrom, keyRows(p, form, keyHeadOf(p, head), sequence));
  const scale = p.scale.mul(Math.LOG2E);
  const products =
    form.by === 'mma' ? warpProducts(form, queries, panel) : groupProducts(form, origin.add(warp.shr(2).mul(64 * rowBytes)), panel);
  const state: State = {
    sums: products.sums,
    most: rows.map(() => local(f32, -3.4028234663852886e38)),
    totals: rows.map(() => local(f32, 0)),
  };
  when(blockEnd.gt(0), () => loadKeys(constant(u32, 0), constant(u32, 0)));
  commitCopies();
  const stage = local(u32, 0);
  loop(constant(u32, 0), blockEnd, tile, (start) => {
    waitCopies(0);
    if (form.by === 'wgmma') fenceAsync();
    syncThreads();
    const other = stage.xor(1);
    const next = start.add(tile);
    when(next.lt(blockEnd), () => loadKeys(other, next));
    commitCopies();
    const base = stagesFrom.add(stage.mul(2 * stageBytes));
    const scores = products.keys(base);
    when(next.gt(open), () => mask(scores, start.add(t.mul(2)), ends));
    weigh(scores, state, scale);
    products.values(base.add(stageBytes));
    stage.set(other);
  });
  waitCopies(0);
  finish(p, form, state, { rows, t, scale, resultAt });
}

/** The queries of this thread, and how many keys they see. */
function sight(p: AttentionInside, { lines, warps }: Form, first: Word) {
  const isCausal = p.causal.ne(0);
  const behind = (at: Word): Word =>
    isCausal.select(at.as(s32).add(1).add(p.keys.as(s32)).sub(p.queries.as(s32)).max(0).min(p.keys.as(s32)).as(u32), p.keys);
  const [g, t] = [laneIndex().shr(2), laneIndex().and(3)];
  const own = first.add(warpIndex().mul(16 * lines)).add(g);
  const rows = Array.from({ length: 2 * lines }, (_, r) => own.add(8 * r));
  const lastQuery = p.queries.sub(1);
  return {
    t,
    rows,
    ends: rows.map((row) => behind(row.min(lastQuery))),
    blockEnd: behind(first.add(16 * lines * warps - 1).min(lastQuery)),
    // Up to here no query of the block has a mask.
    open: behind(first.min(lastQuery)),
  };
}

/** Loads of a tile of keys and of one of values. Rows beyond the last key are the last key, and zeros of values. */
function keyLoader(p: AttentionInside, form: Form, to: Word, rowOf: (key: Word) => Value<'u64'>): (stage: Word, start: Word) => void {
  const load = loader(form, form.tile);
  const last = p.keys.sub(1);
  const stageBytes = form.tile * form.size * 2;
  return (stage, start) => {
    const base = to.add(stage.mul(2 * stageBytes));
    const from = (pointer: AttentionInside['q']) => (row: Word) => bytesFrom(pointer, rowOf(start.add(row).min(last)));
    load(base, from(p.k));
    load(base.add(stageBytes), from(p.v), (row) => start.add(row).lt(p.keys));
  };
}

interface Where {
  readonly rows: readonly Word[];
  readonly t: Word;
  readonly scale: Real;
  readonly resultAt: (query: Word) => Value<'u64'>;
}

function finish(p: AttentionInside, { type, size }: Form, { sums, most, totals }: State, { rows, t, scale, resultAt }: Where): void {
  const element = elements[type] as unknown as Type<'f16'>;
  rows.forEach((row, r) => {
    let whole = totals[r]!.get();
    for (const distance of [1, 2]) whole = whole.add(shuffleXor(whole, distance));
    const isEmpty = whole.eq(0);
    const factor = isEmpty.select(constant(f32, 0), constant(f32, 1).div(whole));
    when(row.lt(p.queries), () => {
      const at = resultAt(row);
      const to = (p.y.address() as Value<'u64'>).add(at.mul(2)).add(t.mulWide(4));
      const values = sums[r]!;
      for (let e = 0; e < values.length; e += 2) {
        const [low, high] = [values[e]!, values[e + 1]!].map((value) => value.mul(factor).to(element)) as [Value<'f16'>, Value<'f16'>];
        pointerAt(u32, 'global', to)
          .at(2 * e)
          .set(pack(low, high).as(u32));
      }
      when(p.logSum.address().ne(0).and(t.eq(0)), () => {
        const sum = most[r]!.mul(scale).add(whole.log2()).mul(Math.LN2);
        p.logSum.at(at.div(size)).set(isEmpty.select(constant(f32, Number.NEGATIVE_INFINITY), sum));
      });
    });
  });
}
