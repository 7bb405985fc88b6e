/**
 * Register pressure: how many registers of 32 bits hold values at a time. What GPUs compute as a part of another instruction holds no register of
 * its own: constants, parameters, conversions of width, and offsets of addresses; its operands are live in its place.
 */
import type { Inst, Kernel, Value } from '../kernel.ts';
import { operandsOf, terminatorOperands } from '../operands.ts';
import { ops } from '../ops.ts';
import { bitsOf, isPointer, spaceOf, type Type } from '../types.ts';
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

/** Whether a value is a part of the instructions that use it. */
function isFolded({ insts }: Kernel, inst: Inst): boolean {
  switch (inst.op) {
    case 'const':
    case 'param':
    case 'variable':
    case 'bitcast':
    case 'zext':
    case 'sext':
    case 'trunc':
    case 'ptrtoint':
    case 'inttoptr':
    case 'fneg':
    case 'fabs':
    case 'extract':
    case 'vec2':
    case 'vec4':
      return true;
    case 'ptradd':
      return insts[inst.b]!.op === 'const';
    case 'load':
      // Parameters are operands of instructions, from the bank of constants.
      return insts[inst.addr]!.type === 'ptr.param';
    default:
      return false;
  }
}

/** By value: what holds registers for it, in place of values that hold none. */
function holdersOf(kernel: Kernel): (value: Value) => readonly Value[] {
  const known: (readonly Value[] | undefined)[] = [];
  const holders = (value: Value): readonly Value[] => {
    const found = known[value];
    if (found) return found;
    const inst = kernel.insts[value]!;
    known[value] = [];
    const made = isFolded(kernel, inst) ? [...new Set(operandsOf(inst).flatMap((each) => holders(each)))] : [value];
    known[value] = made;
    return made;
  };
  return holders;
}

/** The values that are live in a set of them, and their registers. */
class Live {
  readonly values = new Set<Value>();
  registers = 0;
  predicates = 0;
  readonly #kernel: Kernel;

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
  }

  add(value: Value): void {
    if (this.values.has(value)) return;
    this.values.add(value);
    this.#count(value, 1);
  }

  remove(value: Value): void {
    if (this.values.delete(value)) this.#count(value, -1);
  }

  #count(value: Value, by: number): void {
    const { type } = this.#kernel.insts[value]!;
    this.registers += by * registersOf(type);
    if (type === 'i1') this.predicates += by;
  }
}

/** The values that are live behind each block, by what holds them. */
function liveBehind(kernel: Kernel, holders: (value: Value) => readonly Value[]): Set<Value>[] {
  const { predecessors } = cfgOf(kernel);
  const home = new Int32Array(kernel.insts.length).fill(-1);
  for (const { id, params, body } of kernel.blocks) {
    for (const value of params) home[value] = id;
    for (const value of body) home[value] = id;
  }
  const before = kernel.blocks.map(() => new Set<Value>());
  const behind = kernel.blocks.map(() => new Set<Value>());
  const use = (value: Value, block: number): void => {
    const stack = [block];
    for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
      if (at === home[value] || before[at]!.has(value)) continue;
      before[at]!.add(value);
      for (const from of predecessors[at]!) {
        behind[from]!.add(value);
        stack.push(from);
      }
    }
  };
  const useAll = (operands: readonly Value[], block: number): void => {
    for (const operand of operands) for (const each of holders(operand)) use(each, block);
  };
  for (const { id, body, end } of kernel.blocks) {
    for (const value of body) {
      const inst = kernel.insts[value]!;
      if (!isFolded(kernel, inst)) useAll(operandsOf(inst), id);
    }
    useAll(terminatorOperands(end), id);
  }
  return behind;
}

/** Whether an instruction keeps its place among the others: it writes memory, or threads wait at it. */
const isFixed = (inst: Inst): boolean => ops[inst.op].effect !== 'pure' && ops[inst.op].effect !== 'reads';

/**
 * The body of a block with each load, and what its address is made of, before what does not need it: as assemblers schedule loads, to wait for
 * several at a time. No load passes a write or a barrier.
 */
export function loadsFirst({ insts }: Kernel, body: readonly Value[]): Value[] {
  const order: Value[] = [];
  let segment: Value[] = [];
  const flush = (): void => {
    const inSegment = new Set(segment);
    const needed = new Set<Value>();
    const need = (value: Value): void => {
      if (!inSegment.has(value) || needed.has(value)) return;
      needed.add(value);
      for (const operand of operandsOf(insts[value]!)) need(operand);
    };
    for (const value of segment) if (ops[insts[value]!.op].effect === 'reads') need(value);
    order.push(...segment.filter((value) => needed.has(value)), ...segment.filter((value) => !needed.has(value)));
    segment = [];
  };
  for (const value of body) {
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
export function pressureOf(kernel: Kernel, orderOf: (body: readonly Value[]) => readonly Value[] = (body) => body): Pressure {
  const holders = holdersOf(kernel);
  const behind = liveBehind(kernel, holders);
  const liveAt = new Int32Array(kernel.insts.length);
  let [maxLive, maxPredicates] = [0, 0];
  const note = ({ registers, predicates }: Live): void => {
    maxLive = Math.max(maxLive, registers);
    maxPredicates = Math.max(maxPredicates, predicates);
  };
  for (const { id, params, body: given, end } of kernel.blocks) {
    const body = orderOf(given);
    const live = new Live(kernel);
    for (const value of behind[id]!) live.add(value);
    for (const operand of terminatorOperands(end)) for (const each of holders(operand)) live.add(each);
    note(live);
    for (let i = body.length - 1; i >= 0; i--) {
      const value = body[i]!;
      const inst = kernel.insts[value]!;
      if (isFolded(kernel, inst)) continue;
      // A result that nothing uses has a register all the same.
      live.add(value);
      note(live);
      liveAt[value] = live.registers;
      live.remove(value);
      for (const operand of operandsOf(inst)) for (const each of holders(operand)) live.add(each);
      note(live);
    }
    for (const value of params) live.add(value);
    note(live);
  }
  return { maxLive, maxPredicates, liveAt };
}
