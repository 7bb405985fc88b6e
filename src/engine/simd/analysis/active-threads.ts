/**
 * How many threads of a block have anything to do in a region: in the steps of a reduction, those below a bound. What is behind them is left
 * out, strip by strip, for going through a strip to find that it has nothing to do takes as long as a vector of work.
 */
import { type Block, type Inst, type InstOf, invertComparison, type Kernel, specOf, type Value } from '../../../ir/index.ts';
import { isOfWarp } from './barrier-divergence.ts';
import type { StripPlan } from './plan.ts';
import { behindBarrier, endsInBarrier, type StripRegion } from './regions.ts';

/** Threads of a block, from the first on, behind which none does anything in a region; at least one. */
export function busyThreads(plan: StripPlan, region: StripRegion): number {
  const { kernel, threads, shapes } = plan;
  const { body, end } = kernel.blocks[region.entry]!;
  // Where threads come to barriers one by one, each has to come.
  if (shapes.apart || end.op !== 'condbr' || !body.every((value) => isPure(kernel, value))) return threads;
  const cond = kernel.insts[end.cond]!;
  for (const [edge, holds] of [
    [end.then, cond],
    [end.else, invertComparison(cond)],
  ] as const) {
    const first = holds?.op === 'icmp' ? firstFrom(plan, holds) : undefined;
    if (first !== undefined && isNothing(plan, region, edge.block)) return Math.max(1, Math.min(threads, first));
  }
  return threads;
}

/**
 * Lanes of the strip where one is enough for the threads that have anything to do: no more vectors than they take. What a warp does
 * together takes all lanes, and where threads stand in rows a shorter strip may see other numbers as even.
 */
export function busyLanes({ kernel, lanes, block, shapes }: StripPlan, { cfg }: StripRegion, busy: number): number {
  if (shapes.apart || block[1] * block[2] > 1 || cfg.order.some((id) => kernel.blocks[id]!.body.some((value) => isOfWarp(kernel, value))))
    return lanes;
  let fewer = lanes;
  while (fewer > 4 && fewer / 2 >= busy) fewer /= 2;
  return fewer;
}

const isPure = ({ insts }: Kernel, value: Value): boolean => specOf(insts[value]!.op).effect === 'pure';

/** Whether threads that come to a block only wait for the others there, or end, and leave nothing to what comes after. */
function isNothing(plan: StripPlan, { cfg }: StripRegion, from: Block): boolean {
  const { kernel } = plan;
  const seen = new Set<Block>();
  for (let block = from; !seen.has(block); ) {
    seen.add(block);
    const isStop = endsInBarrier(kernel, block.id);
    const before = isStop ? block.body.slice(0, -1) : block.body;
    if (!before.every((value) => isPure(kernel, value)) || block.end.op === 'condbr') return false;
    if (block.end.op !== 'br') return true;
    // What is from before this region is in its place already.
    if (isStop) return plan.brought.get(behindBarrier(kernel, block.id))!.every((value) => cfg.position[plan.home[value]!]! < 0);
    block = block.end.to.block;
  }
  return false;
}

/** The number of a thread from which on a comparison of it with a constant holds; nothing where there is none such. */
function firstFrom({ kernel, block }: StripPlan, { a, b, pred }: InstOf<'icmp'>): number | undefined {
  const bound = kernel.insts[b]!;
  if (!isThread(kernel.insts[a]!, block[1] * block[2]) || bound.op !== 'const' || bound.type !== 'i32') return undefined;
  const number = Number(bound.bits);
  // Threads have small numbers: what is negative as a signed one is not looked into.
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

/** Whether an instruction is the number of the thread in its block. */
const isThread = (inst: Inst, rows: number): boolean =>
  inst.op === 'sreg' && (inst.name === 'tid.linear' || (inst.name === 'tid.x' && rows === 1));
