/** What the functions of one kernel share, and the states of threads. */

import type { Code, WasmModule } from '../../wasm/index.ts';
import type { HelperName } from './helpers.ts';
import type { Probe, SanitizerHooks, ThreadOrderHooks } from './hooks.ts';
import type { Host } from './host.ts';
import type { Plan } from './plan.ts';

export interface Shared {
  readonly plan: Plan;
  readonly module: WasmModule;
  readonly host: Host;
  readonly helper: (name: HelperName) => number;
  /** Global: what all threads do next, where they do everything together. */
  readonly phase: number;
  /** Global: work until the next look at the clock. */
  readonly fuel: number;
  /** Of an instrumented compilation. */
  readonly sanitizer?: SanitizerHooks | undefined;
  /** Where the launch says in which order threads are taken. */
  readonly order?: ThreadOrderHooks | undefined;
  /** What watches how threads go through the kernel. */
  readonly probe?: Probe | undefined;
  /** Whether singles are computed without subnormal ones. */
  readonly isFlushing?: boolean | undefined;
}

/** The state of a thread that has left the kernel: above all others. */
export const gone = -1;
/** In the state of a thread that waits at a barrier, beside the number of the region behind it. */
export const waiting = 1 << 30;

/** Address of the state of a thread. */
export function writeStateAddress({ host }: Pick<Shared, 'host'>, code: Code, thread: number): void {
  code.at('local.get', thread);
  code.i32(2);
  code.op('i32.shl');
  code.at('global.get', host.globals.states);
  code.op('i32.add');
}

/** Puts into `last` where the warp that starts at `first` ends: 32 threads on, or at a limit below that. */
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

/** Adds 1 to a local, and goes round the loop again below a limit. */
export function writeCount(code: Code, local: number, pushLimit: () => void): void {
  code.at('local.get', local);
  code.i32(1);
  code.op('i32.add');
  code.at('local.tee', local);
  pushLimit();
  code.op('i32.lt_u');
  code.at('br_if', 0);
}
