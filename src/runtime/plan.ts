/** A launch as the user specified it, by options, a launch file or launch lines; `default-launch.ts` fills in the rest. */
import type { Dim3 } from '../device/device.ts';
import type { ArgumentSpec } from './argument.ts';
import type { SymbolWrite } from './symbols.ts';

export interface LaunchPlan {
  readonly kernel?: string;
  /** Threadgroups in the grid; a default where absent. */
  readonly grid?: Dim3;
  /** Threads in a block; a default where absent. */
  readonly block?: Dim3;
  /** Dynamic shared memory, bytes. A kernel that has such memory needs a size, if it is 0. */
  readonly sharedBytes?: number;
  /** Whether the size is the 0 of a launch file that gives none. */
  readonly isSharedDefault?: boolean;
  /** Bytes of each threadgroup argument, for a kernel that has several. */
  readonly sharedParts?: readonly number[];
  /** Whether all blocks run at the same time. */
  readonly cooperative?: boolean;
  /** Blocks of a cluster along each axis. */
  readonly cluster?: Dim3;
  /** Bytes of the stack of each thread. */
  readonly stackBytes?: number;
  /** One per parameter; defaults where absent. */
  readonly args?: readonly ArgumentSpec[];
  /** Module symbols that are written before the launch. */
  readonly constants: readonly SymbolWrite[];
}

/** A complete plan. */
export interface FullPlan {
  readonly kernel: string;
  readonly grid: Dim3;
  readonly block: Dim3;
  readonly sharedBytes: number;
  readonly sharedParts?: readonly number[];
  readonly cooperative?: boolean;
  readonly cluster?: Dim3;
  readonly stackBytes?: number;
  readonly args: readonly ArgumentSpec[];
  /** A description of each default; empty where the plan was complete. */
  readonly defaults: readonly string[];
}
