/**
 * The function of a block of threads: runs one region after the other. Each region has a function of its own, or all share one where calls
 * would take most of the time.
 */

import { exited } from '../../codegen/kernel-code.ts';
import { tuning } from '../../tuning.ts';
import type { SimdPlan } from '../analysis/plan.ts';
import { type BarrierRegion, behindBarrier, endsInBarrier } from '../analysis/regions.ts';
import type { CheckHooks } from '../lanes/hooks.ts';
import type { SimdContext } from '../lanes/kernel-context.ts';
import { regionAt, writeRegionIn } from './region.ts';

/** Emits the function of a block whose regions are functions. */
export function writeBlock({ module, phase }: SimdContext, steps: readonly number[], checks: CheckHooks | undefined): number {
  if (steps.length === 1 && !checks) return steps[0]!;
  const { index, code } = module.fn({ params: [], results: [] });
  checks?.blockStart(code);
  if (steps.length === 1) {
    code.at('call', steps[0]!);
    return index;
  }
  code.i32(0);
  code.at('global.set', phase);
  code.open('loop');
  code.open('block');
  const out = code.depth;
  for (const _ of steps) code.open('block');
  code.at('global.get', phase);
  code.table(
    steps.map((_, id) => id),
    steps.length - 1,
  );
  for (const [id, step] of steps.entries()) {
    code.end();
    // Every region but the first is behind a barrier.
    if (id > 0) checks?.barrier(code);
    code.at('call', step);
    code.at('br', code.depth - out);
  }
  code.end();
  code.at('global.get', phase);
  code.i32(exited);
  code.op('i32.ne');
  code.at('br_if', 0);
  code.end();
  return index;
}

/**
 * Whether there are several regions and each always leads to the next. In a fused loop some engines would keep values in registers
 * throughout that only one region needs.
 */
export const isRegionChain = (plan: SimdPlan): boolean =>
  plan.regions.length > 1 &&
  plan.regions.every((region, id) => onlySuccessor(plan, region) === (id + 1 < plan.regions.length ? id + 1 : exited));

/** Emits all regions of a line in one function; undefined where they are too long for it, or one of them cannot be nested. */
export function writeFusedBlock(context: SimdContext): { readonly index: number; readonly size: number } | undefined {
  const { regions } = context.plan;
  const { index, code } = context.module.fn({ params: [], results: [] });
  const isWritten = regions.every((region) => writeRegionIn(context, region, code, false) && code.size <= tuning.maxFusedBytes);
  return isWritten ? { index, size: code.size } : undefined;
}

/** The only region that can follow a region, or `exited`; undefined where that depends on the data. */
function onlySuccessor(plan: SimdPlan, { cfg }: BarrierRegion): number | undefined {
  const { kernel } = plan;
  const nexts = new Set<number>();
  for (const id of cfg.order) {
    if (endsInBarrier(kernel, id)) nexts.add(regionAt(plan, behindBarrier(kernel, id)));
    else if (kernel.blocks[id]!.end.op === 'ret') nexts.add(exited);
  }
  return nexts.size === 1 ? [...nexts][0] : undefined;
}
