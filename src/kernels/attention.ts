/**
 * Attention by the scheme of FlashAttention-2 (arXiv:2307.08691): tiles of keys and values in shared memory, an online softmax, and sums in registers, so
 * that scores are never in memory.
 */
import {
  type Arguments,
  blockIndex,
  constant,
  f32,
  kernel,
  local,
  loop,
  type Pointer,
  ptr,
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
import { larger } from './functions.ts';
import { refuse } from './refuse.ts';
import { blocksFor, type Floating, named, portable, type Routine, routine, type TypeOption, typeOf } from './routine.ts';

type Real = Value<'f32'>;
type Word = Value<'u32'>;

/** Options of `attention`. */
export type AttentionOptions<T extends Floating> = TypeOption<T> & {
  /** The elements of a head: a multiple of 4 up to 32, of 8 up to 64, of 16 up to 128, of 32 up to 256. */
  readonly size: number;
  /** Whether keys and values are in pages, which `pages` names. */
  readonly paged?: boolean;
};

type Attention<T extends Floating> = ReturnType<typeof parametersOf<T>>;
const parametersOf = <T extends Floating>(type: Type<T>) => ({
  ...{ q: ptr(type), k: ptr(type), v: ptr(type), y: ptr(type), logSum: ptr(f32), pages: ptr(s32) },
  ...{ queries: u32, keys: u32, heads: u32, keyHeads: u32, pageSize: u32, scale: f32, causal: u32 },
});

/** What a launch of `attention` is given. */
export type AttentionArguments<T extends Floating> = Pick<Arguments<Attention<T>>, 'q' | 'k' | 'v' | 'y' | 'queries' | 'keys' | 'heads'> &
  Partial<Pick<Arguments<Attention<T>>, 'logSum' | 'pages' | 'keyHeads' | 'pageSize' | 'scale'>> & {
    /** The number of sequences; 1 by default. */
    readonly batch?: number;
    /** Whether query i sees the keys up to i + keys - queries only. */
    readonly causal?: boolean;
  };

const threads = 128;
const tileKeys = 32;
const chunk = 8;

interface Inside<T extends Floating> {
  readonly q: Pointer<T, 'global'>;
  readonly k: Pointer<T, 'global'>;
  readonly v: Pointer<T, 'global'>;
  readonly y: Pointer<T, 'global'>;
  readonly logSum: Pointer<'f32', 'global'>;
  readonly pages: Pointer<'s32', 'global'>;
  readonly queries: Word;
  readonly keys: Word;
  readonly heads: Word;
  readonly keyHeads: Word;
  readonly pageSize: Word;
  readonly scale: Real;
  readonly causal: Word;
}

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
 * `ceil(keys / pageSize)` of them. `logSum` may be null; it has the logarithm of the sum of each query and head. A query without keys gives 0 and -Infinity.
 * Sums are of f32, without tensor cores, and deterministic.
 */
export function attention<T extends Floating = 'f32'>(options: AttentionOptions<T>): Routine<Attention<T>, AttentionArguments<T>> {
  const { size, paged = false } = options;
  const type = typeOf(options);
  const key = named('attention', size, paged && 'paged', type.name);
  const form: Form<T> = { type, size, paged, parts: partsOf(key, size) };
  const make = (name: string): TypedKernel<Attention<T>> =>
    kernel(name, parametersOf(type), (p) => body(p as unknown as Inside<T>, form), { ...portable, block: threads });
  const perBlock = threads / form.parts;
  return routine(key, make, (given: AttentionArguments<T>) => {
    const { q, k, v, y, logSum = null, pages = null, scale = 1 / Math.sqrt(size), batch = 1, causal = false } = given as Given;
    const { queries, keys, heads, keyHeads = heads, pageSize = 0 } = given as Given;
    if (heads % keyHeads !== 0) refuse(key, `${heads} heads are no multiple of ${keyHeads}`);
    if (paged && (pages === null || pageSize === 0)) refuse(key, '`pages` or `pageSize` is missing');
    const args = { q, k, v, y, logSum, pages, queries, keys, heads, keyHeads, pageSize, scale, causal: Number(causal) };
    const [results, stored] = [batch * queries * heads, batch * keys * keyHeads * size];
    return {
      grid: [blocksFor(queries, perBlock), heads, batch],
      block: threads,
      args: args as unknown as Arguments<Attention<T>>,
      sizes: {
        ...{ queries: small(queries), keys: small(keys), heads: heads > 65535 ? Number.NaN : heads, keyHeads, pageSize },
        batch: batch > 65535 ? Number.NaN : batch,
      },
      needs: {
        ...{ q: results * size, y: results * size, logSum: results },
        ...(paged ? { pages: batch * Math.ceil(keys / pageSize) } : { k: stored, v: stored }),
      },
    };
  });
}
type Given = AttentionArguments<'f32'>;
/** Indices have a sign in the kernel. */
const small = (count: number): number => (count > 0x3fff_ffff ? Number.NaN : count);

function body<T extends Floating>(p: Inside<T>, form: Form<T>): void {
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
  const rowOf = keyRows(p, form, head, sequence);
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

/** The first element of a key or value of this head, from the index of the key. */
function keyRows<T extends Floating>(p: Inside<T>, { size, paged }: Form<T>, head: Word, sequence: Word): (key: Word) => Value<'u64'> {
  const keyHead = head.div(p.heads.div(p.keyHeads));
  const pitch = p.keyHeads.mul(size);
  const within = keyHead.mul(size).to(u64);
  if (!paged) {
    const start = sequence.mulWide(p.keys);
    return (key) => start.add(key.to(u64)).mul(pitch.to(u64)).add(within);
  }
  const perSequence = p.keys.add(p.pageSize).sub(1).div(p.pageSize);
  const table = p.pages.add(sequence.mulWide(perSequence));
  return (key) => {
    const page = table.at(key.div(p.pageSize)).get().as(u32);
    return page.madWide(p.pageSize, key.rem(p.pageSize).to(u64)).mul(pitch.to(u64)).add(within);
  };
}
