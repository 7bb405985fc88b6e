/** The check functions of a module: out-of-line checks in WebAssembly, one for each form of access. Each is emitted at its first use. */
import type { Code, WasmModule } from '../../../../wasm/index.ts';
import type { AccessCheck, AccessChecks } from './insert-checks.ts';
import { type CellKind, writeCell, writeCells } from './shadow-cells.ts';
import { bailOutIf, type CheckState } from './shadow-state.ts';

export interface CheckFunctions {
  /** Bytes that share a cell, as a shift. */
  grain(check: AccessCheck): number;
  /** Whether a check covers races, and reads of unwritten memory. */
  races(check: AccessCheck): boolean;
  inits(check: AccessCheck): boolean;
  /** Function index: puts an access of a whole lane group into its cells; parameters are the address of the first cell and the first thread. For loads and stores. */
  cells(check: AccessCheck): number;
  /** Function index: checks or sets the written bytes of the words of a whole lane group; the parameter is the address of their shadow. */
  written(check: AccessCheck): number;
  /** Function index: checks one access; parameters are address, thread, and start, bytes and shadow bases of the target. */
  one(check: AccessCheck): number;
  /** The same for several lanes; behind the thread it takes the stride in bytes and the bits of the active lanes. */
  some(check: AccessCheck): number;
}

/** The shadow of a word whose bytes are all written. */
const whole = 0x0f;

/** The functions of a module. */
export function checkFunctionsOf(
  module: WasmModule,
  state: CheckState,
  { kinds, grains, targets }: AccessChecks,
  packs: number,
): CheckFunctions {
  const known = new Map<string, number>();
  const once = (key: readonly unknown[], write: () => number): number => {
    const name = key.join();
    const found = known.get(name) ?? write();
    known.set(name, found);
    return found;
  };
  const races = ({ space }: AccessCheck): boolean => kinds.has('race') && (space === 'global' || space === 'shared');
  // Constants of the module are always written; buffers in the constant space may not be.
  const inits = ({ space, target }: AccessCheck): boolean =>
    kinds.has('init') && (space === 'global' || space === 'shared' || (space === 'constant' && !targets[target]!.fixed));
  const isShared = ({ space }: AccessCheck): boolean => space === 'shared';
  const cell = (check: AccessCheck): number =>
    once(['cell', check.what, isShared(check)], () => writeCell(module, state, check.what as CellKind, isShared(check)));
  const key = (check: AccessCheck): unknown[] => [check.what, check.bytes, check.align, isShared(check), races(check), inits(check)];
  const functions: CheckFunctions = {
    grain: ({ space }) => grains[space],
    races,
    inits,
    cells(check) {
      const one = cell(check);
      const kind = check.what as 'load' | 'store';
      return once(['cells', kind, isShared(check)], () => writeCells(module, state, kind, isShared(check), { packs, one }));
    },
    written: ({ what }) => once(['written', what === 'store'], () => (what === 'store' ? writeWritten : writeWereWritten)(module, packs)),
    one(check) {
      const touch = races(check) ? cell(check) : undefined;
      return once(['one', ...key(check)], () => writeOne(module, check, { touch, isInit: inits(check), grain: functions.grain(check) }));
    },
    some(check) {
      const one = functions.one(check);
      return once(['some', ...key(check)], () => writeSome(module, one));
    },
  };
  return functions;
}

/** The shadow of a lane group in steps of eight words. */
const stepsOf = (packs: number): readonly { readonly at: number; readonly type: 'i32' | 'i64' }[] =>
  packs === 1 ? [{ at: 0, type: 'i32' }] : Array.from({ length: packs / 2 }, (_, i) => ({ at: 8 * i, type: 'i64' }) as const);

function pushWhole(code: Code, type: 'i32' | 'i64'): void {
  if (type === 'i32') code.i32(0x01010101 * whole);
  else code.i64(0x0101010101010101n * BigInt(whole));
}

function writeWereWritten(module: WasmModule, packs: number): number {
  const { index, code } = module.fn({ params: ['i32'], results: [] });
  const steps = stepsOf(packs);
  steps.forEach(({ at, type }, i) => {
    code.at('local.get', 0);
    code.access(`${type}.load`, 1, at);
    if (i > 0) code.op(`${type}.and`);
  });
  const { type } = steps[0]!;
  pushWhole(code, type);
  code.op(`${type}.ne`);
  bailOutIf(code);
  return index;
}

function writeWritten(module: WasmModule, packs: number): number {
  const { index, code } = module.fn({ params: ['i32'], results: [] });
  for (const { at, type } of stepsOf(packs)) {
    code.at('local.get', 0);
    pushWhole(code, type);
    code.access(`${type}.store`, 1, at);
  }
  return index;
}

// ── one thread ──

