/**
 * Local variables as values, where each access is at a known offset. This runs after lowering: the accesses of a local variable are known
 * when generic addresses have their spaces and unused addresses are removed.
 */
import { dce, type Kernel } from '../../ir/index.ts';
import { inFlowOrder } from './flow-order.ts';
import { promoteCells } from './promote-cells.ts';

/** Takes local variables out of memory, in place; returns whether there were any to look at. */
export function promoteLocals(kernel: Kernel): boolean {
  const names = kernel.variables.flatMap(({ space, name }) => (space === 'local' ? [name] : []));
  if (names.length === 0) return false;
  dce(kernel);
  inFlowOrder(kernel);
  promoteCells(kernel, new Set(names));
  return true;
}
