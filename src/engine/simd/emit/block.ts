/** A block of threads: one region after the other, as each says. Each has a function of its own, or all stand in one, where calls would be most of it. */

import { exited } from '../../codegen/kernel-code.ts';
import type { SimdPlan } from '../analysis/plan.ts';
import { type BarrierRegion, behindBarrier, endsInBarrier } from '../analysis/regions.ts';
import type { CheckHooks } from '../lanes/hooks.ts';
import type { SimdContext } from '../lanes/kernel-context.ts';
import { regionAt, writeRegionIn } from './region.ts';

/** Writes the function of a block whose regions are functions. */
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
    // All but the first stand behind a barrier.
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

/** Bytes of code up to which regions stand in one function: what calls take is of no account beside long ones. */
const maxFusedBytes = 24_000;

/** Whether there are several regions, each always followed by the next. In a loop over some engines would hold in registers throughout what only one wants. */
export const isLine = (plan: SimdPlan): boolean =>
  plan.regions.length > 1 &&
  plan.regions.every((region, id) => soleNext(plan, region) === (id + 1 < plan.regions.length ? id + 1 : exited));

/** Writes all regions of a line in one function; nothing where they are too long for it, or one cannot be written. */
export function writeBlockWhole(shared: SimdContext): { readonly index: number; readonly size: number } | undefined {
  const { regions } = shared.plan;
  const { index, code } = shared.module.fn({ params: [], results: [] });
  const isWritten = regions.every((region) => writeRegionIn(shared, region, code, false) && code.size <= maxFusedBytes);
  return isWritten ? { index, size: code.size } : undefined;
}

/** The region behind every way out of one, or `exited`; nothing where it depends. */
function soleNext(plan: SimdPlan, { cfg }: BarrierRegion): number | undefined {
  const { kernel } = plan;
  const nexts = new Set<number>();
  for (const id of cfg.order) {
    if (endsInBarrier(kernel, id)) nexts.add(regionAt(plan, behindBarrier(kernel, id)));
    else if (kernel.blocks[id]!.end.op === 'ret') nexts.add(exited);
  }
  return nexts.size === 1 ? [...nexts][0] : undefined;
}
