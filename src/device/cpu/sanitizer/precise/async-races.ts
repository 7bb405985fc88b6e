/**
 * Races of asynchronous operations: which accesses the host has to judge (`happens-before.ts`), since for these barriers of the block are not enough.
 * Stamps of their accesses of shared memory have a field that says so.
 */
import type { Code } from '../../../../wasm/index.ts';
import { maskOf } from './stamp.ts';
import type { SanitizerState } from './state.ts';

const [async, strong] = [maskOf('async'), maskOf('strong')];

function pushHas(code: Code, stamp: number, mask: bigint): void {
  code.at('local.get', stamp);
  code.i64(mask);
  code.op('i64.and');
  code.i64(mask);
  code.op('i64.eq');
}

/** Changes whether a check is needed, an i32 on the stack: it is for an asynchronous operation of this block, whatever barriers and threads there were. */
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

/** Passes accesses of asynchronous operations to the host, and returns from the function that reports a race; others go on to other rules. */
export function writeAsyncRules(code: Code, before: number, now: number, judge: () => void): void {
  pushHas(code, before, async);
  pushHas(code, now, async | strong);
  code.op('i32.or');
  code.open('if');
  judge();
  code.op('return');
  code.end();
}
