/**
 * Attention by the scheme of FlashAttention-2 (arXiv:2307.08691): tiles of keys and values in shared memory, an online softmax, and sums in registers, so
 * that scores are never in memory.
 */
import type { Device } from '../api/index.ts';
import {
  blockIndex,
  constant,
  f32,
  kernel,
  local,
  loop,
  s32,
  shared,
  shuffleXor,
  syncThreads,
  type Type,
  type TypedKernel,
  threadIndex,
  u32,
  u64,
  type Value,
  v4,
  when,
} from '../build/index.ts';
import {
  type Attention,
  type AttentionArguments,
  type AttentionInside,
  type AttentionOptions,
  attentionParameters,
  attentionPlan,
  keyHeadOf,
  keyRows,
} from './attention-plan.ts';
import { isAligned, tensorAttention } from './attention-tensor.ts';
import { capabilityOf } from './choice.ts';
import { larger } from './functions.ts';
import type { HalfType } from './gemm-plan.ts';
import { refuse } from './refuse.ts';
import { type Floating, named, portable, type Routine, routine, typeOf } from './routine.ts';

type Real = Value<'f32'>;
type Word = Value<'u32'>;

const threads = 128;
const tileKeys = 32;
const chunk = 8;

interface Form<T extends Floating> {
  readonly type: Type<T>;
  readonly size: number;
  readonly paged: boolean;
  /** The threads of a query, each with some parts of four elements. */
  readonly parts: number;
}

/** The threads of a query: 32 elements each at most. */
function partsOf(key: string, size: number): number {
  const parts = [1, 2, 4, 8].find((each) => size <= 32 * each) ?? 0;
  if (parts === 0 || size < 4 || size % (4 * parts) !== 0) refuse(key, `a head of ${size} elements: see \`AttentionOptions\``);
  return parts;
}

/**
 * Attention: `y = softmax(scale * q kᵀ) v` for each sequence and head. `q` and `y` have `batch` by `queries` by `heads` by `size` elements, `k` and `v` have
 * `batch` by `keys` by `keyHeads` by `size`; `heads` is a multiple of `keyHeads`, which is the same by default, and neighboring heads share keys. `scale` is
 * 1 / sqrt(size) by default. With `paged`, `k` and `v` are pages of `pageSize` by `keyHeads` by `size`, and `pages` has the indices of those of each sequence,
 * `ceil(keys / pageSize)` of them. An index that is none of `pageCount` pages, by default as many as `k` and `v` have, stops the launch (CM6014). `logSum` may be null; it has the logarithm of the sum of each query and head. A query without keys gives 0 and -Infinity.
 * Sums are of f32, without tensor cores, and deterministic.
 */
export function attention<T extends Floating = 'f32'>(options: AttentionOptions<T>): Routine<Attention<T>, AttentionArguments<T>> {
  const { size, paged = false } = options;
  const type = typeOf(options);
  const key = named('attention', size, paged && 'paged', type.name);
  const form: Form<T> = { type, size, paged, parts: partsOf(key, size) };
  const make = (name: string): TypedKernel<Attention<T>> =>
    kernel(name, attentionParameters(type), (p) => body(p as unknown as AttentionInside<T>, form), { ...portable, block: threads });
  const plan = attentionPlan<T>(key, { size, paged, perBlock: threads / form.parts, threads });
  return routine(key, make, plan, (device, given) => tensorVariant(device, options, given));
}

/** The kernel by tensor cores, for heads and devices that have one, and memory that it can copy. */
function tensorVariant<T extends Floating>(
  device: Device,
  { size, paged = false, type }: AttentionOptions<T>,
  given: AttentionArguments<T>,
): Routine<Attention<T>, AttentionArguments<T>> | undefined {
  const capability = capabilityOf(device);
  const isHalf = type?.name === 'f16' || type?.name === 'bf16';
  if (!capability || capability.sm < 80 || !isHalf || (size !== 64 && size !== 128)) return undefined;
  if (![given.q, given.k, given.v, given.y].every((each) => isAligned(each))) return undefined;
  const by = capability.sm === 90 ? 'wgmma' : 'mma';
  return tensorAttention({ type: type as unknown as Type<HalfType>, size, paged, by }) as unknown as Routine<
    Attention<T>,
    AttentionArguments<T>
  >;
}

