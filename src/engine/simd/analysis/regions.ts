/** Barrier-to-barrier regions of a kernel that `splitAtBarriers` has split. A warp collective stays inside one region. */
import {
  type Cfg,
  cfgOf,
  type DominatorTree,
  dominatorsOf,
  edgesOf,
  type Kernel,
  type Loops,
  loopsOf,
  positionsIn,
  reversed,
  reversePostorder,
} from '../../../ir/index.ts';

export interface BarrierRegion {
  /** Index in the list; region 0 starts the kernel. */
  readonly id: number;
  readonly entry: number;
  /** The graph without edges across barriers; `order` holds the blocks of the region. */
  readonly cfg: Cfg;
  readonly dominators: DominatorTree;
  readonly loops: Loops;
}

/** Whether a block of a split kernel ends in a barrier. */
export const endsInBarrier = (kernel: Kernel, id: number): boolean => {
  const last = kernel.blocks[id]!.body.at(-1);
  return last !== undefined && kernel.insts[last]!.op === 'barrier';
};

/** The block behind the barrier that ends a block. */
export const behindBarrier = (kernel: Kernel, id: number): number => edgesOf(kernel.blocks[id]!.end)[0]!.block.id;

/** The regions of a split kernel. */
export function barrierRegions(kernel: Kernel): BarrierRegion[] {
  const { order } = cfgOf(kernel);
  const entries = [...new Set([0, ...order.filter((id) => endsInBarrier(kernel, id)).map((id) => behindBarrier(kernel, id))])];
  const successors = kernel.blocks.map((block) => (endsInBarrier(kernel, block.id) ? [] : edgesOf(block.end).map((edge) => edge.block.id)));
  const predecessors = reversed(successors);
  return entries.map((entry, id) => {
    const inside = reversePostorder(successors, entry);
    const cfg: Cfg = { successors, predecessors, order: inside, position: positionsIn(inside, successors.length) };
    const dominators = dominatorsOf(cfg, entry);
    return { id, entry, cfg, dominators, loops: loopsOf(cfg, dominators) };
  });
}
