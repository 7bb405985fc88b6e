/**
 * What is looked at before an access, in WebAssembly: one function for each shape of accesses, written when first asked for. It
 * takes the address and gives the index of memory to access, which is another one where the address is wrong.
 */
import type { Code, ValueType, WasmModule } from '../../../../wasm/index.ts';
import type { SanitizeKind } from '../../../device.ts';
import { writeWatched } from './last-writer.ts';
import { whoMask, writeConflict, writeNoteRead } from './race-functions.ts';
import { maskOf, readStampAt, stampFields } from './stamp.ts';
import type { SanitizerState } from './state.ts';

export interface AccessShape {
  readonly what: 'load' | 'store' | 'atomic';
  /** Whose memory it is: a local access races with nothing, and nothing writes constants. */
  readonly space: 'global' | 'shared' | 'local' | 'constant';
  /** Bytes, at most 8. */
  readonly size: number;
  /** What the address has to be a multiple of. */
  readonly align: number;
  /** Whether what it may access is handed over, as where it starts and how many bytes it has; otherwise the shadow tells. */
  readonly isBounded: boolean;
  /** Of atomics and what belongs to them: one of 16 bits is done to the word around it, of which the rest may be unwritten. */
  readonly isOfWord: boolean;
}

/** Index of the function of a shape: address, value (stores alone, as an i64), start and bytes (bounded ones), site and strength. */
export type AccessFunctions = (shape: AccessShape) => number;

interface Frame {
  readonly code: Code;
  readonly state: SanitizerState;
  readonly shape: AccessShape;
  readonly conflict: () => number;
  readonly noteRead: (isShared: boolean) => number;
  readonly address: number;
  readonly value: number;
  readonly start: number;
  readonly bytes: number;
  readonly site: number;
  readonly index: number;
}

/** The functions of a module, of which those asked for are written. */
export function accessFunctions(module: WasmModule, state: SanitizerState, kinds: ReadonlySet<SanitizeKind>): AccessFunctions {
  const known = new Map<string, number>();
  const once = (name: string, write: () => number): number => {
    const found = known.get(name) ?? write();
    known.set(name, found);
    return found;
  };
  const conflict = (): number => once('conflict', () => writeConflict(module, state));
  const noteRead = (isShared: boolean): number => once(`noteRead ${isShared}`, () => writeNoteRead(module, state, isShared));
  return (shape) =>
    once(JSON.stringify(shape), () => {
      if (kinds.has('race')) {
        conflict();
        noteRead(shape.space === 'shared');
      }
      return writeFunction(module, state, shape, kinds, { conflict, noteRead });
    });
}

function writeFunction(
  module: WasmModule,
  state: SanitizerState,
  shape: AccessShape,
  kinds: ReadonlySet<SanitizeKind>,
  races: Pick<Frame, 'conflict' | 'noteRead'>,
): number {
  const value: ValueType[] = shape.what === 'store' ? ['i64'] : [];
  const bounds: ValueType[] = shape.isBounded ? ['i64', 'i64'] : [];
  const { index, code } = module.fn({ params: ['i64', ...value, ...bounds, 'i32'], results: ['i32'] });
  const start = 1 + value.length;
  const frame: Frame = {
    code,
    state,
    shape,
    ...races,
    address: 0,
    value: 1,
    start,
    bytes: start + 1,
    site: start + bounds.length,
    index: code.local('i32'),
  };
  if (shape.isBounded) writeBounds(frame);
  else writeAllowed(frame);
  if (shape.align > 1) writeAlignment(frame);
  if (shape.space !== 'local' && kinds.has('init')) writeInit(frame);
  if ((shape.space === 'global' || shape.space === 'shared') && kinds.has('race')) writeRaces(frame);
  if (shape.space !== 'local' && kinds.has('sync')) writeProgress(frame);
  if (shape.space === 'global' && shape.what !== 'load' && kinds.has('writer')) writeWatched(frame, shape.size);
  code.at('local.get', frame.index);
  return index;
}

const get = ({ code }: Frame, ...locals: number[]): void => locals.forEach((local) => void code.at('local.get', local));

/** The address as an index. */
function setIndex({ code, address, index }: Frame): void {
  code.at('local.get', address);
  code.op('i32.wrap_i64');
  code.at('local.set', index);
}

/** Hands the address to the host where the condition on the stack holds. */
function outsideIf(frame: Frame): void {
  const { code, state, address, site } = frame;
  code.open('if');
  get(frame, address, site);
  code.at('call', state.functions.outside);
  code.op('return');
  code.end();
}

