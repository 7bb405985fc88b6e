/** Functions that record an access in the cells of the shadow, and bail out if it may race with an earlier access. */
import { words } from '../../../../engine/simd/lanes/vectors.ts';
import type { Code, WasmModule } from '../../../../wasm/index.ts';
import { bailOutIf, type CheckState, cellBits } from './shadow-state.ts';

export type CellKind = 'load' | 'store' | 'atomic';

const { many, written, atomic, past } = cellBits;

interface Frame {
  readonly code: Code;
  readonly state: CheckState;
  readonly kind: CellKind;
  /** Whether it is for shared memory, which is new in each block: accesses before a barrier do not count. */
  readonly isShared: boolean;
}

/** The flags of each kind of access. */
const flagsOf = { load: 0, store: written | past, atomic } as const;

/** Emits the function of one access; parameters are the address of a cell and the thread. */
export function writeCell(module: WasmModule, state: CheckState, kind: CellKind, isShared: boolean): number {
  const { index, code } = module.fn({ params: ['i32', 'i32'], results: [] });
  const [cell, thread, before, now] = [0, 1, code.local('i32'), code.local('i32')];
  const frame: Frame = { code, state, kind, isShared };
  code.at('local.get', cell);
  code.access('i32.load', 4);
  code.at('local.set', before);
  code.at('global.get', state.globals.time);
  if (kind !== 'atomic') {
    code.at('local.get', thread);
    code.op('i32.or');
  }
  code.i32(flagsOf[kind]);
  code.op('i32.or');
  code.at('local.set', now);
  /** If the condition on the stack holds, stores the value of `push` in the cell and returns. */
  const putIf = (push: () => void): void => {
    code.open('if');
    code.at('local.get', cell);
    push();
    code.access('i32.store', 4);
    code.op('return');
    code.end();
  };
  const isBefore = (time: number): void => {
    code.at('local.get', before);
    code.at('global.get', time);
    code.op('i32.lt_s');
  };
  if (isShared) {
    isBefore(state.globals.time);
    putIf(() => code.at('local.get', now));
  } else {
    code.at('local.get', before);
    code.op('i32.eqz');
    putIf(() => code.at('local.get', now));
    isBefore(state.globals.block);
    putIf(() => writeOfOthers(frame, before));
    isBefore(state.globals.time);
    putIf(() => writeBehindBarrier(frame, before, now));
  }
  writeAtOnce(frame, { cell, before, now });
  return index;
}

const pushBits = (code: Code, local: number, bits: number): void => {
  code.at('local.get', local);
  code.i32(bits);
  code.op('i32.and');
};

/** After accesses of other blocks: all blocks may read, or all may use atomics. */
function writeOfOthers({ code, kind }: Frame, before: number): void {
  if (kind === 'store') code.op('unreachable');
  pushBits(code, before, kind === 'load' ? written | atomic | past : written | past | atomic);
  code.i32(kind === 'load' ? 0 : atomic);
  code.op('i32.ne');
  bailOutIf(code);
  code.i32(kind === 'load' ? many : atomic);
}

/** After accesses of this block before a barrier: no race, but both accesses count for other blocks. */
function writeBehindBarrier({ code, kind }: Frame, before: number, now: number): void {
  code.at('local.get', now);
  if (kind === 'store') return;
  code.i32(past);
  code.i32(0);
  pushBits(code, before, written | atomic | past);
  code.i32(kind === 'load' ? 0 : atomic);
  code.op('i32.ne');
  code.op('select');
  code.op('i32.or');
}

/** After accesses since the last barrier: one thread may do anything, several may read, or use atomics. */
function writeAtOnce({ code, state, kind }: Frame, { cell, before, now }: { cell: number; before: number; now: number }): void {
  if (kind === 'atomic') {
    pushBits(code, before, atomic);
    code.op('i32.eqz');
    return bailOutIf(code);
  }
  code.at('local.get', before);
  code.at('local.get', now);
  code.op('i32.xor');
  code.i32(~(written | past));
  code.op('i32.and');
  if (kind === 'store') {
    bailOutIf(code);
    code.at('local.get', cell);
    code.at('local.get', now);
    return code.access('i32.store', 4);
  }
  code.op('i32.eqz');
  code.open('if');
  code.op('return');
  code.end();
  pushBits(code, before, written | atomic);
  bailOutIf(code);
  code.at('local.get', cell);
  code.at('global.get', state.globals.time);
  code.i32(many);
  code.op('i32.or');
  pushBits(code, before, past);
  code.op('i32.or');
  code.access('i32.store', 4);
}

/**
 * Emits the function of the accesses of a lane group to contiguous words; parameters are the address of the first cell and the first thread.
 * It handles four cells at once, and calls the function of one access for packs that need it.
 */
export function writeCells(
  module: WasmModule,
  state: CheckState,
  kind: 'load' | 'store',
  isShared: boolean,
  { packs, one }: { readonly packs: number; readonly one: number },
): number {
  const { index, code } = module.fn({ params: ['i32', 'i32'], results: [] });
  const [cell, thread, before, now] = [0, 1, code.local('v128'), code.local('v128')];
  const shared = code.local('v128');
  code.at('global.get', state.globals.time);
  code.i32(many);
  code.op('i32.or');
  code.op('i32x4.splat');
  code.at('local.set', shared);
  for (let pack = 0; pack < packs; pack++) {
    code.at('global.get', state.globals.time);
    code.at('local.get', thread);
    code.op('i32.add');
    code.op('i32x4.splat');
    code.v128([0, 1, 2, 3].map((lane) => (4 * pack + lane) | flagsOf[kind]));
    code.op('i32x4.add');
    code.at('local.set', now);
    code.at('local.get', cell);
    code.access('v128.load', 4, 16 * pack);
    code.at('local.set', before);
    code.open('block');
    if (kind === 'load') {
      pushIsOwn(code, before, now);
      code.at('local.get', before);
      code.v128(words(~past));
      code.op('v128.and');
      code.at('local.get', shared);
      code.op('i32x4.eq');
      code.op('v128.or');
      code.op('i32x4.all_true');
      code.at('br_if', 0);
    }
    pushIsFresh(code, state, before, isShared);
    if (kind === 'store') {
      pushIsOwn(code, before, now);
      code.op('v128.or');
    }
    code.op('i32x4.all_true');
    code.open('if');
    code.at('local.get', cell);
    code.at('local.get', now);
    code.access('v128.store', 4, 16 * pack);
    code.at('br', 1);
    code.end();
    for (let lane = 4 * pack; lane < 4 * pack + 4; lane++) {
      for (const [local, ahead] of [
        [cell, 4 * lane],
        [thread, lane],
      ] as const) {
        code.at('local.get', local);
        code.i32(ahead);
        code.op('i32.add');
      }
      code.at('call', one);
    }
    code.end();
  }
  return index;
}

/** Pushes whether the thread itself made the only access since the last barrier. */
function pushIsOwn(code: Code, before: number, now: number): void {
  code.at('local.get', before);
  code.at('local.get', now);
  code.op('v128.xor');
  code.v128(words(~(written | past)));
  code.op('v128.and');
  code.v128(words(0));
  code.op('i32x4.eq');
}

/** Pushes whether there was no access that counts. */
function pushIsFresh(code: Code, { globals }: CheckState, before: number, isShared: boolean): void {
  code.at('local.get', before);
  if (isShared) {
    code.at('global.get', globals.time);
    code.op('i32x4.splat');
    return code.op('i32x4.lt_s');
  }
  code.v128(words(0));
  code.op('i32x4.eq');
}
