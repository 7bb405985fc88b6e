/** Blocks in the order in which control reaches them, as SSA construction needs them. */
import { cfgOf, type Kernel, renumber } from '../../ir/index.ts';

/** Orders the blocks in place; unreachable blocks are removed. */
export function inFlowOrder(kernel: Kernel): void {
  renumber(kernel);
  kernel.blocks = cfgOf(kernel).order.map((id) => kernel.blocks[id]!);
  renumber(kernel);
}
