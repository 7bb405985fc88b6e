/**
 * The order of blocks in a kernel with collectives of simdgroups: threads at an earlier block come before those at later ones, so that lanes
 * that diverge reconverge before a collective behind them even where the earliest block goes on first.
 */
import { cfgOf, convergenceOrder, type Kernel, renumber, specOf } from '../../ir/index.ts';

/** Orders the blocks in place, and removes unreachable ones; returns whether that changed anything. */
export function orderForConvergence(kernel: Kernel): boolean {
  const hasCollectives = kernel.blocks.some(({ body }) => body.some((value) => specOf(kernel.insts[value]!.op).effect === 'warp'));
  if (!hasCollectives) return false;
  const order = convergenceOrder(cfgOf(kernel));
  if (order.length === kernel.blocks.length && order.every((id, at) => id === at)) return false;
  kernel.blocks = order.map((id) => kernel.blocks[id]!);
  renumber(kernel);
  return true;
}
