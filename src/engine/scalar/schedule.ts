/** The scheduler of the scalar compiler: the function that runs a block's threads through regions and collectives, uniformly or warp by warp. */
import type { Code } from '../../wasm/index.ts';
import { atBarrier, exited, type KernelContext, writeCount, writeStateAddress, yielded } from '../codegen/kernel-code.ts';
import { eachWarp } from '../codegen/lane-loop.ts';
import { type StateFunctions, writeMaskRounds } from './schedule-masks.ts';

/**
 * Writes the function that runs a block; `steps` are the functions of regions and collectives by state. Of a kernel whose blocks may wait for
 * each other, the exports `begin` and `turn` run a block in parts.
 */
export function writeBlock(context: KernelContext, steps: readonly number[]): number {
  const isInstrumented = context.sanitizer || context.probe || context.order;
  if (context.plan.regions.hasYields && (!isInstrumented || context.sanitizer?.isByTurns))
    return writeParts(context, writeDispatch(context, steps));
  const { index, code } = context.module.fn({ params: [], results: [] });
  const { schedule } = context.plan.regions;
  context.sanitizer?.blockStart(code);
  context.probe?.blockStart(code);
  if (schedule === 'warp') writeWarps(context, code, writeDispatch(context, steps));
  else if (schedule === 'masks') writeMasks(context, code, writeDispatch(context, steps));
  else if (schedule === 'block') writeUniform(context, code, writeDispatch(context, steps));
  else writeCall(context, code, steps[0]!);
  return index;
}

/**
 * Writes the function that runs a block, and its parts: `begin` is what precedes the first turn, and a turn runs the threads of the block until
 * all have ended or others have to run first (`turns`). Between two turns a block is in its memory alone.
 */
function writeParts(context: KernelContext, dispatch: number): number {
  const { module } = context;
  const begin = module.fn({ params: [], results: [] }, 'begin');
  context.sanitizer?.blockStart(begin.code);
  eachState(context, begin.code, begin.code.local('i32'), () => begin.code.i32(0));
  clearShared(context, begin.code);
  const turn = module.fn({ params: [], results: ['i32'] }, 'turn');
  context.sanitizer?.turnStart(turn.code);
  writeMaskTurn(context, turn.code, dispatch);
  const { index, code } = module.fn({ params: [], results: [] });
  code.at('call', begin.index);
  code.open('loop');
  code.at('call', turn.index);
  code.at('br_if', 0);
  code.end();
  return index;
}

/** Calls a step for all threads of the block. */
function writeCall({ host }: KernelContext, code: Code, step: number): void {
  code.i32(0);
  code.at('global.get', host.globals.threads);
  code.at('call', step);
}

/** Writes a function (state, first thread, end of threads) that calls the step of the state. */
function writeDispatch({ module }: KernelContext, steps: readonly number[]): number {
  const { index, code } = module.fn({ params: ['i32', 'i32', 'i32'], results: [] });
  for (const _ of steps) code.open('block');
  code.at('local.get', 0);
  code.table(
    steps.map((_, id) => id),
    steps.length - 1,
  );
  for (const step of steps) {
    code.end();
    code.at('local.get', 1);
    code.at('local.get', 2);
    code.at('call', step);
    code.op('return');
  }
  return index;
}

/** Runs steps one after the other; each sets the next one, which is the same for all threads. */
function writeUniform({ phase, host }: KernelContext, code: Code, dispatch: number): void {
  code.i32(0);
  code.at('global.set', phase);
  code.open('loop');
  code.at('global.get', phase);
  code.i32(0);
  code.at('global.get', host.globals.threads);
  code.at('call', dispatch);
  code.at('global.get', phase);
  code.i32(exited);
  code.op('i32.ne');
  code.at('br_if', 0);
  code.end();
}

/**
 * Runs each warp until all of its threads have exited or are at a barrier; once every warp is there, the threads at barriers are released. A
 * barrier does not wait for threads that have exited.
 */
function writeWarps(context: KernelContext, code: Code, dispatch: number): void {
  const [first, end, next, released] = [code.local('i32'), code.local('i32'), code.local('i32'), code.local('i32')];
  const lowest = writeLowest(context);
  const done = context.order ? code.local('i32') : first;
  eachState(context, code, next, () => code.i32(0));
  code.open('loop');
  eachWarp(context, code, { first, end, done }, () => {
    code.open('loop');
    code.at('local.get', first);
    code.at('local.get', end);
    code.at('call', lowest);
    code.at('local.tee', next);
    code.i32(atBarrier);
    code.op('i32.lt_u');
    code.open('if');
    for (const local of [next, first, end]) code.at('local.get', local);
    code.at('call', dispatch);
    code.at('br', 1);
    code.end();
    code.end();
  });
  writeRelease(context, code, next, released);
  code.at('local.get', released);
  code.at('br_if', 0);
  code.end();
}

