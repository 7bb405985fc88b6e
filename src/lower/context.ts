/** The state of lowering one entry. */

import type { Diagnostics } from '../base/diagnostic.ts';
import type { Span } from '../base/source.ts';
import {
  addBlockParam,
  type Builder,
  type Edge,
  type Variable as IrVariable,
  type Kernel,
  type PureFunction,
  type Value,
} from '../ir/index.ts';
import {
  type CheckedFunction,
  type Choices,
  type Distances,
  lookUp,
  type MatchedOperand,
  type Operand,
  type PtxFunction,
  type Recursion,
  type Register,
  type RowBuilder,
  type Scope,
} from '../ptx/index.ts';
import type { Variable } from '../ptx/syntax/ast.ts';
import { newFlow } from './flow.ts';
import type { Architecture, Keeps } from './kept.ts';
import type { GlobalMemory } from './module-memory.ts';
import type { BarrierNumber } from './passes/barrier-numbers.ts';
import { type Flow, link, type RegisterFile } from './ssa/ssa.ts';
import type { Variables } from './variables.ts';

/** The architecture that instructions are kept for, and the functions of those of a kernel: nothing for forms that are lowered as elsewhere. */
export interface Natives extends Architecture {
  /** The version of the module that they come from, which has all their words. */
  readonly version: number;
  readonly forms: Map<string, PureFunction | undefined>;
  /** Instructions with effects that stay what they are. */
  readonly keeps: Keeps;
  /** The kernels of the module. */
  readonly kernels: ReadonlyMap<string, PtxFunction>;
  /** The functions that are called, and not lowered in place of their calls. */
  readonly called: Set<PtxFunction>;
}

export interface Context {
  readonly kernel: Kernel;
  readonly diagnostics: Diagnostics;
  /** The functions that may be called. */
  readonly functions: ReadonlyMap<PtxFunction, CheckedFunction>;
  /** By each of them that may come to call itself. */
  readonly recursions: ReadonlyMap<PtxFunction, Recursion>;
  readonly ir: Builder;
  readonly registers: RegisterFile;
  /** The offset of the first free byte of the thread's stack. */
  readonly stackTop: Register;
  readonly variables: Variables;
  /** The memory of `.param` variables of bodies, and of parameters of functions that have their own. */
  readonly cells: Map<Variable, IrVariable | undefined>;
  readonly globals: GlobalMemory;
  /** The numbers that represent the addresses of functions. */
  readonly functionNumbers: ReadonlyMap<string, bigint>;
  /** The builder that rows emit into. */
  readonly rows: RowBuilder & { lanes: number | undefined; operands: readonly MatchedOperand[] };
  readonly evidence: Evidence;
  /** Whether each instruction starts with a mark. */
  readonly hasMarks: boolean;
  /** Whether the code is for the sanitizer. */
  readonly isSanitized: boolean;
  /** Whether the code is for the CPU device, or for a target that takes its operations. */
  readonly isForCpu: boolean;
  /** Instructions that stay what they are, for a target that has them. */
  readonly natives: Natives | undefined;
  /** Where a whole cluster is one block of the device: what is known of the kernel. */
  readonly group: Group | undefined;
  /** Of a kernel with barriers of its cluster, whose blocks run by turns: the barrier that a thread has arrived at. */
  readonly arrival: Register | undefined;
  /** Of a kernel with addresses in other blocks of its cluster: their distances. */
  remote: Distances | undefined;
  /** The body of the kernel, or of the function that is lowered by itself. */
  readonly whole: Frame;
  /** The body that is being lowered. */
  frame: Frame;
  /** The block that is being filled. */
  flow: Flow;
  /** The names that are seen by the instruction being lowered. */
  scope: Scope;
  /** Of an indirect call that is being lowered: the value of the register, and whether the call takes place. */
  readonly chosen: Map<Choices, { readonly number: Value; readonly guard: Value | undefined }>;
  /** The guard: registers are written only where it holds. */
  guard: Value | undefined;
}

/** A kernel of whose clusters each may be one block. */
export interface Group {
  /** Whether it has to be: it waits for other blocks, or reaches their memory. */
  isNeeded: boolean;
  /** Whether it has barriers of its blocks. */
  hasBarriers: boolean;
  /** Whether these are words of shared memory. */
  readonly hasWords: boolean;
}

/** A body that is being lowered: that of the entry, or that of a function for one call. */
export interface Frame {
  readonly fn: CheckedFunction;
  /** Before it the registers of the body have no value. */
  readonly start: Flow;
  /** The registers of this call by those of the source. */
  readonly registers: Map<Register, Register>;
  /** The memory of the parameters and results of a function. */
  readonly cells: Map<Variable, Cell | undefined>;
  /** Of a function that may come to call itself: variables that are on the stack. */
  readonly places: Map<Variable, StackPlace>;
}

