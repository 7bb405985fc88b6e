/** What is known of a kernel before strips are written: its narrowed copy, shapes, regions, and where values wait between regions. */
import {
  cfgOf,
  definingBlocks,
  elementOf,
  isVector,
  type Kernel,
  lanesOf,
  livenessOf,
  operandsOf,
  terminatorOperands,
  type Value,
} from '../../../ir/index.ts';
import type { Dim3 } from '../../device.ts';
import { countUses, isFree, type Plan, windowsOf } from '../compile/plan.ts';
import type { Guards } from '../quick/guards.ts';
import { workOutAgain } from './again.ts';
import { isApart } from './apart.ts';
import { arrivalBytes } from './arrival-words.ts';
import type { FmaMode } from './fma-mode.ts';
import { narrowed } from './narrow.ts';
import { orderBlocks } from './order.ts';
import { knownPermutations } from './permutations.ts';
import { type Shapes, shapesOf } from './shapes.ts';
import { behindBarrier, endsInBarrier, type StripRegion, splitAtBarriers, stripRegions } from './split.ts';
import { chooseLanes } from './width.ts';

export interface StripOptions {
  readonly fma: FmaMode;
  /** Lanes of a strip, where they are not to be chosen. */
  readonly lanes?: number | undefined;
  /** Whether workers share the memory. */
  readonly isShared?: boolean | undefined;
  /** Guards that the kernel has. */
  readonly guards?: Guards | undefined;
}

export interface StripPlan extends Pick<Plan, 'crosses' | 'uses' | 'offsets' | 'windows'> {
  readonly kernel: Kernel;
  readonly block: Dim3;
  readonly threads: number;
  /** Lanes of a strip, and the vectors of four lanes that it is made of. */
  readonly lanes: number;
  readonly packs: number;
  /** Strips of a block, and the threads that there would be if all were whole: what places in the record area are counted by. */
  readonly strips: number;
  readonly padded: number;
  /** By value: 1 for an integer or pointer held in 64 bits. */
  readonly wide: Uint8Array;
  readonly shapes: Shapes;
  readonly regions: readonly StripRegion[];
  /** By shuffle: the lane that each lane reads from, where that is known. */
  readonly permutations: ReadonlyMap<Value, readonly number[]>;
  /** Block in which each value is defined. */
  readonly home: Int32Array;
  /** By value: 1 where it is used outside of the innermost loop that defines it. */
  readonly escapes: Uint8Array;
  /** By the entry block of a region: the values that it needs of those before. */
  readonly brought: ReadonlyMap<number, readonly Value[]>;
  /** Byte offset in the record area of each value that is brought. */
  readonly slots: ReadonlyMap<Value, number>;
  /** Byte offset in the record area of memory for what a warp passes between lanes. */
  readonly scratch: number;
  /** Byte offset in the record area of who is where, if not all come to barriers together. */
  readonly arrivals: number;
  /** Bytes of the record area of a block, but for what rolled code takes. */
  readonly recordBytes: number;
}

/** Whether a value takes 64 bits in each lane. */
export const isLong = ({ kernel, wide }: Pick<StripPlan, 'kernel' | 'wide'>, value: Value): boolean => {
  const { type } = kernel.insts[value]!;
  return wide[value] === 1 || elementOf(type) === 'f64' || (isVector(type) && elementOf(type) === 'i64');
};

/** Plans a kernel for blocks of a shape; the kernel itself stays as it is. */
export function stripPlan(original: Kernel, block: Dim3, { fma, lanes: fixed }: StripOptions): StripPlan {
  const { kernel, wide: before } = narrowed(original);
  const permutations = knownPermutations(kernel);
  splitAtBarriers(kernel);
  workOutAgain(kernel, before);
  orderBlocks(kernel);
  const wide = new Uint8Array(kernel.insts.length);
  wide.set(before);
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

/** Where constant vectors stand, behind the kernel's own constants. */
export const poolStart = ({ windows }: Pick<StripPlan, 'windows'>): number => Math.ceil(windows.constant / 16) * 16;

/** Bytes that a varying value takes for each thread. */
export const laneBytes = (plan: Pick<StripPlan, 'kernel' | 'wide'>, value: Value): number =>
  (isLong(plan, value) ? 8 : 4) * lanesOf(plan.kernel.insts[value]!.type);
