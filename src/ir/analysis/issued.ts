/**
 * The instructions of a block as NVIDIA's GPUs issue them, as far as registers matter: what is a part of others is not among them, and the constants
 * and base addresses that an instruction takes from a register alone are. Which of them is in an odd register is known too: of the two banks of
 * registers, one that is read beside a pair is in the second.
 */
import { type Block, constantOf, type Inst, type InstOf, type Kernel, type Value } from '../kernel.ts';
import { operandsOf } from '../operands.ts';
import { isPointer, spaceOf } from '../types.ts';
import { addressIn, heldBy, isFixed, partsOfValue, registersOf, type Word, type Words } from './pressure.ts';

/** An instruction, or a constant that is put into registers. */
export interface Issued {
  /** Of the value, or above those of the kernel for a constant. */
  readonly value: number;
  /** The words that it reads, each once. */
  readonly uses: readonly Word[];
  /** The words that it makes. */
  readonly results: readonly Word[];
  /** The registers that it needs besides, while it runs. */
  readonly scratch: number;
  /** The cycles until its result is there. */
  readonly cycles: number;
  /** Whether it reads memory and may be moved. */
  readonly isLoad: boolean;
  /** Whether it keeps its place among those that access the same memory. */
  readonly isFixed: boolean;
  /** Whether it makes an address. */
  readonly isAddress: boolean;
  /** The memory that it accesses; undefined for all of it. */
  readonly space: string | undefined;
}

/** What the instructions of an architecture are like. */
export interface IssueModel {
  /** Whether parameters of 64 bits are loaded into registers before instructions add to them (sm_90), and are not operands themselves. */
  readonly loadsBases: boolean;
  /** The registers of the sequence that stands for an instruction, besides its operands and its result. */
  readonly scratchOf: (inst: Inst) => number;
}

/** Cycles until a result is there, in the orders of magnitude of microbenchmarks: of global memory, of shared memory and shuffles, and of units. */
const cycles = { global: 200, shared: 30, special: 20, double: 10, other: 5 } as const;
const special: ReadonlySet<string> = new Set('frcp frsqrt fexp2 flog2 fsin fcos ftanh sitofp uitofp fptosi fptoui sreg'.split(' '));

/** Makes the instructions of blocks, and keeps which words are in odd registers. */
export class Issuer {
  /** The words that are read beside a pair. */
  readonly odd = new Set<Word>();
  readonly #kernel: Kernel;
  readonly #words: Words;
  readonly #model: IssueModel;
  #next: number;
  #block: Issued[] = [];
  /** By what they hold: the words of the constants of the block. */
  #constants = new Map<string, readonly Word[]>();

  constructor(kernel: Kernel, words: Words, model: IssueModel) {
    this.#kernel = kernel;
    this.#words = words;
    this.#model = model;
    this.#next = kernel.insts.length;
  }

  /** Whether a word is a predicate. */
  isPredicate(word: Word): boolean {
    return this.#kernel.insts[heldBy(word)]?.type === 'i1';
  }

  /** The instructions of a block in the order of the source. */
  of({ body }: Block): readonly Issued[] {
    this.#block = [];
    this.#constants = new Map();
    for (const value of body) if (!this.#words.isFolded(value)) this.#issue(value);
    return this.#block;
  }

  #issue(value: Value): void {
    const inst = this.#kernel.insts[value]!;
    const uses = new Set<Word>();
    const addAll = (words: readonly Word[]): void => words.forEach((word) => void uses.add(word));
    for (const operand of operandsOf(inst)) addAll(this.#words.of(operand));
    addAll(this.#bases(inst));
    addAll(this.#data(inst));
    if (inst.op === 'ptradd') addAll(this.#factor(inst));
    if (inst.type === 'f64' && inst.op !== 'load') for (const each of operandsOf(inst)) addAll(this.#double(each));
    const address = addressIn(inst);
    this.#block.push({
      value,
      uses: [...uses],
      results: this.#words.of(value),
      scratch: this.#model.scratchOf(inst) + this.#extra(inst),
      cycles: this.#cyclesOf(inst),
      isLoad: inst.op === 'load',
      isFixed: isFixed(inst),
      isAddress: inst.op === 'ptradd',
      space: address === undefined ? undefined : this.#spaceOf(address),
    });
  }

  #spaceOf(address: Value): string {
    const { type } = this.#kernel.insts[address]!;
    return isPointer(type) ? spaceOf(type) : 'generic';
  }

  #cyclesOf(inst: Inst): number {
    const address = addressIn(inst);
    if (address !== undefined && inst.op !== 'store')
      return inst.op === 'load' && this.#spaceOf(address) === 'shared' ? cycles.shared : cycles.global;
    if (inst.op === 'shuffle' || inst.op === 'shufflesync') return cycles.shared;
    if (special.has(inst.op)) return cycles.special;
    return inst.type === 'f64' ? cycles.double : cycles.other;
  }

  /** Whether no register holds any part of a value. */
  #isKnown(value: Value): boolean {
    return this.#kernel.insts[value]!.type !== 'i1' && this.#words.of(value).length === 0;
  }

