/** The state of a program's system functions. */
import type { ProgramMemory } from '../memory.ts';
import type { Descriptors } from './descriptors.ts';
import type { ProgramHost } from './host.ts';

/** What the functions work on. */
export interface WasiState {
  readonly host: ProgramHost;
  readonly descriptors: Descriptors;
  /** The memory, once the program is there. */
  memory: ProgramMemory;
  /** The exit code, once the program has ended itself. */
  exitCode: number | undefined;
}

/** One function: its arguments as they come, an error number as the result. */
export type WasiFunction = (state: WasiState, ...args: bigint[]) => number;
