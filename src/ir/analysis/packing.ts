/**
 * Registers by their numbers: each value gets those that are free where it is made, in the order in which an assembler issues instructions. Pairs and
 * fours are aligned, and what is read beside a pair is in an odd one as long as there are some, so that more are taken than are live.
 */
import type { Block, Kernel } from '../kernel.ts';
import { terminatorOperands } from '../operands.ts';
import { cfgOf } from './cfg.ts';
import { issueOrder } from './issue-order.ts';
import { type Issued, type IssueModel, Issuer } from './issued.ts';
import { heldBy, type LiveWords, liveWordsOf, type Word, type Words } from './pressure.ts';

/** How many registers a kernel takes, as long as there are `budget`. */
export type Packing = (budget: number, order: 'issue' | 'source') => number;

/** The stack pointer, which no value gets. */
const stackPointer = 1;

/** The packing of a kernel's values. The result counts all registers up to the highest that is taken. */
export function packingOf(kernel: Kernel, model: IssueModel, { words, behind: live }: LiveWords = liveWordsOf(kernel)): Packing {
  const issuer = new Issuer(kernel, words, model);
  const behind = kernel.blocks.map(
    ({ id, end }) => new Set([...live[id]!, ...terminatorOperands(end).flatMap((operand) => words.of(operand))]),
  );
  const blocks = kernel.blocks.map((block) => issuer.of(block));
  const order = cfgOf(kernel).order;
  return (budget, kind) => {
    const registers = new Registers(issuer, budget);
    for (const id of order) {
      const issued = kind === 'source' ? blocks[id]! : issueOrder(blocks[id]!, behind[id]!, issuer, budget);
      registers.pack(paramsOf(kernel.blocks[id]!, words), issued, behind[id]!);
    }
    return registers.count;
  };
}

/** The parameters of a block, as what makes them at its start. */
const paramsOf = ({ params }: Block, words: Words): readonly Group[] => params.map((value) => ({ value, results: words.of(value) }));

/** The words of a value, which are side by side. */
type Group = Pick<Issued, 'value' | 'results'>;

class Registers {
  /** The registers up to the highest that any block has taken. */
  count = stackPointer + 1;
  readonly #issuer: Issuer;
  readonly #budget: number;
  /** By word: its register. A value is live only behind what makes it, so that blocks in the order of the graph find those of their operands. */
  readonly #register = new Map<Word, number>();
  readonly #taken = new Set<number>();
  readonly #live = new Set<Word>();

  constructor(issuer: Issuer, budget: number) {
    this.#issuer = issuer;
    this.#budget = budget;
  }

  pack(params: readonly Group[], issued: readonly Issued[], behind: ReadonlySet<Word>): void {
    const lastUse = lastUses(issued, behind);
    this.#enter(params, issued, lastUse);
    for (const param of params) this.#takeAll(param);
    for (const { results } of params) for (const word of results) if (!lastUse.has(word)) this.#free(word);
    issued.forEach((each, at) => {
      this.#takeScratch(each.scratch);
      const freeUses = (): void => each.uses.forEach((word) => void (lastUse.get(word) === at && this.#free(word)));
      // Instructions that make a pair read their operands in several steps, but for those that make addresses.
      const isInPlace = each.results.length < 2 || each.isAddress;
      if (isInPlace) freeUses();
      this.#takeAll(each);
      if (!isInPlace) freeUses();
      for (const word of each.results) if (lastUse.get(word) === at) this.#free(word);
    });
  }

  /** Begins a block: what is live in it and made outside has its registers. */
  #enter(params: readonly Group[], issued: readonly Issued[], lastUse: ReadonlyMap<Word, number>): void {
    this.#live.clear();
    this.#taken.clear();
    this.#taken.add(stackPointer);
    const made = new Set([...params, ...issued].flatMap(({ results }) => results));
    for (const word of lastUse.keys()) {
      const register = made.has(word) ? undefined : this.#register.get(word);
      if (register === undefined) continue;
      this.#live.add(word);
      this.#taken.add(register);
    }
  }

  #takeAll({ value, results }: Group): void {
    const words = results.filter((word) => heldBy(word) === value && !this.#issuer.isPredicate(word));
    for (let i = 0; i < words.length; i += 4) this.#take(words.slice(i, i + 4));
  }

  /** Takes the first free registers side by side for the words of a value. */
  #take(words: readonly Word[]): void {
    const step = words.length > 2 ? 4 : words.length;
    const isFree = (at: number): boolean => words.every((_, i) => !this.#taken.has(at + i));
    const odd = step === 1 && this.#issuer.odd.has(words[0]!) ? this.#firstOdd() : undefined;
    let at = odd ?? 0;
    while (!isFree(at)) at += step;
    words.forEach((word, i) => {
      this.#register.set(word, at + i);
      this.#live.add(word);
      this.#note(at + i);
    });
  }

  #firstOdd(): number | undefined {
    for (let at = 1; at < this.#budget; at += 2) if (!this.#taken.has(at)) return at;
    return undefined;
  }

  #note(register: number): void {
    this.#taken.add(register);
    this.count = Math.max(this.count, register + 1);
  }

  /** Takes registers for the time of one instruction. */
  #takeScratch(count: number): void {
    const taken: number[] = [];
    for (let at = 0; taken.length < count; at++) {
      if (this.#taken.has(at)) continue;
      this.#note(at);
      taken.push(at);
    }
    for (const at of taken) this.#taken.delete(at);
  }

  #free(word: Word): void {
    if (this.#live.delete(word)) this.#taken.delete(this.#register.get(word)!);
  }
}

/** By word that a block reads, makes or leaves live: where it is used last. */
function lastUses(issued: readonly Issued[], behind: ReadonlySet<Word>): ReadonlyMap<Word, number> {
  const last = new Map<Word, number>();
  issued.forEach(({ uses, results }, at) => {
    for (const word of uses) last.set(word, at);
    for (const word of results) if (!last.has(word)) last.set(word, at);
  });
  for (const word of behind) last.set(word, Number.POSITIVE_INFINITY);
  return last;
}
