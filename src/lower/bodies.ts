/**
 * Bodies to blocks: that of an entry, and those of the functions that it calls, each in place of the call. Bodies that are open
 * are kept on a list, so that long chains of calls take no stack.
 */
import type { Edge } from '../ir/index.ts';
import type { Builtin, CheckedInstruction, Choices } from '../ptx/index.ts';
import { lowerChoice, type OpenedCall, openCall } from './calls.ts';
import { lowerClusterExit } from './cluster-barriers.ts';
import { type Context, enter, type Frame, isEntry, isLoweredAlone, mark } from './context.ts';
import { lowerAssertion } from './faults.ts';
import { newFlow } from './flow.ts';
import { exit, flowGraph, leave, leavingEdges, type SourceBlock, type SourceEnd } from './flow-graph.ts';
import { guardValue, lowerInstruction } from './instructions.ts';
import { callNative, giveResults, takeArguments } from './native-calls.ts';
import { newCode } from './native-code.ts';
import { readIndex } from './operands.ts';
import { lowerPrint } from './printing.ts';
import { type CallItem, callMembers, isWithin, openMachine } from './recursion.ts';
import { type Flow, link } from './ssa/ssa.ts';

const builtins: Readonly<Record<Builtin, typeof lowerPrint>> = { __assertfail: lowerAssertion, vprintf: lowerPrint };

type Table = NonNullable<SourceEnd['table']>;

/** A body of which some is lowered. */
interface Body {
  readonly frame: Frame;
  readonly blocks: readonly SourceBlock[];
  readonly flows: ReadonlyMap<number, Flow>;
  /** The call that it is the body of. */
  readonly call: OpenedCall | undefined;
  /** The next block and instruction. */
  block: number;
  item: number;
}

/** Lowers the body of an entry, which is open, and all that it calls. */
export function lowerBodies(c: Context): void {
  const { frame } = c;
  const blocks = flowGraph(frame.fn.items);
  const open = [openBody(c, frame, blocks, isEntry(frame) ? undefined : ownReturn(c, blocks))];
  for (let body = open.at(-1); body; body = open.at(-1)) {
    c.frame = body.frame;
    const calls = lowerToCall(c, body);
    if (calls) open.push(...calls.map((call) => openBody(c, call.frame, call.blocks, call)));
    else {
      open.pop();
      const caller = open.at(-1);
      if (caller) c.frame = caller.frame;
      body.call?.finish();
    }
  }
}

/** Of a function that is lowered by itself: it takes its arguments, and hands its results over where it returns. */
function ownReturn(c: Context, blocks: readonly SourceBlock[]): OpenedCall {
  const { frame } = c;
  takeArguments(c);
  const returned = newFlow(c.kernel, leavingEdges(blocks));
  const finish = (): void => {
    c.frame = frame;
    enter(c, returned);
    giveResults(c);
    c.flow.block.end = { op: 'ret' };
  };
  return { frame, blocks, returned, finish };
}

/** Ends the thread: in a function that is lowered by itself a return does not. */
function lowerExit(c: Context, { frame }: Body): void {
  lowerClusterExit(c);
  if (isLoweredAlone(c, frame)) newCode(c).emit('exit;', 1);
}

/** The blocks of a body, the first of which its start leads to. */
function openBody(c: Context, frame: Frame, blocks: readonly SourceBlock[], call: OpenedCall | undefined): Body {
  const flows = new Map<number, Flow>();
  const first = blocks[0]!.index;
  for (const { code } of blocks) orderChoices(c, code);
  for (const { index, edgeCount, label } of blocks) flows.set(index, newFlow(c.kernel, edgeCount + (index === first ? 1 : 0), label));
  frame.start.block.end = { op: 'br', to: link(frame.start, flows.get(first)!) };
  return { frame, blocks, flows, call, block: 0, item: 0 };
}

/** Of the functions that one instruction may call, those that may come to call themselves go last, one component after the other. */
function orderChoices({ recursions }: Context, code: CheckedInstruction[]): void {
  if (recursions.size === 0) return;
  const components = [...new Set(recursions.values())];
  const rank = (item: CheckedInstruction): number => components.indexOf(recursions.get(item.call!.fn)!);
  for (let from = 0; from < code.length; from++) {
    const among = code[from]!.call?.choice?.among;
    let to = from + 1;
    while (among && code[to]?.call?.choice?.among === among) to++;
    if (to - from > 1) code.splice(from, to - from, ...code.slice(from, to).sort((a, b) => rank(a) - rank(b)));
    from = to - 1;
  }
}

/** Lowers a body until its end, or until it calls a function; then gives the bodies that are to be lowered. */
function lowerToCall(c: Context, body: Body): OpenedCall[] | undefined {
  for (; body.block < body.blocks.length; body.block++) {
    const block = body.blocks[body.block]!;
    if (body.item === 0) enter(c, body.flows.get(block.index)!);
    while (body.item < block.code.length) {
      const at = body.item;
      const calls = callsAt(c, block.code, at);
      const item = block.code[at]!;
      body.item += Math.max(1, calls.length);
      if (item.call && c.natives && (item.call.isExternal || c.recursions.has(item.call.fn))) {
        const before = block.code[at - 1]?.call?.choice?.among;
        callAsIs(c, calls.length > 0 ? calls : [{ item, call: item.call }], before);
      } else if (item.call?.builtin) {
        mark(c, item.match.instruction.span);
        builtins[item.call.builtin](c, item, item.call);
      } else if (calls.length > 0) {
        const opened = lowerCalls(c, body, calls);
        if (opened) return opened;
      } else lowerInstruction(c, item);
    }
    lowerEnd(c, block, body);
    body.item = 0;
  }
  return undefined;
}

