/**
 * Functions that may come to call themselves. For a call from elsewhere, all of them (a component of the call graph) are lowered once, in a
 * loop: its first block, the dispatch, goes to where a number says, which is the start of a function, the place behind a call, or the end.
 * A call stores what the caller needs afterwards and the number of the place behind it in a frame on the stack (`stack.ts`), and goes to the
 * dispatch, as a return does. So threads that are at different depths meet in the dispatch, and every engine and analysis sees a loop.
 *
 * Arguments and results go through variables, one for each parameter of a function, because a function reads its arguments before anything is
 * called; those that it needs after a call are in its frame. A frame has the number of the place behind the call, the frame of a caller that uses
 * `alloca`, registers, and variables.
 */
import { alignUp } from '../base/bytes.ts';
import { addBlockParam, stackAlign, type Value } from '../ir/index.ts';
import type { CheckedCall, CheckedFunction, CheckedInstruction, PtxFunction, Recursion, Register } from '../ptx/index.ts';
import type { Statement, Variable } from '../ptx/syntax/ast.ts';
import { blocksOf, conditionOf, formalRegisters, give, leadTo, type OpenedCall, takeCell, valuesOf } from './calls.ts';
import { cellOf, copyCell, sharedCell, storeTo } from './cells.ts';
import { type Context, enter, type Frame, newFrame, registerIn, variableNamed } from './context.ts';
import { newFlow } from './flow.ts';
import { leavingEdges, type SourceBlock } from './flow-graph.ts';
import { layoutOf } from './initializer.ts';
import { type Kept, keptAcross } from './live-registers.ts';
import { type Flow, link } from './ssa/ssa.ts';
import { pushFrame } from './stack.ts';
import { layOut, loadRegister, movesStackTop, setStackTop, stackAt, stackTop, storeRegister } from './stack-memory.ts';

/** One of the functions of a call, as it is in a body. */
export interface CallItem {
  readonly item: CheckedInstruction;
  readonly call: CheckedCall;
}

/** Where a call continues. */
interface Site {
  readonly number: number;
  readonly back: Flow;
  /** The registers that are needed there, with their places in the frame. */
  readonly saved: ReadonlyMap<Register, number>;
}

/** One of the functions. */
interface Member {
  readonly fn: CheckedFunction;
  readonly frame: Frame;
  readonly blocks: readonly SourceBlock[];
  /** Its number in the dispatch. */
  readonly number: number;
  readonly returned: Flow;
  /** Bytes of its frame. */
  readonly size: number;
  readonly hasAlloca: boolean;
  readonly sites: ReadonlyMap<CheckedInstruction, Site>;
  /** What arguments and results in registers go through, by the registers of the function. */
  readonly passed: ReadonlyMap<Register, Register>;
}

/** All of them, lowered for one call. */
interface Machine {
  readonly dispatch: Flow;
  readonly members: ReadonlyMap<PtxFunction, Member>;
  /** The offset of the frame of the function that runs. */
  readonly frameAt: Register;
}

/** By the frame of each function. */
const machines = new WeakMap<Frame, Machine>();

/** Whether a call is one of a function that the body itself belongs to. */
export const isWithin = (frame: Frame, { fn }: CheckedCall): boolean => machines.get(frame)?.members.has(fn) === true;

const headerBytes = 8;
const callerAt = 4;

