/** Loops over the threads of a warp, in what a warp does together. */
import type { Code } from '../../wasm/index.ts';
import { writeCount } from './kernel-code.ts';

/** Locals of such a loop. */
export interface WarpLocals {
  /** Number of the warp's first thread in the block. */
  readonly base: number;
  /** The end of its threads. */
  readonly last: number;
  /** A bit for each lane that takes part. */
  readonly mask: number;
  /** The thread that is at hand. */
  readonly thread: number;
}

/** All threads of the warp, those that are elsewhere too. */
export function eachThread(code: Code, { base, last, thread }: WarpLocals, body: () => void): void {
  code.at('local.get', base);
  code.at('local.set', thread);
  code.open('loop');
  body();
  writeCount(code, thread, () => code.at('local.get', last));
  code.end();
}

/** The threads whose lanes the mask has. */
export function eachTaking(code: Code, locals: WarpLocals, body: () => void): void {
  eachThread(code, locals, () => {
    writeHolds(code, locals.mask, locals.thread);
    code.open('if');
    body();
    code.end();
  });
}

/** Whether a mask has the bit of a lane; threads count as lanes, since shifts take the low five bits. */
export function writeHolds(code: Code, mask: number, thread: number): void {
  code.at('local.get', mask);
  code.at('local.get', thread);
  code.op('i32.shr_u');
  code.i32(1);
  code.op('i32.and');
}
