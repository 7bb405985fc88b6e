/** The surroundings of a region's blocks, as the emitters of control flow see them. */
import type { Block, Kernel, Loop, Value } from '../../../ir/index.ts';
import type { Code } from '../../../wasm/index.ts';
import type { SimdPlan } from '../analysis/plan.ts';
import type { BarrierRegion } from '../analysis/regions.ts';
import type { LaneGroup } from '../lanes/lane-group.ts';
import type { GroupValues } from '../lanes/values.ts';

/** The surroundings of a region's blocks. */
export interface Flow {
  readonly plan: SimdPlan;
  readonly kernel: Kernel;
  readonly code: Code;
  readonly values: GroupValues;
  readonly group: LaneGroup;
  /** Whether the fast paths for uniform branches are left out. */
  readonly omitsUniformPaths: boolean;
  readonly region: BarrierRegion;
  /** Position of each block in the linearized order of `predication.ts`, and the loops of the kernel. */
  readonly place: Int32Array;
  readonly loops: readonly Loop[];
  /** Spends fuel, and checks the clock when it is used up; what the loop with a header carries stays in registers between these checks. */
  spendFuel(header?: number): void;
  /** Leaves the region at a barrier or a return. Ends with a jump. */
  leave(block: Block | undefined): void;
  /** Marks the active lanes as arrived at the barrier that ends a block, where other lanes go on without them. */
  arrive(values: GroupValues, block: Block): void;
  /** Locals for the masks of all packs. */
  takeMasks(): readonly number[];
  giveMasks(locals: readonly number[]): void;
  /** Pushes whether any lane of some masks is active. */
  pushAnyActive(masks: readonly number[]): void;
  /** The active lanes for which a condition holds. */
  masksWhere(cond: Value, lanes: readonly number[] | undefined): readonly number[];
  /** The active lanes outside of a mask. */
  masksExcept(some: readonly number[], lanes: readonly number[] | undefined): readonly number[];
}

/** The same surroundings under another execution mask. */
export function underMask(flow: Flow, mask: readonly number[]): Flow {
  const values = flow.values.under(mask);
  return { ...flow, values, group: values.group };
}
