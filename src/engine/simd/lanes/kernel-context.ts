/** The context that all functions of one vectorized kernel share. */
import type { WasmModule } from '../../../wasm/index.ts';
import type { FmaMode } from '../../codegen/fma-mode.ts';
import type { HelperName } from '../../codegen/helpers.ts';
import type { Host } from '../../codegen/host.ts';
import type { ShiftMode } from '../../codegen/shift-mode.ts';
import type { SimdPlan } from '../analysis/plan.ts';
import type { ConstantPool } from './constant-pool.ts';
import type { SimdHelper } from './helpers.ts';
import type { CheckEmitters, LaneGroup } from './lane-group.ts';

/** Bytes of code above which a function is not worth compiling. */
export const maxFunctionBytes = 1 << 20;

export interface SimdContext {
  readonly plan: SimdPlan;
  readonly module: WasmModule;
  readonly host: Host;
  readonly helper: (name: HelperName) => number;
  readonly simdHelper: (name: SimdHelper) => number;
  /** The function of a product of matrices, by its form. */
  readonly mma: (form: string) => number;
  readonly newFunction: LaneGroup['newFunction'];
  /** Global: the region to run next. */
  readonly phase: number;
  /** Global: fuel until the next check of the clock. */
  readonly fuel: number;
  readonly fma: FmaMode;
  readonly shifts: ShiftMode;
  /** Whether the fast paths for uniform branches are left out to keep the code short. */
  readonly omitsUniformPaths: boolean;
  readonly pool: ConstantPool;
  /** Emitters of the fast sanitizer's checks, where the kernel has them. */
  readonly guards?: CheckEmitters | undefined;
  /** Bytes of the spill area, behind those of the plan, that re-rolled code uses. */
  readonly rerolled: { bytes: number };
}
