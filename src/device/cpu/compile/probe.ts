/** The hooks of a compilation that watches how threads go through a kernel: by the trace of one thread, or the profile of all. */
import type { Block, Value } from '../../../ir/index.ts';
import type { Code } from '../../../wasm/index.ts';
import type { Region } from './regions.ts';
import type { Values } from './values.ts';

/** What hooks need of the emitter of a region. */
export interface ProbeWriter {
  readonly code: Code;
  readonly values: Pick<Values, 'push' | 'pushLane' | 'scratch'>;
}

export interface Probe {
  /** A block of threads starts. */
  blockStart(code: Code): void;
  /** The thread in a local goes on, in this region. */
  threadStart(code: Code, thread: number): void;
  /** Its values from before are there. */
  resumed(e: ProbeWriter, region: Region): void;
  /** The threads that a region's function was called for have run it. */
  regionEnd(code: Code): void;
  /** A basic block starts. */
  enter(e: ProbeWriter, block: Block): void;
  /** An instruction of a block's body is written. */
  wrote(e: ProbeWriter, value: Value): void;
  /** The index of an access is on the stack, and stays there. */
  accesses(e: ProbeWriter, value: Value): void;
  /** A basic block ends without a condition. */
  leave(e: ProbeWriter, block: Block): void;
  /** A basic block ends with the condition on the stack, which stays there. */
  decide(e: ProbeWriter, block: Block): void;
}
