/** The call graph: the functions reachable from the entries, and recursion. */
import type { Diagnostics } from '../../base/diagnostic.ts';
import type { Span } from '../../base/source.ts';
import type { PtxFunction } from '../syntax/ast.ts';
import type { CheckedCall, CheckedFunction } from './checked.ts';

/** The calls of a body, in source order. */
export const callsOf = ({ items }: CheckedFunction): CheckedCall[] =>
  items.flatMap((item) => (item.kind === 'instruction' && item.call && !item.call.builtin ? [item.call] : []));

/** A function on the stack of the depth-first search. */
interface Visit {
  readonly fn: PtxFunction;
  readonly calls: readonly CheckedCall[];
  at: number;
}

/**
 * The functions reachable from the entries, callees before callers. `check` is called once for each. Reports CM2041 for every call that
 * closes a cycle.
 */
export function reachedFunctions(
  entries: readonly CheckedFunction[],
  check: (fn: PtxFunction) => CheckedFunction,
  diagnostics: Diagnostics,
): Map<PtxFunction, CheckedFunction> {
  const checked = new Map<PtxFunction, CheckedFunction>();
  const done = new Map<PtxFunction, CheckedFunction>();
  for (const entry of entries) {
    // An explicit stack, because call chains may be long.
    const open: Visit[] = [{ fn: entry.fn, calls: callsOf(entry), at: 0 }];
    for (let top = open.at(-1); top; top = open.at(-1)) {
      const call = top.calls[top.at++];
      if (!call) {
        const callees = checked.get(top.fn);
        if (callees) done.set(top.fn, callees);
        open.pop();
      } else if (!checked.has(call.fn)) {
        const callee = check(call.fn);
        checked.set(call.fn, callee);
        open.push({ fn: call.fn, calls: callsOf(callee), at: 0 });
      } else if (!done.has(call.fn)) reportRecursion(open, call.fn, call.span, diagnostics);
    }
  }
  return done;
}

function reportRecursion(open: readonly Visit[], to: PtxFunction, span: Span, diagnostics: Diagnostics): void {
  const names = open.map(({ fn }) => fn.name);
  const circle = [...names.slice(open.findIndex(({ fn }) => fn === to)), to.name];
  diagnostics.report('CM2041', { cycle: circle.map((name) => `\`${name}\``).join(' -> ') }, { span });
}
