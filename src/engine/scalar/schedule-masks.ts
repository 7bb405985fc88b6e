/**
 * The scheduler of kernels whose threads wait for the threads of a member mask, or for what another thread writes. Each warp runs until none of
 * its threads can continue; threads that have yielded continue in the next round. Every thread of a block makes progress.
 */
import type { Code } from '../../wasm/index.ts';
import { turns } from '../codegen/host.ts';
import { atBarrier, atRendezvous, exited, type KernelContext, writeCount, writeStateAddress, yielded } from '../codegen/kernel-code.ts';
import { eachWarp } from '../codegen/lane-loop.ts';
import { tuning } from '../tuning.ts';
import { writeRendezvous } from './rendezvous-function.ts';

/** What the schedulers of threads with states share. */
export interface StateFunctions {
  /** A function (state, first thread, end of threads) that runs the step of a state. */
  readonly dispatch: number;
  /** A function (first thread, end of threads) that gives the lowest state. */
  readonly lowest: number;
  /** A function (first thread, end of threads) that gives the lowest state of those that have yielded, without the flag. */
  readonly lowestYielded: number;
  /** Writes the release of all barriers, after which the local is whether a thread was at one. */
  release(code: Code, released: number): void;
}

interface Frame {
  readonly context: KernelContext;
  readonly code: Code;
  readonly first: number;
  readonly end: number;
  readonly next: number;
  /** Whether a thread can continue in the next round. */
  readonly pending: number;
  readonly functions: StateFunctions;
  readonly meet: number | undefined;
  readonly wake: number;
}

/**
 * Writes the rounds of a block, whose threads have states; those of a turn where there are turns, which give their result. Without turns a block
 * runs to its end.
 */
export function writeMaskRounds(context: KernelContext, code: Code, functions: StateFunctions, isTurn = false): void {
  const local = (): number => code.local('i32');
  const [first, end, next, pending, released] = [local(), local(), local(), local(), local()];
  const meet = context.plan.regions.rendezvous.length > 0 ? writeRendezvous(context) : undefined;
  const frame: Frame = { context, code, first, end, next, pending, functions, meet, wake: writeWake(context) };
  const done = context.order ? local() : first;
  code.open('loop');
  code.i32(0);
  code.at('local.set', pending);
  if (isTurn) {
    code.i32(0);
    code.at('global.set', context.progress!);
  }
  eachWarp(context, code, { first, end, done }, () => writeWarpTurn(frame));
  const rounds = isTurn ? local() : undefined;
  code.at('local.get', pending);
  if (rounds === undefined) code.at('br_if', 0);
  else {
    code.open('if');
    writeNextRound(context, code, rounds, 1, true);
    code.end();
  }
  if (meet !== undefined) {
    writeFindStuck(context, code, next, pending);
    code.at('local.get', pending);
    code.open('if');
    if (context.sanitizer) {
      context.sanitizer.stuck(code);
      code.at('br', 1);
    } else code.at('call', context.host.stuck!);
    code.end();
  }
  functions.release(code, released);
  code.at('local.get', released);
  if (rounds === undefined) code.at('br_if', 0);
  else {
    code.open('if');
    writeNextRound(context, code, rounds, 1, false);
    code.end();
  }
  code.end();
  if (isTurn) code.i32(turns.ended);
}

/** Ends the turn where it has to, and otherwise branches to its next round; `mayWait`: whether threads may have done nothing but wait. */
function writeNextRound({ progress }: KernelContext, code: Code, rounds: number, depth: number, mayWait: boolean): void {
  if (mayWait) {
    code.at('global.get', progress!);
    code.op('i32.eqz');
    code.open('if');
    code.i32(turns.waits);
    code.op('return');
    code.end();
  }
  code.at('local.get', rounds);
  code.i32(1);
  code.op('i32.add');
  code.at('local.tee', rounds);
  code.i32(tuning.roundsPerTurn);
  code.op('i32.lt_u');
  code.at('br_if', depth);
  code.i32(turns.runs);
  code.op('return');
}