  /** The words of a constant: the first instruction of the block that needs it puts it into registers. */
  #constant(key: string, count: number, how: { readonly isOdd?: boolean; readonly cycles?: number } = {}): readonly Word[] {
    const made = this.#constants.get(key);
    if (made) return made;
    const value = this.#next++;
    const results = Array.from({ length: count }, (_, part) => value * partsOfValue + part);
    if (how.isOdd) this.odd.add(results[0]!);
    const apart = { scratch: 0, isLoad: false, isFixed: false, isAddress: false, space: undefined };
    this.#block.push({ ...apart, value, uses: [], results, cycles: how.cycles ?? cycles.other });
    this.#constants.set(key, results);
    return results;
  }

  /** The base of an address: what is accessed at a parameter itself is accessed by a pair of registers. */
  #bases(inst: Inst): readonly Word[] {
    const address = addressIn(inst);
    const isWide = address !== undefined && ['global', 'generic'].includes(this.#spaceOf(address));
    return isWide && this.#isKnown(address) ? this.#base(address) : [];
  }

  #base(address: Value): readonly Word[] {
    const { insts } = this.#kernel;
    let root = address;
    for (let inst = insts[root]!; inst.op === 'ptradd'; inst = insts[root]!) root = inst.a;
    const inst = insts[root]!;
    if (inst.op === 'load') root = inst.addr;
    return this.#constant(`base ${root}`, 2, this.#model.loadsBases ? { cycles: cycles.shared } : {});
  }

  /** The words of known operands that stores and atomics take from registers alone; those that are read beside an address are odd. */
  #data(inst: Inst): readonly Word[] {
    const address = addressIn(inst);
    if (address === undefined || inst.op === 'load') return [];
    const data = inst.op === 'store' ? [inst.value] : operandsOf(inst).filter((each) => each !== address);
    const isBesidePair = this.#spaceOf(address) !== 'shared';
    return data.flatMap((each) => {
      const count = registersOf(this.#kernel.insts[each]!.type);
      const isOdd = count === 1 && isBesidePair;
      const bits = constantOf(this.#kernel, each);
      // A zero is a register of its own, which is not counted.
      if (this.#isKnown(each))
        return inst.op === 'store' && bits === 0n ? [] : this.#constant(`data ${bits ?? `of ${each}`} ${count}`, count, { isOdd });
      if (isOdd) for (const word of this.#words.of(each)) this.odd.add(word);
      return [];
    });
  }

  /** What one instruction that multiplies an index and adds a base takes from registers: the factor, or the base that is a parameter. */
  #factor({ a, b }: InstOf<'ptradd'>): readonly Word[] {
    const { insts } = this.#kernel;
    const index = insts[b]!;
    if (insts[a]!.op === 'variable' || this.#spaceOf(a) === 'shared' || (index.op !== 'mul' && index.op !== 'shl')) return [];
    const isOfParameter = this.#isKnown(a);
    const indices = this.#words.of(b);
    if ((!isOfParameter || this.#model.loadsBases) && indices.length === 1) this.odd.add(indices[0]!);
    if (!isOfParameter || indices.length === 0) return [];
    return this.#model.loadsBases
      ? this.#base(a)
      : this.#constant(`factor ${index.op} ${constantOf(this.#kernel, index.b)}`, 1, { isOdd: true });
  }

  /** The words of a constant of 64 bits, unless the upper half is all of it, which instructions hold. */
  #double(operand: Value): readonly Word[] {
    const inst = this.#kernel.insts[operand]!;
    return inst.op === 'const' && inst.type === 'f64' && (inst.bits & 0xffffffffn) !== 0n ? this.#constant(`double ${inst.bits}`, 2) : [];
  }

  /** The upper half of an index that is added as it is, and the second of two constants of one instruction. */
  #extra(inst: Inst): number {
    if (inst.op === 'ptradd')
      return this.#kernel.insts[inst.b]!.op === 'sext' &&
        this.#spaceOf(inst.a) !== 'shared' &&
        this.#kernel.insts[inst.a]!.op !== 'variable'
        ? 1
        : 0;
    return inst.op === 'fma' && inst.type === 'f32' && operandsOf(inst).filter((each) => this.#isKnown(each)).length > 1 ? 1 : 0;
  }
}
