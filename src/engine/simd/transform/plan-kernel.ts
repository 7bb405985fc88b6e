/** What is known of a kernel before strips are written: its narrowed copy, shapes, regions, and where values wait between regions. */

import type { Dim3 } from '../../../base/dim3.ts';
import {
  type AfterPass,
  cfgOf,
  definingBlocks,
  type Kernel,
  lanesOf,
  livenessOf,
  operandsOf,
  type Pass,
  terminatorOperands,
  type Value,
  wideFlags,
} from '../../../ir/index.ts';
import type { FmaMode } from '../../codegen/fma-mode.ts';
import { countUses, isFree, windowsOf } from '../../codegen/plan.ts';
import { isApart } from '../analysis/barrier-divergence.ts';
import { arrivalBytes } from '../analysis/barrier-queue-layout.ts';
import { chooseLanes } from '../analysis/choose-lanes.ts';
import { shapesOf } from '../analysis/lane-shapes.ts';
import { laneBytes, type StripPlan } from '../analysis/plan.ts';
import { behindBarrier, endsInBarrier, type StripRegion, stripRegions } from '../analysis/regions.ts';
import { knownPermutations } from '../analysis/static-shuffles.ts';
import { copyOf } from './narrow-integers.ts';
import { narrowingTransforms, narrowTransforms } from './transforms.ts';

export interface PlanOptions {
  readonly fma: FmaMode;
  /** Lanes of a strip, where they are not to be chosen. */
  readonly lanes?: number | undefined;
  /** Observes the kernel after each transform of `transforms.ts`. */
  readonly afterPass?: AfterPass | undefined;
}

/** Plans a kernel for blocks of a shape; the kernel itself stays as it is. */
export function stripPlan(original: Kernel, block: Dim3, { fma, lanes: fixed, afterPass }: PlanOptions): StripPlan {
  const kernel = copyOf(original);
  const run = ({ name, run }: Pass): void => {
    run(kernel);
    afterPass?.(name, kernel);
  };
  narrowingTransforms.forEach(run);
  const permutations = knownPermutations(kernel);
  afterPass?.('static-shuffles', kernel);
  narrowTransforms.forEach(run);
  const wide = wideFlags(kernel);
  const { offsets, windows } = windowsOf(kernel);
  const { lanes, shapes } = chooseLanes(kernel, wide, { block, local: windows.local, fixed, fma, mayPart: isApart(kernel) }, shapesOf);
  const regions = stripRegions(kernel);
  const home = definingBlocks(kernel);
  const threads = block[0] * block[1] * block[2];
  const strips = Math.ceil(threads / lanes);
  const counts = { block, threads, lanes, packs: lanes / 4, strips, padded: strips * lanes };
  const plan = { kernel, ...counts, wide, shapes, regions, home, permutations, offsets, windows };
  const { liveIn } = livenessOf(kernel, cfgOf(kernel));
  const brought = new Map(
    regions.map(({ entry }) => [entry, entry === 0 ? [] : [...liveIn[entry]!].filter((value) => !isFree(kernel.insts[value]!))]),
  );
  const escapes = escapesOf(kernel, home, regions, liveIn);
  if (shapes.apart) for (const value of madeAgain(home, regions, brought)) escapes[value] = 1;
  return { ...plan, ...countUses(kernel, home), escapes, brought, ...placed(plan, brought) };
}

/** Values that some lanes bring to a region, and that others may make again in it meanwhile. */
const madeAgain = (home: Int32Array, regions: readonly StripRegion[], brought: ReadonlyMap<number, readonly Value[]>): Value[] =>
  regions.flatMap(({ entry, cfg }) => brought.get(entry)!.filter((value) => cfg.position[home[value]!]! >= 0));

function escapesOf(kernel: Kernel, home: Int32Array, regions: readonly StripRegion[], liveIn: readonly ReadonlySet<Value>[]): Uint8Array {
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
      // What a later region is brought was worked out in this one, wherever.
      if (endsInBarrier(kernel, id)) liveIn[behindBarrier(kernel, id)]!.forEach(see);
    }
  return escapes;
}

/** Values of one thread beside each other's, those that a strip shares once for each strip. */
function placed(
  plan: Pick<StripPlan, 'kernel' | 'wide' | 'shapes' | 'threads' | 'lanes' | 'strips' | 'padded' | 'regions'>,
  brought: ReadonlyMap<number, readonly Value[]>,
): Pick<StripPlan, 'slots' | 'scratch' | 'arrivals' | 'recordBytes'> {
  const slots = new Map<Value, number>();
  let bytes = 0;
  for (const values of brought.values())
    for (const value of values) {
      if (slots.has(value)) continue;
      slots.set(value, bytes);
      const isVarying = plan.shapes.shape[value] === 2;
      bytes += isVarying ? plan.padded * laneBytes(plan, value) : plan.strips * 8 * lanesOf(plan.kernel.insts[value]!.type);
    }
  const scratch = Math.ceil(bytes / 16) * 16;
  const arrivals = scratch + 32 * 8;
  return { slots, scratch, arrivals, recordBytes: arrivals + (plan.shapes.apart ? arrivalBytes(plan) : 0) };
}
