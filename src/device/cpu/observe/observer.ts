/** What goes along with a launch and is no part of it: an order of threads, a trace, a profile, a search for faults. */
import type { KernelReflection } from '../../../air/index.ts';
import type { Plan } from '../../../engine/codegen/plan.ts';
import type { Kernel } from '../../../ir/index.ts';
import type { LaunchRequest } from '../../device.ts';
import type { DeviceMemory } from '../memory.ts';
import type { Allocations } from './allocations.ts';
import type { Site } from './sites.ts';

export interface Observer {
  /** Functions that the instrumented module imports. */
  readonly imports: Readonly<Record<string, (...args: never[]) => unknown>>;
  /** Sets the globals of the instance. */
  begin(global: (name: string) => WebAssembly.Global): void;
  /** The launch has ended, well or not. */
  end(isWell: boolean): void;
}

/** Offsets of what a launch has in one piece of memory. */
export interface WatchedArea {
  readonly start: number;
  readonly constant: number;
  readonly shared: number;
  readonly local: number;
  readonly states: number;
  readonly faults: number;
  readonly printed: number;
  readonly values: readonly number[];
  readonly bytes: number;
}

/** The kernel of a launch: what a host binds, and the raised parameters. */
export interface ObservedKernel {
  readonly reflection: KernelReflection;
  readonly params: Kernel['params'];
}

/** The compiled form of it. */
export interface ObservedModule {
  readonly windows: Plan['windows'];
  /** Of an instrumented compilation: the plan, and the instructions that reports name. */
  readonly watched?: { readonly plan: Plan; readonly sites: readonly Site[] } | undefined;
}

/** A launch with what it runs on. */
export interface Observed {
  readonly memory: DeviceMemory;
  readonly allocations: Allocations;
  readonly kernel: ObservedKernel;
  readonly compiled: ObservedModule;
  readonly request: LaunchRequest;
  readonly area: WatchedArea;
  /** The module's own memory. */
  readonly own: { readonly address: number; readonly bytes: number };
}
