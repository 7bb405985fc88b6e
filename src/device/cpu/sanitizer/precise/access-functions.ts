/**
 * The check functions of accesses: one WebAssembly function for each form of access, emitted at its first use. It takes the address and
 * returns the index to access, which is that of a sink if the address is wrong.
 */
import type { Code, NameWith, ValueType, WasmModule } from '../../../../wasm/index.ts';
import type { SanitizeKind } from '../../../device.ts';
import { pushOrAsync } from './async-races.ts';
import { writeWriterQuery } from './last-writer.ts';
import { writeProgress } from './progress.ts';
import { threadTimeMask, writeConflict, writeNoteRead } from './race-functions.ts';
import { maskOf, readStampAt, stampFields } from './stamp.ts';
import type { SanitizerState } from './state.ts';

export interface AccessShape {
  readonly what: 'load' | 'store' | 'atomic';
  /** The space: local accesses never race, and constants are never written. */
  readonly space: 'global' | 'shared' | 'local' | 'constant';
  /** Bytes, at most 8. */
  readonly size: number;
  /** The alignment that the address must have. */
  readonly align: number;
  /** Whether start and size of the accessible memory are parameters; otherwise the shadow determines what is accessible. */
  readonly isBounded: boolean;
  /** Whether it is an atomic or belongs to one: a 16-bit atomic accesses its whole word, the rest of which may be unwritten. */
  readonly isOfWord: boolean;
  /** Whether the host orders threads by it; `hidden` for barriers that the source does not have, `unchecked` for other such memory. */
  readonly syncs: 'no' | 'yes' | 'hidden' | 'unchecked';
}

/** The function index of a form; parameters are address, value (stores only, i64), start and bytes (if bounded), site and strength. */
export type AccessFunctions = (shape: AccessShape) => number;

interface Frame {
  readonly code: Code;
  readonly state: SanitizerState;
  readonly shape: AccessShape;
  readonly conflict: () => number;
  readonly noteRead: (isShared: boolean) => number;
  readonly hasOrder: boolean;
  readonly address: number;
  readonly value: number;
  readonly start: number;
  readonly bytes: number;
  readonly site: number;
  readonly index: number;
}

/** The check functions of a module. */
export function accessFunctions(
  module: WasmModule,
  state: SanitizerState,
  kinds: ReadonlySet<SanitizeKind>,
  hasOrder: boolean,
): AccessFunctions {
  const known = new Map<string, number>();
  const once = (name: string, write: () => number): number => {
    const found = known.get(name) ?? write();
    known.set(name, found);
    return found;
  };
  const conflict = (): number => once('conflict', () => writeConflict(module, state, hasOrder));
  const noteRead = (isShared: boolean): number => once(`noteRead ${isShared}`, () => writeNoteRead(module, state, isShared));
  return (shape) =>
    once(JSON.stringify(shape), () => {
      if (kinds.has('race')) {
        conflict();
        noteRead(shape.space === 'shared');
      }
      return writeFunction(module, state, shape, kinds, { conflict, noteRead, hasOrder });
    });
}

function writeFunction(
  module: WasmModule,
  state: SanitizerState,
  shape: AccessShape,
  kinds: ReadonlySet<SanitizeKind>,
  races: Pick<Frame, 'conflict' | 'noteRead' | 'hasOrder'>,
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
  const isHidden = shape.syncs === 'hidden' || shape.syncs === 'unchecked';
  if (shape.space !== 'local' && !isHidden && kinds.has('init')) writeInit(frame);
  if ((shape.space === 'global' || shape.space === 'shared') && !isHidden && kinds.has('race')) writeRaces(frame);
  if (shape.space !== 'local' && kinds.has('sync')) writeProgress(frame);
  if (shape.space === 'global' && shape.what !== 'load' && kinds.has('writer')) writeWriterQuery(frame, shape.size);
  if ((shape.syncs === 'yes' || shape.syncs === 'hidden') && kinds.has('race')) {
    get(frame, frame.address, frame.site);
    code.at('call', state.functions.synced);
  }
  code.at('local.get', frame.index);
  return index;
}

const get = ({ code }: Frame, ...locals: number[]): void => locals.forEach((local) => void code.at('local.get', local));

/** Sets the index from the address. */
function setIndex({ code, address, index }: Frame): void {
  code.at('local.get', address);
  code.op('i32.wrap_i64');
  code.at('local.set', index);
}

/** Passes the address to the host if the condition on the stack holds. */
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

/** Pushes the bits of the access in a bitmap; a 16-bit word contains all of them. */
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

/** Pushes whether some of the bits are not set. */
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
  // Bytes that were reported once count as written.
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

/** Pushes the accessed bytes of the word as a field of a stamp. */
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
  writeCheck(frame, word, 0, threadTimeMask);
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
  writeCheck(frame, word, readStampAt, threadTimeMask | byOthers);
  get(frame, cell, now);
  if (shape.size < 4) writeKeptBytes(frame, word);
  code.access('i64.store', 8);
}

/** Checks the stamp at an offset. No conflict: no stamp, the same thread at the same time, or a barrier since. */
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
  if (frame.hasOrder && shape.space === 'shared') pushOrAsync(frame.state, code, before, now);
  code.open('if');
  if (shape.what === 'store') {
    // A store of the same value is harmless.
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

const loads: Readonly<Record<number, NameWith<'memory'>>> = { 1: 'i64.load8_u', 2: 'i64.load16_u', 4: 'i64.load32_u', 8: 'i64.load' };

/** Pushes whether there was no barrier since a stamp: for shared memory any barrier, for global memory one of this block. */
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

/** Adds the bytes that the same thread wrote at the same time to the stamp on the stack. */
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
  code.i64(threadTimeMask);
  code.op('i64.and');
  code.op('i64.eqz');
  code.op('select');
  code.op('i64.or');
}