function writeBounds(frame: Frame): void {
  const { code, address, start, bytes, shape } = frame;
  get(frame, address, start);
  code.op('i64.sub');
  get(frame, bytes);
  code.op('i64.ge_u');
  outsideIf(frame);
  get(frame, start, bytes);
  code.op('i64.add');
  get(frame, address);
  code.op('i64.sub');
  code.i64(BigInt(shape.size));
  code.op('i64.lt_u');
  outsideIf(frame);
  setIndex(frame);
}

/** The bits of the access in a map of bits, and its mask; a word of 16 bits has them all. */
function pushBits(frame: Frame, map: number): void {
  const { code, index, shape } = frame;
  code.at('global.get', map);
  get(frame, index);
  code.i32(3);
  code.op('i32.shr_u');
  code.op('i32.add');
  code.access('i32.load16_u', 1);
  get(frame, index);
  code.i32(7);
  code.op('i32.and');
  code.op('i32.shr_u');
  code.i32(2 ** shape.size - 1);
  code.op('i32.and');
}

/** Whether some of the bits are not set. */
function pushLacksBits(frame: Frame, map: number): void {
  pushBits(frame, map);
  frame.code.i32(2 ** frame.shape.size - 1);
  frame.code.op('i32.ne');
}

function writeAllowed(frame: Frame): void {
  const { code, state, address } = frame;
  get(frame, address);
  code.at('global.get', state.globals['shadow.end']);
  code.op('i64.ge_u');
  outsideIf(frame);
  setIndex(frame);
  pushLacksBits(frame, state.globals['shadow.allowed']);
  outsideIf(frame);
}

function writeAlignment(frame: Frame): void {
  const { code, state, index, address, site, shape } = frame;
  get(frame, index);
  code.i32(shape.align - 1);
  code.op('i32.and');
  code.open('if');
  get(frame, address, site);
  code.at('call', state.functions.misaligned);
  code.end();
}

function writeInit(frame: Frame): void {
  const { code, state, index, address, site, shape } = frame;
  const map = state.globals['shadow.written'];
  pushLacksBits(frame, map);
  code.open('if');
  if (shape.what !== 'store') {
    if (shape.isOfWord) {
      pushBits(frame, map);
      code.op('i32.eqz');
      code.open('if');
    }
    get(frame, address, site);
    code.at('call', state.functions.unwritten);
    if (shape.isOfWord) code.end();
  }
  // What was told of once counts as written.
  const at = code.local('i32');
  code.at('global.get', map);
  get(frame, index);
  code.i32(3);
  code.op('i32.shr_u');
  code.op('i32.add');
  code.at('local.tee', at);
  get(frame, at);
  code.access('i32.load16_u', 1);
  code.i32(2 ** shape.size - 1);
  get(frame, index);
  code.i32(7);
  code.op('i32.and');
  code.op('i32.shl');
  code.op('i32.or');
  code.access('i32.store16', 1);
  code.end();
}

// ── races ──

function writeRaces(frame: Frame): void {
  const { code, state, shape, index, site } = frame;
  const [cell, now, before] = [code.local('i32'), code.local('i64'), code.local('i64')];
  for (let at = 0; at < shape.size; at += 4) {
    code.at('global.get', state.globals['shadow.cells']);
    get(frame, index);
    if (at > 0) {
      code.i32(at);
      code.op('i32.add');
    }
    code.i32(2);
    code.op('i32.shr_u');
    code.i32(4);
    code.op('i32.shl');
    code.op('i32.add');
    code.at('local.set', cell);
    code.at('global.get', state.times.stamp);
    get(frame, site);
    code.op('i64.extend_i32_u');
    code.op('i64.or');
    pushBytes(frame);
    code.op('i64.or');
    code.at('local.set', now);
    writeWord(frame, { cell, now, before });
  }
}

/** The bytes of the word that are accessed, in their place in a stamp. */
function pushBytes(frame: Frame): void {
  const { code, shape, index } = frame;
  const { at } = stampFields.bytes;
  if (shape.size >= 4) return code.i64(maskOf('bytes'));
  code.i32(2 ** shape.size - 1);
  get(frame, index);
  code.i32(3);
  code.op('i32.and');
  code.op('i32.shl');
  code.op('i64.extend_i32_u');
  code.i64(BigInt(at));
  code.op('i64.shl');
  code.i64(maskOf('bytes'));
  code.op('i64.and');
}

