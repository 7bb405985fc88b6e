/** Plans a kernel for lane groups: the pipeline of transforms on a narrowed copy, then its shapes, regions and spill slots. */

import type { Dim3 } from '../../../base/dim3.ts';
import {
  type AfterPass,
  cfgOf,
  copyOf,
  definingBlocks,
  type Kernel,
  lanesOf,
  livenessOf,
  operandsOf,
  type Pass,
  terminatorOperands,
  type Value,
  varying,
  wideFlags,
} from '../../../ir/index.ts';
import type { FmaMode } from '../../codegen/fma-mode.ts';
import { countUses, isLeaf, stagingOfKernel, windowsOf } from '../../codegen/plan.ts';
import type { Target } from '../../codegen/target.ts';
import { hasBarrierDivergence } from '../analysis/barrier-divergence.ts';
import { queueBytes } from '../analysis/barrier-queue-layout.ts';
import { chooseLanes } from '../analysis/choose-lanes.ts';
import { shapesOf } from '../analysis/lane-shapes.ts';
import { laneBytes, type SimdPlan } from '../analysis/plan.ts';
import { type BarrierRegion, barrierRegions, behindBarrier, endsInBarrier } from '../analysis/regions.ts';
import { staticShufflesOf } from '../analysis/static-shuffles.ts';
import type { MemoryFacts } from './check-addresses.ts';
import { checkSeparator, narrowingTransforms, narrowTransforms } from './transforms.ts';

export interface PlanOptions {
  readonly fma: FmaMode;
  readonly target?: Target;
  /** The requested lanes of a group, if there is such a request. */
  readonly lanes?: number | undefined;
  /** What is known of all launches of the code. */
  readonly facts?: MemoryFacts | undefined;
  /** Observes the kernel after each transform of `transforms.ts`. */
  readonly afterPass?: AfterPass | undefined;
}

/** Plans a kernel for blocks of one size; the kernel itself stays unchanged. */
export function planKernel(original: Kernel, block: Dim3, { fma, target, lanes: fixed, facts, afterPass }: PlanOptions): SimdPlan {
  const kernel = copyOf(original);
  const run = ({ name, run }: Pass): void => {
    run(kernel);
    afterPass?.(name, kernel);
  };
  const checks: string[] = [];
  narrowingTransforms(facts, (text) => void checks.push(text)).forEach(run);
  const addressChecks = checks.join(checkSeparator);
  const staticShuffles = staticShufflesOf(kernel);
  afterPass?.('static-shuffles', kernel);
  narrowTransforms.forEach(run);
  const wide = wideFlags(kernel);
  const { offsets, windows } = windowsOf(kernel);
  const { lanes, shapes } = chooseLanes(
    kernel,
    wide,
    { block, local: windows.local, fixed, fma, target, mayDiverge: hasBarrierDivergence(kernel) },
    shapesOf,
  );
  const regions = barrierRegions(kernel);
  const home = definingBlocks(kernel);
  const threads = block[0] * block[1] * block[2];
  const groups = Math.ceil(threads / lanes);
  const counts = { block, threads, lanes, packs: lanes / 4, groups, padded: groups * lanes };
  const plan = { kernel, addressChecks, ...counts, wide, shapes, regions, home, staticShuffles, offsets, windows };
  const { liveIn } = livenessOf(kernel, cfgOf(kernel));
  const liveIns = new Map(
    regions.map(({ entry }) => [entry, entry === 0 ? [] : [...liveIn[entry]!].filter((value) => !isLeaf(kernel.insts[value]!))]),
  );
  const escapes = escapesOf(kernel, home, regions, liveIn);
  if (shapes.barrierDivergence) for (const value of redefinedLiveIns(home, regions, liveIns)) escapes[value] = 1;
  return { ...plan, ...countUses(kernel, home), escapes, liveIns, ...assignSlots(plan, liveIns) };
}

/** Values that are live into a region for some lanes while other lanes may redefine them in it. */
const redefinedLiveIns = (home: Int32Array, regions: readonly BarrierRegion[], liveIns: ReadonlyMap<number, readonly Value[]>): Value[] =>
  regions.flatMap(({ entry, cfg }) => liveIns.get(entry)!.filter((value) => cfg.position[home[value]!]! >= 0));

function escapesOf(kernel: Kernel, home: Int32Array, regions: readonly BarrierRegion[], liveIn: readonly ReadonlySet<Value>[]): Uint8Array {
  const escapes = new Uint8Array(kernel.insts.length);
  for (const { cfg, loops } of regions)
    for (const id of cfg.order) {
      const see = (value: Value): void => {
        const from = home[value]!;
        const loop = from < 0 ? -1 : loops.innermost[from]!;
        if (loop >= 0 && !loops.loops[loop]!.blocks.includes(id)) escapes[value] = 1;
      };
      const block = kernel.blocks[id]!;
      for (const value of block.body) operandsOf(kernel.insts[value]!).forEach(see);
      terminatorOperands(block.end).forEach(see);
      // A value that is live into a later region was defined in this one.
      if (endsInBarrier(kernel, id)) liveIn[behindBarrier(kernel, id)]!.forEach(see);
    }
  return escapes;
}

/** Assigns spill slots: varying values have the lanes of all threads next to each other, others one slot for each lane group. */
function assignSlots(
  plan: Pick<SimdPlan, 'kernel' | 'wide' | 'shapes' | 'threads' | 'lanes' | 'groups' | 'padded' | 'regions'>,
  liveIns: ReadonlyMap<number, readonly Value[]>,
): Pick<SimdPlan, 'slots' | 'scratch' | 'queues' | 'recordBytes'> {
  const slots = new Map<Value, number>();
  let bytes = 0;
  for (const values of liveIns.values())
    for (const value of values) {
      if (slots.has(value)) continue;
      slots.set(value, bytes);
      const isVarying = plan.shapes.shape[value] === varying;
      bytes += isVarying ? plan.padded * laneBytes(plan, value) : plan.groups * 8 * lanesOf(plan.kernel.insts[value]!.type);
    }
  const scratch = Math.ceil(bytes / 16) * 16;
  const queues = scratch + Math.max(32 * 8, stagingOfKernel(plan.kernel));
  return { slots, scratch, queues, recordBytes: queues + (plan.shapes.barrierDivergence ? queueBytes(plan) : 0) };
}
