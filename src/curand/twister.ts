/**
 * MT19937 in the order of cuRAND: 8192 generators, each 2^2048 numbers of the one sequence behind the one before. A generation of a generator is 624 numbers,
 * of which it has eight in each of 78 rows of the output. Source: M. Matsumoto, T. Nishimura, "Mersenne Twister: a 623-dimensionally equidistributed uniform
 * pseudorandom number generator", 1998; the distance and the order in the rows were found from the output of cuRAND 13's host generator, and an H200 has the same.
 */
import type { Device, KernelBuffer, partOf, Stream } from '../api/index.ts';
import {
  blockIndex,
  constant,
  f32,
  f64,
  kernel,
  local,
  loop,
  ptr,
  shared,
  syncThreads,
  type TypedKernel,
  threadIndex,
  u32,
  u64,
  type Value,
  when,
} from '../build/index.ts';
import { blockThreads, drawn, drawnType, middleOf, once, type SobolKind } from './kernels.ts';
import { jumpOf, middle, placesOf, stateWords, twist } from './twister-jumps.ts';

type Word = Value<'u32'>;

/** The generators, and the logarithm of the numbers between two neighbors. */
const generators = 8192;
const jumpExponent = 2048;
/** The numbers of a generator in a row, and the rows of a generation. */
const perRow = 8;
const rowNumbers = generators * perRow;
const generationNumbers = generators * stateWords;

/**
 * Where the numbers of a row are in a generation, row by row. The first row has eight single ones, and the others come seven rows at a time: a number of each,
 * then the next number of each.
 */
function orderOfRows(): Uint32Array {
  const order: number[] = [];
  // Before these groups of seven rows there is a single number each.
  const singles = [0, 2, 3, 5, 6, 7, 9, 10];
  const width = 7 * perRow;
  for (const [i, group] of singles.entries()) order.push(group * width + i);
  for (let row = 1; row < stateWords / perRow; row++) {
    const group = Math.floor((row - 1) / 7);
    const start = group * width + singles.filter((each) => each <= group).length;
    for (let j = 0; j < perRow; j++) order.push(start + 7 * j + ((row - 1) % 7));
  }
  return Uint32Array.from(order);
}

/** The state of a seed, of the first generator. */
const seedKernel = (): TypedKernel =>
  once('curand_mt19937_seed', (name) =>
    kernel(
      name,
      { words: ptr(u32), seed: u32 },
      ({ words, seed }) =>
        when(threadIndex().eq(0), () => {
          const state = local(u32, seed);
          words.at(0).set(state);
          loop(constant(u32, 1), stateWords, 1, (i) => {
            state.set(state.xor(state.shr(30)).mul(1812433253).add(i));
            words.at(i.mul(generators)).set(state);
          });
        }),
      { locations: false, block: blockThreads },
    ),
  );

/** A word of the next generation, of three of the last. */
const nextOf = (first: Word, second: Word, other: Word): Word => {
  const joined = first.and(0x80000000).or(second.and(0x7fffffff));
  return other.xor(joined.shr(1)).xor(joined.and(1).ne(0).select(constant(u32, twist), 0));
};

/** The next generation of some generators: a thread has one. Words are in memory word by word. */
const generationKernel = (): TypedKernel =>
  once('curand_mt19937_generation', (name) =>
    kernel(
      name,
      { words: ptr(u32), count: u32 },
      ({ words, count }) => {
        const own = blockIndex().mad(blockThreads, threadIndex());
        when(own.lt(count), () => {
          const at = (k: Word) => words.at(k.mul(generators).add(own));
          const step = (k: Word, second: Word, other: Word): void => at(k).set(nextOf(at(k).get(), at(second).get(), at(other).get()));
          loop(0, stateWords - middle, 1, (k) => step(k, k.add(1), k.add(middle)));
          loop(stateWords - middle, stateWords - 1, 1, (k) => step(k, k.add(1), k.sub(stateWords - middle)));
          step(constant(u32, stateWords - 1), constant(u32, 0), constant(u32, middle - 1));
        });
      },
      { locations: false, block: blockThreads },
    ),
  );

const jumpThreads = stateWords / 2;
/** New words that do not depend on each other. */
const ahead = stateWords - middle;

/**
 * The states of as many generators again, each a jump behind the one that it is made of: sums of the words that follow, which a block makes 227 at a time.
 */
const jumpKernel = (): TypedKernel =>
  once('curand_mt19937_jump', (name) =>
    kernel(
      name,
      { words: ptr(u32), places: ptr(u32), starts: ptr(u32), chunks: u32, count: u32 },
      ({ words, places, starts, chunks, count }) => {
        const [own, source] = [threadIndex(), blockIndex()];
        const window = shared(u32, stateWords + ahead);
        const mine = [own, own.add(jumpThreads)];
        const at = (k: Word, generator: Word) => words.at(k.mul(generators).add(generator));
        for (const i of mine) window.at(i).set(at(i, source).get());
        const sums = mine.map(() => local(u32, 0));
        loop(constant(u32, 0), chunks, 1, (chunk) => {
          syncThreads();
          when(own.lt(ahead), () =>
            window.at(own.add(stateWords)).set(nextOf(window.at(own).get(), window.at(own.add(1)).get(), window.at(own.add(middle)).get())),
          );
          syncThreads();
          loop(starts.at(chunk).get(), starts.at(chunk.add(1)).get(), 1, (bit) => {
            const from = window.add(places.at(bit).get());
            for (const [i, sum] of sums.entries()) sum.set(sum.xor(from.at(mine[i]!).get()));
          });
          syncThreads();
          const next = mine.map((i) => window.at(i.add(ahead)).get());
          syncThreads();
          for (const [i, place] of mine.entries()) window.at(place).set(next[i]!);
        });
        for (const [i, place] of mine.entries()) at(place, source.add(count)).set(sums[i]!);
      },
      { locations: false, block: jumpThreads },
    ),
  );

