/** What the code for a region's blocks knows of what stands around them. */
import type { Block, Kernel, Loop, Value } from '../../../ir/index.ts';
import type { Code } from '../../../wasm/index.ts';
import type { SimdPlan } from '../analysis/plan.ts';
import type { BarrierRegion } from '../analysis/regions.ts';
import type { LaneGroup } from '../lanes/lane-group.ts';
import type { GroupValues } from '../lanes/values.ts';

/** What stands around the blocks of a region. */
export interface Flow {
  readonly plan: SimdPlan;
  readonly kernel: Kernel;
  readonly code: Code;
  readonly values: GroupValues;
  readonly strip: LaneGroup;
  /** Whether code for lanes that all go one way is left out. */
  readonly omitsUniformPaths: boolean;
  readonly region: BarrierRegion;
  /** Place of each block in the order of `predication.ts`, and the loops of the kernel. */
  readonly place: Int32Array;
  readonly loops: readonly Loop[];
  /** Looks at the clock now and then. */
  turn(): void;
  /** Leaves the region at a barrier or a return. Ends with a jump. */
  leave(block: Block | undefined): void;
  /** Has the lanes that run wait at the barrier that a block ends in, where others go on without them. */
  wait(block: Block): void;
  /** Locals for the masks of all packs. */
  takeMasks(): readonly number[];
  giveMasks(locals: readonly number[]): void;
  /** Puts whether any of some lanes runs on the stack. */
  pushAnyActive(masks: readonly number[]): void;
  /** Lanes for which a condition holds, of those that run. */
  masksWhere(cond: Value, lanes: readonly number[] | undefined): readonly number[];
  /** Those that run beside some of them. */
  masksExcept(some: readonly number[], lanes: readonly number[] | undefined): readonly number[];
}
