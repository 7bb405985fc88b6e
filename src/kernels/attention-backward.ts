/**
 * The gradients of attention by the scheme of FlashAttention-2 (arXiv:2307.08691, 2.3.2): scores are computed again from the logarithm of the sum of each query.
 * A first kernel has a query for each group of threads and gives its gradient; a second one has a key, and sums over the queries that see it, so that
 * nothing is added by atomic operations.
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
import { keyHeadOf, keyRows } from './attention-plan.ts';
import { assertSize, Procedure } from './procedure.ts';
import { refuse } from './refuse.ts';
import { blocksFor, type Floating, named, type Plan, portable, type Routine, routine, type TypeOption, typeOf } from './routine.ts';
import { gatherSums } from './select.ts';

type Real = Value<'f32'>;
type Word = Value<'u32'>;
type Long = Value<'u64'>;

/** Options of `attentionBackward`. */
export type AttentionBackwardOptions<T extends Floating> = TypeOption<T> & {
  /** The elements of a head: a multiple of 4 up to 16, of 8 up to 32, of 16 up to 64, of 32 up to 128, of 64 up to 256. */
  readonly size: number;
  /** Whether keys and values, and so their gradients, are in pages, which `pages` names. */
  readonly paged?: boolean;
};

type Backward<T extends Floating> = ReturnType<typeof parametersOf<T>>;
const parametersOf = <T extends Floating>(type: Type<T>, stored = type) => ({
  ...{ q: ptr(type), k: ptr(type), v: ptr(type), y: ptr(type), dy: ptr(type), logSum: ptr(f32), delta: ptr(f32) },
  ...{ dq: ptr(type), dk: ptr(stored), dv: ptr(stored), pages: ptr(s32) },
  ...{ queries: u32, keys: u32, heads: u32, keyHeads: u32, pageSize: u32, pageCount: u32, scale: f32, causal: u32 },
});

/** What a launch of `attentionBackward` is given: the arguments and results of `attention`, the gradient of `y`, and where the others go. */
export type AttentionBackwardArguments<T extends Floating> = Omit<
  Arguments<Backward<T>>,
  'delta' | 'keyHeads' | 'scale' | 'causal' | 'pages' | 'pageSize' | 'pageCount'
> &
  Partial<Pick<Arguments<Backward<T>>, 'keyHeads' | 'scale' | 'pages' | 'pageSize'>> & {
    /** The number of sequences; 1 by default. */
    readonly batch?: number;
    /** Whether query i sees the keys up to i + keys - queries only. */
    readonly causal?: boolean;
    /** With pages: how many `k`, `v`, `dk` and `dv` have. */
    readonly pageCount?: number;
  };

const threads = 128;
const tileRows = 16;

interface Inside<T extends Floating> extends Record<'q' | 'k' | 'v' | 'y' | 'dy' | 'dq' | 'dk' | 'dv', Pointer<T, 'global'>> {
  readonly logSum: Pointer<'f32', 'global'>;
  readonly delta: Pointer<'f32', 'global'>;
  readonly pages: Pointer<'s32', 'global'>;
  readonly pageSize: Word;
  readonly pageCount: Word;
  readonly queries: Word;
  readonly keys: Word;
  readonly heads: Word;
  readonly keyHeads: Word;
  readonly scale: Real;
  readonly causal: Word;
}

interface Form<T extends Floating> {
  readonly type: Type<T>;
  readonly size: number;
  /** The threads of a row, each with some parts of four elements. */
  readonly parts: number;
  readonly paged: boolean;
}

/**
 * The gradients of `attention`: `dq`, `dk` and `dv` of `q`, `k` and `v`, from the results `y` and `logSum` and the gradient `dy`. Sums are of f32 and
 * deterministic. With `paged`, `dk` and `dv` have the pages of `k` and `v`: a page of several sequences has the sum of their gradients, rounded once, and what no
 * key is in is 0. Memory for what the steps give each other is allocated for the launch: with pages f32 of all keys and values of all sequences.
 */
