/**
 * Kernels of transforms: passes by Stockham's form of the algorithm of Cooley and Tukey, in which a thread has a small transform and numbers are in order
 * after each pass; loads and stores of layouts; convolutions with a chirp. Real and imaginary parts are arrays of their own, so that neighboring threads have
 * neighboring numbers; the inverse transform exchanges the two. Source: C. Van Loan, "Computational Frameworks for the Fast Fourier Transform", 1992; L.
 * Bluestein, "A linear filtering approach to the computation of discrete Fourier transform", 1970.
 */
import {
  blockIndex,
  f32,
  f64,
  gridSize,
  kernel,
  local,
  loop,
  type Pointer,
  ptr,
  type Type,
  type TypedKernel,
  threadIndex,
  u32,
  u64,
  type Value,
  when,
} from '../build/index.ts';
import { type Complex, multiply, type Real, small } from './small.ts';

/** The precision of a transform. */
export type Precision = 'f32' | 'f64';
/** Threads of a block. */
export const threads = 128;
type Word = Value<'u32'>;
type Reals = Pointer<'f32', 'global'>;

const typeOf = (precision: Precision): Type<'f32'> => (precision === 'f32' ? f32 : f64) as unknown as Type<'f32'>;
const kernels = new Map<string, TypedKernel>();
type Block = readonly [number, number, number];
function once(
  name: string,
  parameters: Readonly<Record<string, unknown>>,
  body: (p: never) => void,
  block: Block = [threads, 1, 1],
): TypedKernel {
  const known = kernels.get(name);
  if (known) return known;
  const made = kernel(name, parameters as never, body as never, { locations: false, block }) as unknown as TypedKernel;
  kernels.set(name, made);
  return made;
}

/** How a pass finds its numbers. */
export interface PassForm {
  readonly precision: Precision;
  readonly radix: number;
  /** Elements from one real part to the next: 2 in memory of pairs. */
  readonly from: 1 | 2;
  readonly to: 1 | 2;
  /**
   * Numbers between neighbors, times the product of the radices before: 1 (`first`), a power of two and a multiple of the threads of a row, which have
   * the same root then (`wide`), one of 16, so that 16 threads have (`narrow`), another power of two, another multiple of a row (`rows`), or any number.
   */
  readonly step: 'first' | 'wide' | 'narrow' | 'power' | 'rows' | 'any';
  /** Threads of a row, which is in one part. A block has as many rows as there are threads for. */
  readonly row: number;
  /** Whether rows are full. */
  readonly isFull: boolean;
  /** Whether no root is left to multiply with. */
  readonly isLast: boolean;
}

/** Threads next to each other that have the same root in a pass of step `narrow`. */
export const narrow = 16;
/** The threads of a block: along what has the same root, a row, and parts. */
export const blockOf = ({ step, row }: Pick<PassForm, 'step' | 'row'>): Block =>
  step === 'narrow' ? [narrow, row / narrow, threads / row] : [row, 1, threads / row];

type Pass = Record<'fromRe' | 'fromIm' | 'toRe' | 'toIm' | 'rootsRe' | 'rootsIm', Reals> &
  Record<'count' | 'step' | 'shift' | 'rootStep' | 'length' | 'outer', Word>;

/** The place of this thread: the number in its part, and the part. */
function placeOf({ step, shift }: Pass, { step: how, row }: PassForm, i: Word): { q: Word; p: Word } {
  const start = blockIndex('x').mul(row);
  if (how === 'rows') {
    const p = start.div(step);
    return { q: start.sub(p.mul(step)).add(threadIndex()), p };
  }
  if (how === 'wide' || how === 'narrow') {
    const first = how === 'wide' ? start : start.add(threadIndex('y').mul(narrow));
    const p = first.shr(shift);
    return { q: first.sub(p.shl(shift)).add(threadIndex()), p };
  }
  if (how === 'power') return { q: i.and(step.sub(1)), p: i.shr(shift) };
  const p = i.div(step);
  return { q: i.sub(p.mul(step)), p };
}