/** What a number becomes: other than coordinates of points, uniform ones are the middle of what their bits stand for, rounded once. */
function numberOf(kind: SobolKind, x: Value<'u64'>, scales: readonly [Value<'f64'>, Value<'f64'>]): unknown {
  if (kind === 'uniformDouble') return middleOf(x, false);
  return kind === 'uniform' ? middleOf(x, false).to(f32) : drawn(kind, x, scales);
}

/** Fills memory with numbers from a place of a generation on. */
const drawKernel = (kind: SobolKind): TypedKernel =>
  once(`curand_mt19937_${kind.toLowerCase()}`, (name) =>
    kernel(
      name,
      { words: ptr(u32), order: ptr(u32), out: ptr(drawnType(kind)), place: u32, count: u32, first: f64, second: f64 },
      ({ words, order, out, place, count, first, second }) => {
        const i = blockIndex().mad(blockThreads, threadIndex());
        when(i.lt(count), () => {
          const at = place.add(i);
          const [row, column] = [at.div(rowNumbers), at.rem(rowNumbers)];
          const word = order.at(row.mul(perRow).add(column.rem(perRow))).get();
          const y = local(u32, words.at(word.mul(generators).add(column.div(perRow))));
          y.set(y.xor(y.shr(11)));
          y.set(y.xor(y.shl(7).and(0x9d2c5680)));
          y.set(y.xor(y.shl(15).and(0xefc60000)));
          y.set(y.xor(y.shr(18)));
          const x = y.to(u64).shl(32);
          out.at(i).set(numberOf(kind, x, [first, second]) as never);
        });
      },
      { locations: false, block: blockThreads },
    ),
  );

/** What is drawn. */
export interface Draw {
  readonly kind: SobolKind;
  readonly out: NonNullable<ReturnType<typeof partOf>>;
  readonly count: number;
  readonly first: number;
  readonly second: number;
}

/** The generators of a seed of 32 bits, on a device: those that no number was asked of yet are not made. */
export class Twister {
  readonly #device: Device;
  readonly #words: KernelBuffer<'u32'>;
  readonly #order: KernelBuffer<'u32'>;
  /** The generators that are there: a power of two. */
  #ready = 1;
  /** The next number in the output of this generation. */
  #place = 0;

  constructor(device: Device, seed: number) {
    this.#device = device;
    this.#words = device.allocate('u32', stateWords * generators);
    this.#launch(seedKernel(), 1, { words: this.#words, seed: seed >>> 0 });
    this.#order = device.bufferOf('u32', orderOfRows());
    this.#generation(1);
  }

  /** Enqueues the generation of numbers. */
  draw({ kind, out, count, first, second }: Draw, stream?: Stream): void {
    for (let done = 0; done < count; ) {
      const part = Math.min(count - done, generationNumbers - this.#place);
      this.#ensure(Math.min(generators, Math.ceil((this.#place + part) / perRow)), stream);
      const args = { words: this.#words, order: this.#order, out: out.part(done, part), place: this.#place, count: part, first, second };
      this.#launch(drawKernel(kind), Math.ceil(part / blockThreads), args, stream);
      done += part;
      this.#place += part;
      if (this.#place < generationNumbers) continue;
      this.#generation(generators, stream);
      this.#place = 0;
    }
  }

  /** Frees the memory when pending work has ended. */
  free(): void {
    this.#words.free();
    this.#order.free();
  }

  #generation(count: number, stream?: Stream): void {
    this.#launch(generationKernel(), Math.ceil(count / blockThreads), { words: this.#words, count }, stream);
  }

  /** Makes the generators up to a number. All of them are there before the first generation ends. */
  #ensure(count: number, stream?: Stream): void {
    for (; this.#ready < count; this.#ready *= 2) {
      const { places, starts } = placesOf(jumpOf(jumpExponent + Math.log2(this.#ready)));
      const buffers = [this.#device.bufferOf('u32', places), this.#device.bufferOf('u32', starts)];
      const args = { words: this.#words, places: buffers[0], starts: buffers[1], chunks: starts.length - 1, count: this.#ready };
      this.#launch(jumpKernel(), this.#ready, args, stream, jumpThreads);
      for (const buffer of buffers) buffer.free();
    }
  }

  #launch(made: TypedKernel, grid: number, args: unknown, stream?: Stream, block = blockThreads): void {
    made.launch(this.#device, { grid, block, args: args as never, ...(stream ? { stream } : {}) });
  }
}
