/**
 * Decides whether two accesses of a word are ordered, where their stamps alone do not. Within a block: by a barrier between them, by a warp
 * barrier (`bar.warp.sync`) that both threads execute, or by a fence of the first thread after its access and an acquire of the second.
 * Between blocks: by a fence after the first access and an acquire in the block of the second. Source: PTX ISA 9.0, 8.10 (memory consistency: synchronization, causality order, races).
 */
import type { Code, WasmModule } from '../../../../wasm/index.ts';
import { writeAsyncRules } from './async-races.ts';
import { maskOf, readStampAt, stampFields } from './stamp.ts';
import { type SanitizerState, threadTimes, writeThreadTimes } from './state.ts';

const strong = maskOf('strong');
const many = maskOf('manyThreads') | maskOf('manyBlocks');
/** Thread and time. */
export const threadTimeMask = maskOf('thread') | maskOf('time');

const i64 = (code: Code, value: bigint): void => code.i64(value);

/** Pushes the thread of a stamp, an i32. */
function pushThread(code: Code, stamp: number): void {
  code.at('local.get', stamp);
  i64(code, BigInt(stampFields.thread.at));
  code.op('i64.shr_u');
  code.op('i32.wrap_i64');
  code.i32(2 ** stampFields.thread.bits - 1);
  code.op('i32.and');
}

/** Returns from the function if the condition on the stack holds. */
function returnIf(code: Code): void {
  code.open('if');
  code.op('return');
  code.end();
}

/** Pushes `(a & b & mask) == 0` or its opposite, for two locals. */
function pushCommon(code: Code, a: number, b: number, mask: bigint, isNone: boolean): void {
  code.at('local.get', a);
  code.at('local.get', b);
  code.op('i64.and');
  i64(code, mask);
  code.op('i64.and');
  code.op('i64.eqz');
  if (!isNone) code.op('i32.eqz');
}

/** Emits the function that reports a race unless the accesses are ordered; parameters are the earlier stamp, the address and the current stamp. */
export function writeConflict(module: WasmModule, state: SanitizerState, hasOrder: boolean): number {
  const { index, code } = module.fn({ params: ['i64', 'i64', 'i64'], results: [] });
  const [before, address, now] = [0, 1, 2];
  const [other, own] = [code.local('i32'), code.local('i32')];
  const report = (): void => {
    for (const local of [before, address, now]) code.at('local.get', local);
    code.at('call', state.functions.race);
  };
  pushCommon(code, before, now, strong, false);
  returnIf(code);
  pushCommon(code, before, now, maskOf('bytes'), true);
  returnIf(code);
  writeThreadTimes(state, code, () => pushThread(code, now));
  code.at('local.set', own);
  code.at('local.get', before);
  code.at('global.get', state.times.block);
  code.op('i64.ge_u');
  code.open('if');
  writeThreadTimes(state, code, () => pushThread(code, before));
  code.at('local.set', other);
  if (hasOrder) writeAsyncRules(code, before, now, report);
  returnIfSameThread(code, before, other, own);
  returnIfSynchronized(code, { before, now, other, own });
  returnIfReleased(code, before, other, own);
  // A reader of another block may have published.
  pushCommon(code, before, before, maskOf('manyBlocks'), false);
  pushHasAcquired(code, state);
  code.op('i32.and');
  returnIf(code);
  code.else();
  returnIfPublished(code, state, before);
  code.end();
  report();
  return index;
}

/** Returns for the same thread, unless other threads have read as well. */
function returnIfSameThread(code: Code, before: number, other: number, own: number): void {
  code.at('local.get', other);
  code.at('local.get', own);
  code.op('i32.eq');
  code.at('local.get', before);
  i64(code, many);
  code.op('i64.and');
  code.op('i64.eqz');
  code.op('i32.and');
  returnIf(code);
}

/** Pushes whether a time of a thread is later than a stamp. */
function pushIsLater(code: Code, times: number, offset: number, before: number): void {
  code.at('local.get', times);
  code.access('i64.load', 8, offset);
  code.at('local.get', before);
  code.op('i64.gt_u');
}

interface Accesses {
  readonly before: number;
  readonly now: number;
  readonly other: number;
  readonly own: number;
}

/** Returns if both threads are of one warp and have synchronized since. */
function returnIfSynchronized(code: Code, accesses: Accesses): void {
  pushSynchronized(code, accesses);
  returnIf(code);
}

