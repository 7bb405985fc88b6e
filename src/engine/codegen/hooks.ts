/**
 * Instrumentation of a compilation: the interfaces through which the scalar compiler calls a sanitizer, a probe or an order of threads. The
 * device hands in what implements them (`Instrumentation`), so that a compiler knows no instrument. A plain compilation has none.
 */
import type { Block, InstOf, Value, Variable } from '../../ir/index.ts';
import type { Code, WasmModule } from '../../wasm/index.ts';
import type { Host } from './host.ts';
import type { Plan } from './plan.ts';
import type { Collective, Region } from './regions.ts';
import type { Values } from './values.ts';

/** What a kernel is compiled with besides itself. Each function declares what the module needs, before the module's first function. */
export interface Instrumentation {
  /** Checks of every access and of every synchronization. */
  readonly sanitizer?: ((plan: Plan, module: WasmModule, host: Host) => SanitizerHooks) | undefined;
  /** The order in which blocks, warps and threads run, where the launch sets it. */
  readonly threadOrder?: ((module: WasmModule) => ThreadOrderHooks) | undefined;
  /** An observer of the control flow of each thread. */
  readonly probe?: ((plan: Plan, module: WasmModule) => Probe) | undefined;
  /** Whether subnormal singles are flushed to zero. */
  readonly isFlushing?: boolean | undefined;
}

export interface ThreadOrderHooks {
  /** Runs every block of the grid by a function of the module. */
  grid(code: Code, block: number): void;
  /** Arranges the threads from `first` to `end` (pushed on the stack by the caller) for the turns to come. */
  arrange(code: Code): void;
  /** Replaces the first thread of a warp on the stack by that of the warp whose turn it is. */
  warpAt(code: Code): void;
  /** Sets the local `thread` to the thread of a turn. */
  threadOfTurn(code: Code, turn: number, thread: number): void;
}

/** What hooks need of the emitter of a region. */
export interface SanitizerWriter {
  readonly code: Code;
  readonly values: Pick<Values, 'push' | 'scratch'>;
  free(value: Value): void;
  window(space: Variable['space']): void;
}

export interface SanitizerHooks {
  /** Makes the address on the stack an index at which the lane of an access may be done; `pushValue` gives what is stored. */
  place(e: SanitizerWriter, inst: AccessInst, value: Value, lane: number, pushValue?: () => void): void;
  /** Says that memory changed where what stands at the index in a local is not what an atomic found. */
  changed(e: SanitizerWriter, type: 'i32' | 'i64' | 'f32' | 'f64', index: number, old: number): void;
  fence(e: SanitizerWriter): void;
  members(e: SanitizerWriter, inst: InstOf<'members'>, value: Value): void;
  /** At the start of a region's function, where all threads of the block run it. */
  regionStart(code: Code, region: Region): void;
  /** The thread in a local goes on. */
  threadStart(code: Code, thread: number): void;
  blockStart(code: Code): void;
  /** Every thread of the block waits or is gone. */
  release(code: Code): void;
  /** A warp from `base` on has come together: those of the mask. */
  met(code: Code, meeting: Collective, locals: CollectiveLocals): void;
}

export type AccessInst = InstOf<'load'> | InstOf<'store'> | InstOf<'atomic'> | InstOf<'cas'>;

export interface CollectiveLocals {
  readonly base: number;
  readonly last: number;
  readonly mask: number;
  /** Free to be used. */
  readonly thread: number;
}

/** What a probe needs of the emitter of a region. */
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
