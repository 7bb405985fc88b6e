/** Blocks in the order in which control reaches them, as whoever makes values of memory or registers wants them. */
import { cfgOf, type Kernel, renumber } from '../../ir/index.ts';

/** Orders the blocks in place; those that nothing reaches go. */
export function inFlowOrder(kernel: Kernel): void {
  renumber(kernel);
  kernel.blocks = cfgOf(kernel).order.map((id) => kernel.blocks[id]!);
  renumber(kernel);
}