/** Roots of unity to the powers 1 to `radix - 1` of a number: those to powers of two are read, and others are products of two. */
export function rootsOf({ rootsRe, rootsIm }: Pick<Pass, 'rootsRe' | 'rootsIm'>, radix: number, k: Word): Complex[] {
  const read = (u: number): Complex => {
    const at = u === 1 ? k : k.mul(u);
    return { re: rootsRe.at(at).get(), im: rootsIm.at(at).get() };
  };
  const all: Complex[] = [];
  for (let u = 1; u < radix; u++) {
    const isPower = (u & (u - 1)) === 0;
    const top = 2 ** Math.floor(Math.log2(u));
    all[u] = radix % 2 === 1 || isPower ? read(u) : multiply(all[top]!, all[u - top]!);
  }
  return all;
}

/** A pass: `count` small transforms of each of `outer` parts of `length` numbers. */
export function passKernel(form: PassForm): TypedKernel {
  const { precision, radix, from, to, step, row, isFull, isLast } = form;
  const type = typeOf(precision);
  const reals = { fromRe: ptr(type), fromIm: ptr(type), toRe: ptr(type), toIm: ptr(type), rootsRe: ptr(type), rootsIm: ptr(type) };
  const words = { count: u32, step: u32, shift: u32, rootStep: u32, length: u32, outer: u32 };
  const name = [
    'cufft',
    precision,
    `pass${radix}`,
    step,
    from === 2 ? 'pairs' : 'parts',
    to === 2 ? 'pairs' : 'parts',
    isLast ? 'last' : 'inner',
    `${row}${isFull ? '' : 'ragged'}`,
  ].join('_');
  const block = blockOf(form);
  return once(name, { ...reals, ...words }, (p: Pass) => transformPart(form, p), block);
}

/** What a thread of a pass does. */
function transformPart(form: PassForm, p: Pass): void {
  const { radix, from, to, step, row, isFull, isLast } = form;
  const line = blockIndex('z').mad(65535, blockIndex('y'));
  const part = row === threads ? line : line.mad(threads / row, threadIndex('z'));
  const inRow = step === 'narrow' ? threadIndex('y').mad(narrow, threadIndex()) : threadIndex();
  const i = blockIndex('x').mad(row, inRow);
  const isIn = part.lt(p.outer);
  when(isFull ? isIn : isIn.and(i.lt(p.count)), () => {
    const at = (base: Reals, stride: number): Reals => base.add(part.mulWide(p.length)).add(stride === 2 ? part.mulWide(p.length) : 0);
    const [inRe, inIm, outRe, outIm] = [at(p.fromRe, from), at(p.fromIm, from), at(p.toRe, to), at(p.toIm, to)];
    const values = Array.from({ length: radix }, (_, t) => {
      const place = (t === 0 ? i : i.add(p.count.mul(t))).mul(from);
      return { re: inRe.at(place).get(), im: inIm.at(place).get() };
    });
    const results = small(values);
    const { q, p: own } = step === 'first' ? { q: undefined, p: i } : placeOf(p, form, i);
    const roots = isLast ? [] : rootsOf(p, radix, step === 'first' ? own : own.mul(p.rootStep));
    const first = q ? own.mul(p.step).mul(radix).add(q) : own.mul(radix);
    for (const [u, result] of results.entries()) {
      const value = u === 0 || isLast ? result : multiply(result, roots[u]!);
      const place = (u === 0 ? first : first.add(q ? p.step.mul(u) : u)).mul(to);
      outRe.at(place).set(value.re);
      outIm.at(place).set(value.im);
    }
  });
}

/** What is in memory: complex numbers, real ones, or the first half of what has real ones as its transform. */
export type Form = 'complex' | 'real' | 'half';

const layoutWords = {
  n0: u32,
  n1: u32,
  n2: u32,
  stored: u32,
  embed1: u64,
  embed2: u64,
  stride: u64,
  distance: u64,
  total: u32,
  rank: u32,
} as const;
/** `stored` numbers of a row of `n2` are in memory. */
type Layout = Record<'n0' | 'n1' | 'n2' | 'stored' | 'total' | 'rank', Word> &
  Record<'embed1' | 'embed2' | 'stride' | 'distance', Value<'u64'>>;

