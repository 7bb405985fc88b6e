/**
 * Local variables as values, where each access is at a known offset. This runs after lowering: the accesses of a local variable are known
 * when generic addresses have their spaces and unused addresses are removed.
 */
import { dce, type Kernel } from '../../ir/index.ts';
import { inFlowOrder } from './flow-order.ts';
import { promoteCells } from './promote-cells.ts';

/** Takes local variables out of memory, in place; returns whether there were any to look at. */
export function promoteLocals(kernel: Kernel): boolean {
  const locals = kernel.variables.filter(({ space }) => space === 'local');
  const [first] = locals;
  if (first === undefined) return false;
  dce(kernel);
  inFlowOrder(kernel);
  promoteCells(kernel, new Set(locals.map(({ name }) => name)));
  // An access by a number, such as a generic one that is never of local memory, still has a memory that it would be of.
  if (hasNumbers(kernel) && !kernel.variables.some(({ space }) => space === 'local')) kernel.variables.push(first);
  return true;
}

const hasNumbers = ({ blocks, insts }: Kernel): boolean =>
  blocks.some(({ body }) =>
    body.some((value) => {
      const inst = insts[value]!;
      return inst.op === 'inttoptr' && inst.type === 'ptr.local';
    }),
  );
