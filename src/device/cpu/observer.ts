/** What goes along with a launch and is no part of it: an order of threads, a trace, a profile, a search for faults. */
import type { LaunchRequest } from '../device.ts';
import type { CompiledKernel, LoadedKernel } from './library.ts';
import type { DeviceMemory } from './memory.ts';
import type { Allocations } from './sanitize/allocations.ts';

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

/** A launch with what it runs on. */
export interface Observed {
  readonly memory: DeviceMemory;
  readonly allocations: Allocations;
  readonly kernel: LoadedKernel;
  readonly compiled: CompiledKernel;
  readonly request: LaunchRequest;
  readonly area: WatchedArea;
  /** The module's own memory. */
  readonly own: { readonly address: number; readonly bytes: number };
}