/** Memory on the stack of a thread: an offset from that of a frame, which a register holds. */
export interface StackPlace {
  readonly frameAt: Register;
  readonly at: number;
  readonly size: number;
  readonly align: number;
}

/** Memory that carries an argument or a result. */
export type Cell = IrVariable | StackPlace;

export const newFrame = (fn: CheckedFunction, start: Flow): Frame => ({
  fn,
  start,
  registers: new Map(),
  cells: new Map(),
  places: new Map(),
});

/** Whether a body is that of a function which is lowered by itself, and called. */
export const isLoweredAlone = ({ whole }: Context, frame: Frame): boolean => frame === whole && !isEntry(frame);

export const isEntry = ({ fn }: Frame): boolean => fn.fn.isEntry;

/** Facts of the source that the IR does not hold and `passes/` need. */
export interface Evidence {
  /** Integers that `cvta` takes for addresses of global memory. */
  readonly addresses: Set<Value>;
  /** Generic addresses that `cvta` makes of addresses in shared, constant, local or parameter memory. */
  readonly generic: Set<Value>;
  /** Addresses in a space that `cvta.to` makes of generic ones. */
  readonly spaced: Set<Value>;
  /** Loads and stores of instructions with a signed type. */
  readonly signed: Set<Value>;
  /** Loads of the addresses of strings that are printed. */
  readonly strings: Set<Value>;
  /** Barriers whose number is in a register, with that. */
  readonly barriers: Map<Value, BarrierNumber>;
}

export const newEvidence = (): Evidence => ({
  addresses: new Set(),
  generic: new Set(),
  spaced: new Set(),
  signed: new Set(),
  strings: new Set(),
  barriers: new Map(),
});

/** Marks the start of an instruction of the source, for kernels that are instrumented. */
export function mark(c: Context, span: Span): void {
  c.ir.loc = span;
  if (c.hasMarks) c.ir.mark();
}

/** Makes a block the one that is filled. */
export function enter(c: Context, flow: Flow): void {
  c.flow = flow;
  c.ir.block = flow.block;
}

/** The register that one of the source is in a body: each call of a function has its own, and those of the module are shared. */
export function registerIn(c: Context, frame: Frame, register: Register): Register {
  if (isEntry(frame)) return register;
  const known = frame.registers.get(register);
  if (known) return known;
  const own = isOfModule(frame.fn.scope.parent, register) ? register : { ...register };
  frame.registers.set(register, own);
  if (own !== register) c.registers.begin(own, frame.start);
  return own;
}

function isOfModule(module: Scope | undefined, register: Register): boolean {
  const symbol = module?.names.get(register.name.replace(/\.[xyzw]$/, ''));
  return symbol?.kind === 'vector' ? symbol.lanes.includes(register) : symbol?.kind === 'register' && symbol.register === register;
}

/** Puts what `body` lowers in a block of its own, which is entered where a condition holds. */
export function lowerWhen(c: Context, condition: Value, body: () => void): void {
  const inside = newFlow(c.kernel, 1);
  const after = newFlow(c.kernel, 2);
  c.flow.block.end = { op: 'condbr', cond: condition, then: link(c.flow, inside), else: link(c.flow, after) };
  c.flow.block.endLoc = c.ir.loc;
  enter(c, inside);
  body();
  c.flow.block.end = { op: 'br', to: link(c.flow, after) };
  enter(c, after);
}

/**
 * Replaces a word of memory by a function of it, atomically; gives the old word. A thread
 * that another one was faster than computes again.
 */
export function lowerUpdate(c: Context, pointer: Value, compute: (old: Value) => Value, type: 'i32' | 'i64' = 'i32'): Value {
  const [loop, after] = [newFlow(c.kernel, 2), newFlow(c.kernel, 1)];
  const old = addBlockParam(c.kernel, loop.block, type);
  const first = link(c.flow, loop);
  first.args.push(c.ir.load(type, pointer, { align: type === 'i32' ? 4 : 8, volatile: true }));
  c.flow.block.end = { op: 'br', to: first };
  enter(c, loop);
  const found = c.ir.cas(pointer, old, compute(old));
  const isDone = c.ir.icmp(found, old, { pred: 'eq' });
  const again = link(c.flow, loop);
  again.args.push(found);
  c.flow.block.end = { op: 'condbr', cond: isDone, then: link(c.flow, after), else: again };
  enter(c, after);
  return old;
}

/** One of two values, each computed in a block of its own. */
export const lowerEither = (c: Context, condition: Value, yes: () => Value, no: () => Value): Value =>
  lowerChoose(
    c,
    condition,
    () => [yes()],
    () => [no()],
  )[0]!;

