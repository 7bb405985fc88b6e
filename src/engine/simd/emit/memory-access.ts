/**
 * Loads and stores of a lane group: dense, strided or interleaved where the addresses allow it, else gathered and scattered per lane.
 * Inactive lanes write nothing. They may load next to the active lanes, because memory is padded on both sides (`memory-margin.ts`).
 */

import { affine, bytesOf, elementOf, type InstOf, isPointer, lanesOf, spaceOf, uniform, type Value } from '../../../ir/index.ts';
import { margin } from '../../codegen/memory-margin.ts';
import { storeAs } from '../../codegen/mnemonics.ts';
import { withScratch } from '../../codegen/scratch.ts';
import { type LaneGroup, longOf, maskPart, numberOf, shapeOf, typeOf } from '../lanes/lane-group.ts';
import type { GroupValues } from '../lanes/values.ts';
import { evenWords, oddWords, splatLoad, words } from '../lanes/vectors.ts';
import { bias, biased } from '../rules/scalar.ts';
import {
  gatheredAddresses,
  type LaneAddresses,
  loadInterleaved,
  loadStrided,
  storeInterleaved,
  stridedAddresses,
  strideOf,
} from './strided-access.ts';

/** Whether the lanes of an access are contiguous. */
export const isDense = (s: LaneGroup, addr: Value, moved: Value): boolean => {
  const type = typeOf(s, moved);
  return shapeOf(s, addr) === affine && lanesOf(type) === 1 && s.plan.shapes.stride[addr] === bytesOf(elementOf(type));
};

/** Pushes whether all lanes of some masks are active. */
export function pushAllActive({ code }: Pick<LaneGroup, 'code'>, masks: readonly number[]): void {
  masks.forEach((mask, i) => {
    code.at('local.get', mask);
    if (i > 0) code.op('v128.and');
  });
  // Engines compile `all_true` and `any_true` to twice as many instructions.
  code.op('i32x4.bitmask');
  code.i32(0b1111);
  code.op('i32.eq');
}

/** Runs `body` with the address of the first lane, minus the bias, in a local. */
function withBase(s: LaneGroup, addr: Value, body: (base: number) => void): void {
  pushFirstAddress(s, addr);
  withScratch(s, 'i32', 1, ([base]) => {
    s.code.at('local.set', base);
    body(base);
  });
}

/** Pushes the address of the first lane, minus the bias. */
export function pushFirstAddress(s: LaneGroup, addr: Value): void {
  s.scalar(addr);
  biased(s, addr);
}

/** Runs `body` with the addresses of a pack, minus the bias, in a local; inactive lanes get an address that is mapped. */
function withAddresses(s: LaneGroup, addr: Value, pack: number, body: (addresses: number) => void): void {
  const { code } = s;
  if (longOf(s, addr)) lowAddresses(s, addr, pack);
  else s.part(addr, pack);
  code.v128(words(bias));
  code.op('i32x4.sub');
  if (s.mask) {
    code.at('local.get', s.mask[pack]!);
    code.op('v128.and');
  }
  withScratch(s, 'v128', 1, ([addresses]) => {
    code.at('local.set', addresses);
    body(addresses);
  });
}

/** The low halves of addresses; 0, which no access may touch, for those beyond all memory. */
function lowAddresses(s: LaneGroup, addr: Value, pack: number): void {
  const { code } = s;
  withScratch(s, 'v128', 2, ([low, high]) => {
    for (const [local, part] of [
      [low, 2 * pack],
      [high, 2 * pack + 1],
    ] as const) {
      s.part(addr, part);
      code.at('local.set', local);
    }
    code.at('local.get', low);
    code.at('local.get', high);
    code.shuffle(evenWords);
    code.at('local.get', low);
    code.at('local.get', high);
    code.shuffle(oddWords);
  });
  code.v128(words(0));
  code.op('i32x4.eq');
  code.op('v128.and');
}

// ── loads ──

