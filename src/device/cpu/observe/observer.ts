/** Observers of a launch: an order of threads, a trace, a profile, a sanitizer. They accompany a launch and are no part of it. */
import type { KernelReflection } from '../../../air/index.ts';
import type { Diagnostics } from '../../../base/diagnostic.ts';
import type { Plan } from '../../../engine/codegen/plan.ts';
import type { Kernel } from '../../../ir/index.ts';
import type { Dim3, LaunchRequest, SanitizeRequest } from '../../device.ts';
import type { DeviceMemory } from '../memory.ts';
import type { Allocations } from './allocations.ts';
import type { Site } from './sites.ts';

export interface Observer {
  /** Functions that the instrumented module imports. */
  readonly imports: Readonly<Record<string, (...args: never[]) => unknown>>;
  /** Sets the globals of the instance. */
  begin(global: (name: string) => WebAssembly.Global): void;
  /** Called every few milliseconds with the current block; throws to stop the launch. */
  tick?(block: string): void;
  /** Reports findings. Called once after all blocks have ended or the launch was stopped. */
  finish?(diagnostics: Diagnostics): void;
  /** Releases memory. `isWell` is whether the launch has run to its end. */
  end(isWell: boolean): void;
}

/** Offsets of the parts of a launch's memory, from `start`. */
export interface ObservedArea {
  readonly start: number;
  readonly constant: number;
  readonly shared: number;
  readonly local: number;
  readonly records: number;
  readonly states: number;
  readonly faults: number;
  readonly grid: number;
  readonly stack: number;
  readonly printed: number;
  readonly values: readonly number[];
  readonly bytes: number;
}

/** The kernel of a launch: the parameters that a host binds, and the raised ones. */
export interface ObservedKernel {
  readonly reflection: KernelReflection;
  readonly params: Kernel['params'];
}

/** The plan of an instrumented compilation and the instructions that reports name. */
export interface Instrumented {
  readonly plan: Plan;
  readonly sites: readonly Site[];
}

/** The compiled form of the kernel. */
export interface ObservedModule {
  readonly windows: Plan['windows'];
  readonly instrumented?: Instrumented | undefined;
}

/** Blocks of a cluster that run by turns, by their ranks. */
export interface BlockTurns {
  readonly cluster: Dim3;
  readonly area: Pick<ObservedArea, 'shared' | 'records' | 'states'>;
  readonly start: number;
  /** Bytes of the area of a block. */
  readonly bytes: number;
  /** What a launch has for clusters. */
  readonly service: { readonly address: number; readonly bytes: number };
}

/** A launch with its memory. */
export interface ObservedLaunch {
  readonly memory: DeviceMemory;
  readonly allocations: Allocations;
  readonly kernel: ObservedKernel;
  readonly compiled: ObservedModule;
  readonly request: LaunchRequest;
  readonly area: ObservedArea;
  /** Areas of the blocks of a cluster, which run by turns: how far each is behind the area of the launch, and where the launch has what they know. */
  readonly turns?: BlockTurns | undefined;
  /** The address of the lock table; 0 for a kernel without it. */
  readonly locks: number;
  /** The heap of kernels. */
  readonly heap: { readonly address: number; readonly bytes: number };
  /** The memory for launches by the kernel. */
  readonly launches: { readonly address: number; readonly bytes: number };
  /** The memory of the module's variables. */
  readonly own: { readonly address: number; readonly bytes: number };
}

/** A launch that is sanitized. */
export type SanitizedLaunch = Omit<ObservedLaunch, 'request'> & {
  readonly request: LaunchRequest & { readonly sanitize: SanitizeRequest };
};