/** Runs a warp until none of its threads can continue, and wakes those that have yielded. */
function writeWarpTurn(frame: Frame): void {
  const { context, code, first, end, next, pending, functions, meet, wake } = frame;
  const { collectives } = context.plan.regions;
  const pushWarp = (): void => {
    for (const local of [first, end]) code.at('local.get', local);
  };
  code.open('loop');
  pushWarp();
  code.at('call', functions.lowest);
  code.at('local.tee', next);
  code.i32(yielded);
  code.op('i32.lt_u');
  code.open('if');
  code.open('block');
  if (collectives.length > 0) writeIsEarly(frame, pushWarp);
  code.at('local.get', next);
  pushWarp();
  code.at('call', functions.dispatch);
  code.at('br', 2);
  code.end();
  code.end();
  if (meet !== undefined) {
    pushWarp();
    code.at('call', meet);
    code.at('br_if', 0);
  }
  code.end();
  pushWarp();
  code.at('call', wake);
  code.at('local.get', pending);
  code.op('i32.or');
  code.at('local.set', pending);
}

/**
 * Leaves the enclosing block if the next step is a collective of the threads that are together, and others of the warp are late for it: they wait
 * at a rendezvous that is complete, or have yielded at an earlier place.
 */
function writeIsEarly({ context, code, next, functions, meet }: Frame, pushWarp: () => void): void {
  code.i32(0);
  for (const { id } of context.plan.regions.collectives) {
    code.at('local.get', next);
    code.i32(id);
    code.op('i32.eq');
    code.op('i32.or');
  }
  code.open('if');
  if (meet !== undefined) {
    pushWarp();
    code.at('call', meet);
    code.at('br_if', 3);
  }
  pushWarp();
  code.at('call', functions.lowestYielded);
  code.at('local.get', next);
  code.op('i32.lt_u');
  code.at('br_if', 1);
  code.end();
}

/** Writes a function that lets the yielded threads from its first parameter to its second continue; the result is whether there were any. */
function writeWake(context: KernelContext): number {
  const { index, code } = context.module.fn({ params: ['i32', 'i32'], results: ['i32'] });
  const [state, isAny] = [code.local('i32'), code.local('i32')];
  code.open('loop');
  writeStateAddress(context, code, 0);
  code.access('i32.load', 4);
  code.at('local.tee', state);
  code.i32(yielded | atRendezvous | atBarrier | (1 << 31));
  code.op('i32.and');
  code.i32(yielded);
  code.op('i32.eq');
  code.open('if');
  writeStateAddress(context, code, 0);
  code.at('local.get', state);
  code.i32(~yielded);
  code.op('i32.and');
  code.access('i32.store', 4);
  code.i32(1);
  code.at('local.set', isAny);
  code.end();
  writeCount(code, 0, () => code.at('local.get', 1));
  code.end();
  code.at('local.get', isAny);
  return index;
}

/** Sets `isAny` to whether a thread waits for threads of its mask; the launch names the last one. */
function writeFindStuck(context: KernelContext, code: Code, thread: number, isAny: number): void {
  const { globals } = context.host;
  const state = code.local('i32');
  for (const local of [thread, isAny]) {
    code.i32(0);
    code.at('local.set', local);
  }
  code.open('loop');
  writeStateAddress(context, code, thread);
  code.access('i32.load', 4);
  code.at('local.tee', state);
  code.i32(exited);
  code.op('i32.ne');
  code.at('local.get', state);
  code.i32(atRendezvous);
  code.op('i32.and');
  code.i32(0);
  code.op('i32.ne');
  code.op('i32.and');
  code.open('if');
  code.at('local.get', thread);
  code.at('global.set', globals.thread);
  code.i32(1);
  code.at('local.set', isAny);
  code.end();
  writeCount(code, thread, () => code.at('global.get', globals.threads));
  code.end();
}
