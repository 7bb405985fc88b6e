/** How a block of threads goes through the regions and meetings of a kernel: all together, or warp by warp. */
import type { Code } from '../../wasm/index.ts';
import { gone, type Shared, waiting, writeCount, writeStateAddress, writeWarpEnd } from '../codegen/kernel-code.ts';

/** Writes the function that runs a block; `steps` are those of regions and meetings by their number. */
export function writeBlock(shared: Shared, steps: readonly number[]): number {
  const { index, code } = shared.module.fn({ params: [], results: [] });
  const { schedule } = shared.plan.regions;
  shared.sanitizer?.blockStart(code);
  shared.probe?.blockStart(code);
  if (schedule === 'warp') writeWarps(shared, code, writeDispatch(shared, steps));
  else if (schedule === 'block') writeTogether(shared, code, writeDispatch(shared, steps));
  else writeCall(shared, code, steps[0]!);
  return index;
}

/** A step for all threads of the block. */
function writeCall({ host }: Shared, code: Code, step: number): void {
  code.i32(0);
  code.at('global.get', host.globals.threads);
  code.at('call', step);
}

/** A function of a step's number, the first thread and the end of the threads. */
function writeDispatch({ module }: Shared, steps: readonly number[]): number {
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

/** Each step sets the next one, which is the same for all threads. */
function writeTogether({ phase, host }: Shared, code: Code, dispatch: number): void {
  code.i32(0);
  code.at('global.set', phase);
  code.open('loop');
  code.at('global.get', phase);
  code.i32(0);
  code.at('global.get', host.globals.threads);
  code.at('call', dispatch);
  code.at('global.get', phase);
  code.i32(gone);
  code.op('i32.ne');
  code.at('br_if', 0);
  code.end();
}

/**
 * Each warp goes on until all of its threads have left or wait at a barrier. When every warp has, those that wait are let on:
 * threads that have left are not waited for.
 */
function writeWarps(shared: Shared, code: Code, dispatch: number): void {
  const { globals } = shared.host;
  const [first, end, next, released] = [code.local('i32'), code.local('i32'), code.local('i32'), code.local('i32')];
  const lowest = writeLowest(shared);
  const { order } = shared;
  /** Counts the threads of the warps that were taken. */
  const taken = order ? code.local('i32') : first;
  eachState(shared, code, next, () => code.i32(0));
  code.open('loop');
  code.i32(0);
  code.at('local.set', taken);
  code.open('loop');
  if (order) {
    code.at('local.get', taken);
    order.warpAt(code);
    code.at('local.set', first);
  }
  writeWarpEnd(code, first, end, () => code.at('global.get', globals.threads));
  code.open('loop');
  code.at('local.get', first);
  code.at('local.get', end);
  code.at('call', lowest);
  code.at('local.tee', next);
  code.i32(waiting);
  code.op('i32.lt_u');
  code.open('if');
  for (const local of [next, first, end]) code.at('local.get', local);
  code.at('call', dispatch);
  code.at('br', 1);
  code.end();
  code.end();
  if (order) {
    code.at('local.get', taken);
    code.i32(32);
    code.op('i32.add');
  } else code.at('local.get', end);
  code.at('local.tee', taken);
  code.at('global.get', globals.threads);
  code.op('i32.lt_u');
  code.at('br_if', 0);
  code.end();
  shared.sanitizer?.release(code);
  code.i32(0);
  code.at('local.set', released);
  eachState(shared, code, next, () => writeReleased(shared, code, next, released));
  code.at('local.get', released);
  code.at('br_if', 0);
  code.end();
}

/** A function that gives the lowest state of the threads from its first parameter to its second. */
function writeLowest(shared: Shared): number {
  const { index, code } = shared.module.fn({ params: ['i32', 'i32'], results: ['i32'] });
  const [state, least] = [code.local('i32'), code.local('i32')];
  code.i32(gone);
  code.at('local.set', least);
  code.open('loop');
  writeStateAddress(shared, code, 0);
  code.access('i32.load', 4);
  code.at('local.tee', state);
  code.at('local.get', least);
  code.at('local.get', state);
  code.at('local.get', least);
  code.op('i32.lt_u');
  code.op('select');
  code.at('local.set', least);
  writeCount(code, 0, () => code.at('local.get', 1));
  code.end();
  code.at('local.get', least);
  return index;
}

/** Sets the state of every thread of the block. */
function eachState(shared: Shared, code: Code, thread: number, push: () => void): void {
  code.i32(0);
  code.at('local.set', thread);
  code.open('loop');
  writeStateAddress(shared, code, thread);
  push();
  code.access('i32.store', 4);
  writeCount(code, thread, () => code.at('global.get', shared.host.globals.threads));
  code.end();
}

/** What the state of a thread becomes when those that wait are let on; by now each waits or is gone. */
function writeReleased(shared: Shared, code: Code, thread: number, released: number): void {
  const state = code.local('i32');
  writeStateAddress(shared, code, thread);
  code.access('i32.load', 4);
  code.at('local.tee', state);
  code.i32(~waiting);
  code.op('i32.and');
  code.at('local.get', state);
  code.at('local.get', state);
  code.i32(gone);
  code.op('i32.ne');
  code.op('select');
  code.at('local.get', state);
  code.i32(gone);
  code.op('i32.ne');
  code.at('local.get', released);
  code.op('i32.or');
  code.at('local.set', released);
}
