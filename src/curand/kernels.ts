/** Kernels that fill memory: rows of numbers of each thread in turn, and Sobol's points. */
import {
  blockIndex,
  f32,
  f64,
  gridSize,
  kernel,
  local,
  loop,
  loopWhile,
  type Pointer,
  ptr,
  repeatWhile,
  type Type,
  type TypedKernel,
  threadIndex,
  u32,
  u64,
  type Value,
  when,
} from '../build/index.ts';
import { exp, log, type Real, sineAndCosine, sineAndCosineOfPi } from './math.ts';
import { normalQuantile } from './quantile.ts';
import { type Sequence, type SequenceName, sequences } from './sequences.ts';

/** What is generated. */
export type Kind =
  | 'integers'
  | 'uniform'
  | 'uniformDouble'
  | 'normal'
  | 'normalDouble'
  | 'logNormal'
  | 'logNormalDouble'
  | 'poisson'
  | 'poissonSum'
  | 'poissonNormal';
type Word = Value<'u32'>;
type Double = Value<'f64'>;

/** Threads of a block. */
export const blockThreads = 128;
/** Whether numbers of a kind are made in pairs. */
export const isPaired = (kind: Kind): boolean => /ormal/.test(kind) && kind !== 'poissonNormal';
const isDouble = (kind: Kind): boolean => kind.endsWith('Double');
const isInteger = (kind: Kind): boolean => kind === 'integers' || kind.startsWith('poisson');
const typeOf = (kind: Kind) => (isInteger(kind) ? u32 : isDouble(kind) ? f64 : f32) as unknown as typeof f32;

const uniformOf = (x: Word): Real => x.to(f32).fma(2 ** -32, 2 ** -33);
const uniformOfPair = (x: Word, y: Word): Double =>
  x
    .to(u64)
    .xor(y.to(u64).shl(21))
    .to(f64)
    .fma(2 ** -53, 2 ** -54);

function uniform(s: Sequence): Real {
  return s.whole ? uniformDouble(s).to(f32) : uniformOf(s.integer());
}
function uniformDouble(s: Sequence): Double {
  if (s.whole) return s.whole().mul(2.328306549837829e-10);
  const [x, y] = [s.integer(), s.integer()];
  return uniformOfPair(x, y);
}

/** Two normal numbers. Source: G. Box, M. Muller, "A note on the generation of random normal deviates", 1958. */
function normals(s: Sequence): [Real, Real] {
  const [x, y] = [s.integer(), s.integer()];
  const angle = y.to(f32).fma(Math.fround(Math.PI * 2 ** -31), Math.fround(Math.PI * 2 ** -32));
  const size = log(uniformOf(x)).mul(-2).sqrt();
  const { sine, cosine } = sineAndCosine(angle);
  return [sine.mul(size), cosine.mul(size)];
}
function normalDoubles(s: Sequence): [Real, Real] {
  let u: Double;
  let v: Double;
  if (s.four) {
    const [x, y, z, w] = s.four();
    [u, v] = [uniformOfPair(x, y), uniformOfPair(z, w)];
  } else [u, v] = [uniformDouble(s), uniformDouble(s)];
  const size = log(u as unknown as Real)
    .mul(-2)
    .sqrt();
  const { sine, cosine } = sineAndCosineOfPi(v.add(v) as unknown as Real);
  return [sine.mul(size), cosine.mul(size)];
}

interface Scales {
  readonly first: Real;
  readonly second: Real;
}

/** Poisson's numbers: a product of uniform numbers, a sum of logarithms, or a rounded normal number, by the mean. */
function poisson(s: Sequence, kind: Kind, { first, second }: Scales): Word {
  if (kind === 'poissonNormal') return normalDoubles(s)[0].fma(second, first).add(0.5).to(u32);
  const count = local(u32, 0);
  if (kind === 'poisson') {
    const product = local(f64 as unknown as typeof f32, second);
    repeatWhile(() => {
      count.set(count.add(1));
      product.set(product.mul(uniform(s).to(f64) as unknown as Real));
      return product.gt(1);
    });
    return count.sub(1);
  }
  const sum = local(f64 as unknown as typeof f32, log(uniformDouble(s) as unknown as Real));
  loopWhile(
    () => sum.gt(first.neg()),
    () => {
      sum.set(sum.add(log(uniformDouble(s) as unknown as Real)));
      count.set(count.add(1));
    },
  );
  return count.get();
}

