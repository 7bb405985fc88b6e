/**
 * Races of asynchronous copies. A copy is performed when it is asked for, so that the order of its accesses and those of threads does not show
 * whether a thread has waited for it. Stamps of its accesses of shared memory say so, and for these barriers of the block are not enough:
 *
 * - What a copy has written that arrives at an mbarrier may be accessed by threads that have tested the mbarrier since, or by those
 *   behind a barrier of the block or the warp after such a test.
 * - What a copy of a bulk group reads may be written after its thread has waited for the group, or has executed another fence.
 * - What a thread has written may be read by a copy of a bulk group after a fence of that thread, or of the one that asks for the copy.
 *
 * Source: PTX ISA 9.0, 8.6 (proxies) and 9.7.9.25.
 */

import type { Line } from '../../../../air/index.ts';
import type { SourceFile } from '../../../../base/source.ts';
import type { Code } from '../../../../wasm/index.ts';
import { instructionAt } from '../../source-text.ts';
import { maskOf, stampFields } from './stamp.ts';
import { type SanitizerState, threadTimes } from './state.ts';

/** How threads learn that a copy is complete; or the instruction by which one does. */
export type AsyncKind = 'arrival' | 'group' | 'wait';

const copy = /\b(cp\.async\.bulk|cp\.reduce\.async\.bulk|st\.async|red\.async)\.(?!prefetch|commit|wait)/;

/** Whether a text has copies that threads have to wait for. */
export const hasAsyncCopies = (source: SourceFile | undefined): boolean => source !== undefined && copy.test(source.text);

/** The kind of the copy at a line. */
export function asyncKindAt(source: SourceFile, line: Line): AsyncKind | undefined {
  const text = instructionAt(source, line);
  if (/\bmbarrier\.(test|try)_wait\b/.test(text)) return 'wait';
  if (!copy.test(text)) return undefined;
  return text.includes('.bulk_group') ? 'group' : text.includes('mbarrier::complete_tx') ? 'arrival' : undefined;
}

const [async, strong] = [maskOf('async'), maskOf('strong')];

function pushHas(code: Code, stamp: number, mask: bigint): void {
  code.at('local.get', stamp);
  code.i64(mask);
  code.op('i64.and');
  code.i64(mask);
  code.op('i64.eq');
}

/** Changes whether a check is needed, an i32 on the stack: it is for a copy of this block, whatever barriers and threads there were. */
export function pushOrAsync({ times }: SanitizerState, code: Code, before: number, now: number): void {
  pushHas(code, before, async);
  pushHas(code, now, async | strong);
  code.op('i32.or');
  code.at('local.get', before);
  code.at('global.get', times.block);
  code.op('i64.ge_u');
  code.op('i32.and');
  code.op('i32.or');
}

interface Times {
  readonly before: number;
  readonly now: number;
  /** Addresses of the times of both threads. */
  readonly other: number;
  readonly own: number;
}

function pushLater(code: Code, times: number, offset: number, before: number): void {
  code.at('local.get', times);
  code.access('i64.load', 8, offset);
  code.at('local.get', before);
  code.op('i64.gt_u');
}

function pushLaterGlobal(code: Code, time: number, before: number): void {
  code.at('global.get', time);
  code.at('local.get', before);
  code.op('i64.gt_u');
}

function returnIf(code: Code): void {
  code.open('if');
  code.op('return');
  code.end();
}

/** Emits the rules of copies: returns from the function that reports a race, or goes on to report one. Accesses that are none of a copy go on to other rules. */
export function writeAsyncRules({ times }: SanitizerState, code: Code, { before, now, other, own }: Times, report: () => void): void {
  pushHas(code, before, async);
  code.open('if');
  pushHas(code, before, strong);
  code.open('if');
  pushLater(code, other, threadTimes.release, before);
  returnIf(code);
  code.else();
  // The copy itself has a fence behind it, so that a wait is in the next time at least.
  const since = (push: () => void): void => {
    push();
    code.at('local.get', before);
    code.i64(BigInt(stampFields.time.at));
    code.op('i64.shr_u');
    code.i64(BigInt(stampFields.time.at));
    code.op('i64.shl');
    code.op('i64.gt_u');
  };
  const ofThread = (offset: number) => (): void => {
    code.at('local.get', own);
    code.access('i64.load', 8, offset);
  };
  since(ofThread(threadTimes.waited));
  returnIf(code);
  since(() => code.at('global.get', times.waited));
  since(() => code.at('global.get', times.barrier));
  since(ofThread(threadTimes.sync));
  code.op('i32.or');
  code.op('i32.and');
  returnIf(code);
  code.end();
  report();
  code.op('return');
  code.end();
  pushHas(code, now, async | strong);
  code.open('if');
  pushLater(code, other, threadTimes.release, before);
  pushLater(code, own, threadTimes.release, before);
  code.op('i32.or');
  code.op('i32.eqz');
  code.open('if');
  report();
  code.op('return');
  code.end();
  pushLaterGlobal(code, times.barrier, before);
  returnIf(code);
  code.end();
}
