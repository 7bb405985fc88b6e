/**
 * The instructions that an earlier run of a pass left alone: it would leave them alone again while they, and what they are computed from, are what they
 * were. Most instructions are, in every round of passes but the first.
 */
import type { Inst, Kernel, Value } from '../kernel.ts';
import { argsOf } from '../operands.ts';
import type { Type } from '../types.ts';

/** The most operands of an instruction that is remembered. */
const maxOperands = 4;

/** How many operands deep the rules of a pass look: a change beyond that does not count. */
const maxDepth = 5;

const known = new WeakMap<Kernel, Settled>();

/** The settled instructions of a kernel, at the start of a run, which asks for each in an order of operands before users. */
export function settledOf(kernel: Kernel): Settled {
  let settled = known.get(kernel);
  if (!settled) {
    settled = new Settled();
    known.set(kernel, settled);
  }
  settled.start(kernel);
  return settled;
}

class Settled {
  #now: readonly Inst[] = [];
  /** By value: the instruction, its type and its operands at the end of an earlier run. */
  readonly #insts: (Inst | undefined)[] = [];
  readonly #types: (Type | undefined)[] = [];
  #operands = new Int32Array(0);
  /** By value: 1 for one that is to be asked for again in any case. */
  #isOpen = new Uint8Array(0);
  /** By value: how many operands away the next one is that has changed since then, at most one more than counts. */
  #distances = new Uint8Array(0);

  start({ insts, blocks }: Kernel): void {
    const { length } = insts;
    this.#now = insts;
    const [operands, isOpen] = [new Int32Array(maxOperands * length), new Uint8Array(length)];
    operands.set(this.#operands);
    isOpen.set(this.#isOpen);
    [this.#operands, this.#isOpen, this.#distances] = [operands, isOpen, new Uint8Array(length)];
    // Rules ask nothing of a parameter.
    for (const { params } of blocks) for (const param of params) this.#distances[param] = maxDepth + 1;
  }

  /** Whether an instruction is settled. */
  has(value: Value): boolean {
    const inst = this.#now[value]!;
    if (this.#insts[value] !== inst || this.#types[value] !== inst.type) return false;
    const fields = inst as unknown as Record<string, Value>;
    const names = argsOf(inst.op);
    let nearest = maxDepth;
    for (let i = 0; i < names.length; i++) {
      const operand = fields[names[i]!]!;
      if (this.#operands[maxOperands * value + i] !== operand) return false;
      const distance = this.#distances[operand] ?? 0;
      if (distance < nearest) nearest = distance;
    }
    this.#distances[value] = nearest + 1;
    return nearest === maxDepth && this.#isOpen[value] === 0;
  }

  /** Notes that no rule applies to an instruction; `isOpen` if one may once other instructions are gone. */
  note(value: Value, isOpen: boolean): void {
    const inst = this.#now[value]!;
    const names = argsOf(inst.op);
    if (names.length > maxOperands || value >= this.#isOpen.length) return;
    const fields = inst as unknown as Record<string, Value>;
    for (let i = 0; i < names.length; i++) this.#operands[maxOperands * value + i] = fields[names[i]!]!;
    this.#insts[value] = inst;
    this.#types[value] = inst.type;
    this.#isOpen[value] = isOpen ? 1 : 0;
  }
}

export type { Settled };