/** Calls of one instruction that go to functions of one component, if it is not that of the body itself. */
export function openMachine(c: Context, calls: readonly CallItem[], recursion: Recursion): OpenedCall[] {
  const [{ item }] = calls as [CallItem];
  c.scope = item.scope;
  c.ir.loc = item.match.instruction.span;
  const caller = c.frame;
  const top = stackTop(c);
  const plan = planOf(c, recursion, calls);
  const { machine, exits, targets } = plan;
  const isConditional = item.guard !== undefined || item.call!.choice !== undefined;
  const after = newFlow(c.kernel, calls.length + (isConditional ? 1 : 0));
  callEach(c, calls, isConditional ? after : undefined, (each, i) => {
    const member = machine.members.get(each.call.fn)!;
    const edgeNumber = exits[i]!.number;
    push(c, machine, { call: each.call, member, behind: edgeNumber });
  });
  dispatchTo(c, machine.dispatch, targets);
  for (const member of machine.members.values()) startMember(c, machine, member);
  const opened = [...machine.members.values()].map((member): OpenedCall => {
    const { frame, blocks, returned } = member;
    return { frame, blocks, returned, finish: () => returnFrom(c, machine, member) };
  });
  const finish = (): void => {
    opened[0]!.finish();
    c.frame = caller;
    c.scope = item.scope;
    c.ir.loc = item.match.instruction.span;
    exits.forEach(({ back }, i) => {
      enter(c, back);
      setStackTop(c, top);
      takeResults(c, machine.members.get(calls[i]!.call.fn)!, calls[i]!.call);
      c.flow.block.end = { op: 'br', to: link(c.flow, after) };
    });
    enter(c, after);
  };
  return opened.map((each, i) => (i === 0 ? { ...each, finish } : each));
}

/** Calls of one instruction from a function of the machine to others of it, which are lowered already or will be. */
export function callMembers(c: Context, calls: readonly CallItem[]): void {
  const machine = machines.get(c.frame)!;
  const [{ item }] = calls as [CallItem];
  c.scope = item.scope;
  c.ir.loc = item.match.instruction.span;
  const caller = [...machine.members.values()].find(({ frame }) => frame === c.frame)!;
  const isConditional = item.guard !== undefined || item.call!.choice !== undefined;
  const after = newFlow(c.kernel, calls.length + (isConditional ? 1 : 0));
  callEach(c, calls, isConditional ? after : undefined, (each) => {
    const site = caller.sites.get(each.item)!;
    const frame = c.registers.read(c.flow, machine.frameAt);
    for (const [register, at] of site.saved) {
      const value = c.registers.read(c.flow, registerIn(c, caller.frame, register));
      storeRegister(c, stackAt(c, plus(c, frame, at)), register, value);
    }
    push(c, machine, { call: each.call, member: machine.members.get(each.call.fn)!, behind: site.number, caller });
  });
  for (const { item: each, call } of calls) {
    const { back, saved } = caller.sites.get(each)!;
    enter(c, back);
    const top = stackTop(c);
    const frame = caller.hasAlloca ? c.ir.load('i32', stackAt(c, plus(c, top, callerAt)), word) : plus(c, top, -caller.size);
    c.registers.write(c.flow, machine.frameAt, frame);
    for (const [register, at] of saved) {
      const value = loadRegister(c, stackAt(c, plus(c, frame, at)), register);
      c.registers.write(c.flow, registerIn(c, caller.frame, register), value);
    }
    takeResults(c, machine.members.get(call.fn)!, call);
    c.flow.block.end = { op: 'br', to: link(c.flow, after) };
    c.flow.block.endLoc = c.ir.loc;
  }
  enter(c, after);
}

const word = { align: 4, volatile: false } as const;
const plus = ({ ir }: Context, value: Value, by: number): Value => (by === 0 ? value : ir.add(value, ir.const('i32', by)));

/** Lowers each of the calls where its condition holds, and goes to `otherwise` where none does. A call leads to the dispatch. */
function callEach(
  c: Context,
  calls: readonly CallItem[],
  otherwise: Flow | undefined,
  lower: (call: CallItem, index: number) => void,
): void {
  calls.forEach((each, i) => {
    const cond = conditionOf(c, each.item, each.call);
    const next = i === calls.length - 1 ? otherwise : newFlow(c.kernel, 1);
    leadTo(c, newFlow(c.kernel, 1), cond === undefined ? undefined : { cond, after: next! });
    lower(each, i);
    if (i < calls.length - 1) enter(c, next!);
  });
}

/** A call of which arguments are handed over. */
interface Pushed {
  readonly call: CheckedCall;
  readonly member: Member;
  /** The number of the place behind it. */
  readonly behind: number;
  readonly caller?: Member;
}

function push(c: Context, { dispatch, frameAt }: Machine, { call, member, behind, caller }: Pushed): void {
  handOver(c, member, call);
  const own = caller?.hasAlloca ? c.registers.read(c.flow, frameAt) : undefined;
  const frame = pushFrame(c, member.size, `a call of \`${call.fn.name}\``);
  c.ir.store(stackAt(c, frame), c.ir.const('i32', behind), word);
  if (own !== undefined) c.ir.store(stackAt(c, plus(c, frame, callerAt)), own, word);
  goTo(c, dispatch, c.ir.const('i32', member.number));
}

