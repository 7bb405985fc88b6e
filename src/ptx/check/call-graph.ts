/** The functions that entries come to call, and calls that lead back to where they come from. */
import type { Diagnostics } from '../../base/diagnostic.ts';
import type { Span } from '../../base/source.ts';
import type { PtxFunction } from '../syntax/ast.ts';
import type { CheckedCall, CheckedFunction } from './checked.ts';

/** The calls of a body, in the order of the source. */
export const callsOf = ({ items }: CheckedFunction): CheckedCall[] =>
  items.flatMap((item) => (item.kind === 'instruction' && item.call && !item.call.builtin ? [item.call] : []));

/** A function whose calls are being gone through. */
interface Visit {
  readonly fn: PtxFunction;
  readonly calls: readonly CheckedCall[];
  at: number;
}

/**
 * What the entries come to call, each function behind those that it calls; `check` is asked for each once. Reports CM2041 for every
 * call that closes a circle.
 */
export function reachedFunctions(
  entries: readonly CheckedFunction[],
  check: (fn: PtxFunction) => CheckedFunction,
  diagnostics: Diagnostics,
): Map<PtxFunction, CheckedFunction> {
  const checked = new Map<PtxFunction, CheckedFunction>();
  const done = new Map<PtxFunction, CheckedFunction>();
  for (const entry of entries) {
    // A stack of its own: chains of calls may be long.
    const open: Visit[] = [{ fn: entry.fn, calls: callsOf(entry), at: 0 }];
    for (let top = open.at(-1); top; top = open.at(-1)) {
      const call = top.calls[top.at++];
      if (!call) {
        const own = checked.get(top.fn);
        if (own) done.set(top.fn, own);
        open.pop();
      } else if (!checked.has(call.fn)) {
        const callee = check(call.fn);
        checked.set(call.fn, callee);
        open.push({ fn: call.fn, calls: callsOf(callee), at: 0 });
      } else if (!done.has(call.fn)) reportCircle(open, call.fn, call.span, diagnostics);
    }
  }
  return done;
}

function reportCircle(open: readonly Visit[], to: PtxFunction, span: Span, diagnostics: Diagnostics): void {
  const names = open.map(({ fn }) => fn.name);
  const circle = [...names.slice(open.findIndex(({ fn }) => fn === to)), to.name];
  diagnostics.report('CM2041', { cycle: circle.map((name) => `\`${name}\``).join(' -> ') }, { span });
}