function body<T extends Floating>(p: AttentionInside<T>, form: Form<T>): void {
  const { type, size, parts } = form;
  const own = size / parts;
  const index = threadIndex();
  const [part, head, sequence] = [index.rem(parts), blockIndex('y'), blockIndex('z')];
  const first = blockIndex().mul(threads / parts);
  const query = first.add(index.div(parts));
  // Queries beyond the last one compute the last one, and store nothing.
  const row = query.min(p.queries.sub(1));
  const result = sequence.mad(p.queries, row).to(u64).mul(p.heads.to(u64)).add(head.to(u64));
  const columns = Array.from({ length: own / 4 }, (_, i) => part.mul(4).add(4 * parts * i));
  const each = (visit: (column: Word, lane: number) => void): void =>
    columns.forEach((column, i) => {
      for (let e = 0; e < 4; e++) visit(column.add(e), 4 * i + e);
    });
  const q: Real[] = [];
  const from = p.q.add(result.mul(size));
  // Powers of two are what the hardware has: the scale has log2(e).
  const scale = p.scale.mul(Math.LOG2E);
  each((column, lane) => {
    q[lane] = from.at(column).get().to(f32).mul(scale);
  });
  const y = Array.from({ length: own }, () => local(f32, 0));
  const [maximum, sum] = [local(f32, -3.4028234663852886e38), local(f32, 0)];
  const [keyTile, valueTile] = [shared(f32, [tileKeys, size], { align: 16 }), shared(f32, [tileKeys, size], { align: 16 })];
  // The first key that a query does not see, and the first that no query of the block sees.
  const isCausal = p.causal.ne(0);
  const behind = (at: Word): Word =>
    isCausal.select(at.as(s32).add(1).add(p.keys.as(s32)).sub(p.queries.as(s32)).max(0).min(p.keys.as(s32)).as(u32), p.keys);
  const end = behind(row);
  const blockEnd = behind(first.add(threads / parts - 1).min(p.queries.sub(1)));
  const rowOf = keyRows(p, form, keyHeadOf(p, head), sequence);
  loop(constant(u32, 0), blockEnd, tileKeys, (start) => {
    syncThreads();
    for (let i = 0; i < (tileKeys * size) / threads; i++) {
      const place = index.add(i * threads);
      const at = rowOf(start.add(place.div(size)).min(p.keys.sub(1))).add(place.rem(size).to(u64));
      keyTile.at(place).set(p.k.at(at).get().to(f32));
      valueTile.at(place).set(p.v.at(at).get().to(f32));
    }
    syncThreads();
    loop(0, tileKeys, chunk, (offset) => {
      const vectors = (of: typeof keyTile, j: number): Real[] =>
        columns.flatMap((column) => [...of.add(offset.add(j).mad(size, column)).as(v4(f32)).at(0).get().lanes]);
      const scores = Array.from({ length: chunk }, (_, j) => {
        const k = vectors(keyTile, j);
        let score = q.slice(1).reduce<Real>((so, value, i) => value.fma(k[i + 1]!, so), q[0]!.mul(k[0]!));
        for (let distance = 1; distance < parts; distance *= 2) score = score.add(shuffleXor(score, distance));
        return start.add(offset).add(j).lt(end).select(score, Number.NEGATIVE_INFINITY);
      });
      const next = scores.reduce<Real>((most, score) => larger(most, score), maximum.get());
      const old = maximum.sub(next).exp2();
      const powers = scores.map((score) => score.sub(next).exp2());
      sum.set(powers.reduce<Real>((total, power) => total.add(power), sum.mul(old)));
      maximum.set(next);
      const rows = powers.map((_, j) => vectors(valueTile, j));
      for (const [i, value] of y.entries())
        value.set(powers.reduce<Real>((total, power, j) => power.fma(rows[j]![i]!, total), value.mul(old)));
    });
  });
  when(query.lt(p.queries), () => {
    const isEmpty = sum.eq(0);
    const factor = isEmpty.select(constant(f32, 0), constant(f32, 1).div(sum));
    const to = p.y.add(result.mul(size));
    each((column, lane) => to.at(column).set(y[lane]!.mul(factor).to(type)));
    when(p.logSum.address().ne(0).and(part.eq(0)), () => {
      const whole = maximum.add(sum.log2()).mul(Math.LN2);
      p.logSum.at(result).set(isEmpty.select(constant(f32, Number.NEGATIVE_INFINITY), whole));
    });
  });
}
