/** The context that the functions of one kernel share, and the encoding of thread states. */

import type { Code, WasmModule } from '../../wasm/index.ts';
import type { HelperName } from './helpers.ts';
import type { Probe, SanitizerHooks, ThreadOrderHooks } from './hooks.ts';
import type { Host } from './host.ts';
import type { Plan } from './plan.ts';

export interface KernelContext {
  readonly plan: Plan;
  readonly module: WasmModule;
  readonly host: Host;
  readonly helper: (name: HelperName) => number;
  /** The function of a product of matrices of a warp, by its form (`scalar/mma-of-warp.ts`). */
  readonly mma: (form: string) => number;
  /** Global: the next step of all threads, under the schedule `block`. */
  readonly phase: number;
  /** Global of a kernel that yields: whether a thread has done anything else than wait. */
  readonly progress?: number | undefined;
  /** Global: the fuel that is left until the next tick. */
  readonly fuel: number;
  /** Of an instrumented compilation. */
  readonly sanitizer?: SanitizerHooks | undefined;
  /** Of a launch that chooses the order of threads. */
  readonly order?: ThreadOrderHooks | undefined;
  /** An observer of the control flow of each thread. */
  readonly probe?: Probe | undefined;
  /** Whether f32 arithmetic flushes subnormals to zero. */
  readonly isFlushing?: boolean | undefined;
}

/** The state of a thread that has left the kernel: as an unsigned number above all others. */
export const exited = -1;
/** The flag in the state of a thread at a barrier; the other bits are the number of the region behind the barrier. */
export const atBarrier = 1 << 30;
/** The flag in the state of a thread that waits for the other threads of a member mask; the other bits are the number of the rendezvous. */
export const atRendezvous = 1 << 29;
/** The flag in the state of a thread that lets others run first; the other bits are the number of the region that it continues with. */
export const yielded = 1 << 28;

/** Pushes the address of a thread's state. */
export function writeStateAddress({ host }: Pick<KernelContext, 'host'>, code: Code, thread: number): void {
  code.at('local.get', thread);
  code.i32(2);
  code.op('i32.shl');
  code.at('global.get', host.globals.states);
  code.op('i32.add');
}

/** Sets `last` to the end of the warp that starts at `first`: 32 threads on, or the limit if that is lower. */
export function writeWarpEnd(code: Code, first: number, last: number, pushLimit: () => void): void {
  code.at('local.get', first);
  code.i32(32);
  code.op('i32.add');
  code.at('local.tee', last);
  pushLimit();
  code.at('local.get', last);
  pushLimit();
  code.op('i32.lt_u');
  code.op('select');
  code.at('local.set', last);
}

/** Increments a local, and branches to the loop header while the local is below the limit. */
export function writeCount(code: Code, local: number, pushLimit: () => void): void {
  code.at('local.get', local);
  code.i32(1);
  code.op('i32.add');
  code.at('local.tee', local);
  pushLimit();
  code.op('i32.lt_u');
  code.at('br_if', 0);
}