/** A load whose result varies. */
export function load(s: LaneGroup, values: GroupValues, inst: InstOf<'load'>, value: Value): void {
  // Lanes that left a loop at different turns may have one address by a stride of 0.
  if (shapeOf(s, inst.addr) === uniform || strideOf(s, inst.addr) === 0) return loadUniform(s, values, inst, value);
  const isContiguous = isDense(s, inst.addr, value);
  if (!isContiguous && !isStridedInPadding(s, inst.addr)) return gather(s, values, inst, value);
  const addresses = (base: number, pack: number): LaneAddresses => stridedAddresses(s, inst.addr, () => s.code.at('local.get', base), pack);
  const vector = (base: number, part: number): void => {
    if (isContiguous) return denseVector(s, inst, () => s.code.at('local.get', base), part);
    loadStrided(s, inst.type, addresses(base, bytesOf(elementOf(inst.type)) === 8 ? part >> 1 : part), part & 1);
  };
  if (!inst.volatile && values.deferLoad(value, () => pushFirstAddress(s, inst.addr), vector)) return;
  withBase(s, inst.addr, (base) => {
    if (lanesOf(inst.type) > 1) {
      for (let pack = 0; pack < s.plan.packs; pack++) loadPieces(s, values, value, pack, addresses(base, pack));
      return;
    }
    for (let part = 0; part < values.parts(value); part++) {
      vector(base, part);
      values.put(value, 0, part);
    }
  });
}

/** Whether an access is strided, and its inactive lanes stay within the padding. */
export function isStridedInPadding(s: LaneGroup, addr: Value): boolean {
  const stride = strideOf(s, addr);
  return stride !== undefined && (!s.mask || Math.abs(stride) * s.plan.lanes <= margin);
}

/** Loads the elements of a pack. */
function loadPieces(s: LaneGroup, values: GroupValues, value: Value, pack: number, addresses: LaneAddresses): void {
  const type = typeOf(s, value);
  const isLong = bytesOf(elementOf(type)) === 8;
  loadInterleaved(s, type, addresses, (element, half) => values.put(value, element, isLong ? 2 * pack + half : pack));
}

/** A load at a uniform address. */
function loadUniform(s: LaneGroup, values: GroupValues, inst: InstOf<'load'>, value: Value): void {
  const element = elementOf(inst.type);
  const name = splatLoad(bytesOf(element));
  withBase(s, inst.addr, (base) => {
    for (let at = 0; at < lanesOf(inst.type); at++)
      for (let part = 0; part < values.parts(value); part++) {
        s.code.at('local.get', base);
        s.code.access(name, 1, bias + at * bytesOf(element));
        if (bytesOf(element) < 4) {
          s.code.v128(words(bytesOf(element) === 1 ? 0xff : 0xffff));
          s.code.op('v128.and');
        }
        values.put(value, at, part);
      }
  });
}

/** The offset of an access that many bytes behind an address from which the bias was subtracted. */
export const denseAt = (bytes: number): number => bias + bytes;

/** Pushes one vector of a dense load. */
export function denseVector({ code }: LaneGroup, inst: InstOf<'load'>, pushBase: () => void, part: number): void {
  const bytes = bytesOf(elementOf(inst.type));
  pushBase();
  const offset = bias + part * (bytes === 8 ? 16 : 4 * bytes);
  if (bytes >= 4) return code.access('v128.load', 1, offset);
  if (bytes === 2) return code.access('v128.load16x4_u', 1, offset);
  code.access('v128.load32_zero', 1, offset);
  code.op('i16x8.extend_low_i8x16_u');
  code.op('i32x4.extend_low_i16x8_u');
}

function gather(s: LaneGroup, values: GroupValues, inst: InstOf<'load'>, value: Value): void {
  for (let pack = 0; pack < s.plan.packs; pack++) gatherPack(s, values, inst, value, pack);
}

function gatherPack(s: LaneGroup, values: GroupValues, inst: InstOf<'load'>, value: Value, pack: number): void {
  withAddresses(s, inst.addr, pack, (addresses) => loadPieces(s, values, value, pack, gatheredAddresses(s, addresses)));
}

// ── stores ──

/** A store by all active lanes. */
export function store(s: LaneGroup, inst: InstOf<'store'>): void {
  if (shapeOf(s, inst.addr) === uniform && shapeOf(s, inst.value) === uniform) return storeUniform(s, inst);
  if (!isDense(s, inst.addr, inst.value)) return strideOf(s, inst.addr) === undefined ? scatter(s, inst) : storeStrided(s, inst);
  const bytes = bytesOf(elementOf(typeOf(s, inst.value)));
  withBase(s, inst.addr, (base) => {
    for (let pack = 0; pack < s.plan.packs; pack++) {
      const dense = (): void => (bytes === 8 ? [2 * pack, 2 * pack + 1] : [pack]).forEach((part) => void storeDense(s, inst, base, part));
      if (!s.mask) dense();
      else if (bytes === 4 && isSharedMemory(s, inst.addr)) storeBlended(s, inst, base, pack);
      else storeActive(s, inst, pack, dense);
    }
  });
}

