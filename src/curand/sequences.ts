/** Generators in kernels: the state of a thread in registers, and the numbers that it draws. Source: cuRAND Library, "Bit Generation". */
import { constant, f64, local, type Pointer, u32, u64, type Value, type Variable, when } from '../build/index.ts';

type Word = Value<'u32'>;
type Double = Value<'f64'>;

/** A generator in a kernel. */
export interface Sequence {
  /** The next 32 bits. */
  integer(): Word;
  /** Four numbers of 32 bits at once, of generators that have them side by side. */
  four?(): [Word, Word, Word, Word];
  /** The next number as that of MRG32k3a: a whole number up to its first modulus. */
  whole?(): Double;
  /** Writes the state back. */
  close(): void;
}
/** What a generator is opened with. */
export interface Opened {
  readonly states: Pointer<'u32', 'global'>;
  readonly threads: Word;
  readonly thread: Word;
  readonly keyLow: Word;
  readonly keyHigh: Word;
}

/** Words of the state, which are in memory word by word. */
function wordsOf({ states, threads, thread }: Opened, count: number): { words: Variable<'u32'>[]; close(): void } {
  const places = Array.from({ length: count }, (_, i) => states.at(threads.mad(i, thread)));
  const words = places.map((place) => local(u32, place));
  return {
    words,
    close: () => {
      for (const [i, place] of places.entries()) place.set(words[i]!);
    },
  };
}

/** XORWOW: xorshift with 160 bits, and a Weyl sequence. */
function xorwow(opened: Opened): Sequence {
  const { words, close } = wordsOf(opened, 6);
  const [d, ...v] = words as [Variable<'u32'>, ...Variable<'u32'>[]];
  return {
    integer: () => {
      const t = v[0]!.xor(v[0]!.shr(2));
      for (let i = 0; i < 4; i++) v[i]!.set(v[i + 1]!);
      v[4]!.set(v[4]!.xor(v[4]!.shl(4)).xor(t.xor(t.shl(1))));
      d.set(d.add(362437));
      return v[4]!.add(d);
    },
    close,
  };
}

const [m1, m2] = [4294967087, 4294944443];

/** MRG32k3a: two recurrences of order three. */
function mrg32k3a(opened: Opened): Sequence {
  const { words, close } = wordsOf(opened, 6);
  const recur = (s: readonly Variable<'u32'>[], m: number, plus: readonly [number, number], minus: number): Word => {
    const old = s.map((each) => each.get());
    // A product with a negative coefficient is one with its complement.
    const complement = constant(u32, m).sub(old[0]!);
    const sum = old[plus[0]]!.mulWide(plus[1]).add(complement.mulWide(minus));
    const next = sum.rem(m).to(u32);
    s[0]!.set(old[1]!);
    s[1]!.set(old[2]!);
    s[2]!.set(next);
    return next;
  };
  const whole = (): Double => {
    const p1 = recur(words.slice(0, 3), m1, [1, 1403580], 810728);
    const p2 = recur(words.slice(3), m2, [2, 527612], 1370589);
    const difference = p1.to(f64).sub(p2.to(f64));
    return p1.le(p2).select(difference.add(m1), difference);
  };
  return { integer: () => whole().mul(1.000000048662).to(u32), whole, close };
}

/** Ten rounds of Philox over a counter. Source: J. Salmon and others, "Parallel random numbers: as easy as 1, 2, 3", 2011. */
function philoxRounds(counter: readonly [Word, Word, Word, Word], low: Word, high: Word): [Word, Word, Word, Word] {
  let [x, y, z, w] = counter;
  let [k, l] = [low, high];
  for (let round = 0; round < 10; round++) {
    const [hi0, lo0] = [x.mulHi(0xd2511f53), x.mul(0xd2511f53)];
    const [hi1, lo1] = [z.mulHi(0xcd9e8d57), z.mul(0xcd9e8d57)];
    [x, y, z, w] = [hi1.xor(y).xor(k), lo1, hi0.xor(w).xor(l), lo0];
    [k, l] = [k.add(0x9e3779b9), l.add(0xbb67ae85)];
  }
  return [x, y, z, w];
}

/** Philox: the block of a counter, whose upper half is the thread. */
function philox(opened: Opened): Sequence {
  const { words, close } = wordsOf(opened, 2);
  const [low, high] = words as [Variable<'u32'>, Variable<'u32'>];
  const joined = (): Value<'u64'> => high.to(u64).shl(32).or(low.to(u64));
  const zero = constant(u32, 0);
  const block = (number: Value<'u64'>): [Word, Word, Word, Word] => {
    const at = number.shr(2);
    return philoxRounds([at.to(u32), at.shr(32).to(u32), opened.thread, zero], opened.keyLow, opened.keyHigh);
  };
  const advance = (by: number): void => {
    const next = joined().add(by);
    low.set(next.to(u32));
    high.set(next.shr(32).to(u32));
  };
  // The words of the block that the next number is in.
  const words4 = block(joined()).map((each) => local(u32, each));
  const renew = (): void => {
    for (const [i, each] of block(joined()).entries()) words4[i]!.set(each);
  };
  return {
    integer: () => {
      const at = low.and(3);
      const [a, b] = [
        at.and(1).ne(0).select(words4[1]!.get(), words4[0]!.get()),
        at.and(1).ne(0).select(words4[3]!.get(), words4[2]!.get()),
      ];
      const value = at.and(2).ne(0).select(b, a);
      advance(1);
      when(low.and(3).eq(0), renew);
      return value;
    },
    four: () => {
      const old = words4.map((each) => each.get());
      const at = low.and(3);
      advance(4);
      renew();
      const all = [...old, ...words4.slice(0, 3).map((each) => each.get())];
      return [0, 1, 2, 3].map((i) => {
        const [a, b] = [
          at
            .and(1)
            .ne(0)
            .select(all[i + 1]!, all[i]!),
          at
            .and(1)
            .ne(0)
            .select(all[i + 3] ?? all[i]!, all[i + 2] ?? all[i]!),
        ];
        return at.and(2).ne(0).select(b, a);
      }) as [Word, Word, Word, Word];
    },
    close,
  };
}

/** The generators by name: how many words a state has, how many threads there are, also in the legacy ordering, and the numbers side by side. */
export const sequences = {
  xorwow: { open: xorwow, words: 6, threads: 4096, legacyThreads: 4096, group: 1 },
  mrg32k3a: { open: mrg32k3a, words: 6, threads: 81920, legacyThreads: 4096, group: 1 },
  philox: { open: philox, words: 2, threads: 65536, legacyThreads: 65536, group: 4 },
} as const;
/** The name of a generator. */
export type SequenceName = keyof typeof sequences;
