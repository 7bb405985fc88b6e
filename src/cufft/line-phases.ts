/** What is done with a line in shared memory before and behind its transform: real numbers as pairs, and convolutions with a chirp. */
import { constant, local, loop, syncThreads, type Type, threadIndex, u32, when } from '../build/index.ts';
import type { Place, Word } from './line.ts';
import type { LineArguments } from './line-arguments.ts';
import { from, portsOf, type Side } from './line-ports.ts';
import { add, type Complex, multiply, subtract } from './small.ts';

/** A line of a block. */
export interface Inside {
  readonly p: LineArguments;
  readonly type: Type<'f32'>;
  /** The numbers of the line. */
  readonly whole: number;
  readonly given: Side;
  readonly taken: Side;
  /** The line in shared memory, beside that of the transform. */
  readonly other: Side;
  /** Visits as many items as a number says, some of them in each thread, neighbors in neighboring lanes. */
  own(count: number, visit: (item: Word) => void): void;
  /** Transforms the line. The block does not meet after it. */
  transform(source: Side, target: Side): void;
}

const here: Place = { at: undefined, plus: 0 };
const conjugate = ({ re, im }: Complex): Complex => ({ re, im: im.neg() });
const swapped = ({ re, im }: Complex): Complex => ({ re: im, im: re });
const scaledBy = ({ re, im }: Complex, by: number): Complex => ({ re: re.mul(by), im: im.mul(by) });
/** The product with i. */
const timesI = ({ re, im }: Complex): Complex => ({ re: im.neg(), im: re });
/** The product with -i. */
const overI = ({ re, im }: Complex): Complex => ({ re: im, im: re.neg() });

/** One number of a side. */
function numberAt({ type }: Inside, side: Side, at: Word): { get(): Complex; set(value: Complex): void } {
  const { read, write } = portsOf(from(side, at), type);
  return { get: () => read(here), set: (value) => write(here, value) };
}
const table = ({ p }: Inside, name: 'other' | 'filter'): Side => ({
  stored: 'parts',
  ...(name === 'other' ? { re: p.otherRe, im: p.otherIm } : { re: p.filterRe, im: p.filterIm }),
  start: [],
  step: 1,
});

/** Visits the indices from 1 to the middle, and those that are as far from the end; and in one thread the ends. */
function eachMirrored({ whole, own }: Inside, visit: (k: Word, mirrored: Word) => void, ends: (first: Word, last: Word) => void): void {
  own(Math.floor(whole / 2), (item) => visit(item.add(1), constant(u32, whole - 1).sub(item)));
  when(threadIndex('x').eq(0).and(threadIndex('y').eq(0)), () => ends(constant(u32, 0), constant(u32, whole)));
}

/**
 * The first half of the transform of real numbers from that of half as many complex ones, which are the real ones by pairs. Source: W. H. Press and others,
 * "Numerical Recipes", 12.3.
 */
export function split(inside: Inside): void {
  const { given, taken, other } = inside;
  inside.transform(given, other);
  syncThreads();
  eachMirrored(
    inside,
    (k, mirrored) => {
      const [a, b] = [numberAt(inside, other, k).get(), conjugate(numberAt(inside, other, mirrored).get())];
      const [even, odd] = [scaledBy(add(a, b), 0.5), scaledBy(overI(subtract(a, b)), 0.5)];
      const turned = multiply(odd, numberAt(inside, table(inside, 'other'), k).get());
      numberAt(inside, taken, k).set(add(even, turned));
      numberAt(inside, taken, mirrored).set(conjugate(subtract(even, turned)));
    },
    (first, last) => {
      const { re, im } = numberAt(inside, other, first).get();
      const none = im.mul(0);
      numberAt(inside, taken, first).set({ re: re.add(im), im: none });
      numberAt(inside, taken, last).set({ re: re.sub(im), im: none });
    },
  );
}

/** The reverse: real numbers by pairs from the first half of their transform. The inverse transform is the forward one with the parts exchanged. */
export function join(inside: Inside): void {
  const { given, taken, other } = inside;
  eachMirrored(
    inside,
    (k, mirrored) => {
      const [a, b] = [numberAt(inside, given, k).get(), conjugate(numberAt(inside, given, mirrored).get())];
      const root = conjugate(numberAt(inside, table(inside, 'other'), k).get());
      const [sum, turned] = [add(a, b), timesI(multiply(subtract(a, b), root))];
      numberAt(inside, other, k).set(swapped(add(sum, turned)));
      numberAt(inside, other, mirrored).set(swapped(conjugate(subtract(sum, turned))));
    },
    (first, last) => {
      // What is its own conjugate is real.
      const [a, b] = [numberAt(inside, given, first).get().re, numberAt(inside, given, last).get().re];
      numberAt(inside, other, first).set(swapped({ re: a.add(b), im: a.sub(b) }));
    },
  );
  syncThreads();
  inside.transform(other, taken);
}

/** A transform of any length as a convolution with a chirp. Source: L. Bluestein, "A linear filtering approach to the computation of discrete Fourier transform", 1970. */
export function convolve(inside: Inside): void {
  const { p, type, whole, given, taken, other, own } = inside;
  const chirp = table(inside, 'other');
  const times = (side: Side, by: Side, k: Word): Complex => multiply(numberAt(inside, side, k).get(), numberAt(inside, by, k).get());
  own(whole, (k) => {
    const [re, im] = [local(type, 0), local(type, 0)];
    when(k.lt(p.length), () => {
      const value = times(given, chirp, k);
      re.set(value.re);
      im.set(value.im);
    });
    numberAt(inside, other, k).set({ re: re.get(), im: im.get() });
  });
  syncThreads();
  loop(0, 2, 1, (round) => {
    inside.transform(other, other);
    syncThreads();
    when(
      round.eq(0),
      () => own(whole, (k) => numberAt(inside, other, k).set(swapped(times(other, table(inside, 'filter'), k)))),
      () =>
        own(whole, (k) =>
          when(k.lt(p.length), () => {
            const value = multiply(swapped(numberAt(inside, other, k).get()), numberAt(inside, chirp, k).get());
            numberAt(inside, taken, k).set(scaledBy(value, 1 / whole));
          }),
        ),
    );
    syncThreads();
  });
}
