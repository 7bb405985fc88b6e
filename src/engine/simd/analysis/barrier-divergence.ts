/**
 * Barrier divergence: barriers that not all threads of a block reach together. A thread waits at such a barrier until every other thread of
 * the block has exited or waits at a barrier too. This analysis says whether whole lane groups diverge or the lanes of one group, and gives
 * the control-flow graph of the code between barriers.
 */
import {
  blocksReaching,
  type Cfg,
  cfgOf,
  influenceOf,
  type Kernel,
  livenessOf,
  postDominatorsOf,
  reversed,
  specOf,
  stayingGraphOf,
  type Uniformity,
  uniformityOf,
  type Value,
} from '../../../ir/index.ts';
import { isLeaf } from '../../codegen/plan.ts';
import { behindBarrier, endsInBarrier } from './regions.ts';

/**
 * `groups`: the lanes of one group that have not exited reach every barrier together, but groups diverge from each other. `lanes`: lanes of
 * one group may wait at different barriers.
 */
export type BarrierDivergence = 'groups' | 'lanes';

/** Whether threads of a block may reach a barrier of a split kernel at different times, or some threads never. */
export function hasBarrierDivergence(kernel: Kernel): boolean {
  const cfg = cfgOf(kernel);
  const stops = cfg.order.filter((id) => endsInBarrier(kernel, id));
  if (stops.length === 0) return false;
  const { divergence } = uniformityOf(kernel, cfg);
  return stops.some((id) => divergence[id] !== 0);
}

/** The control-flow graph without edges across barriers. Its order holds every reachable block. */
export function cutAtBarriers(kernel: Kernel, cfg: Cfg): Cfg {
  const successors = cfg.successors.map((targets, id) => (endsInBarrier(kernel, id) ? [] : targets));
  return { ...cfg, successors, predecessors: reversed(successors) };
}

/** Values that are live across some barrier. */
export function liveAcrossBarriers(kernel: Kernel, cfg: Cfg): Set<Value> {
  const { liveIn } = livenessOf(kernel, cfg);
  const behind = cfg.order.filter((id) => endsInBarrier(kernel, id)).map((id) => behindBarrier(kernel, id));
  return new Set(behind.flatMap((id) => [...liveIn[id]!].filter((value) => !isLeaf(kernel.insts[value]!))));
}

/** Whether an instruction is a warp collective. */
export const isWarpCollective = (kernel: Kernel, value: Value): boolean => specOf(kernel.insts[value]!.op).effect === 'warp';

/** Whether a kernel has a warp collective. */
export const hasWarpCollectives = (kernel: Kernel): boolean =>
  kernel.blocks.some(({ body }) => body.some((value) => isWarpCollective(kernel, value)));

/**
 * Classifies barrier divergence, given which branches are uniform in a lane group. Lanes that are about to exit and can reach no other
 * thread any more count as exited: branches that separate only such lanes are ignored.
 */
export function classifyBarrierDivergence(kernel: Kernel, cfg: Cfg, { branch }: Pick<Uniformity, 'branch'>): BarrierDivergence {
  const isStop = (id: number): boolean => id < kernel.blocks.length && endsInBarrier(kernel, id);
  const { staying, stays } = stayingGraphOf(kernel, cfg);
  const ends = blocksReaching(
    staying,
    staying.order.filter((id) => staying.successors[id]!.length === 0),
  );
  // Where a block has no path to an exit, post-dominators say nothing about reconvergence.
  if (staying.order.some((id) => !ends[id])) return 'lanes';
  const post = postDominatorsOf(staying);
  const parts = (id: number): boolean => {
    if (branch[id] !== 2 || !cfg.successors[id]!.every((to) => stays[to])) return false;
    return [...influenceOf(staying, id, post.parent[id]!).region].some(isStop);
  };
  return cfg.order.some(parts) ? 'lanes' : 'groups';
}