const noCalls: readonly CallItem[] = [];

/** The call at a place of a block: with others of the instruction, if they are to functions of one component of the call graph. */
function callsAt(c: Context, code: readonly CheckedInstruction[], at: number): readonly CallItem[] {
  const item = code[at]!;
  const { call } = item;
  if (!call || call.builtin || call.isExternal) return noCalls;
  const recursion = c.recursions.get(call.fn);
  const found: CallItem[] = [];
  for (let next = at; next < code.length; next++) {
    const each = code[next]!;
    const isOther = !each.call?.choice || each.call.choice.among !== call.choice?.among || !recursion;
    if (next > at && (isOther || c.recursions.get(each.call!.fn) !== recursion)) break;
    found.push({ item: each, call: each.call! });
  }
  return found;
}

/** Calls of one instruction that stay calls; what it goes through is looked at once for all functions that it may be of. */
function callAsIs(c: Context, calls: readonly CallItem[], before: Choices | undefined): void {
  const [{ item, call }] = calls as [CallItem];
  mark(c, item.match.instruction.span);
  const among = call.choice?.among;
  if (among && before !== among) lowerChoice(c, item, among);
  for (const each of calls) callNative(c, each.item, each.call);
}

/** Lowers calls of one instruction; gives the bodies that are to be lowered, if there are any. */
function lowerCalls(c: Context, { frame, block, blocks, item: next }: Body, calls: readonly CallItem[]): OpenedCall[] | undefined {
  const [{ item, call }] = calls as [CallItem];
  const among = call.choice?.among;
  const before = blocks[block]!.code[next - calls.length - 1]?.call?.choice?.among;
  if (!among || before !== among) mark(c, item.match.instruction.span);
  if (among && before !== among) lowerChoice(c, item, among);
  const recursion = c.recursions.get(call.fn);
  if (!recursion) return [openCall(c, item, call)];
  if (!isWithin(frame, call)) return openMachine(c, calls, recursion);
  callMembers(c, calls);
  return undefined;
}

function lowerEnd(c: Context, { end }: SourceBlock, body: Body): void {
  const { flows, call } = body;
  c.ir.loc = end.span;
  if (end.span) mark(c, end.span);
  c.flow.block.endLoc = end.span;
  const exits: Flow[] = [];
  const newExit = (): Flow => {
    exits.push(newFlow(c.kernel, 1));
    return exits.at(-1)!;
  };
  const target = (from: Flow, index: number) => link(from, flows.get(index) ?? (index === leave ? call?.returned : undefined) ?? newExit());
  if (end.table) lowerTable(c, end, end.table, target);
  else lowerJump(c, end, target, body);
  for (const flow of exits) {
    enter(c, flow);
    lowerExit(c, body);
    c.flow.block.end = { op: 'ret' };
  }
}

function lowerJump(c: Context, end: SourceEnd, target: (from: Flow, index: number) => Edge, body: Body): void {
  const isExit = end.to === exit || (end.to === leave && !body.call);
  if (isExit && !end.guard) lowerExit(c, body);
  const { block } = c.flow;
  if (end.guard) block.end = { op: 'condbr', cond: guardValue(c, end.guard), then: target(c.flow, end.to), else: target(c.flow, end.next) };
  else if (isExit) block.end = { op: 'ret' };
  else block.end = { op: 'br', to: target(c.flow, end.to) };
}

/** A jump to one of several blocks: the index is found by binary search. An index beyond the list selects the last. */
function lowerTable(c: Context, { guard, next, span }: SourceEnd, table: Table, target: (from: Flow, index: number) => Edge): void {
  if (guard) {
    const from = c.flow;
    const inside = newFlow(c.kernel, 1);
    from.block.end = { op: 'condbr', cond: guardValue(c, guard), then: link(from, inside), else: target(from, next) };
    enter(c, inside);
  }
  c.scope = table.scope;
  const index = readIndex(c, table.index);
  const choose = (from: Flow, first: number, last: number): void => {
    enter(c, from);
    from.block.endLoc = span;
    if (first === last) {
      from.block.end = { op: 'br', to: target(from, table.to[first]!) };
      return;
    }
    const half = Math.ceil((first + last) / 2);
    const cond = c.ir.icmp(index, c.ir.const('i32', half), { pred: 'ult' });
    const below = newFlow(c.kernel, 1);
    const above = newFlow(c.kernel, 1);
    from.block.end = { op: 'condbr', cond, then: link(from, below), else: link(from, above) };
    choose(below, first, half - 1);
    choose(above, half, last);
  };
  choose(c.flow, 0, table.to.length - 1);
}
