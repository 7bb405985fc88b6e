/**
 * Register pressure: how many registers of 32 bits hold values at a time. What GPUs compute as a part of another instruction holds no register of
 * its own: constants, parameters, conversions of width, and offsets of addresses; its operands are live in its place.
 */
import { constantOf, type Inst, type Kernel, type Value } from '../kernel.ts';
import { operandsOf, terminatorOperands } from '../operands.ts';
import { ops } from '../ops.ts';
import { bitsOf, elementOf, isPointer, isVector, spaceOf, type Type } from '../types.ts';
import { cfgOf } from './cfg.ts';

/** The registers of a kernel by place. */
export interface Pressure {
  /** The most registers of 32 bits that are live at a time. */
  readonly maxLive: number;
  /** The most predicates that are live at a time. */
  readonly maxPredicates: number;
  /** By value: the registers that are live where it is made, itself included; 0 for values that hold none. */
  readonly liveAt: Int32Array;
}

/** The registers of 32 bits that a type takes. Addresses of shared memory have 32 bits. */
export function registersOf(type: Type): number {
  if (type === 'i1' || type === 'void') return 0;
  if (isPointer(type)) return spaceOf(type) === 'shared' ? 1 : 2;
  return Math.max(1, Math.ceil(bitsOf(type) / 32));
}

/**
 * A register of 32 bits that holds a part of a value: the value that was computed or loaded, times 16, plus the number of the part. -1 is a part that
 * no register holds, because it is known.
 */
export type Word = number;
export const partsOfValue = 16;
const known: Word = -1;
export const heldBy = (word: Word): Value => Math.floor(word / partsOfValue) as Value;

