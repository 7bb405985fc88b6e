/** A launch as asked for, wherever the words came from; `default-launch.ts` and `launch.ts` fill what is missing. */
import type { Dim3 } from '../device/device.ts';
import type { Argument } from './argument.ts';
import type { SymbolWrite } from './symbols.ts';

export interface LaunchPlan {
  readonly kernel?: string;
  /** Threadgroups in the grid; made up where absent. */
  readonly grid?: Dim3;
  /** Threads in a block; made up where absent. */
  readonly block?: Dim3;
  /** Dynamic shared memory, bytes. */
  readonly sharedBytes: number;
  /** Bytes of each threadgroup argument, where a kernel has several. */
  readonly sharedParts?: readonly number[];
  /** One per parameter; all made up where absent. */
  readonly args?: readonly Argument[];
  /** Module symbols that are written before the launch. */
  readonly constants: readonly SymbolWrite[];
}

/** A plan in which everything is decided. */
export interface FullPlan {
  readonly kernel: string;
  readonly grid: Dim3;
  readonly block: Dim3;
  readonly sharedBytes: number;
  readonly sharedParts?: readonly number[];
  readonly args: readonly Argument[];
  /** What was made up, a sentence each; empty where the caller said everything. */
  readonly madeUp: readonly string[];
}
