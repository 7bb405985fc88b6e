/** What the functions of one kernel share. */
import type { WasmModule } from '../../../wasm/index.ts';
import type { HelperName } from '../compile/helpers.ts';
import type { Host } from '../compile/host.ts';
import type { FmaMode } from './fma-mode.ts';
import type { StripHelper } from './helpers.ts';
import type { StripPlan } from './plan.ts';
import type { Pool } from './pool.ts';
import type { StripGuards } from './strip.ts';

export interface StripShared {
  readonly plan: StripPlan;
  readonly module: WasmModule;
  readonly host: Host;
  readonly helper: (name: HelperName) => number;
  readonly stripHelper: (name: StripHelper) => number;
  /** Global: the region that is next. */
  readonly phase: number;
  /** Global: work until the next look at the clock. */
  readonly fuel: number;
  readonly fma: FmaMode;
  readonly pool: Pool;
  /** Of strips that are looked at quickly. */
  readonly guards?: StripGuards | undefined;
  /** Bytes of the record area, behind those of the plan, that rolled code takes. */
  readonly rolled: { bytes: number };
}