/** Runs rounds of warps whose threads may wait for the threads of a mask. */
function writeMasks(context: KernelContext, code: Code, dispatch: number): void {
  const next = code.local('i32');
  eachState(context, code, next, () => code.i32(0));
  clearShared(context, code);
  writeMaskRounds(context, code, stateFunctions(context, dispatch, next));
}

/**
 * Sets static shared memory to 0 in a kernel that yields. It may have barriers for some of the threads, which are words of it, and a block may leave
 * one at which not all have arrived. The window is followed by unused bytes.
 */
function clearShared({ plan, host }: KernelContext, code: Code): void {
  if (!plan.regions.hasYields || plan.windows.shared === 0) return;
  const [at, end] = [code.local('i32'), code.local('i32')];
  code.at('global.get', host.globals.shared);
  code.at('local.tee', at);
  code.i32(plan.windows.shared);
  code.op('i32.add');
  code.at('local.set', end);
  code.open('loop');
  code.at('local.get', at);
  code.i64(0n);
  code.access('i64.store', 8);
  code.at('local.get', at);
  code.i32(8);
  code.op('i32.add');
  code.at('local.tee', at);
  code.at('local.get', end);
  code.op('i32.lt_u');
  code.at('br_if', 0);
  code.end();
}

/** Writes the rounds of one turn. */
const writeMaskTurn = (context: KernelContext, code: Code, dispatch: number): void =>
  writeMaskRounds(context, code, stateFunctions(context, dispatch, code.local('i32')), true);

const stateFunctions = (context: KernelContext, dispatch: number, next: number): StateFunctions => ({
  dispatch,
  lowest: writeLowest(context),
  lowestYielded: writeLowest(context, yielded),
  release: (to, released) => writeRelease(context, to, next, released),
});

/** Releases all barriers once every thread is at one or has exited. */
function writeRelease(context: KernelContext, code: Code, next: number, released: number): void {
  context.sanitizer?.release(code);
  code.i32(0);
  code.at('local.set', released);
  eachState(context, code, next, () => writeReleased(context, code, next, released));
}

/**
 * Writes a function that gives the lowest state of the threads from its first parameter to its second (exclusive). States are taken without
 * `flag`; those without it are then above all others.
 */
function writeLowest(context: KernelContext, flag = 0): number {
  const { index, code } = context.module.fn({ params: ['i32', 'i32'], results: ['i32'] });
  const [state, lowest] = [code.local('i32'), code.local('i32')];
  code.i32(exited);
  code.at('local.set', lowest);
  code.open('loop');
  writeStateAddress(context, code, 0);
  code.access('i32.load', 4);
  if (flag !== 0) {
    code.i32(flag);
    code.op('i32.xor');
  }
  code.at('local.tee', state);
  code.at('local.get', lowest);
  code.at('local.get', state);
  code.at('local.get', lowest);
  code.op('i32.lt_u');
  code.op('select');
  code.at('local.set', lowest);
  writeCount(code, 0, () => code.at('local.get', 1));
  code.end();
  code.at('local.get', lowest);
  return index;
}

/** Sets the state of every thread of the block. */
function eachState(context: KernelContext, code: Code, thread: number, push: () => void): void {
  code.i32(0);
  code.at('local.set', thread);
  code.open('loop');
  writeStateAddress(context, code, thread);
  push();
  code.access('i32.store', 4);
  writeCount(code, thread, () => code.at('global.get', context.host.globals.threads));
  code.end();
}

/** Pushes the state of a thread after the barriers release; before, every thread is at a barrier or has exited. */
function writeReleased(context: KernelContext, code: Code, thread: number, released: number): void {
  const state = code.local('i32');
  writeStateAddress(context, code, thread);
  code.access('i32.load', 4);
  code.at('local.tee', state);
  code.i32(~atBarrier);
  code.op('i32.and');
  code.at('local.get', state);
  code.at('local.get', state);
  code.i32(exited);
  code.op('i32.ne');
  code.op('select');
  code.at('local.get', state);
  code.i32(exited);
  code.op('i32.ne');
  code.at('local.get', released);
  code.op('i32.or');
  code.at('local.set', released);
}
