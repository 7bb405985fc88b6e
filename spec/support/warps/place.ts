/** The state of a program while it is written, and the places in it. */
import type { Group, Thread } from './groups.ts';
import type { Writer } from './writer.ts';

/** Where code is written: all lanes of `own` that have not exited run it, each the same number of times. */
export interface Place {
  readonly own: Group;
  readonly depth: number;
  /** Loops around it. */
  readonly loops: number;
  /** Whether lanes may exit here. */
  readonly mayExit: boolean;
}

/** A collective that the lanes of a group have to perform in turn, each of them wherever it is. */
export interface Owed {
  readonly opcode: string;
  readonly group: Group;
  /** The word of a sum of the block. */
  readonly cell?: number;
}

/** A function of the module: it performs collectives of the group that its caller names. */
export interface DeviceFunction {
  readonly name: string;
  readonly opcodes: readonly string[];
  readonly lines: readonly string[];
}

/** What statements share. */
export interface Maker extends Thread {
  readonly w: Writer;
  /** The number of the thread in its block, in a register. */
  readonly tid: string;
  readonly threads: number;
  /** The statements of the program's class, with repetitions. */
  readonly statements: readonly Statement[];
  readonly opcodes: readonly string[];
  readonly functions: readonly DeviceFunction[];
  /** The lanes of the warp. */
  readonly all: Group;
  /** Statements left to write. */
  left: number;
  /** Whether a lane may have exited already. */
  hasExits: boolean;
  /** Whether lanes may have exited since `all.alive` was computed. */
  isStale: boolean;
  /** Parts of shared memory of a word for each thread, by name. */
  readonly areas: Map<string, number>;
  /** Mixes words into the values of the thread. */
  mix(words: readonly string[]): void;
  /** Writes the values of the thread to its output. */
  store(): void;
}

/** The kinds of statements; `statements.ts` describes each. */
export type Statement =
  | 'scalar'
  | 'collective'
  | 'partition'
  | 'split'
  | 'arms'
  | 'loop'
  | 'skew'
  | 'peel'
  | 'call'
  | 'exit'
  | 'guard'
  | 'exchange'
  | 'broadcast'
  | 'pingPong'
  | 'phase'
  | 'spin'
  | 'warpSpin'
  | 'activemask'
  | 'ladder'
  | 'aggregate'
  | 'carry';