/** Shared memory: only the thread that runs the block writes it, and it is padded for lane groups (`launch/memory-layout.ts`). */
function isSharedMemory(s: LaneGroup, addr: Value): boolean {
  const type = typeOf(s, addr);
  return isPointer(type) && spaceOf(type) === 'shared';
}

/**
 * A dense store of 32-bit lanes in which inactive lanes rewrite the old value. A later vector load then hits one vector store in the store
 * buffer.
 */
function storeBlended(s: LaneGroup, inst: InstOf<'store'>, base: number, pack: number): void {
  const { code } = s;
  code.at('local.get', base);
  s.part(inst.value, pack);
  code.at('local.get', base);
  code.access('v128.load', 1, bias + 16 * pack);
  maskPart(s, pack, false);
  code.op('v128.bitselect');
  code.access('v128.store', 1, bias + 16 * pack);
}

/** A dense store where all lanes of the pack are active, else per lane. */
function storeActive(s: LaneGroup, inst: InstOf<'store'>, pack: number, dense: () => void): void {
  pushAllActive(s, [s.mask![pack]!]);
  s.code.open('if');
  dense();
  s.code.else();
  scatterPack(s, inst, pack);
  s.code.end();
}

/** A uniform value at a uniform address. */
function storeUniform(s: LaneGroup, inst: InstOf<'store'>): void {
  const type = typeOf(s, inst.value);
  const element = elementOf(type);
  const bytes = bytesOf(element);
  const name = storeAs(element, numberOf(s, inst.value));
  withBase(s, inst.addr, (base) => {
    for (let at = 0; at < lanesOf(type); at++) {
      s.code.at('local.get', base);
      s.lane(inst.value, at, 0);
      s.code.access(name, 1, bias + at * bytes);
    }
  });
}

function storeDense(s: LaneGroup, inst: InstOf<'store'>, base: number, part: number): void {
  const { code } = s;
  const bytes = bytesOf(elementOf(typeOf(s, inst.value)));
  const offset = bias + part * (bytes === 8 ? 16 : 4 * bytes);
  code.at('local.get', base);
  s.part(inst.value, part);
  if (bytes >= 4) return code.access('v128.store', 1, offset);
  code.v128(words(0));
  code.op('i16x8.narrow_i32x4_u');
  if (bytes === 2) return code.accessLane('v128.store64_lane', 1, offset, 0);
  code.v128(words(0));
  code.op('i8x16.narrow_i16x8_u');
  code.accessLane('v128.store32_lane', 1, offset, 0);
}

function scatter(s: LaneGroup, inst: InstOf<'store'>): void {
  for (let pack = 0; pack < s.plan.packs; pack++) scatterPack(s, inst, pack);
}

function scatterPack(s: LaneGroup, inst: InstOf<'store'>, pack: number): void {
  ifAnyActive(s, pack, () => scatterLanes(s, inst, pack));
}

function scatterLanes(s: LaneGroup, inst: InstOf<'store'>, pack: number): void {
  withAddresses(s, inst.addr, pack, (addresses) =>
    storeInterleaved(s, inst.value, pack, gatheredAddresses(s, addresses), activeOnly(s, pack)),
  );
}

/** A store with a constant stride. */
function storeStrided(s: LaneGroup, inst: InstOf<'store'>): void {
  withBase(s, inst.addr, (base) => {
    for (let pack = 0; pack < s.plan.packs; pack++)
      ifAnyActive(s, pack, () =>
        storeInterleaved(
          s,
          inst.value,
          pack,
          stridedAddresses(s, inst.addr, () => s.code.at('local.get', base), pack),
          activeOnly(s, pack),
        ),
      );
  });
}

/** Wraps the code of one lane in a test of its mask; undefined where all lanes are active. */
function activeOnly(s: LaneGroup, pack: number): ((lane: number, write: () => void) => void) | undefined {
  return s.mask && ((lane, write) => ifActive(s, 4 * pack + lane, write));
}

/** Emits code of a pack under a test that any of its lanes is active. */
export function ifAnyActive(s: LaneGroup, pack: number, write: () => void): void {
  if (!s.mask) return write();
  s.code.at('local.get', s.mask[pack]!);
  s.code.op('i32x4.bitmask');
  s.code.open('if');
  write();
  s.code.end();
}

/** Emits code of one lane under a test that it is active. */
export function ifActive(s: LaneGroup, lane: number, write: () => void): void {
  if (!s.mask) return write();
  s.code.at('local.get', s.mask[lane >> 2]!);
  s.code.lane('i32x4.extract_lane', lane & 3);
  s.code.open('if');
  write();
  s.code.end();
}