/** Places of an element along three dimensions, of which the first ones may have a size of 1. */
function placesOf({ n0, n1, n2 }: Layout, i: Word): { batch: Word; at: [Word, Word, Word] } {
  const [a, z] = splitBy(i, n2);
  const [b, y] = splitBy(a, n1);
  const [batch, x] = splitBy(b, n0);
  return { batch, at: [x, y, z] };
}
const splitBy = (value: Word, by: Word): [Word, Word] => {
  const quotient = value.div(by);
  return [quotient, value.sub(quotient.mul(by))];
};
const offsetOf = ({ embed1, embed2, stride, distance }: Layout, batch: Word, [x, y, z]: readonly [Word, Word, Word]): Value<'u64'> =>
  x.to(u64).mul(embed1).add(y.to(u64)).mul(embed2).add(z.to(u64)).mul(stride).add(batch.to(u64).mul(distance));

type Moved = Layout & Record<'memory' | 're' | 'im', Reals>;
const eachElement = (total: Word, visit: (i: Word) => void): void =>
  loop(blockIndex().mad(threads, threadIndex()), total, gridSize().mul(threads), visit);

/** Loads numbers of a layout: arrays of their parts in order. */
export function loadKernel(precision: Precision, form: Form): TypedKernel {
  const type = typeOf(precision);
  return once(`cufft_${precision}_load_${form}`, { memory: ptr(type), re: ptr(type), im: ptr(type), ...layoutWords }, (p: Moved) =>
    eachElement(p.total, (i) => {
      const { batch, at } = placesOf(p, i);
      if (form === 'real') {
        p.re.at(i).set(p.memory.at(offsetOf(p, batch, at)).get());
        p.im.at(i).set(0);
        return;
      }
      const isBehind = form === 'half' ? at[2].gt(p.n2.shr(1)) : undefined;
      const mirrored = at.map((place, d) => {
        if (!isBehind) return place;
        const n = [p.n0, p.n1, p.n2][d]!;
        const other = place.eq(0).select(place, n.sub(place));
        return isBehind.select(other, place);
      }) as [Word, Word, Word];
      const place = offsetOf(p, batch, mirrored).shl(1);
      const [re, im] = [p.memory.at(place).get(), local(type, p.memory.at(place, 1).get())];
      if (isBehind) {
        when(isBehind, () => im.set(im.neg()));
        // Where a number is its own conjugate, it is real.
        when(p.rank.eq(1).and(at[2].eq(0).or(at[2].mul(2).eq(p.n2))), () => im.set(0));
      }
      p.re.at(i).set(re);
      p.im.at(i).set(im);
    }),
  );
}

/** Stores numbers to a layout. */
export function storeKernel(precision: Precision, form: Form): TypedKernel {
  const type = typeOf(precision);
  return once(`cufft_${precision}_store_${form}`, { memory: ptr(type), re: ptr(type), im: ptr(type), ...layoutWords }, (p: Moved) =>
    eachElement(p.total, (i) => {
      const { batch, at } = placesOf(p, i);
      const offset = offsetOf(p, batch, at);
      if (form === 'real') return p.memory.at(offset).set(p.re.at(i).get());
      const isStored = form === 'half' ? at[2].lt(p.stored) : i.eq(i);
      when(isStored, () => {
        p.memory.at(offset.shl(1)).set(p.re.at(i).get());
        p.memory.at(offset.shl(1), 1).set(p.im.at(i).get());
      });
    }),
  );
}

type Unraveled = Record<'fromRe' | 'fromIm' | 'toRe' | 'toIm' | 'rootsRe' | 'rootsIm', Reals> & Record<'length' | 'pitch' | 'outer', Word>;

/**
 * The first half of the transform of real numbers from that of half as many complex ones, which are the real ones by pairs: `outer` rows of `length`, to rows of
 * `pitch` numbers. Source: W. H. Press and others, "Numerical Recipes", 12.3.
 */
