/** The order of functions by calls. */
import type { SsaFunction } from './ssa/types.ts';

/** The functions that `roots` reach, each behind those that it calls; undefined where one calls itself, at whatever distance. */
export function callOrder(functions: ReadonlyMap<number, SsaFunction>, roots: readonly number[]): number[] | undefined {
  const order: number[] = [];
  const state = new Map<number, 'open' | 'done'>();
  const visit = (index: number): boolean => {
    const fn = functions.get(index);
    if (!fn || state.get(index) === 'done') return true;
    if (state.get(index) === 'open') return false;
    state.set(index, 'open');
    for (const callee of calleesOf(fn)) if (!visit(callee)) return false;
    state.set(index, 'done');
    order.push(index);
    return true;
  };
  return roots.every(visit) ? order : undefined;
}

/** The numbers of the functions that a function calls. */
export function calleesOf(fn: SsaFunction): Set<number> {
  const callees = new Set<number>();
  for (const { insts } of fn.blocks) for (const { op, index } of insts) if (op === 'call') callees.add(index!);
  return callees;
}
