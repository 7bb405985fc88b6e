/** What is sent to a worker. */
import type { Globals } from './instance.ts';
import type { Work } from './share.ts';

/** A share of a launch, to be taken by a worker. */
export interface Task {
  readonly work: Work;
  /** Memory of the control words. */
  readonly control: SharedArrayBuffer;
  readonly slot: number;
  readonly globals: Globals;
  readonly memory: WebAssembly.Memory;
  /** Which memory it is, and which module; the module itself where the worker does not know it. */
  readonly memoryNumber: number;
  readonly moduleNumber: number;
  readonly wasm?: WebAssembly.Module;
}

/** To be let go of: a memory that is not used any more. */
export interface Farewell {
  readonly forget: number;
}

/** Modules that a worker keeps, the last ones that it ran. */
export const keptModules = 64;