export function attentionBackward<T extends Floating = 'f32'>(
  options: AttentionBackwardOptions<T>,
): Procedure<AttentionBackwardArguments<T>> {
  const { size, paged = false } = options;
  const type = typeOf(options);
  const key = named('attention_backward', size, paged && 'paged', type.name);
  const parts = [1, 2, 4, 8, 16].find((each) => size <= 16 * each) ?? 0;
  if (parts === 0 || size < 4 || size % (4 * parts) !== 0) refuse(key, `a head of ${size} elements: see \`AttentionBackwardOptions\``);
  const form: Form<T> = { type, size, parts, paged };
  const ofQueries = sideOf(named(key, 'queries'), form, 'queries');
  const ofKeys = sideOf(named(key, 'keys'), form, 'keys');
  const sums = gatherSums({ type, from: f32 });
  return new Procedure(
    key,
    () => [ofQueries, ofKeys, ...(paged ? [sums] : [])],
    (steps, given: AttentionBackwardArguments<T>) => {
      const { batch = 1, queries, keys, heads, keyHeads = heads } = given as AttentionBackwardArguments<'f32'>;
      const { pages = null, pageSize = 0, pageCount = 0, ...others } = given as AttentionBackwardArguments<'f32'>;
      if (paged && (pages === null || pageSize === 0)) refuse(key, '`pages` or `pageSize` is missing');
      for (const [what, value] of Object.entries({ batch, keys, keyHeads, pageSize, pageCount })) assertSize(key, what, value);
      const delta = steps.scratch('f32', batch * queries * heads);
      const all = { ...others, pages, pageSize, delta, pageCount } as unknown as Given<T>;
      steps.launch(ofQueries, all);
      if (!paged) {
        steps.launch(ofKeys, all);
        return;
      }
      const [rows, columns] = [batch * Math.ceil(keys / pageSize), pageSize * keyHeads * size];
      const [dk, dv] = [steps.scratch('f32', rows * columns), steps.scratch('f32', rows * columns)];
      steps.launch(ofKeys, { ...all, dk, dv } as unknown as Given<T>);
      for (const [dy, dtable] of [
        [dk, given.dk],
        [dv, given.dv],
      ])
        steps.run(sums, { dy, dtable, indices: pages, rows, columns, tableRows: pageCount } as never);
    },
  );
}
type Given<T extends Floating> = AttentionBackwardArguments<T> & Pick<Arguments<Backward<T>>, 'delta'>;

/** The kernel of one side. */
function sideOf<T extends Floating>(name: string, form: Form<T>, side: 'queries' | 'keys'): Routine<Backward<T>, Given<T>> {
  const make = (key: string): TypedKernel<Backward<T>> =>
    kernel(
      key,
      // Gradients in pages are f32 before those of all sequences are added.
      parametersOf(form.type, form.paged && side === 'keys' ? (f32 as unknown as Type<T>) : form.type),
      (p) => (side === 'queries' ? queryBody : keyBody)(p as unknown as Inside<T>, form),
      { ...portable, block: threads },
    );
  const { size, parts, paged } = form;
  return routine(name, make, (given: Given<T>): Plan<Backward<T>> => {
    const { batch = 1, causal = false, scale = 1 / Math.sqrt(size), pages = null, pageSize = 0, pageCount = 0, ...others } = given;
    const { queries, keys, heads } = given as unknown as Record<'queries' | 'keys' | 'heads', number>;
    // Of the last page of a sequence all places are written.
    const rows = paged ? Math.ceil(keys / Number(pageSize)) : 0;
    const places = paged ? rows * Number(pageSize) : keys;
    const keyHeads = (given.keyHeads as number | undefined) ?? heads;
    if (heads > 0 && heads % keyHeads !== 0) refuse(name, `${heads} heads are no multiple of ${keyHeads}`);
    const args = { ...others, keyHeads, scale, pages, pageSize, pageCount, causal: Number(causal) } as unknown as Arguments<Backward<T>>;
    const [results, stored] = [batch * queries * heads, batch * places * keyHeads * size];
    const pool = paged ? pageCount * Number(pageSize) * keyHeads * size : stored;
    const small = (count: number, most: number): number => (count > most ? Number.NaN : count);
    return {
      grid: [blocksFor(side === 'queries' ? queries : places, threads / parts), side === 'queries' ? heads : keyHeads, batch],
      block: threads,
      args,
      sizes: {
        ...{ queries: small(queries, 0x3fff_ffff), keys: small(places, 0x3fff_ffff) },
        ...{ heads: small(heads, 65535), keyHeads, batch: small(batch, 65535) },
      },
      needs: {
        ...{ q: results * size, y: results * size, dy: results * size, dq: results * size, logSum: results, delta: results },
        ...{ k: pool, v: pool, pages: batch * rows },
        ...(side === 'keys' ? { dk: stored, dv: stored } : { dk: pool, dv: pool }),
      } as { [N in keyof Backward<T>]?: number },
    };
  });
}

