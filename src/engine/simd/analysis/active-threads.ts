/**
 * The active-thread bound: how many threads of a block have work in a region. A step of a reduction has work only for the threads below a
 * bound. Lane groups above the bound are skipped, because a group takes as long to find that it has no work as a vector of work takes.
 */
import { type Block, type Inst, type InstOf, invertComparison, type Kernel, specOf, type Value } from '../../../ir/index.ts';
import { isWarpCollective } from './barrier-divergence.ts';
import type { SimdPlan } from './plan.ts';
import { type BarrierRegion, behindBarrier, endsInBarrier } from './regions.ts';

/** The number of threads, counted from thread 0, that have work in a region; at least 1. */
export function activeThreads(plan: SimdPlan, region: BarrierRegion): number {
  const { kernel, threads, shapes } = plan;
  const { body, end } = kernel.blocks[region.entry]!;
  // With barrier divergence every thread has to reach the barrier by itself.
  if (shapes.barrierDivergence || end.op !== 'condbr' || !body.every((value) => isPure(kernel, value))) return threads;
  const cond = kernel.insts[end.cond]!;
  for (const [edge, holds] of [
    [end.then, cond],
    [end.else, invertComparison(cond)],
  ] as const) {
    const first = holds?.op === 'icmp' ? firstHolding(plan, holds) : undefined;
    if (first !== undefined && isNoOp(plan, region, edge.block)) return Math.max(1, Math.min(threads, first));
  }
  return threads;
}

/**
 * The lanes of a group where one group covers all active threads: no more vectors than these threads fill. Warp collectives need the whole
 * warp. In a block of several rows a smaller group could classify other values as affine.
 */
export function activeLanes({ kernel, lanes, block, shapes }: SimdPlan, { cfg }: BarrierRegion, active: number): number {
  if (
    shapes.barrierDivergence ||
    block[1] * block[2] > 1 ||
    cfg.order.some((id) => kernel.blocks[id]!.body.some((value) => isWarpCollective(kernel, value)))
  )
    return lanes;
  let fewer = lanes;
  while (fewer > 4 && fewer / 2 >= active) fewer /= 2;
  return fewer;
}

const isPure = ({ insts }: Kernel, value: Value): boolean => specOf(insts[value]!.op).effect === 'pure';

/**
 * Whether threads that enter a block only reach the next barrier or the end of the kernel, without side effects and without values for
 * later regions.
 */
function isNoOp(plan: SimdPlan, { cfg }: BarrierRegion, from: Block): boolean {
  const { kernel } = plan;
  const seen = new Set<Block>();
  for (let block = from; !seen.has(block); ) {
    seen.add(block);
    const isStop = endsInBarrier(kernel, block.id);
    const before = isStop ? block.body.slice(0, -1) : block.body;
    if (!before.every((value) => isPure(kernel, value)) || block.end.op === 'condbr') return false;
    if (block.end.op !== 'br') return true;
    // A value from before this region already has its spill slot.
    if (isStop) return plan.liveIns.get(behindBarrier(kernel, block.id))!.every((value) => cfg.position[plan.home[value]!]! < 0);
    block = block.end.to.block;
  }
  return false;
}

/** The smallest thread number from which a comparison with a constant holds for all larger ones; undefined if there is none. */
function firstHolding({ kernel, block }: SimdPlan, { a, b, pred }: InstOf<'icmp'>): number | undefined {
  const bound = kernel.insts[b]!;
  if (!isThread(kernel.insts[a]!, block[1] * block[2]) || bound.op !== 'const' || bound.type !== 'i32') return undefined;
  const number = Number(bound.bits);
  // Thread numbers are small. A constant that is negative as a signed integer is not analyzed.
  if (number >= 0x7fff_ffff) return undefined;
  switch (pred) {
    case 'sge':
    case 'uge':
      return number;
    case 'sgt':
    case 'ugt':
    case 'ne':
      return number + 1;
    default:
      return undefined;
  }
}

/** Whether an instruction is the linear thread number of the block. */
const isThread = (inst: Inst, rows: number): boolean =>
  inst.op === 'sreg' && (inst.name === 'tid.linear' || (inst.name === 'tid.x' && rows === 1));
