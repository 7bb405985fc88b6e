/** Loops over the threads of a warp, for the functions of warp collectives. */
import type { Code } from '../../wasm/index.ts';
import { type KernelContext, writeCount, writeWarpEnd } from './kernel-code.ts';

/** Locals of such a loop. */
export interface WarpLocals {
  /** Number of the warp's first thread in the block. */
  readonly base: number;
  /** The end of its threads. */
  readonly last: number;
  /** A bit for each participating lane. */
  readonly mask: number;
  /** The current thread. */
  readonly thread: number;
}

/**
 * Writes a loop over the warps of a block, in the order of the launch. The locals `first` and `end` are the threads of the current warp, and
 * `done` counts the threads of those that have run; it is `first` unless the launch chooses the order.
 */
export function eachWarp(
  { host, order }: Pick<KernelContext, 'host' | 'order'>,
  code: Code,
  { first, end, done }: { readonly first: number; readonly end: number; readonly done: number },
  body: () => void,
): void {
  const { threads } = host.globals;
  code.i32(0);
  code.at('local.set', done);
  code.open('loop');
  if (order) {
    code.at('local.get', done);
    order.warpAt(code);
    code.at('local.set', first);
  }
  writeWarpEnd(code, first, end, () => code.at('global.get', threads));
  body();
  if (order) {
    code.at('local.get', done);
    code.i32(32);
    code.op('i32.add');
  } else code.at('local.get', end);
  code.at('local.tee', done);
  code.at('global.get', threads);
  code.op('i32.lt_u');
  code.at('br_if', 0);
  code.end();
}

/** Writes a loop over all threads of the warp, also those that do not participate. */
export function eachThread(code: Code, { base, last, thread }: WarpLocals, body: () => void): void {
  code.at('local.get', base);
  code.at('local.set', thread);
  code.open('loop');
  body();
  writeCount(code, thread, () => code.at('local.get', last));
  code.end();
}

/** Writes a loop over the threads whose lanes are in the mask. */
export function eachParticipant(code: Code, locals: WarpLocals, body: () => void): void {
  eachThread(code, locals, () => {
    writeHasLane(code, locals.mask, locals.thread);
    code.open('if');
    body();
    code.end();
  });
}

/** Pushes whether a lane is in a mask. A thread's number serves as its lane, since shifts take the low five bits of the count. */
export function writeHasLane(code: Code, mask: number, thread: number): void {
  code.at('local.get', mask);
  code.at('local.get', thread);
  code.op('i32.shr_u');
  code.i32(1);
  code.op('i32.and');
}