/** What both sides have: where this thread is, and its reads and sums. */
function threadOf<T extends Floating>({ type, size, parts }: Form<T>) {
  const own = size / parts;
  const [part, line] = [threadIndex().rem(parts), threadIndex().div(parts)];
  const columns = Array.from({ length: own / 4 }, (_, i) => part.mul(4).add(4 * parts * i));
  const places = columns.flatMap((column) => [0, 1, 2, 3].map((e) => column.add(e)));
  return {
    part,
    row: blockIndex()
      .mul(threads / parts)
      .add(line),
    read: (from: Pointer<T, 'global'>, start: Long): Real[] => places.map((place) => from.add(start).at(place).get().to(f32)),
    write: (to: Pointer<T, 'global'>, start: Long, values: readonly Real[], element: Type<T> = type): void => {
      for (const [i, value] of values.entries()) to.add(start).at(places[i]!).set(value.to(element));
    },
    /** The elements of this thread of a row of a tile. */
    vectors: (tile: Pointer<'f32', 'shared'>, j: Word): Real[] =>
      columns.flatMap((column) => [...tile.add(j.mad(size, column)).as(v4(f32)).at(0).get().lanes]),
    /** The sum of products over the threads of a row. */
    product: (a: readonly Real[], b: readonly Real[]): Real => {
      let sum = a.slice(1).reduce<Real>((so, value, i) => value.fma(b[i + 1]!, so), a[0]!.mul(b[0]!));
      for (let distance = 1; distance < parts; distance *= 2) sum = sum.add(shuffleXor(sum, distance));
      return sum;
    },
    zeros: () => Array.from({ length: own }, () => local(f32, 0)),
  };
}

/** The keys that a query sees are those before this. */
const seenBy = <T extends Floating>(p: Inside<T>, query: Word): Word =>
  p.causal.ne(0).select(query.as(s32).add(1).add(p.keys.as(s32)).sub(p.queries.as(s32)).max(0).min(p.keys.as(s32)).as(u32), p.keys);

/** Fills two tiles with rows: `at` gives the first element of a row. */
function fill<T extends Floating>(
  size: number,
  pairs: readonly (readonly [Pointer<'f32', 'shared'>, Pointer<T, 'global'>])[],
  at: (row: Word) => Long,
): void {
  loop(threadIndex(), tileRows * size, threads, (place) => {
    const element = at(place.div(size)).add(place.rem(size).to(u64));
    for (const [tile, from] of pairs) tile.at(place).set(from.at(element).get().to(f32));
  });
}

const tiles = (size: number) => [shared(f32, [tileRows, size], { align: 16 }), shared(f32, [tileRows, size], { align: 16 })] as const;

function queryBody<T extends Floating>(p: Inside<T>, form: Form<T>): void {
  const { size, parts } = form;
  const { part, row: query, read, write, vectors, product, zeros } = threadOf(form);
  const [head, sequence] = [blockIndex('y'), blockIndex('z')];
  const last = p.queries.sub(1);
  const row = query.min(last);
  const result = sequence.mulWide(p.queries).add(row.to(u64)).mul(p.heads.to(u64)).add(head.to(u64));
  const start = result.mul(size);
  const [q, slope] = [read(p.q, start), read(p.dy, start)];
  const delta = product(read(p.y, start), slope);
  const total = p.logSum.at(result).get().mul(Math.LOG2E);
  const dq = zeros();
  const [keyTile, valueTile] = tiles(size);
  const rowOf = keyRows(p, form, keyHeadOf(p, head), sequence);
  const keyAt = (key: Word): Long => rowOf(key.min(p.keys.sub(1)));
  const end = seenBy(p, row);
  const blockEnd = seenBy(
    p,
    blockIndex()
      .add(1)
      .mul(threads / parts)
      .sub(1)
      .min(last),
  );
  loop(constant(u32, 0), blockEnd, tileRows, (first) => {
    syncThreads();
    fill(
      size,
      [
        [keyTile, p.k],
        [valueTile, p.v],
      ],
      (j) => keyAt(first.add(j)),
    );
    syncThreads();
    loop(0, tileRows, 1, (j) => {
      const k = vectors(keyTile, j);
      const share = product(q, k).mul(p.scale.mul(Math.LOG2E)).sub(total).exp2();
      const change = share.mul(product(slope, vectors(valueTile, j)).sub(delta)).mul(p.scale);
      const own = first.add(j).lt(end).select(change, 0);
      for (const [i, value] of dq.entries()) value.set(own.fma(k[i]!, value));
    });
  });
  when(query.lt(p.queries), () => {
    write(p.dq, start, dq);
    when(part.eq(0), () => p.delta.at(result).set(delta));
  });
}

