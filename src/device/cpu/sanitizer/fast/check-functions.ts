/** What is looked at before accesses, in WebAssembly: functions for each shape of them, written when first asked for. */
import type { Code, WasmModule } from '../../../../wasm/index.ts';
import type { Guard, Guards } from './insert-checks.ts';
import { type CellKind, writeCell, writeCells } from './shadow-cells.ts';
import { giveUpIf, type QuickState } from './shadow-state.ts';

export interface Looks {
  /** Bytes that share a cell, as a shift. */
  grain(guard: Guard): number;
  /** Whether a guard looks at who else accesses, and at what was written. */
  races(guard: Guard): boolean;
  inits(guard: Guard): boolean;
  /** Index of the function of the address of a cell and the first thread, for the words of a whole strip; of loads and stores. */
  cells(guard: Guard): number;
  /** Index of the function of the address of the shadow that says what of the words of a whole strip was written. */
  written(guard: Guard): number;
  /** Index of the function of an address, a thread, and where what is reached starts, its bytes, and its shadows. */
  one(guard: Guard): number;
  /** The same with bytes from each lane to the next and the bits of lanes that run behind the thread. */
  some(guard: Guard): number;
}

/** All bytes of a word were written. */
const whole = 0x0f;

/** The functions of a module. */
export function looksOf(module: WasmModule, state: QuickState, { kinds, grains, reached }: Guards, packs: number): Looks {
  const known = new Map<string, number>();
  const once = (key: readonly unknown[], write: () => number): number => {
    const name = key.join();
    const found = known.get(name) ?? write();
    known.set(name, found);
    return found;
  };
  const races = ({ space }: Guard): boolean => kinds.has('race') && (space === 'global' || space === 'shared');
  // Constants of the module are written, buffers in the constant space may not be.
  const inits = ({ space, reached: of }: Guard): boolean =>
    kinds.has('init') && (space === 'global' || space === 'shared' || (space === 'constant' && !reached[of]!.fixed));
  const isShared = ({ space }: Guard): boolean => space === 'shared';
  const cell = (guard: Guard): number =>
    once(['cell', guard.what, isShared(guard)], () => writeCell(module, state, guard.what as CellKind, isShared(guard)));
  const key = (guard: Guard): unknown[] => [guard.what, guard.bytes, guard.align, isShared(guard), races(guard), inits(guard)];
  const looks: Looks = {
    grain: ({ space }) => grains[space],
    races,
    inits,
    cells(guard) {
      const one = cell(guard);
      const kind = guard.what as 'load' | 'store';
      return once(['cells', kind, isShared(guard)], () => writeCells(module, state, kind, isShared(guard), { packs, one }));
    },
    written: ({ what }) => once(['written', what === 'store'], () => (what === 'store' ? writeWritten : writeWereWritten)(module, packs)),
    one(guard) {
      const touch = races(guard) ? cell(guard) : undefined;
      return once(['one', ...key(guard)], () => writeOne(module, guard, { touch, isInit: inits(guard), grain: looks.grain(guard) }));
    },
    some(guard) {
      const one = looks.one(guard);
      return once(['some', ...key(guard)], () => writeSome(module, one));
    },
  };
  return looks;
}

/** Eight words at a time. */
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
  giveUpIf(code);
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

function writeOne(module: WasmModule, guard: Guard, { touch, isInit, grain }: Needs): number {
  const { index, code } = module.fn({ params: Array.from({ length: 6 }, () => 'i32' as const), results: [] });
  pushIsOutside(code, guard.bytes, {
    address,
    offset: code.local('i32'),
    start: () => code.at('local.get', start),
    bytes: () => code.at('local.get', bytes),
  });
  if (guard.align > 1) pushIsMisaligned(code, guard.align, address, true);
  giveUpIf(code);
  if (touch !== undefined) {
    code.at('local.get', cells);
    code.open('if');
    for (let at = 0; at < guard.bytes; at += 2 ** grain) {
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
  if (isInit) writeInit(code, guard);
  return index;
}

interface Span {
  readonly address: number;
  /** Free to be used: the bytes from the start to the address. */
  readonly offset: number;
  start(): void;
  bytes(): void;
}

/** Whether some bytes from an address on are not all of what is reached. */
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

/** How far the cell of an address is from that of address 0. */
export function pushCellOffset(code: Code, address: number, grain: number): void {
  code.at('local.get', address);
  if (grain < 2) {
    code.i32(2 - grain);
    return code.op('i32.shl');
  }
  code.i32(-4);
  code.op('i32.and');
}

/** Whether an address is no multiple of what it has to be. */
export function pushIsMisaligned(code: Code, align: number, address: number, isJoined: boolean): void {
  code.at('local.get', address);
  code.i32(align - 1);
  code.op('i32.and');
  if (isJoined) code.op('i32.or');
}

function writeInit(code: Code, { what, bytes: count }: Guard): void {
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
    giveUpIf(code);
  }
  code.end();
}

/** One lane after the other, for those whose bits are set. */
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