/** One of two lists of values of the same types, each computed in a block of its own. */
export function lowerChoose(c: Context, condition: Value, yes: () => readonly Value[], no: () => readonly Value[]): Value[] {
  const from = c.flow;
  const after = newFlow(c.kernel, 2);
  const into = (compute: () => readonly Value[]): Edge => {
    const inside = newFlow(c.kernel, 1);
    const edge = link(from, inside);
    enter(c, inside);
    const values = compute();
    const to = link(c.flow, after);
    to.args.push(...values);
    c.flow.block.end = { op: 'br', to };
    if (c.ir.loc) c.flow.block.endLoc = c.ir.loc;
    return edge;
  };
  const [then, otherwise] = [into(yes), into(no)];
  from.block.end = { op: 'condbr', cond: condition, then, else: otherwise };
  if (c.ir.loc) from.block.endLoc = c.ir.loc;
  enter(c, after);
  return after.edges[0]!.edge.args.map((value) => addBlockParam(c.kernel, after.block, c.ir.typeOf(value)));
}

/** Does `body` for the numbers from 0 up to `count`, an i32, each time with the values that it gave before. */
export function lowerRepeat(
  c: Context,
  count: Value,
  first: readonly Value[],
  body: (i: Value, values: readonly Value[]) => readonly Value[],
): Value[] {
  const [head, inside, after] = [newFlow(c.kernel, 2), newFlow(c.kernel, 1), newFlow(c.kernel, 1)];
  const goOn = (i: Value, values: readonly Value[]): void => {
    const to = link(c.flow, head);
    to.args.push(i, ...values);
    c.flow.block.end = { op: 'br', to };
    if (c.ir.loc) c.flow.block.endLoc = c.ir.loc;
  };
  goOn(c.ir.const('i32', 0), first);
  enter(c, head);
  const [i, ...values] = ['i32' as const, ...first.map((value) => c.ir.typeOf(value))].map((type) =>
    addBlockParam(c.kernel, head.block, type),
  );
  const isIn = c.ir.icmp(i!, count, { pred: 'ult' });
  c.flow.block.end = { op: 'condbr', cond: isIn, then: link(c.flow, inside), else: link(c.flow, after) };
  if (c.ir.loc) c.flow.block.endLoc = c.ir.loc;
  enter(c, inside);
  goOn(c.ir.add(i!, c.ir.const('i32', 1)), body(i!, values));
  enter(c, after);
  return values;
}

/** Tests a condition until it holds, `tries` times at most; gives whether it held. */
export function lowerPoll(c: Context, tries: number, condition: () => Value): Value {
  const [head, again, after] = [newFlow(c.kernel, 2), newFlow(c.kernel, 1), newFlow(c.kernel, 2)];
  const goTo = (to: Flow, ...args: readonly Value[]): Edge => {
    const edge = link(c.flow, to);
    edge.args.push(...args);
    return edge;
  };
  c.flow.block.end = { op: 'br', to: goTo(head, c.ir.const('i32', 1)) };
  c.flow.block.endLoc = c.ir.loc;
  enter(c, head);
  const turn = addBlockParam(c.kernel, head.block, 'i32');
  const holds = condition();
  const yes = c.ir.const('i1', 1);
  c.flow.block.end = { op: 'condbr', cond: holds, then: goTo(after, yes), else: link(c.flow, again) };
  c.flow.block.endLoc = c.ir.loc;
  enter(c, again);
  const isLast = c.ir.icmp(turn, c.ir.const('i32', tries), { pred: 'uge' });
  const next = c.ir.add(turn, c.ir.const('i32', 1));
  const no = c.ir.const('i1', 0);
  c.flow.block.end = { op: 'condbr', cond: isLast, then: goTo(after, no), else: goTo(head, next) };
  c.flow.block.endLoc = c.ir.loc;
  enter(c, after);
  return addBlockParam(c.kernel, after.block, 'i1');
}

/** The variable that an operand names. */
export function variableNamed(c: Context, operand: Operand): Variable | undefined {
  const symbol = operand.kind === 'name' ? lookUp(c.scope, operand.name) : undefined;
  return symbol?.kind === 'variable' ? symbol.variable : undefined;
}

/** The value of a register here. */
export function readRegister(c: Context, register: Register): Value {
  return c.registers.read(c.flow, registerIn(c, c.frame, register));
}

/** Gives a register a value; under a guard that fails it keeps its own. */
export function writeRegister(c: Context, register: Register, value: Value): void {
  const kept = c.guard === undefined ? value : c.ir.select(c.guard, value, readRegister(c, register));
  c.registers.write(c.flow, registerIn(c, c.frame, register), kept);
}
