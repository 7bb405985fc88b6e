/** Which accesses of shared memory have an order between them, by vector clocks. */

/** Accesses of the threads of a block. */
export class Races {
  /** By thread, the times of all threads that it knows of. */
  readonly #clocks: readonly Uint32Array[];
  /** By word: the thread of the last write and its time, and the time of the last read by each thread. */
  readonly #writers: Int32Array;
  readonly #writes: Uint32Array;
  readonly #reads = new Map<number, Map<number, number>>();
  /** What threads know that have released a word. */
  readonly #released = new Map<number, Uint32Array>();

  constructor(threads: number, words: number) {
    this.#clocks = Array.from({ length: threads }, (_, i) => new Uint32Array(threads).fill(1, i, i + 1));
    this.#writers = new Int32Array(words).fill(-1);
    this.#writes = new Uint32Array(words);
  }

  /** What was before the barrier for one of the threads is before it for all. */
  join(threads: readonly number[]): void {
    const all = new Uint32Array(this.#clocks.length);
    for (const each of threads) merge(all, this.#clocks[each]!);
    for (const each of threads) {
      this.#clocks[each]!.set(all);
      this.#clocks[each]![each]!++;
    }
  }

  /** A volatile or atomic access, which is behind all earlier ones of the word. Fences beside it are taken for granted. */
  synchronize(thread: number, word: number): void {
    const mine = this.#clocks[thread]!;
    const known = this.#released.get(word) ?? new Uint32Array(mine.length);
    this.#released.set(word, known);
    merge(mine, known);
    merge(known, mine);
    mine[thread]!++;
  }

  /** A plain access. Throws if another thread's access is neither before nor after it. */
  access(thread: number, word: number, isWrite: boolean, text: string): void {
    const mine = this.#clocks[thread]!;
    const writer = this.#writers[word]!;
    const fail = (other: number): never => {
      throw new Error(`threads ${thread} and ${other} race: ${text}`);
    };
    if (writer >= 0 && writer !== thread && mine[writer]! < this.#writes[word]!) fail(writer);
    const reads = this.#reads.get(word) ?? new Map<number, number>();
    this.#reads.set(word, reads);
    if (isWrite) {
      for (const [reader, time] of reads) if (reader !== thread && mine[reader]! < time) fail(reader);
      reads.clear();
      this.#writers[word] = thread;
      this.#writes[word] = mine[thread]!;
    } else reads.set(thread, mine[thread]!);
  }
}

function merge(into: Uint32Array, from: Uint32Array): void {
  for (let i = 0; i < into.length; i++) if (from[i]! > into[i]!) into[i] = from[i]!;
}
