/**
 * The order in which an assembler issues the instructions of a block: those on the longest path first, so that loads are under way while others run,
 * as long as registers are left; where none are, those that free some.
 */
import type { Issued, Issuer } from './issued.ts';
import { heldBy, type Word } from './pressure.ts';

/** The instructions that are compared at a time, so that the time is linear in long blocks. */
const maxCompared = 200;

/** The order of a block's instructions by a budget of registers; `behind` are the words that are live behind the block. */
export function issueOrder(block: readonly Issued[], behind: ReadonlySet<Word>, issuer: Issuer, budget: number): readonly Issued[] {
  return block.length < 2 ? block : new Order(block, behind, issuer, budget).made();
}

/** The kinds of memory that do not overlap, and whatever else overlaps all of them. */
const memories = ['shared', 'global', 'local'];
const touched = (space: string | undefined): readonly string[] => (space !== undefined && memories.includes(space) ? [space] : memories);

/** For each instruction, those that have to follow it. */
function followersOf(block: readonly Issued[]): number[][] {
  const followers: number[][] = block.map(() => []);
  const makers = new Map<Word, number>();
  const last = new Map(memories.map((memory) => [memory, { fixed: -1, loads: [] as number[] }]));
  block.forEach(({ uses, results, isFixed, isLoad, space }, at) => {
    for (const word of uses) {
      const maker = makers.get(word);
      if (maker !== undefined) followers[maker]!.push(at);
    }
    for (const word of results) makers.set(word, at);
    if (!isFixed && !isLoad) return;
    for (const memory of touched(space)) {
      const before = last.get(memory)!;
      if (before.fixed >= 0) followers[before.fixed]!.push(at);
      if (!isFixed) before.loads.push(at);
      else {
        for (const load of before.loads) followers[load]!.push(at);
        last.set(memory, { fixed: at, loads: [] });
      }
    }
  });
  return followers;
}

class Order {
  readonly #block: readonly Issued[];
  readonly #issuer: Issuer;
  readonly #budget: number;
  readonly #followers: number[][];
  /** By instruction: how many have to be issued before it, the cycles from it to the end, and the cycle in which its operands are there. */
  readonly #waitsFor: Int32Array;
  readonly #path: Float64Array;
  readonly #readyAt: Float64Array;
  /** By word: the instructions that still read it. */
  readonly #readers = new Map<Word, number>();
  readonly #live = new Set<Word>();
  readonly #ready: number[] = [];
  /** By instruction: how many registers it makes, and the words that it reads and that are no predicates. */
  readonly #made: readonly number[];
  readonly #reads: readonly (readonly Word[])[];
  #cycle = 0;

  constructor(block: readonly Issued[], behind: ReadonlySet<Word>, issuer: Issuer, budget: number) {
    this.#block = block;
    this.#issuer = issuer;
    this.#budget = budget;
    this.#followers = followersOf(block);
    this.#waitsFor = new Int32Array(block.length);
    this.#path = new Float64Array(block.length);
    this.#readyAt = new Float64Array(block.length);
    for (let at = block.length - 1; at >= 0; at--) {
      const rest = this.#followers[at]!.reduce((most, each) => Math.max(most, this.#path[each]!), 0);
      this.#path[at] = rest + block[at]!.cycles;
      for (const each of this.#followers[at]!) this.#waitsFor[each]!++;
    }
    for (const { uses } of block) for (const word of uses) this.#readers.set(word, (this.#readers.get(word) ?? 0) + 1);
    for (const word of behind) this.#readers.set(word, Number.POSITIVE_INFINITY);
    const made = new Set(block.flatMap(({ results }) => results));
    for (const word of this.#readers.keys()) if (!made.has(word) && !issuer.isPredicate(word)) this.#live.add(word);
    const isRegister = (word: Word): boolean => !issuer.isPredicate(word);
    this.#made = block.map(({ results }) => results.filter(isRegister).length);
    this.#reads = block.map(({ uses }) => uses.filter(isRegister));
    this.#waitsFor.forEach((count, at) => void (count === 0 && this.#ready.push(at)));
  }

  made(): readonly Issued[] {
    const order: Issued[] = [];
    while (this.#ready.length > 0) {
      const [at] = this.#ready.splice(this.#best(), 1);
      order.push(this.#block[at!]!);
      this.#issue(at!);
    }
    return order;
  }

  /** The place in the list of what is ready of the instruction to issue. */
  #best(): number {
    return this.#live.size >= this.#budget ? this.#freeing() : this.#onLongestPath();
  }

  /** That of the instruction that leaves the fewest registers; the order of the source decides among those that take none. */
  #freeing(): number {
    const count = Math.min(this.#ready.length, maxCompared);
    let [best, least] = [0, this.#change(this.#ready[0]!)];
    for (let i = 1; i < count; i++) {
      const at = this.#ready[i]!;
      const change = this.#change(at);
      const isOther = change !== least && (change > 0 || least > 0);
      if (isOther ? change < least : at < this.#ready[best]!) [best, least] = [i, change];
    }
    return best;
  }

  /** That of the instruction that is ready first, and of those that are ready now has the longest path behind it. */
  #onLongestPath(): number {
    const count = Math.min(this.#ready.length, maxCompared);
    let best = 0;
    for (let i = 1; i < count; i++) if (this.#isBefore(this.#ready[i]!, this.#ready[best]!)) best = i;
    return best;
  }

  #isBefore(a: number, b: number): boolean {
    const [readyA, readyB] = [Math.max(this.#cycle, this.#readyAt[a]!), Math.max(this.#cycle, this.#readyAt[b]!)];
    if (readyA !== readyB) return readyA < readyB;
    if (readyA === this.#cycle && this.#path[a] !== this.#path[b]) return this.#path[a]! > this.#path[b]!;
    return a < b;
  }

  /** How many more registers are live behind an instruction. */
  #change(at: number): number {
    let change = this.#made[at]!;
    for (const word of this.#reads[at]!) if (this.#readers.get(word) === 1) change--;
    return change;
  }

  #issue(at: number): void {
    const { uses, results, value, cycles } = this.#block[at]!;
    this.#cycle = Math.max(this.#cycle + 1, this.#readyAt[at]!);
    for (const word of uses) {
      const left = this.#readers.get(word)! - 1;
      this.#readers.set(word, left);
      if (left === 0) this.#live.delete(word);
    }
    for (const word of results)
      if (heldBy(word) === value && this.#readers.has(word) && !this.#issuer.isPredicate(word)) this.#live.add(word);
    for (const each of this.#followers[at]!) {
      this.#readyAt[each] = Math.max(this.#readyAt[each]!, this.#cycle + cycles);
      if (--this.#waitsFor[each]! === 0) this.#ready.push(each);
    }
  }
}