/** Pushes whether both threads are of one warp and have synchronized since. */
function pushSynchronized(code: Code, { before, now, other, own }: Accesses): void {
  code.at('local.get', before);
  code.at('local.get', now);
  code.op('i64.xor');
  // The thread without its lane.
  i64(code, maskOf('thread') & ~(31n << BigInt(stampFields.thread.at)));
  code.op('i64.and');
  code.op('i64.eqz');
  pushIsLater(code, other, threadTimes.sync, before);
  code.op('i32.and');
  pushIsLater(code, own, threadTimes.sync, before);
  code.op('i32.and');
}

/** Returns if the first thread has released and the second acquired since. */
function returnIfReleased(code: Code, before: number, other: number, own: number): void {
  pushIsLater(code, other, threadTimes.release, before);
  pushIsLater(code, own, threadTimes.acquire, before);
  code.op('i32.and');
  returnIf(code);
}

function pushHasAcquired(code: Code, { times }: SanitizerState): void {
  code.at('global.get', times.acquired);
  code.op('i64.eqz');
  code.op('i32.eqz');
}

/** Returns if there was a fence after the access before this block started, and this block has acquired. */
function returnIfPublished(code: Code, state: SanitizerState, before: number): void {
  code.at('global.get', state.times.fencesBefore);
  code.at('local.get', before);
  code.op('i64.gt_u');
  pushHasAcquired(code, state);
  code.op('i32.and');
  returnIf(code);
}

/** Pushes whether a read of another thread is not ordered before the current one; the locals of the threads are set. */
function pushIsConcurrent(code: Code, state: SanitizerState, accesses: Accesses): void {
  const { before, now, other, own } = accesses;
  for (const [times, stamp] of [
    [other, before],
    [own, now],
  ] as const) {
    writeThreadTimes(state, code, () => pushThread(code, stamp));
    code.at('local.set', times);
  }
  code.at('local.get', other);
  code.at('local.get', own);
  code.op('i32.eq');
  pushSynchronized(code, accesses);
  code.op('i32.or');
  code.op('i32.eqz');
}

/** Emits the function that stores the stamp of a read; parameters are the address of the stamps of a word, the last and the current stamp. Shared memory is new in each block. */
export function writeNoteRead(module: WasmModule, state: SanitizerState, isShared: boolean): number {
  const { index, code } = module.fn({ params: ['i32', 'i64', 'i64'], results: [] });
  const [cell, before, now] = [0, 1, 2];
  const flags = code.local('i64');
  const [other, own] = [code.local('i32'), code.local('i32')];
  /** Pushes `((before ^ now) & mask) == 0`. */
  const isSame = (mask: bigint): void => {
    code.at('local.get', before);
    code.at('local.get', now);
    code.op('i64.xor');
    i64(code, mask);
    code.op('i64.and');
    code.op('i64.eqz');
  };
  const take = (mask: bigint): void => {
    code.at('local.get', before);
    i64(code, mask);
    code.op('i64.and');
    code.at('local.get', flags);
    code.op('i64.or');
    code.at('local.set', flags);
  };
  // The same thread at the same time reads more bytes of the word; otherwise flags are kept for reads of the same bytes only.
  isSame(threadTimeMask);
  code.open('if');
  take(maskOf('bytes') | many);
  code.else();
  isSame(maskOf('bytes'));
  code.at('local.get', before);
  code.op('i64.eqz');
  code.op('i32.eqz');
  code.op('i32.and');
  code.open('if');
  take(maskOf('manyBlocks'));
  code.at('local.get', before);
  code.at('global.get', state.times.block);
  code.op('i64.lt_u');
  code.open('if');
  i64(code, isShared ? 0n : maskOf('manyBlocks'));
  code.at('local.set', flags);
  code.else();
  code.at('local.get', before);
  code.at('global.get', state.times.reads);
  code.op('i64.ge_u');
  code.open('if');
  take(maskOf('manyThreads'));
  pushIsConcurrent(code, state, { before, now, other, own });
  code.op('i64.extend_i32_u');
  code.i64(BigInt(stampFields.manyThreads.at));
  code.op('i64.shl');
  code.at('local.get', flags);
  code.op('i64.or');
  code.at('local.set', flags);
  code.end();
  code.end();
  code.end();
  code.end();
  code.at('local.get', cell);
  code.at('local.get', now);
  code.at('local.get', flags);
  code.op('i64.or');
  code.access('i64.store', 8, readStampAt);
  return index;
}