function goTo(c: Context, dispatch: Flow, number: Value): void {
  const to = link(c.flow, dispatch);
  to.args.push(number);
  c.flow.block.end = { op: 'br', to };
  if (c.ir.loc) c.flow.block.endLoc = c.ir.loc;
}

/** Gives the arguments to what carries them; all are read before one is written, which another may be in. */
function handOver(c: Context, member: Member, { fn, args }: CheckedCall): void {
  const writes = fn.params.map((formal, i) => {
    const actual = args[i]!;
    const variable = variableNamed(c, actual);
    if (formal.space === 'reg') {
      const values = valuesOf(c, actual, formal);
      return () => passRegisters(c, member, formal, values);
    }
    if (variable) return () => copyCell(c, cellOf(c, variable), sharedCell(c, formal));
    const values = valuesOf(c, actual, formal);
    return () => storeTo(c, sharedCell(c, formal), values);
  });
  for (const write of writes) write();
}

function passRegisters(c: Context, { frame, passed }: Member, formal: Variable, values: readonly Value[]): void {
  formalRegisters(frame, formal).forEach((register, i) => {
    c.registers.write(c.flow, passed.get(register)!, values[i]!);
  });
}

function takeResults(c: Context, { frame, passed }: Member, { fn, results }: CheckedCall): void {
  fn.results.forEach((formal, i) => {
    if (formal.space !== 'reg') takeCell(c, results[i]!, formal, sharedCell(c, formal));
    else {
      const values = formalRegisters(frame, formal).map((register) => c.registers.read(c.flow, passed.get(register)!));
      give(c, results[i]!, values);
    }
  });
}

/** The start of a function, in its frame. */
function startMember(c: Context, { frameAt }: Machine, { fn, frame, size, passed }: Member): void {
  enter(c, frame.start);
  c.ir.loc = fn.fn.nameSpan;
  c.registers.write(c.flow, frameAt, plus(c, stackTop(c), -size));
  for (const formal of fn.fn.params) {
    if (formal.space !== 'reg') {
      const [own, shared] = [frame.cells.get(formal), sharedCell(c, formal)];
      if (own !== shared) copyCell(c, shared, own);
    } else
      for (const register of formalRegisters(frame, formal))
        c.registers.write(c.flow, registerIn(c, frame, register), c.registers.read(c.flow, passed.get(register)!));
  }
}

/** The end of a function: results are given, and its frame is taken away. */
function returnFrom(c: Context, { dispatch, frameAt }: Machine, { fn, frame, returned, passed }: Member): void {
  if (returned.edgeCount === 0) return;
  enter(c, returned);
  c.frame = frame;
  for (const formal of fn.fn.results) {
    if (formal.space !== 'reg') {
      const [own, shared] = [frame.cells.get(formal), sharedCell(c, formal)];
      if (own !== shared) copyCell(c, own, shared);
    } else
      for (const register of formalRegisters(frame, formal))
        c.registers.write(c.flow, passed.get(register)!, c.registers.read(c.flow, registerIn(c, frame, register)));
  }
  const at = c.registers.read(c.flow, frameAt);
  setStackTop(c, at);
  goTo(c, dispatch, c.ir.load('i32', stackAt(c, at), word));
}

/** Goes to the place whose number the first parameter of the dispatch is, which is found by binary search. */
function dispatchTo(c: Context, dispatch: Flow, targets: readonly Flow[]): void {
  const number = dispatch.block.params[0]!;
  const choose = (from: Flow, first: number, last: number): void => {
    enter(c, from);
    if (first === last) {
      from.block.end = { op: 'br', to: link(from, targets[first]!) };
      return;
    }
    const half = Math.ceil((first + last) / 2);
    const cond = c.ir.icmp(number, c.ir.const('i32', half), { pred: 'ult' });
    const [below, above] = [newFlow(c.kernel, 1), newFlow(c.kernel, 1)];
    from.block.end = { op: 'condbr', cond, then: link(from, below), else: link(from, above) };
    choose(below, first, half - 1);
    choose(above, half, last);
  };
  choose(dispatch, 0, targets.length - 1);
}

