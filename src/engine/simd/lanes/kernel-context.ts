/** What the functions of one kernel share. */
import type { WasmModule } from '../../../wasm/index.ts';
import type { FmaMode } from '../../codegen/fma-mode.ts';
import type { HelperName } from '../../codegen/helpers.ts';
import type { Host } from '../../codegen/host.ts';
import type { SimdPlan } from '../analysis/plan.ts';
import type { ConstantPool } from './constant-pool.ts';
import type { SimdHelper } from './helpers.ts';
import type { CheckEmitters, LaneGroup } from './lane-group.ts';

/** Bytes of code above which a function of strips is not worth compiling. */
export const maxFunctionBytes = 1 << 20;

export interface SimdContext {
  readonly plan: SimdPlan;
  readonly module: WasmModule;
  readonly host: Host;
  readonly helper: (name: HelperName) => number;
  readonly simdHelper: (name: SimdHelper) => number;
  readonly newFunction: LaneGroup['newFunction'];
  /** Global: the region that is next. */
  readonly phase: number;
  /** Global: work until the next look at the clock. */
  readonly fuel: number;
  readonly fma: FmaMode;
  /** Whether code is to be short: once for lanes that part, and not for those too that go together. */
  readonly omitsUniformPaths: boolean;
  readonly pool: ConstantPool;
  /** Of strips that are looked at quickly. */
  readonly guards?: CheckEmitters | undefined;
  /** Bytes of the record area, behind those of the plan, that rolled code takes. */
  readonly rerolled: { bytes: number };
}
