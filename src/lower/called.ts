/** Functions inlined into a kernel: its size with them, and the notes of diagnostics in them. */
import type { Diagnostic, Diagnostics } from '../base/diagnostic.ts';
import { type Checked, type CheckedFunction, callsOf, type PtxFunction, type Recursion } from '../ptx/index.ts';

/** Instructions that a kernel may have with the functions inlined. */
const maxInstructions = 200_000;

type Sizes = ReadonlyMap<PtxFunction, number>;

/** Instructions of each function with its calls inlined, at most one more than a kernel may have. */
export function inlinedSizes({ functions, recursions }: Checked): Sizes {
  const sizes = new Map<PtxFunction, number>();
  const left = new Map<Recursion, number>();
  for (const [fn, checked] of functions) {
    const recursion = recursions.get(fn);
    if (!recursion) {
      sizes.set(fn, sizeOf(checked, sizes));
      continue;
    }
    left.set(recursion, (left.get(recursion) ?? recursion.members.length) - 1);
    if (left.get(recursion)! > 0) continue;
    // All of them are lowered together, each once.
    for (const member of recursion.members) sizes.set(member, 0);
    const all = recursion.members.reduce((sum, member) => sum + sizeOf(functions.get(member)!, sizes), 0);
    for (const member of recursion.members) sizes.set(member, all);
  }
  return sizes;
}

const sizeOf = (fn: CheckedFunction, sizes: Sizes): number =>
  callsOf(fn).reduce((sum, call) => Math.min(maxInstructions + 1, sum + sizes.get(call.fn)! + call.args.length), fn.items.length);

/** Reports CM2060 for a kernel that would be too large. Kernels that call nothing may be of any size. */
export function reportTooLarge(entry: CheckedFunction, sizes: Sizes, diagnostics: Diagnostics): boolean {
  const calls = callsOf(entry);
  if (calls.length === 0 || sizeOf(entry, sizes) <= maxInstructions) return false;
  const largest = calls.reduce((a, b) => (sizes.get(b.fn)! > sizes.get(a.fn)! ? b : a));
  const holes = { kernel: entry.fn.name, limit: maxInstructions, name: largest.fn.name };
  diagnostics.report('CM2060', holes, { span: largest.span });
  return true;
}

/** Adds to diagnostics in functions the calls through which the kernel reaches them. */
export function inFunctions(entry: CheckedFunction, checked: Checked, list: readonly Diagnostic[]): Diagnostic[] {
  const ways = list.length === 0 ? new Map<PtxFunction, string>() : waysFrom(entry, checked);
  return list.map((one) => {
    const at = one.labels[0]?.span.start;
    const [, way] = (at === undefined ? undefined : [...ways].find(([{ span }]) => span.start <= at && at < span.end)) ?? [];
    return way === undefined ? one : { ...one, notes: [...one.notes, `called by way of ${way}`] };
  });
}

/** A shortest chain of calls to each function, in words. */
function waysFrom(entry: CheckedFunction, { functions }: Checked): Map<PtxFunction, string> {
  const ways = new Map<PtxFunction, string>();
  const work: (readonly [CheckedFunction, string])[] = [[entry, `\`${entry.fn.name}\``]];
  for (const [from, way] of work)
    for (const { fn } of callsOf(from)) {
      if (ways.has(fn)) continue;
      ways.set(fn, `${way} -> \`${fn.name}\``);
      work.push([functions.get(fn)!, ways.get(fn)!]);
    }
  return ways;
}
