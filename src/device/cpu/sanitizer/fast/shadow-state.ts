/** The state of a module with fast checks: start, size and shadow bases of each target, and the time. */
import type { Code, WasmModule } from '../../../../wasm/index.ts';
import type { AccessChecks } from './insert-checks.ts';

/** Globals of a target, i32, which the launch sets: its start and bytes, and the bases of its shadows (0: none). */
export const targetGlobals = ['start', 'bytes', 'cells', 'written'] as const;
export type TargetGlobal = (typeof targetGlobals)[number];
/** The export name of one. */
export const targetGlobal = (index: number, name: TargetGlobal): string => `quick.${index}.${name}`;

/** Globals of the module, i32: `first` and `end` bound the shadow of the written bytes of shared memory, if it has one; `block` is the time at which the block started. */
export const checkGlobals = ['time', 'block', 'first', 'end'] as const;
export type CheckGlobal = (typeof checkGlobals)[number];
export const checkGlobal = (name: CheckGlobal): string => `quick.${name}`;

/**
 * A cell of the shadow, a 32-bit word for each word of memory: the accesses since the last barrier, and a summary of those before. 0: none.
 * `thread`: the thread, if there was one; `many` if several threads have read. `written` and `atomic`: the kind of access, otherwise a read.
 * `past`: any access by another block is a race, because this block has written there or mixed kinds of access.
 * Cells of time 0 are of several blocks that have all read, or all changed the word atomically.
 */
export const cellBits = { thread: 0x3ff, many: 1 << 10, written: 1 << 11, atomic: 1 << 12, past: 1 << 13 } as const;
/** The step of the time in cells, and the time after which a block has the cells compacted. */
export const timeStep = 1 << 14;
export const lateTime = 2 ** 31 - 2 ** 28;
/** The time of all past accesses in compacted cells. */
export const oldTime = timeStep;

export interface CheckState {
  readonly globals: Readonly<Record<CheckGlobal, number>>;
  readonly targets: readonly Readonly<Record<TargetGlobal, number>>[];
  /** Imported function: compacts the cells and resets the time. */
  readonly renew: number;
}

/** Declares imports and globals; before the first function of the module. */
export function declareChecks(module: WasmModule, { targets }: AccessChecks): CheckState {
  const named = <K extends string>(names: readonly K[], nameOf: (name: K) => string): Record<K, number> =>
    Object.fromEntries(names.map((name) => [name, module.global('i32', nameOf(name))] as const)) as Record<K, number>;
  return {
    renew: module.importFunction('renew', { params: [], results: [] }),
    globals: named(checkGlobals, checkGlobal),
    targets: targets.map((_, index) => named(targetGlobals, (name) => targetGlobal(index, name))),
  };
}

/** Advances the time at a barrier or at the start of a block. Bails out if the time overflows within a block. */
export function writeTimeStep({ globals }: CheckState, code: Code): void {
  code.at('global.get', globals.time);
  code.i32(timeStep);
  code.op('i32.add');
  code.at('global.set', globals.time);
  code.at('global.get', globals.time);
  code.i32(0);
  code.op('i32.lt_s');
  bailOutIf(code);
}

/** Starts a block: advances the time, and marks shared memory as unwritten. */
export function writeBlockStart(state: CheckState, code: Code): void {
  const { globals } = state;
  code.at('global.get', globals.time);
  code.i32(lateTime);
  code.op('i32.gt_s');
  code.open('if');
  code.at('call', state.renew);
  code.end();
  writeTimeStep(state, code);
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

/** Traps if the condition on the stack holds; the launch then falls back to the precise sanitizer. */
export function bailOutIf(code: Code): void {
  code.open('if');
  code.op('unreachable');
  code.end();
}