export function unravelKernel(precision: Precision, to: 1 | 2): TypedKernel {
  const type = typeOf(precision);
  const reals = { fromRe: ptr(type), fromIm: ptr(type), toRe: ptr(type), toIm: ptr(type), rootsRe: ptr(type), rootsIm: ptr(type) };
  const words = { length: u32, pitch: u32, outer: u32 };
  return once(`cufft_${precision}_unravel_${to === 2 ? 'pairs' : 'parts'}`, { ...reals, ...words }, (p: Unraveled) => {
    const row = blockIndex('z').mad(65535, blockIndex('y'));
    const k = blockIndex('x').mad(threads, threadIndex());
    when(row.lt(p.outer).and(k.le(p.length)), () => {
      const at = (base: Reals, start: Value<'u64'>, stride: number): Reals => base.add(stride === 2 ? start.shl(1) : start);
      const [inRe, inIm] = [p.fromRe, p.fromIm].map((base) => at(base, row.mulWide(p.length), 1)) as [Reals, Reals];
      const [outRe, outIm] = [p.toRe, p.toIm].map((base) => at(base, row.mulWide(p.pitch), to)) as [Reals, Reals];
      // The number behind the last one is the first one.
      const own = k.eq(p.length).select(0, k);
      const other = k.eq(0).select(0, p.length.sub(k));
      const [a, b] = [own, other].map((place) => ({ re: inRe.at(place).get(), im: inIm.at(place).get() })) as [Complex, Complex];
      const even = { re: a.re.add(b.re).mul(0.5), im: a.im.sub(b.im).mul(0.5) };
      const odd = { re: a.im.add(b.im).mul(0.5), im: b.re.sub(a.re).mul(0.5) };
      const turned = multiply(odd, { re: p.rootsRe.at(k).get(), im: p.rootsIm.at(k).get() });
      const place = to === 2 ? k.shl(1) : k;
      outRe.at(place).set(even.re.add(turned.re));
      outIm.at(place).set(even.im.add(turned.im));
    });
  });
}

type Chirped = Record<'fromRe' | 'fromIm' | 'toRe' | 'toIm' | 'chirpRe' | 'chirpIm', Reals> &
  Record<'total' | 'inner' | 'length' | 'padded', Word> &
  Record<'scale', Real>;

/** Into a convolution with a chirp (`pad`), between its transforms (`filter`), and out of it (`unpad`). */
export function chirpKernel(precision: Precision, what: 'pad' | 'filter' | 'unpad'): TypedKernel {
  const type = typeOf(precision);
  const reals = { fromRe: ptr(type), fromIm: ptr(type), toRe: ptr(type), toIm: ptr(type), chirpRe: ptr(type), chirpIm: ptr(type) };
  const words = { total: u32, inner: u32, length: u32, padded: u32, scale: type };
  return once(`cufft_${precision}_${what}`, { ...reals, ...words }, (p: Chirped) =>
    eachElement(p.total, (i) => {
      const read = (place: Word): Complex => ({ re: p.fromRe.at(place).get(), im: p.fromIm.at(place).get() });
      const chirpAt = (k: Word): Complex => ({ re: p.chirpRe.at(k).get(), im: p.chirpIm.at(k).get() });
      const write = (place: Word, { re, im }: { re: Real; im: Real }): void => {
        p.toRe.at(place).set(re);
        p.toIm.at(place).set(im);
      };
      if (what === 'filter') {
        const [, k] = splitBy(i, p.padded);
        write(i, multiply(read(i), chirpAt(k)));
        return;
      }
      if (what === 'pad') {
        const [line, k] = splitBy(i, p.padded);
        const [out, inside] = splitBy(line, p.inner);
        when(
          k.lt(p.length),
          () => write(i, multiply(read(out.mul(p.length).add(k).mul(p.inner).add(inside)), chirpAt(k))),
          () => {
            p.toRe.at(i).set(0);
            p.toIm.at(i).set(0);
          },
        );
        return;
      }
      const [rest, inside] = splitBy(i, p.inner);
      const [out, k] = splitBy(rest, p.length);
      const { re, im } = multiply(read(out.mul(p.inner).add(inside).mul(p.padded).add(k)), chirpAt(k));
      write(i, { re: re.mul(p.scale), im: im.mul(p.scale) });
    }),
  );
}
