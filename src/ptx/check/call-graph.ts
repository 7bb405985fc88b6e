/** The call graph: the functions reachable from the entries, and those that may come to call themselves. */
import type { Span } from '../../base/source.ts';
import type { PtxFunction } from '../syntax/ast.ts';
import type { CheckedCall, CheckedFunction, Recursion } from './checked.ts';

const known = new WeakMap<CheckedFunction, readonly CheckedCall[]>();

/** The calls of a body, in source order. */
export function callsOf(fn: CheckedFunction): readonly CheckedCall[] {
  let calls = known.get(fn);
  if (calls === undefined) {
    calls = findCalls(fn);
    known.set(fn, calls);
  }
  return calls;
}

function findCalls({ items }: CheckedFunction): CheckedCall[] {
  const calls: CheckedCall[] = [];
  for (const item of items)
    if (item.kind === 'instruction' && item.call && !item.call.builtin && !item.call.isExternal) calls.push(item.call);
  return calls;
}

/** A function on the stack of the depth-first search. */
interface Visit {
  readonly fn: PtxFunction;
  readonly calls: readonly CheckedCall[];
  at: number;
  /** Its number in the order of discovery, and the least number of an open function that it reaches. */
  readonly order: number;
  low: number;
  /** The first call that closes a cycle through it. */
  closing: { readonly span: Span; readonly cycle: readonly string[] } | undefined;
}

export interface Reached {
  /** Callees before callers, except in a cycle. */
  readonly functions: Map<PtxFunction, CheckedFunction>;
  /** By each function that may come to call itself. */
  readonly recursions: Map<PtxFunction, Recursion>;
}

/**
 * The functions reachable from the entries, each checked once by `check`, and the strongly connected components of more than a call.
 * Source: Tarjan, "Depth-first search and linear graph algorithms" (1972), with an explicit stack, because call chains may be long.
 */
export function reachedFunctions(entries: readonly CheckedFunction[], check: (fn: PtxFunction) => CheckedFunction): Reached {
  const checked = new Map<PtxFunction, CheckedFunction>();
  const reached: Reached = { functions: new Map(), recursions: new Map() };
  const orders = new Map<PtxFunction, number>();
  /** Functions whose component is not complete. */
  const pending: PtxFunction[] = [];
  const isPending = new Set<PtxFunction>();
  const visit = (fn: PtxFunction, body: CheckedFunction): Visit => {
    const order = orders.size;
    orders.set(fn, order);
    pending.push(fn);
    isPending.add(fn);
    return { fn, calls: callsOf(body), at: 0, order, low: order, closing: undefined };
  };
  for (const entry of entries) {
    const open: Visit[] = [visit(entry.fn, entry)];
    for (let top = open.at(-1); top; top = open.at(-1)) {
      const call = top.calls[top.at++];
      if (!call) {
        open.pop();
        const body = checked.get(top.fn);
        if (body) reached.functions.set(top.fn, body);
        if (top.low === top.order) complete(top, pending, isPending, reached);
        else passOn(top, open.at(-1)!);
      } else if (!orders.has(call.fn)) {
        const callee = check(call.fn);
        checked.set(call.fn, callee);
        open.push(visit(call.fn, callee));
      } else if (isPending.has(call.fn)) {
        top.low = Math.min(top.low, orders.get(call.fn)!);
        top.closing ??= { span: call.span, cycle: cycleOf(open, call.fn) };
      }
    }
  }
  return reached;
}

function passOn({ low, closing }: Visit, caller: Visit): void {
  caller.low = Math.min(caller.low, low);
  caller.closing ??= closing;
}

/** Takes the functions of a component from those that are pending. */
function complete({ fn, closing }: Visit, pending: PtxFunction[], isPending: Set<PtxFunction>, { recursions }: Reached): void {
  const members = pending.splice(pending.lastIndexOf(fn));
  for (const member of members) isPending.delete(member);
  if (!closing) return;
  const recursion = { members, ...closing };
  for (const member of members) recursions.set(member, recursion);
}

/** The names of a cycle that a call of an open function closes; where that one is not on the stack, the call alone. */
function cycleOf(open: readonly Visit[], to: PtxFunction): string[] {
  const from = open.findIndex(({ fn }) => fn === to);
  return [...open.slice(from < 0 ? -1 : from).map(({ fn }) => fn.name), to.name];
}
