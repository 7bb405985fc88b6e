/**
 * Instrumentation hooks of the scalar compiler: the interfaces through which it calls a sanitizer, a probe or a thread order. The device
 * implements and injects them (`Instrumentation`), so the compiler depends on no instrument. A plain compilation has none.
 */
import type { Block, InstOf, Value, Variable } from '../../ir/index.ts';
import type { Code, WasmModule } from '../../wasm/index.ts';
import type { Host } from './host.ts';
import type { Plan } from './plan.ts';
import type { Region } from './regions.ts';
import type { Scratch } from './scratch.ts';
import type { Values } from './values.ts';

/** The instruments of a compilation. Each function declares its imports and globals in the module, before the module's first function. */
export interface Instrumentation {
  /** Checks of every access and of every synchronization. */
  readonly sanitizer?: ((plan: Plan, module: WasmModule, host: Host) => SanitizerHooks) | undefined;
  /** The order in which blocks, warps and threads run, where the launch chooses it. */
  readonly threadOrder?: ((module: WasmModule) => ThreadOrderHooks) | undefined;
  /** An observer of the control flow of each thread. */
  readonly probe?: ((plan: Plan, module: WasmModule) => Probe) | undefined;
  /** Whether f32 arithmetic flushes subnormals to zero. */
  readonly isFlushing?: boolean | undefined;
}

export interface ThreadOrderHooks {
  /** Writes the loop over the blocks of the grid; `block` is the function that runs one. */
  grid(code: Code, block: number): void;
  /** Computes the order of the threads from `first` to `end`, both of which are on the stack. */
  arrange(code: Code): void;
  /** Replaces the position of a warp on the stack by the first thread of the warp at that position in the order. */
  warpAt(code: Code): void;
  /** Sets the local `thread` to the thread at the position in the local `turn`. */
  threadOfTurn(code: Code, turn: number, thread: number): void;
}

/** The part of a region's emitter that sanitizer hooks use. */
export interface SanitizerWriter {
  readonly code: Code;
  readonly scratch: Scratch;
  readonly values: Pick<Values, 'push'>;
  leaf(value: Value): void;
  window(space: Variable['space']): void;
}

export interface SanitizerHooks {
  /** Whether blocks run by turns, because they may wait for each other. */
  readonly isByTurns: boolean;
  /** A turn of a block starts. */
  turnStart(code: Code): void;
  /** Checks the address on the stack, of one element (`lane`) of an access, and replaces it by a memory index; `pushValue` pushes the stored bits. */
  place(e: SanitizerWriter, inst: AccessInst, value: Value, lane: number, pushValue?: () => void): void;
  /** Records a write where memory at the index in a local differs from the old value of an atomic. */
  changed(e: SanitizerWriter, type: 'i32' | 'i64' | 'f32' | 'f64', index: number, old: number): void;
  fence(e: SanitizerWriter, value: Value): void;
  /** A region's function starts, which all threads of the block run. */
  regionStart(code: Code, region: Region): void;
  /** The thread in a local starts a region. */
  threadStart(code: Code, thread: number): void;
  /** The thread in a local exits at the end of a block. */
  threadExits(code: Code, thread: number, block: Block): void;
  blockStart(code: Code): void;
  /** Every thread of the block is at a barrier or has exited. */
  release(code: Code): void;
  /** The lanes of the mask meet, all of them with the member mask in the local `members`. */
  met(code: Code, locals: CollectiveLocals, members: number): void;
  /** The lanes of the mask, of the warp that starts at `base`, have synchronized. */
  synchronized(code: Code, locals: CollectiveLocals): void;
  /** No thread of the block can continue, and some wait for threads of their masks. Some of them can continue afterwards. */
  stuck(code: Code): void;
}

export type AccessInst = InstOf<'load'> | InstOf<'store'> | InstOf<'atomic'> | InstOf<'cas'>;

export interface CollectiveLocals {
  readonly base: number;
  readonly last: number;
  readonly mask: number;
  /** A local that the hook may overwrite. */
  readonly thread: number;
}

/** The part of a region's emitter that a probe uses. */
export interface ProbeWriter {
  readonly code: Code;
  readonly scratch: Scratch;
  readonly values: Pick<Values, 'push' | 'pushLane'>;
}

export interface Probe {
  /** A block of threads starts. */
  blockStart(code: Code): void;
  /** The thread in a local starts a region. */
  threadStart(code: Code, thread: number): void;
  /** The region's live-in values have been loaded from the thread record. */
  resumed(e: ProbeWriter, region: Region): void;
  /** A region's function ends; all of its threads have run. */
  regionEnd(code: Code): void;
  /** A basic block starts. */
  enter(e: ProbeWriter, block: Block): void;
  /** An instruction of a block's body has been emitted. */
  wrote(e: ProbeWriter, value: Value): void;
  /** The memory index of an access is on the stack, and has to stay there. */
  accesses(e: ProbeWriter, value: Value): void;
  /** A basic block ends without a condition. */
  leave(e: ProbeWriter, block: Block): void;
  /** A basic block ends with the condition on the stack, which has to stay there. */
  decide(e: ProbeWriter, block: Block): void;
}
