/**
 * Transforms of lines by one thread each, for CPUs: steps of a few numbers in registers, between which the numbers of a line are in memory of the thread.
 * Decimation in frequency: a step leaves its results where it found its numbers, so that a line is in the memory once, and the last step has them in order.
 * Source: C. Van Loan, "Computational Frameworks for the Fast Fourier Transform", 1992.
 */
import { loop, type Pointer, type Value } from '../build/index.ts';
import { type Complex, multiply, small } from './small.ts';
import { radicesOf, rootsOfUnity } from './tables.ts';

export type Word = Value<'u32'>;
type Shared = Pointer<'f32', 'shared'>;
type Reals = Pointer<'f32', 'global'>;

/** An index: a number that is known when the kernel runs, if there is one, and a constant behind it. */
export interface Place {
  readonly at: Word | undefined;
  readonly plus: number;
}
/** The index times a constant. */
export const scaled = ({ at, plus }: Place, by: number): Place => ({ at: by === 1 ? at : at?.mul(by), plus: plus * by });
/** The sum of an index and a number. */
export const moved = ({ at, plus }: Place, by: Word): Place => ({ at: at ? at.add(by) : by, plus });
/** The sum of two indices. */
const joined = (a: Place, b: Place): Place => (b.at ? { ...moved(a, b.at), plus: a.plus + b.plus } : { at: a.at, plus: a.plus + b.plus });
const nowhere: Place = { at: undefined, plus: 0 };

const product = (numbers: readonly number[]): number => numbers.reduce((all, each) => all * each, 1);

/**
 * The radices of the steps of a line: 4 and 8, whose numbers fit the 16 vector registers of common processors, and odd primes. Nothing if a prime is too
 * large.
 */
export function lineRadices(length: number): number[] | undefined {
  const odd = radicesOf(length)?.filter((radix) => radix % 2 === 1);
  if (!odd) return undefined;
  const bits = Math.log2(length / product(odd));
  if (bits === 1) return [...odd, 2];
  const fours = (3 - (bits % 3)) % 3;
  return [...Array<number>(fours).fill(4), ...odd, ...Array<number>((bits - 2 * fours) / 3).fill(8)];
}

/** Roots of unity of the steps of a line but the last one, in the order of their use: real and imaginary parts by turns. */
export function stepRoots(radices: readonly number[]): number[] {
  const all: number[] = [];
  let length = product(radices);
  for (const radix of radices.slice(0, -1)) {
    const { re, im } = rootsOfUnity(length);
    const count = length / radix;
    for (let j = 0; j < count; j++) for (let u = 1; u < radix; u++) all.push(re[j * u]!, im[j * u]!);
    length = count;
  }
  return all;
}

/** The reals that `stepRoots` gives. */
export function rootCount(radices: readonly number[]): number {
  let [length, count] = [product(radices), 0];
  for (const radix of radices.slice(0, -1)) {
    length /= radix;
    count += 2 * (radix - 1) * length;
  }
  return count;
}

/** A line: where its numbers are, and what is done with the results. */
export interface Line {
  readonly radices: readonly number[];
  /** Memory of this thread: the real parts of a number for the lanes of a group, and its imaginary parts. */
  readonly memory: Shared;
  /** The lanes of a group. */
  readonly lanes: number;
  /** What `stepRoots` gives, from a constant on. */
  readonly roots: Reals;
  readonly rootsAt: number;
  read(k: Place): Complex;
  write(k: Place, value: Complex): void;
}

const each = (count: number, visit: (i: Place) => void): void => {
  if (count === 1) visit(nowhere);
  else loop(0, count, 1, (i) => visit({ at: i, plus: 0 }));
};

/** The number at an index of the memory of a line. */
function held({ memory, lanes }: Line, k: Place): { get(): Complex; set(value: Complex): void } {
  const { at, plus } = scaled(k, 2 * lanes);
  const from = at ? memory.add(at) : memory;
  return {
    get: () => ({ re: from.at(plus).get(), im: from.at(plus + lanes).get() }),
    set({ re, im }) {
      from.at(plus).set(re);
      from.at(plus + lanes).set(im);
    },
  };
}

/** Transforms a line. */
export function transformLine(line: Line): void {
  const { radices, read, write } = line;
  const whole = product(radices);
  let [length, rootsAt] = [whole, line.rootsAt];
  for (const [index, radix] of radices.entries()) {
    const count = length / radix;
    const load = (k: Place): Complex => (index === 0 ? read(k) : held(line, k).get());
    const numbers = (first: Place): Complex[] =>
      small(Array.from({ length: radix }, (_, t) => load({ at: first.at, plus: first.plus + t * count })));
    if (index === radices.length - 1) {
      eachInOrder(radices, (first, k) => {
        for (const [u, value] of numbers(first).entries()) write({ at: k.at, plus: k.plus + (u * whole) / radix }, value);
      });
      return;
    }
    const [own, parts] = [rootsAt, length];
    each(whole / length, (part) =>
      each(count, (j) => {
        const first = joined(scaled(part, parts), j);
        const root = rootOf(line.roots, scaled(j, 2 * (radix - 1)), own);
        for (const [u, value] of numbers(first).entries())
          held(line, { at: first.at, plus: first.plus + u * count }).set(u === 0 ? value : multiply(value, root(u - 1)));
      }),
    );
    rootsAt += 2 * (radix - 1) * count;
    length = count;
  }
}

/** The roots of a small transform. */
function rootOf(roots: Reals, { at, plus }: Place, own: number): (index: number) => Complex {
  const from = at ? roots.add(at) : roots;
  return (index) => ({ re: from.at(own + plus + 2 * index).get(), im: from.at(own + plus + 2 * index + 1).get() });
}

/** Visits the small transforms of the last step, with the index of their first number and that of their first result, whose digits are the other way round. */
function eachInOrder(radices: readonly number[], visit: (first: Place, k: Place) => void): void {
  const digits = radices.slice(0, -1);
  const inside = (digit: number, first: Place, k: Place): void => {
    if (digit < 0) return visit(first, k);
    const [before, behind] = [product(digits.slice(0, digit)), product(radices.slice(digit + 1))];
    each(digits[digit]!, (u) => inside(digit - 1, joined(first, scaled(u, behind)), joined(k, scaled(u, before))));
  };
  inside(digits.length - 1, nowhere, nowhere);
}
