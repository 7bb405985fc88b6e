/** Removes instructions whose results nothing uses. */
import { edgesOf, type SsaFunction, type Value } from '../ssa/types.ts';
import { accessOf } from './ops.ts';

/** Removes unused instructions that do nothing but compute, and the loads of `remade`, which a wide load beside them repeats. */
export function removeDead(fn: SsaFunction, remade: ReadonlySet<Value>): void {
  const uses = new Int32Array(fn.types.length);
  const count = (values: readonly Value[], by: number): void => {
    for (const value of values) uses[value]! += by;
  };
  for (const { insts, end } of fn.blocks) {
    for (const { args } of insts) count(args, 1);
    for (const { args } of edgesOf(end)) count(args, 1);
    if (end.op === 'return') count(end.values, 1);
    else if (end.op === 'branch') count([end.cond], 1);
    else if (end.op === 'switch') count([end.index], 1);
  }
  // Backwards, a use comes before its definition, but for arguments of parameters.
  for (let at = fn.blocks.length - 1; at >= 0; at--) {
    const block = fn.blocks[at]!;
    const kept = block.insts.reverse().filter(({ op, args, result }) => {
      if (result === undefined || uses[result]! > 0 || (accessOf(op).kind !== 'none' && !remade.has(result))) return true;
      count(args, -1);
      return false;
    });
    block.insts = kept.reverse();
  }
}
