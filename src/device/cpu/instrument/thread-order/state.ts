/** The imports of a module whose launch sets the order of blocks, warps and threads. */
import type { ThreadOrderHooks } from '../../../../engine/codegen/hooks.ts';
import type { Code, Signature, WasmModule } from '../../../../wasm/index.ts';

const imports = {
  /** Sets the numbers of the next block; returns 0 if there is none. */
  nextBlock: { params: [], results: ['i32'] },
  /** Puts the threads from the first argument up to the second into the table, in their order of execution. */
  arrange: { params: ['i32', 'i32'], results: [] },
  /** The first thread of the warp that runs in the place of the one that starts at the argument. */
  warpAt: { params: ['i32'], results: ['i32'] },
} as const satisfies Record<string, Signature>;
export type OrderImport = keyof typeof imports;

/** Export name of the address of the table. */
export const orderGlobal = 'order.table';

interface OrderState {
  readonly functions: Readonly<Record<OrderImport, number>>;
  /** Global: the address of the table, a word for each thread. */
  readonly table: number;
}

/** The hooks of a compilation whose launch sets the order of threads. */
export function newThreadOrder(module: WasmModule): ThreadOrderHooks {
  const state = declareOrder(module);
  return {
    grid: (code, block) => writeOrderedGrid(state, code, block),
    arrange: (code) => code.at('call', state.functions.arrange),
    warpAt: (code) => code.at('call', state.functions.warpAt),
    threadOfTurn: (code, turn, thread) => writeThreadOfTurn(state, code, turn, thread),
  };
}

/** Declares imports and the global; before the first function of the module. */
function declareOrder(module: WasmModule): OrderState {
  const names = Object.keys(imports) as OrderImport[];
  const functions = Object.fromEntries(names.map((name) => [name, module.importFunction(name, imports[name])]));
  return { functions: functions as OrderState['functions'], table: module.global('i32', orderGlobal) };
}

/** Runs the blocks that `nextBlock` names. */
function writeOrderedGrid({ functions }: OrderState, code: Code, block: number): void {
  code.open('block');
  code.open('loop');
  code.at('call', functions.nextBlock);
  code.op('i32.eqz');
  code.at('br_if', 1);
  code.at('call', block);
  code.at('br', 0);
  code.end();
  code.end();
}

/** Puts into `thread` the thread whose turn it is. */
function writeThreadOfTurn({ table }: OrderState, code: Code, turn: number, thread: number): void {
  code.at('local.get', turn);
  code.i32(2);
  code.op('i32.shl');
  code.at('global.get', table);
  code.op('i32.add');
  code.access('i32.load', 4);
  code.at('local.set', thread);
}
