/**
 * Instrumentation of a kernel compiled for lane groups: the interfaces through which the emitter calls the speculative checks that a sanitizer
 * has inserted into the kernel. The device hands in what implements them, so that the compiler knows no sanitizer.
 */
import type { Code, WasmModule } from '../../../wasm/index.ts';
import type { SimdPlan } from '../analysis/plan.ts';
import type { CheckEmitters } from './lane-group.ts';

export interface CheckInstrumentation {
  /** The reason why the checks would miss faults in a kernel with this plan; undefined where they would not. */
  whyNot(plan: SimdPlan): string | undefined;
  /** Declares imports and globals; before the first function of the module. */
  declare(module: WasmModule): CheckHooks;
}

export interface CheckHooks {
  /** A block of threads starts. */
  blockStart(code: Code): void;
  /** All threads of the block have reached a barrier. */
  barrier(code: Code): void;
  /** Emitters of the check instructions, for groups of this many packs. */
  emitters(packs: number): CheckEmitters;
}
