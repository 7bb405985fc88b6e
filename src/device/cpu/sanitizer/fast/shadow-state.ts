/** What a module keeps that is looked at quickly: where what is accessed stands, what its shadow is, and the time. */
import type { Code, WasmModule } from '../../../../wasm/index.ts';
import type { Guards } from './insert-checks.ts';

/** Globals of something that is reached, i32; a launch sets them. */
export const reachedGlobals = ['start', 'bytes', 'cells', 'written'] as const;
export type ReachedGlobal = (typeof reachedGlobals)[number];
/** Name under which one is exported. */
export const reachedName = (index: number, name: ReachedGlobal): string => `quick.${index}.${name}`;

/** Globals of the whole, i32: `first` and `end` are the bytes of shadow that say what of shared memory was written. */
export const quickGlobals = ['time', 'block', 'first', 'end'] as const;
export type QuickGlobal = (typeof quickGlobals)[number];
export const quickName = (name: QuickGlobal): string => `quick.${name}`;

/**
 * A cell of the shadow, a word for a word of memory: who has accessed it since the last barrier, and whether others have before. 0 is nobody.
 * `thread`: the thread, where it is one; `many` where several have read. Threads have written (`written`) or changed it atomically (`atomic`),
 * else read it. `past`: other blocks must not access it at all, for this one has written there, or done different things.
 * Cells of time 0 are of several blocks that have all read, or all changed it atomically.
 */
export const cellBits = { thread: 0x3ff, many: 1 << 10, written: 1 << 11, atomic: 1 << 12, past: 1 << 13 } as const;
/** What the time of cells is counted by, and that from which on a block asks for the shadow to be made simpler. */
export const timeStep = 1 << 14;
export const lateTime = 2 ** 31 - 2 ** 28;
/** The time of what was before, in a shadow that was made simpler. */
export const oldTime = timeStep;

export interface QuickState {
  readonly globals: Readonly<Record<QuickGlobal, number>>;
  readonly reached: readonly Readonly<Record<ReachedGlobal, number>>[];
  /** Imported: makes the shadow simpler, and sets the time back. */
  readonly renew: number;
}

/** Declares it; before the first function of the module. */
export function declareQuick(module: WasmModule, { reached }: Guards): QuickState {
  const named = <K extends string>(names: readonly K[], nameOf: (name: K) => string): Record<K, number> =>
    Object.fromEntries(names.map((name) => [name, module.global('i32', nameOf(name))] as const)) as Record<K, number>;
  return {
    renew: module.importFunction('renew', { params: [], results: [] }),
    globals: named(quickGlobals, quickName),
    reached: reached.map((_, index) => named(reachedGlobals, (name) => reachedName(index, name))),
  };
}

/** A barrier, or the start of a block: accesses before it are of another time. There is an end to time in one block. */
export function writeLater({ globals }: QuickState, code: Code): void {
  code.at('global.get', globals.time);
  code.i32(timeStep);
  code.op('i32.add');
  code.at('global.set', globals.time);
  code.at('global.get', globals.time);
  code.i32(0);
  code.op('i32.lt_s');
  giveUpIf(code);
}

/** Time goes on, and shared memory holds nothing. */
export function writeQuickBlock(state: QuickState, code: Code): void {
  const { globals } = state;
  code.at('global.get', globals.time);
  code.i32(lateTime);
  code.op('i32.gt_s');
  code.open('if');
  code.at('call', state.renew);
  code.end();
  writeLater(state, code);
  code.at('global.get', globals.time);
  code.at('global.set', globals.block);
  const at = code.local('i32');
  code.at('global.get', globals.first);
  code.at('local.set', at);
  code.open('block');
  code.open('loop');
  code.at('local.get', at);
  code.at('global.get', globals.end);
  code.op('i32.ge_u');
  code.at('br_if', 1);
  code.at('local.get', at);
  code.v128([0, 0, 0, 0]);
  code.access('v128.store', 1);
  code.at('local.get', at);
  code.i32(16);
  code.op('i32.add');
  code.at('local.set', at);
  code.at('br', 0);
  code.end();
  code.end();
}

/** Ends the quick look where the condition on the stack holds: the trap is caught, and the launch watched lane by lane. */
export function giveUpIf(code: Code): void {
  code.open('if');
  code.op('unreachable');
  code.end();
}