/** A row of a kind that is made in pairs. */
function pairRow(s: Sequence, kind: Kind, { first, second }: Scales, size: number): Real[] {
  return Array.from({ length: size / 2 }).flatMap(() => {
    if (kind === 'uniformDouble') {
      const [x, y, z, w] = s.four!();
      return [uniformOfPair(x, y), uniformOfPair(z, w)] as unknown as Real[];
    }
    const pair = isDouble(kind) ? normalDoubles(s) : normals(s);
    const scaled = pair.map((value) => value.fma(second, first));
    return kind.startsWith('log') ? scaled.map(exp) : scaled;
  });
}

/** The numbers of a thread in a row: those of its group, or a pair. */
export const rowSize = (name: SequenceName, kind: Kind): number =>
  isPaired(kind) && sequences[name].group === 1 ? 2 : sequences[name].group;
/** Whether rows are made whole, from their beginnings on. */
export const isRows = (kind: Kind): boolean => isPaired(kind) || kind === 'uniformDouble';

const made = new Map<string, TypedKernel>();
/** A kernel of a name, which is made when it is first asked for. */
export function once(name: string, make: (name: string) => unknown): TypedKernel {
  const known = made.get(name);
  if (known) return known;
  const created = make(name) as TypedKernel;
  made.set(name, created);
  return created;
}

/** Fills memory with numbers of a generator: the threads have a row each in turn, from thread `next` on, of whose row `within` numbers are gone. */
export function runKernel(name: SequenceName, kind: Kind): TypedKernel {
  const [type, scale] = [typeOf(kind), (kind === 'normal' || kind === 'logNormal' ? f32 : f64) as unknown as typeof f32];
  const size = rowSize(name, kind);
  const words = { keyLow: u32, keyHigh: u32, threads: u32, next: u32, within: u32, count: u32 };
  return once(`curand_${name}_${kind}`, (word) =>
    kernel(
      word,
      { states: ptr(u32), out: ptr(type), ...words, first: scale, second: scale },
      ({ states, out, keyLow, keyHigh, threads, next, within, count, first, second }) => {
        const thread = blockIndex().mad(blockThreads, threadIndex());
        const row = thread.sub(next).add(threads).rem(threads);
        const rows = within
          .add(count)
          .add(size - 1)
          .div(size);
        when(thread.lt(threads).and(row.lt(rows)), () => {
          const s = sequences[name].open({ states, threads, thread, keyLow, keyHigh });
          const scales = { first, second };
          loop(row, rows, threads, (r) => {
            const at = r.mul(size);
            const put = (k: Word | number, value: () => unknown): void => {
              const place = at.add(k);
              when(place.ge(within).and(place.sub(within).lt(count)), () => out.at(place.sub(within)).set(value() as Real));
            };
            if (isPaired(kind) || (isRows(kind) && size > 1)) {
              for (const [k, value] of pairRow(s, kind, scales, size).entries()) put(k, () => value);
              return;
            }
            const one = (): unknown =>
              kind === 'integers'
                ? s.integer()
                : kind === 'uniform'
                  ? uniform(s)
                  : kind === 'uniformDouble'
                    ? uniformDouble(s)
                    : poisson(s, kind, scales);
            if (size === 1) put(0, one);
            else loop(0, size, 1, (k) => put(k, one));
          });
          s.close();
        });
      },
      { locations: false, block: blockThreads },
    ),
  );
}

/** The kinds of numbers of Sobol's points. */
export type SobolKind =
  | 'integers'
  | 'integers64'
  | 'poisson'
  | 'poisson64'
  | 'uniform'
  | `${'uniformDouble' | 'normal' | 'normalDouble' | 'logNormal' | 'logNormalDouble'}${'' | '64'}`;

/** A kind without the bits of the points. */
const plainKind = (kind: SobolKind): string => kind.replace('64', '');
const sobolTypes: Readonly<Record<string, Type>> = { poisson: u32, integers: u32, uniform: f32, normal: f32, logNormal: f32 };
/** The type of what coordinates become. */
export const drawnType = (kind: SobolKind): typeof f32 =>
  (kind === 'integers64' ? u64 : (sobolTypes[plainKind(kind)] ?? f64)) as unknown as typeof f32;

