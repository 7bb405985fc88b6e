/** What the functions of one kernel share. */
import type { WasmModule } from '../../../wasm/index.ts';
import type { FmaMode } from '../../codegen/fma-mode.ts';
import type { HelperName } from '../../codegen/helpers.ts';
import type { Host } from '../../codegen/host.ts';
import type { StripPlan } from '../analysis/plan.ts';
import type { Pool } from './constant-pool.ts';
import type { StripHelper } from './helpers.ts';
import type { CheckEmitters, Strip } from './lane-group.ts';

/** Bytes of code above which a function of strips is not worth compiling. */
export const mostBytes = 1 << 20;

export interface StripShared {
  readonly plan: StripPlan;
  readonly module: WasmModule;
  readonly host: Host;
  readonly helper: (name: HelperName) => number;
  readonly stripHelper: (name: StripHelper) => number;
  readonly newFunction: Strip['newFunction'];
  /** Global: the region that is next. */
  readonly phase: number;
  /** Global: work until the next look at the clock. */
  readonly fuel: number;
  readonly fma: FmaMode;
  /** Whether code is to be short: once for lanes that part, and not for those too that go together. */
  readonly isBrief: boolean;
  readonly pool: Pool;
  /** Of strips that are looked at quickly. */
  readonly guards?: CheckEmitters | undefined;
  /** Bytes of the record area, behind those of the plan, that rolled code takes. */
  readonly rolled: { bytes: number };
}