interface Needs {
  readonly touch: number | undefined;
  readonly isInit: boolean;
  readonly grain: number;
}

const [address, thread, start, bytes, cells, written] = [0, 1, 2, 3, 4, 5];

function writeOne(module: WasmModule, check: AccessCheck, { touch, isInit, grain }: Needs): number {
  const { index, code } = module.fn({ params: Array.from({ length: 6 }, () => 'i32' as const), results: [] });
  pushIsOutside(code, check.bytes, {
    address,
    offset: code.local('i32'),
    start: () => code.at('local.get', start),
    bytes: () => code.at('local.get', bytes),
  });
  if (check.align > 1) pushIsMisaligned(code, check.align, address, true);
  bailOutIf(code);
  if (touch !== undefined) {
    code.at('local.get', cells);
    code.open('if');
    for (let at = 0; at < check.bytes; at += 2 ** grain) {
      pushCellOffset(code, address, grain);
      code.at('local.get', cells);
      code.op('i32.add');
      if (at > 0) {
        code.i32(4 * (at >> grain));
        code.op('i32.add');
      }
      code.at('local.get', thread);
      code.at('call', touch);
    }
    code.end();
  }
  if (isInit) writeInit(code, check);
  return index;
}

interface Span {
  readonly address: number;
  /** A scratch local: the distance from the start to the address. */
  readonly offset: number;
  start(): void;
  bytes(): void;
}

/** Pushes whether `count` bytes from an address on are not all within the target. */
export function pushIsOutside(code: Code, count: number, { address, offset, start, bytes }: Span): void {
  code.at('local.get', address);
  start();
  code.op('i32.sub');
  code.at('local.tee', offset);
  bytes();
  code.op('i32.ge_u');
  bytes();
  code.at('local.get', offset);
  code.op('i32.sub');
  code.i32(count);
  code.op('i32.lt_u');
  code.op('i32.or');
}

/** Pushes the distance of the cell of an address from that of address 0. */
export function pushCellOffset(code: Code, address: number, grain: number): void {
  code.at('local.get', address);
  if (grain < 2) {
    code.i32(2 - grain);
    return code.op('i32.shl');
  }
  code.i32(-4);
  code.op('i32.and');
}

/** Pushes whether an address is misaligned; `isJoined` combines it with the condition on the stack. */
export function pushIsMisaligned(code: Code, align: number, address: number, isJoined: boolean): void {
  code.at('local.get', address);
  code.i32(align - 1);
  code.op('i32.and');
  if (isJoined) code.op('i32.or');
}

function writeInit(code: Code, { what, bytes: count }: AccessCheck): void {
  const at = code.local('i32');
  code.at('local.get', written);
  code.open('if');
  code.at('local.get', address);
  code.i32(2);
  code.op('i32.shr_u');
  code.at('local.get', written);
  code.op('i32.add');
  code.at('local.set', at);
  for (let word = 0; word < count / 4; word++) {
    const bits = (): void => {
      if (count >= 4) return code.i32(whole);
      code.i32(2 ** count - 1);
      code.at('local.get', address);
      code.i32(3);
      code.op('i32.and');
      code.op('i32.shl');
    };
    if (what === 'store') {
      code.at('local.get', at);
      code.at('local.get', at);
      code.access('i32.load8_u', 1, word);
      bits();
      code.op('i32.or');
      code.access('i32.store8', 1, word);
      continue;
    }
    code.at('local.get', at);
    code.access('i32.load8_u', 1, word);
    bits();
    code.op('i32.and');
    bits();
    code.op('i32.ne');
    bailOutIf(code);
  }
  code.end();
}

/** Calls the check of one access for each lane whose bit is set. */
function writeSome(module: WasmModule, one: number): number {
  const { index, code } = module.fn({ params: Array.from({ length: 8 }, () => 'i32' as const), results: [] });
  const [step, bits, rest] = [2, 3, [4, 5, 6, 7]];
  const lane = code.local('i32');
  code.open('block');
  code.open('loop');
  code.at('local.get', bits);
  code.op('i32.eqz');
  code.at('br_if', 1);
  code.at('local.get', bits);
  code.op('i32.ctz');
  code.at('local.set', lane);
  code.at('local.get', address);
  code.at('local.get', lane);
  code.at('local.get', step);
  code.op('i32.mul');
  code.op('i32.add');
  code.at('local.get', thread);
  code.at('local.get', lane);
  code.op('i32.add');
  for (const local of rest) code.at('local.get', local);
  code.at('call', one);
  code.at('local.get', bits);
  code.at('local.get', bits);
  code.i32(1);
  code.op('i32.sub');
  code.op('i32.and');
  code.at('local.set', bits);
  code.at('br', 0);
  code.end();
  code.end();
  return index;
}