function keyBody<T extends Floating>(p: Inside<T>, form: Form<T>): void {
  const { size, parts, paged } = form;
  const { row: key, read, write, vectors, product, zeros } = threadOf(form);
  const [keyHead, sequence] = [blockIndex('y'), blockIndex('z')];
  const row = key.min(p.keys.sub(1));
  const group = p.heads.div(p.keyHeads);
  const start = keyRows(p, form, keyHead, sequence)(row);
  const [k, v] = [read(p.k, start), read(p.v, start)];
  const [dk, dv] = [zeros(), zeros()];
  const [queryTile, slopeTile] = tiles(size);
  const [sums, deltas] = [shared(f32, tileRows), shared(f32, tileRows)];
  // The first query that sees the first key of the block.
  const firstKey = blockIndex()
    .mul(threads / parts)
    .as(s32);
  const from = p.causal.ne(0).select(firstKey.sub(p.keys.as(s32)).add(p.queries.as(s32)).max(0).as(u32), constant(u32, 0));
  loop(constant(u32, 0), group, 1, (member) => {
    const head = keyHead.mad(group, member);
    const resultAt = (query: Word): Long =>
      sequence
        .mulWide(p.queries)
        .add(query.min(p.queries.sub(1)).to(u64))
        .mul(p.heads.to(u64))
        .add(head.to(u64));
    loop(from, p.queries, tileRows, (first) => {
      syncThreads();
      fill(
        size,
        [
          [queryTile, p.q],
          [slopeTile, p.dy],
        ],
        (i) => resultAt(first.add(i)).mul(size),
      );
      when(threadIndex().lt(tileRows), () => {
        const result = resultAt(first.add(threadIndex()));
        sums.at(threadIndex()).set(p.logSum.at(result).get().mul(Math.LOG2E));
        deltas.at(threadIndex()).set(p.delta.at(result));
      });
      syncThreads();
      loop(0, tileRows, 1, (i) => {
        const query = first.add(i);
        const [q, slope] = [vectors(queryTile, i), vectors(slopeTile, i)];
        const isSeen = query.lt(p.queries).and(row.lt(seenBy(p, query.min(p.queries.sub(1)))));
        const share = isSeen.select(product(q, k).mul(p.scale.mul(Math.LOG2E)).sub(sums.at(i)).exp2(), 0);
        const change = share.mul(product(slope, v).sub(deltas.at(i))).mul(p.scale);
        for (const [e, value] of dv.entries()) value.set(share.fma(slope[e]!, value));
        for (const [e, value] of dk.entries()) value.set(change.fma(q[e]!, value));
      });
    });
  });
  if (!paged) {
    when(key.lt(p.keys), () => {
      write(p.dk, start, dk);
      write(p.dv, start, dv);
    });
    return;
  }
  // Places of the sequence follow each other here, and those behind the last key are zeros.
  const rows = p.keys.add(p.pageSize).sub(1).div(p.pageSize).mul(p.pageSize);
  when(key.lt(rows), () => {
    const to = sequence.mulWide(rows).add(key.to(u64)).mul(p.keyHeads.to(u64)).add(keyHead.to(u64)).mul(size);
    const isThere = key.lt(p.keys);
    const own = (values: readonly Real[]): Real[] => values.map((value) => isThere.select(value, 0));
    write(p.dk, to, own(dk.map((value) => value.get())), f32 as unknown as Type<T>);
    write(p.dv, to, own(dv.map((value) => value.get())), f32 as unknown as Type<T>);
  });
}
