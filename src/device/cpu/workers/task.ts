/** The messages to a worker. */
import type { KernelCode } from '../native/module.ts';
import type { Globals } from './instance.ts';
import type { Work } from './share.ts';

/** A share of a launch. */
export interface Task {
  readonly work: Work;
  /** Memory of the control words. */
  readonly control: SharedArrayBuffer;
  readonly slot: number;
  readonly globals: Globals;
  /** The numbers of memory and module; memory and module themselves if the worker does not hold them, because copying these into a message takes long. */
  readonly memoryNumber: number;
  readonly moduleNumber: number;
  readonly memory?: WebAssembly.Memory;
  readonly wasm?: KernelCode;
}

/** A memory that is not used any more. */
export interface ForgetMemory {
  readonly forget: number;
  /** Its size. */
  readonly bytes: number;
}

/** Modules that a worker keeps, the most recently used ones. */
export const keptModules = 64;