interface Word {
  readonly cell: number;
  readonly now: number;
  readonly before: number;
}

function writeWord(frame: Frame, word: Word): void {
  const { code, shape, noteRead } = frame;
  const { cell, now, before } = word;
  const isWrite = shape.what !== 'load';
  writeCheck(frame, word, 0, whoMask);
  if (!isWrite) {
    get(frame, cell);
    code.access('i64.load', 8, readStampAt);
    code.at('local.tee', before);
    get(frame, now);
    code.op('i64.ne');
    code.open('if');
    get(frame, cell, before, now);
    code.at('call', noteRead(shape.space === 'shared'));
    code.end();
    return;
  }
  const byOthers = maskOf('manyThreads') | maskOf('manyBlocks');
  writeCheck(frame, word, readStampAt, whoMask | byOthers);
  get(frame, cell, now);
  if (shape.size < 4) writeKeptBytes(frame, word);
  code.access('i64.store', 8);
}

/** Looks at the stamp at an offset: one of the same thread at the same time, none, or one that a barrier is behind, is no conflict. */
function writeCheck(frame: Frame, { cell, now, before }: Word, offset: number, same: bigint): void {
  const { code, shape, address, conflict } = frame;
  get(frame, cell);
  code.access('i64.load', 8, offset);
  code.at('local.tee', before);
  get(frame, now);
  code.op('i64.xor');
  code.i64(same);
  code.op('i64.and');
  code.op('i64.eqz');
  code.op('i32.eqz');
  pushIsOpen(frame, before, offset === readStampAt);
  code.op('i32.and');
  code.open('if');
  if (shape.what === 'store') {
    // A store that changes nothing harms nobody.
    get(frame, frame.index);
    code.access(loads[shape.size]!, 1);
    get(frame, frame.value);
    code.op('i64.ne');
    code.open('if');
  }
  get(frame, before, address, now);
  code.at('call', conflict());
  if (shape.what === 'store') code.end();
  code.end();
}

const loads: Readonly<Record<number, string>> = { 1: 'i64.load8_u', 2: 'i64.load16_u', 4: 'i64.load32_u', 8: 'i64.load' };

/** Whether no barrier has passed since a stamp: of shared memory none at all, of global none in this block. */
function pushIsOpen(frame: Frame, before: number, isRead: boolean): void {
  const { code, state, shape } = frame;
  get(frame, before);
  if (shape.space === 'shared') {
    code.at('global.get', state.times.barrier);
    return code.op('i64.ge_u');
  }
  code.at('global.get', state.times.block);
  code.op('i64.sub');
  code.at('global.get', state.times.span);
  code.op('i64.ge_u');
  if (isRead) {
    get(frame, before);
    code.i64(maskOf('manyBlocks'));
    code.op('i64.and');
    code.op('i64.eqz');
    code.op('i32.eqz');
    code.op('i32.or');
  }
  get(frame, before);
  code.op('i64.eqz');
  code.op('i32.eqz');
  code.op('i32.and');
}

/** Adds to a stamp on the stack the bytes that the same thread wrote at the same time. */
function writeKeptBytes(frame: Frame, { cell, now, before }: Word): void {
  const { code } = frame;
  get(frame, cell);
  code.access('i64.load', 8);
  code.at('local.tee', before);
  code.i64(maskOf('bytes'));
  code.op('i64.and');
  code.i64(0n);
  get(frame, before, now);
  code.op('i64.xor');
  code.i64(whoMask);
  code.op('i64.and');
  code.op('i64.eqz');
  code.op('select');
  code.op('i64.or');
}

// ── progress ──

/** Counts stores that others may see, and polls: strong accesses, which threads wait for each other by. */
function writeProgress(frame: Frame): void {
  const { code, state, shape, site, address } = frame;
  const { progress, polls } = state.globals;
  if (shape.what === 'store') {
    code.at('global.get', progress);
    code.i32(1);
    code.op('i32.add');
    return code.at('global.set', progress);
  }
  get(frame, site);
  code.i32(2 ** stampFields.strong.at);
  code.op('i32.and');
  code.open('if');
  code.at('global.get', polls);
  code.i32(1);
  code.op('i32.add');
  code.at('global.set', polls);
  get(frame, site);
  code.at('global.set', state.globals['last.poll']);
  get(frame, address);
  code.at('global.set', state.globals['poll.address']);
  code.end();
}