/** The upper end of the numbers that 32 bits stand for. */
const upperEnd = (x: Value<'u64'>): Value<'f64'> =>
  x
    .shr(32)
    .to(u32)
    .to(f64)
    .fma(2 ** -32, 2 ** -32);

/** The middle of the numbers that a coordinate of a point stands for: in f64, above 0 and below 1. */
export const middleOf = (x: Value<'u64'>, is64: boolean): Value<'f64'> =>
  is64
    ? x
        .shr(11)
        .to(f64)
        .fma(2 ** -53, 2 ** -54)
    : x
        .shr(32)
        .to(u32)
        .to(f64)
        .fma(2 ** -32, 2 ** -33);

/** A normal number of a coordinate: coordinates above a half have the opposite of those as far below it. */
function normalOf(x: Value<'u64'>, is64: boolean): Value<'f64'> {
  const isHigh = x.gt(2n ** 63n);
  const value = normalQuantile(middleOf(isHigh.select(x.not(), x), is64));
  return isHigh.select(value.neg(), value);
}

/** The number of events whose distribution reaches a share; of a large mean by the normal distribution. */
function eventsOf(x: Value<'u64'>, is64: boolean, mean: Value<'f64'>): Value<'u32'> {
  const count = local(u32, 0);
  when(
    mean.gt(700),
    () => count.set(normalOf(x, is64).fma(mean.sqrt(), mean).rint().max(0).to(u32)),
    () => {
      const share = middleOf(x, is64);
      const own = local(f64, exp(mean.neg() as unknown as Real) as unknown as Value<'f64'>);
      const sum = local(f64, own);
      loopWhile(
        () => sum.lt(share).and(count.lt(4000)),
        () => {
          count.set(count.add(1));
          own.set(own.mul(mean.div(count.to(f64))));
          sum.set(sum.add(own));
        },
      );
    },
  );
  return count.get();
}

/** What a coordinate becomes, whose bits are at the top of the word. */
export function drawn(kind: SobolKind, x: Value<'u64'>, [first, second]: readonly [Value<'f64'>, Value<'f64'>]): unknown {
  const is64 = kind.endsWith('64');
  const plain = plainKind(kind);
  if (plain === 'integers') return is64 ? x : x.shr(32).to(u32);
  if (plain === 'uniform') return uniformOf(x.shr(32).to(u32));
  if (plain === 'uniformDouble') return is64 ? middleOf(x, true) : upperEnd(x);
  if (plain === 'poisson') return eventsOf(x, is64, first);
  const value = normalOf(x, is64).fma(second, first);
  const given = plain.startsWith('log') ? (exp(value as unknown as Real) as unknown as Value<'f64'>) : value;
  return plain.endsWith('Double') ? given : given.to(f32);
}

/** The words of a dimension: the first point and the directions. */
export const directionWords = 65;

/** Fills memory with the coordinates of Sobol's points of one dimension, in the order of Gray codes. */
export function sobolKernel(kind: SobolKind): TypedKernel {
  const type = drawnType(kind);
  return once(`curand_sobol_${kind.toLowerCase()}`, (word) =>
    kernel(
      word,
      { directions: ptr(u64), out: ptr(type), dimension: u32, begin: u32, count: u32, offset: u64, first: f64, second: f64 },
      ({ directions, out, dimension, begin, count, offset, first, second }) => {
        // The first point is before the directions: 0 but of scrambled points.
        const own = directions.add(dimension.mul(directionWords)) as Pointer<'u64', 'global'>;
        const origin = own.at(0).get();
        loop(blockIndex().mad(blockThreads, threadIndex()), count, gridSize().mul(blockThreads), (i) => {
          const at = offset.add(i.to(u64));
          const [gray, x, bit] = [local(u64, at.xor(at.shr(1))), local(u64, origin), local(u32, 1)];
          loopWhile(
            () => gray.ne(0),
            () => {
              when(gray.and(1).ne(0), () => x.set(x.xor(own.at(bit).get())));
              gray.set(gray.shr(1));
              bit.set(bit.add(1));
            },
          );
          const value = drawn(kind, x.get(), [first, second]);
          out.at(begin.add(i)).set(value as unknown as Real);
        });
      },
      { locations: false, block: blockThreads },
    ),
  );
}