interface Plan {
  readonly machine: Machine;
  /** By call from elsewhere: where it continues. */
  readonly exits: readonly Site[];
  /** By their numbers. */
  readonly targets: readonly Flow[];
}

/** Numbers, frames and blocks of a machine. */
function planOf(c: Context, { members: fns }: Recursion, calls: readonly CallItem[]): Plan {
  const targets: Flow[] = [];
  const newPlace = (): { readonly number: number; readonly back: Flow } => {
    const back = newFlow(c.kernel, 1);
    return { number: targets.push(back) - 1, back };
  };
  const frameAt: Register = { name: 'cumetal.frame', declared: 'b32', type: 'i32' };
  const exits = calls.map(() => ({ ...newPlace(), saved: new Map() }));
  const members = new Map<PtxFunction, Member>();
  for (const ptx of fns) members.set(ptx, planMember(c, c.functions.get(ptx)!, { fns, frameAt, newPlace }));
  let edges = calls.length;
  for (const { sites, returned } of members.values()) edges += sites.size + (returned.edgeCount > 0 ? 1 : 0);
  const dispatch = newFlow(c.kernel, edges);
  addBlockParam(c.kernel, dispatch.block, 'i32');
  const machine = { dispatch, members, frameAt };
  for (const { frame } of members.values()) machines.set(frame, machine);
  return { machine, exits, targets };
}

interface Planning {
  readonly fns: readonly PtxFunction[];
  readonly frameAt: Register;
  newPlace(): { readonly number: number; readonly back: Flow };
}

function planMember(c: Context, fn: CheckedFunction, { fns, frameAt, newPlace }: Planning): Member {
  const blocks = blocksOf(fn);
  const isSite = ({ call }: CheckedInstruction): boolean => call !== undefined && !call.builtin && fns.includes(call.fn);
  const kept = keptAcross(fn, blocks, isSite);
  const { number, back: start } = newPlace();
  const frame = newFrame(fn, start);
  const sites = new Map<CheckedInstruction, Site>();
  let end = headerBytes;
  for (const [item, registers] of kept.registers) {
    const { at, end: behind } = layOut(
      registers.filter((register) => registerIn(c, frame, register) !== register),
      headerBytes,
    );
    sites.set(item, { ...newPlace(), saved: at });
    end = Math.max(end, behind);
  }
  const size = placeVariables(frame, { kept, frameAt }, end);
  const formals = [...fn.fn.params, ...fn.fn.results];
  for (const formal of formals) if (formal.space !== 'reg') frame.cells.set(formal, frame.places.get(formal) ?? sharedCell(c, formal));
  const passed = formals.flatMap((formal) =>
    formal.space === 'reg' ? formalRegisters(frame, formal).map((register) => [register, { ...register }] as const) : [],
  );
  const returned = newFlow(c.kernel, leavingEdges(blocks));
  return { fn, frame, blocks, number, returned, size, hasAlloca: movesStackTop(fn), sites, passed: new Map(passed) };
}

/** Gives variables of a function their places in its frame, behind its registers; returns the size of the frame. */
function placeVariables(frame: Frame, { kept, frameAt }: { readonly kept: Kept; readonly frameAt: Register }, from: number): number {
  let end = from;
  const locals = variablesIn(frame.fn.fn.body ?? []).filter(({ space }) => space === 'local');
  for (const variable of [...kept.variables, ...locals]) {
    const layout = variable.space === 'reg' ? undefined : layoutOf(variable);
    // One that has no layout is refused where it is used.
    if (!layout || variable.regCount !== undefined) continue;
    const at = alignUp(end, layout.align);
    frame.places.set(variable, { frameAt, at, size: layout.size, align: Math.min(layout.align, stackAlign) });
    end = at + layout.size;
  }
  return alignUp(end, stackAlign);
}

const variablesIn = (body: readonly Statement[]): Variable[] =>
  body.flatMap((statement) =>
    statement.kind === 'variable' ? [statement] : statement.kind === 'block' ? variablesIn(statement.body) : [],
  );
