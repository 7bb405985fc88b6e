/** What all kernels of attention share: options, parameters, the plan of a launch, and where keys are. */
import { partOf } from '../api/index.ts';
import { type Arguments, f32, type Pointer, ptr, s32, type Type, trap, u32, u64, type Value, when } from '../build/index.ts';
import { refuse } from './refuse.ts';
import { blocksFor, type Floating, type Plan, type TypeOption } from './routine.ts';

type Real = Value<'f32'>;
type Word = Value<'u32'>;

/** Options of `attention`. */
export type AttentionOptions<T extends Floating> = TypeOption<T> & {
  /** The elements of a head: a multiple of 4 up to 32, of 8 up to 64, of 16 up to 128, of 32 up to 256. */
  readonly size: number;
  /** Whether keys and values are in pages, which `pages` names. */
  readonly paged?: boolean;
};

export type Attention<T extends Floating> = ReturnType<typeof attentionParameters<T>>;
/** The parameters of attention. */
export const attentionParameters = <T extends Floating>(type: Type<T>) => ({
  ...{ q: ptr(type), k: ptr(type), v: ptr(type), y: ptr(type), logSum: ptr(f32), pages: ptr(s32) },
  ...{ queries: u32, keys: u32, heads: u32, keyHeads: u32, pageSize: u32, pageCount: u32, scale: f32, causal: u32 },
});

/** What a launch of `attention` is given. */
export type AttentionArguments<T extends Floating> = Pick<Arguments<Attention<T>>, 'q' | 'k' | 'v' | 'y' | 'queries' | 'keys' | 'heads'> &
  Partial<Pick<Arguments<Attention<T>>, 'logSum' | 'pages' | 'keyHeads' | 'pageSize' | 'pageCount' | 'scale'>> & {
    /** The number of sequences; 1 by default. */
    readonly batch?: number;
    /** Whether query i sees the keys up to i + keys - queries only. */
    readonly causal?: boolean;
  };

/** The parameters in the body. */
export interface AttentionInside<T extends Floating = Floating> {
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
  readonly pageCount: Word;
  readonly scale: Real;
  readonly causal: Word;
}

/** What a launch of attention needs to know of the kernel. */
export interface AttentionShape {
  readonly size: number;
  readonly paged: boolean;
  /** The queries of a block. */
  readonly perBlock: number;
  readonly threads: number;
  readonly shared?: number;
}

/** The plan of a launch of attention. */
export const attentionPlan =
  <T extends Floating>(key: string, { size, paged, perBlock, threads: block, shared }: AttentionShape) =>
  (given: AttentionArguments<T>): Plan<Attention<T>> => {
    const { q, k, v, y, logSum = null, pages = null, scale = 1 / Math.sqrt(size), batch = 1, causal = false } = given as Given;
    const { queries, keys, heads, keyHeads = heads, pageSize = 0 } = given as Given;
    const perPage = pageSize * keyHeads * size;
    const pageCount = paged ? (given.pageCount ?? pagesIn(k, v, perPage)) : 0;
    if (heads > 0 && heads % keyHeads !== 0) refuse(key, `${heads} heads are no multiple of ${keyHeads}`);
    if (paged && (pages === null || pageSize === 0)) refuse(key, '`pages` or `pageSize` is missing');
    const args = { q, k, v, y, logSum, pages, queries, keys, heads, keyHeads, pageSize, pageCount, scale, causal: Number(causal) };
    const [results, stored] = [batch * queries * heads, batch * keys * keyHeads * size];
    return {
      grid: [blocksFor(queries, perBlock), heads, batch],
      block,
      ...(shared === undefined ? {} : { shared }),
      args: args as unknown as Arguments<Attention<T>>,
      sizes: {
        ...{ queries: small(queries), keys: small(keys), heads: heads > 65535 ? Number.NaN : heads, keyHeads, pageSize, pageCount },
        batch: batch > 65535 ? Number.NaN : batch,
      },
      needs: {
        ...{ q: results * size, y: results * size, logSum: results },
        ...(paged ? { pages: batch * Math.ceil(keys / pageSize) } : { k: stored, v: stored }),
        ...(paged && given.pageCount !== undefined ? { k: pageCount * perPage, v: pageCount * perPage } : {}),
      },
    };
  };
type Given = AttentionArguments<'f32'>;
/** The pages that both buffers have; of addresses that is not known, and every index is one. */
function pagesIn(k: unknown, v: unknown, perPage: number): number {
  const counts = [k, v].map((each) => partOf(each)?.length ?? Number.POSITIVE_INFINITY);
  const least = Math.floor(Math.min(...counts) / Math.max(1, perPage));
  return Math.min(least, 0xffff_ffff);
}
/** Indices have a sign in the kernel. */
const small = (count: number): number => (count > 0x3fff_ffff ? Number.NaN : count);

/** The head of keys and values of a head of queries. */
export const keyHeadOf = (p: Pick<KeyPlaces, 'heads' | 'keyHeads'>, head: Word): Word => head.div(p.heads.div(p.keyHeads));

/** The first element of a key or value of a head of keys, from the index of the key. */
export function keyRows(
  p: KeyPlaces,
  { size, paged }: { readonly size: number; readonly paged: boolean },
  keyHead: Word,
  sequence: Word,
): (key: Word) => Value<'u64'> {
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
    // A call, as an assertion makes it, would have products of warp groups wait for each other.
    when(page.ge(p.pageCount), trap);
    return page.madWide(p.pageSize, key.rem(p.pageSize).to(u64)).mul(pitch.to(u64)).add(within);
  };
}
type KeyPlaces = Pick<AttentionInside, 'pages' | 'keys' | 'heads' | 'keyHeads' | 'pageSize' | 'pageCount'>;