/** By value: the words that hold it. What is a part of the instructions that use it has the words of its operands. */
export class Words {
  readonly #kernel: Kernel;
  readonly #all: (readonly Word[] | undefined)[] = [];
  readonly #held: (readonly Word[] | undefined)[] = [];
  readonly #folded = new Set<Value>();
  /** The integers that are only added to addresses. */
  readonly #offsets: ReadonlySet<Value>;

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
    this.#offsets = offsetsOf(kernel);
    // In order, so that what follows from operands finds theirs.
    for (const { body } of kernel.blocks) for (const value of body) this.#wordsOf(value);
  }

  /** The words of a value, without those that are known. */
  of(value: Value): readonly Word[] {
    this.#held[value] ??= [...new Set(this.#wordsOf(value))].filter((word) => word !== known);
    return this.#held[value];
  }

  /** Whether a value has no registers of its own. */
  isFolded(value: Value): boolean {
    this.#wordsOf(value);
    return this.#folded.has(value);
  }

  #wordsOf(value: Value): readonly Word[] {
    const made = this.#all[value];
    if (made) return made;
    const folded = this.#fold(value);
    if (folded) this.#folded.add(value);
    this.#all[value] = folded ?? own(value, this.#kernel.insts[value]!.type);
    return this.#all[value];
  }

  /** The words of a value that other instructions compute as a part of theirs; undefined for one that has registers. */
  #fold(value: Value): readonly Word[] | undefined {
    const inst = this.#kernel.insts[value]!;
    const of = (operand: Value): readonly Word[] => this.#wordsOf(operand);
    switch (inst.op) {
      case 'const':
      case 'param':
      case 'variable':
        return [known, known];
      case 'bitcast':
      case 'fneg':
      case 'fabs':
        return of(inst.a);
      case 'sext':
        return resized(of(inst.a), inst.type, of(inst.a)[0]);
      case 'zext':
      case 'trunc':
      case 'ptrtoint':
      case 'inttoptr':
        return resized(of(inst.a), inst.type, known);
      case 'extract':
        return lane(of(inst.a), inst.type, inst.lane);
      case 'vec2':
        return isPacked(inst.type) ? undefined : [inst.a, inst.b].flatMap((each) => [...of(each)]);
      case 'vec4':
        return isPacked(inst.type) ? undefined : [inst.a, inst.b, inst.c, inst.d].flatMap((each) => [...of(each)]);
      case 'ptradd':
        return this.#kernel.insts[inst.b]!.op === 'const' ? of(inst.a) : undefined;
      case 'load':
        // Parameters are operands of instructions, from the bank of constants.
        return this.#kernel.insts[inst.addr]!.type === 'ptr.param' ? [known, known] : undefined;
      case 'mul':
      case 'shl':
      case 'lshr':
      case 'or':
        return this.#foldInteger(value, inst.op, inst.a, inst.b);
      default:
        return undefined;
    }
  }

  /** Products that are a part of the sum that makes an address, and the halves of 64 bits. */
  #foldInteger(value: Value, op: 'mul' | 'shl' | 'lshr' | 'or', a: Value, b: Value): readonly Word[] | undefined {
    if (this.#offsets.has(value)) return this.#wordsOf(a).slice(0, 1);
    if (this.#kernel.insts[value]!.type !== 'i64') return undefined;
    if (op === 'or') return joined(this.#wordsOf(a), this.#wordsOf(b));
    if (op === 'mul' || constantOf(this.#kernel, b) !== 32n) return undefined;
    const [low = known, high = known] = this.#wordsOf(a);
    return op === 'shl' ? [known, low] : [high, known];
  }
}

/** The registers of a value that has some; a predicate is its first word. */
const own = (value: Value, type: Type): readonly Word[] =>
  Array.from({ length: type === 'i1' ? 1 : registersOf(type) }, (_, part) => value * partsOfValue + part);

/** The words with the number of a type, with others behind them. */
const resized = (words: readonly Word[], type: Type, others: Word = known): readonly Word[] =>
  Array.from({ length: registersOf(type) }, (_, part) => (part < words.length ? words[part]! : others));

/** Whether the elements of a vector share registers. */
const isPacked = (type: Type): boolean => isVector(type) && bitsOf(elementOf(type)) < 32;

/** The words of an element of a vector. */
function lane(words: readonly Word[], type: Type, index: number): readonly Word[] {
  const first = Math.floor((index * Math.max(8, bitsOf(type))) / 32);
  return words.slice(first, first + registersOf(type));
}

/** Two halves that are put side by side; undefined where one is over the other. */
function joined(a: readonly Word[], b: readonly Word[]): readonly Word[] | undefined {
  const isApart = [0, 1].every((part) => (a[part] ?? known) === known || (b[part] ?? known) === known);
  return isApart ? [0, 1].map((part) => ((a[part] ?? known) === known ? (b[part] ?? known) : a[part]!)) : undefined;
}

/**
 * Products of an extended i32 and a constant that are only added to addresses: one instruction multiplies, extends and adds, so that the index is live, and
 * not the product.
 */
function offsetsOf({ insts, blocks }: Kernel): ReadonlySet<Value> {
  const found = new Set<Value>();
  const isIndex = (value: Value): boolean => ['sext', 'zext'].includes(insts[value]!.op);
  for (const { body } of blocks)
    for (const value of body) {
      const inst = insts[value]!;
      if ((inst.op === 'mul' || inst.op === 'shl') && inst.type === 'i64' && isIndex(inst.a) && insts[inst.b]!.op === 'const')
        found.add(value);
    }
  const drop = (value: Value): void => void found.delete(value);
  for (const { body, end } of blocks) {
    for (const value of body) {
      const inst = insts[value]!;
      if (inst.op !== 'ptradd') operandsOf(inst).forEach(drop);
    }
    terminatorOperands(end).forEach(drop);
  }
  return found;
}

/** The words that are live, and how many of them are registers. */
class Live {
  readonly words = new Set<Word>();
  registers = 0;
  predicates = 0;
  readonly #kernel: Kernel;
  readonly #words: Words;

  constructor(kernel: Kernel, words: Words) {
    this.#kernel = kernel;
    this.#words = words;
  }

  addAll(words: Iterable<Word>): void {
    for (const word of words)
      if (!this.words.has(word)) {
        this.words.add(word);
        this.#count(word, 1);
      }
  }

  add(value: Value): void {
    this.addAll(this.#words.of(value));
  }

  remove(value: Value): void {
    for (const word of this.#words.of(value)) if (this.words.delete(word)) this.#count(word, -1);
  }

  #count(word: Word, by: number): void {
    if (this.#kernel.insts[heldBy(word)]!.type === 'i1') this.predicates += by;
    else this.registers += by;
  }
}

/** The words of a kernel's values, and by block those that are live behind it. */
export interface LiveWords {
  readonly words: Words;
  readonly behind: readonly ReadonlySet<Word>[];
}

/** What several analyses of registers share. */
export function liveWordsOf(kernel: Kernel): LiveWords {
  const words = new Words(kernel);
  return { words, behind: liveBehind(kernel, words) };
}

/** The words that are live behind each block. */
function liveBehind(kernel: Kernel, words: Words): Set<Word>[] {
  const { predecessors } = cfgOf(kernel);
  const home = new Int32Array(kernel.insts.length).fill(-1);
  for (const { id, params, body } of kernel.blocks) {
    for (const value of params) home[value] = id;
    for (const value of body) home[value] = id;
  }
  const before = kernel.blocks.map(() => new Set<Word>());
  const behind = kernel.blocks.map(() => new Set<Word>());
  const use = (word: Word, block: number): void => {
    const stack = [block];
    for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
      if (at === home[heldBy(word)] || before[at]!.has(word)) continue;
      before[at]!.add(word);
      for (const from of predecessors[at]!) {
        behind[from]!.add(word);
        stack.push(from);
      }
    }
  };
  const useAll = (operands: readonly Value[], block: number): void => {
    for (const operand of operands) for (const each of words.of(operand)) use(each, block);
  };
  for (const { id, body, end } of kernel.blocks) {
    for (const value of body) if (!words.isFolded(value)) useAll(operandsOf(kernel.insts[value]!), id);
    useAll(terminatorOperands(end), id);
  }
  return behind;
}

/** Whether an instruction keeps its place among the others: it writes memory, or threads wait at it. */
export const isFixed = (inst: Inst): boolean => ops[inst.op].effect !== 'pure' && ops[inst.op].effect !== 'reads';

/**
 * The body of a block as assemblers schedule it to wait for several accesses at a time: addresses that need no access first, then each load, and what
 * its address is made of, before what does not need it. No load passes a write or a barrier.
 */
export function accessesFirst(kernel: Kernel, body: readonly Value[]): Value[] {
  const addresses = addressesOf(kernel, body);
  return [...body.filter((value) => addresses.has(value)), ...loadsFirst(kernel, body, addresses)];
}

/** What the addresses of a block's accesses are made of, as far as that is computed in the block and needs no access. */
function addressesOf({ insts }: Kernel, body: readonly Value[]): ReadonlySet<Value> {
  const inside = new Set(body);
  const pure = new Set<Value>();
  const found = new Set<Value>();
  for (const value of body) {
    const inst = insts[value]!;
    const isPure = ops[inst.op].effect === 'pure' && operandsOf(inst).every((each) => !inside.has(each) || pure.has(each));
    if (isPure) pure.add(value);
    const address = addressIn(inst);
    if (address !== undefined && pure.has(address)) found.add(address);
  }
  addOperands(insts, body, found, inside);
  return found;
}

/** Adds to a set of values of a block what they are made of in it. */
function addOperands(insts: readonly Inst[], body: readonly Value[], found: Set<Value>, inside: ReadonlySet<Value>): void {
  // Operands are before what uses them.
  for (let i = body.length - 1; i >= 0; i--)
    if (found.has(body[i]!)) for (const each of operandsOf(insts[body[i]!]!)) if (inside.has(each)) found.add(each);
}

/** The address of an access. */
export function addressIn(inst: Inst): Value | undefined {
  if (inst.op === 'load' || inst.op === 'store') return inst.addr;
  return inst.op === 'atomic' || inst.op === 'cas' ? inst.a : undefined;
}

/** The body of a block without some values, with each load, and what its address is made of, before what does not need it. */
function loadsFirst({ insts }: Kernel, body: readonly Value[], without: ReadonlySet<Value>): Value[] {
  const order: Value[] = [];
  let segment: Value[] = [];
  const flush = (): void => {
    const needed = new Set(segment.filter((value) => ops[insts[value]!.op].effect === 'reads'));
    addOperands(insts, segment, needed, new Set(segment));
    for (const isNeeded of [true, false]) for (const value of segment) if (needed.has(value) === isNeeded) order.push(value);
    segment = [];
  };
  for (const value of body) {
    if (without.has(value)) continue;
    if (!isFixed(insts[value]!)) {
      segment.push(value);
      continue;
    }
    flush();
    order.push(value);
  }
  flush();
  return order;
}

/** The register pressure of a kernel, in the order of its instructions or in another one. */
export function pressureOf(
  kernel: Kernel,
  { words, behind }: LiveWords = liveWordsOf(kernel),
  orderOf: (body: readonly Value[]) => readonly Value[] = (body) => body,
): Pressure {
  const liveAt = new Int32Array(kernel.insts.length);
  let [maxLive, maxPredicates] = [0, 0];
  const note = ({ registers, predicates }: Live): void => {
    maxLive = Math.max(maxLive, registers);
    maxPredicates = Math.max(maxPredicates, predicates);
  };
  for (const { id, params, body: given, end } of kernel.blocks) {
    const body = orderOf(given);
    const live = new Live(kernel, words);
    live.addAll(behind[id]!);
    for (const operand of terminatorOperands(end)) live.add(operand);
    note(live);
    for (let i = body.length - 1; i >= 0; i--) {
      const value = body[i]!;
      if (words.isFolded(value)) continue;
      // A result that nothing uses has a register all the same.
      live.add(value);
      note(live);
      liveAt[value] = live.registers;
      live.remove(value);
      for (const operand of operandsOf(kernel.insts[value]!)) live.add(operand);
      note(live);
    }
    for (const value of params) live.add(value);
    note(live);
  }
  return { maxLive, maxPredicates, liveAt };
}
