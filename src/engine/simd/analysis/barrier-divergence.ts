/**
 * Barriers that not all threads come to together: each thread waits on its own there, until every other one of the block has left or waits
 * too. Who goes apart, strips or lanes of one, and the graph of what is run from barrier to barrier.
 */
import {
  type Cfg,
  cfgOf,
  dominatorsOf,
  influenceOf,
  type Kernel,
  livenessOf,
  loopsOf,
  positionsIn,
  postDominatorsOf,
  reversed,
  reversePostorder,
  specOf,
  type Uniformity,
  uniformityOf,
  type Value,
} from '../../../ir/index.ts';
import { isLeaf } from '../../codegen/plan.ts';
import { behindBarrier, endsInBarrier } from './regions.ts';

/**
 * `strips`: of a strip's lanes those that have not left the kernel come to every barrier together, but strips go each its way. `lanes`: lanes
 * of one strip may wait at different barriers.
 */
export type BarrierDivergence = 'strips' | 'lanes';

/** Whether threads of a block may come to a barrier of a split kernel at different times, or some of them never. */
export function hasBarrierDivergence(kernel: Kernel): boolean {
  const cfg = cfgOf(kernel);
  const stops = cfg.order.filter((id) => endsInBarrier(kernel, id));
  if (stops.length === 0) return false;
  const { divergence } = uniformityOf(kernel, cfg);
  return stops.some((id) => divergence[id] !== 0);
}

/** The graph without edges over barriers; every block that can be reached is in its order. */
export function cutAtBarriers(kernel: Kernel, cfg: Cfg): Cfg {
  const successors = cfg.successors.map((targets, id) => (endsInBarrier(kernel, id) ? [] : targets));
  return { ...cfg, successors, predecessors: reversed(successors) };
}

/** Values that threads bring over some barrier. */
export function liveAcrossBarriers(kernel: Kernel, cfg: Cfg): Set<Value> {
  const { liveIn } = livenessOf(kernel, cfg);
  const behind = cfg.order.filter((id) => endsInBarrier(kernel, id)).map((id) => behindBarrier(kernel, id));
  return new Set(behind.flatMap((id) => [...liveIn[id]!].filter((value) => !isLeaf(kernel.insts[value]!))));
}

/** Whether an instruction is of a warp. */
export const isWarpCollective = (kernel: Kernel, value: Value): boolean => specOf(kernel.insts[value]!.op).effect === 'warp';

/** Whether a kernel has anything that a warp does together. */
export const hasWarpCollectives = (kernel: Kernel): boolean =>
  kernel.blocks.some(({ body }) => body.some((value) => isWarpCollective(kernel, value)));

/**
 * Who goes apart, given what of the whole graph is the same in a strip. Lanes that are on their way out, where they meet nobody any more, are
 * as good as gone: what else they part from is not looked at.
 */
export function classifyBarrierDivergence(kernel: Kernel, cfg: Cfg, { branch }: Pick<Uniformity, 'branch'>): BarrierDivergence {
  const isStop = (id: number): boolean => id < kernel.blocks.length && endsInBarrier(kernel, id);
  const { staying, stays } = stayingOf(kernel, cfg);
  const ends = leadingTo(
    staying,
    staying.order.filter((id) => staying.successors[id]!.length === 0),
  );
  // Where no way leads to an end, nothing is known of who meets where.
  if (staying.order.some((id) => !ends[id])) return 'lanes';
  const post = postDominatorsOf(staying);
  const parts = (id: number): boolean => {
    if (branch[id] !== 2 || !cfg.successors[id]!.every((to) => stays[to])) return false;
    return [...influenceOf(staying, id, post.parent[id]!).region].some(isStop);
  };
  return cfg.order.some(parts) ? 'lanes' : 'strips';
}

/**
 * The blocks from which threads may come to others yet: to a barrier, or to what a warp does together. Their graph has one more block, to which
 * ways out of loops lead that end there: who stays is not the only one that goes on to an end, and does not meet in a later turn those who wait.
 */
function stayingOf(kernel: Kernel, cfg: Cfg): { readonly staying: Cfg; readonly stays: Uint8Array } {
  const isMeeting = (value: Value): boolean => kernel.insts[value]!.op === 'barrier' || isWarpCollective(kernel, value);
  const collectives = cfg.order.filter((id) => kernel.blocks[id]!.body.some(isMeeting));
  const stays = leadingTo(cfg, collectives);
  const { innermost } = loopsOf(cfg, dominatorsOf(cfg));
  const out = cfg.successors.length;
  const successors = cfg.successors.map((targets, id) => {
    if (!stays[id]) return [];
    const on = targets.filter((to) => stays[to]);
    return innermost[id]! >= 0 && on.length < targets.length ? [...on, out] : on;
  });
  successors.push([]);
  const order = reversePostorder(successors, 0);
  return { staying: { successors, predecessors: reversed(successors), order, position: positionsIn(order, successors.length) }, stays };
}

/** The blocks from which some others can be reached, these included. */
function leadingTo({ predecessors }: Pick<Cfg, 'predecessors'>, blocks: readonly number[]): Uint8Array {
  const found = new Uint8Array(predecessors.length);
  const stack = [...blocks];
  for (let id = stack.pop(); id !== undefined; id = stack.pop()) {
    if (found[id]) continue;
    found[id] = 1;
    stack.push(...predecessors[id]!);
  }
  return found;
}
