/** Scalar rules of loads and stores, which wrap their address first, and of select. Vectors are handled element by element. */

import { bytesOf, elementOf, type InstOf, isVector, lanesOf, type Type, type Value } from '../../ir/index.ts';
import type { NameWith } from '../../wasm/index.ts';
import { faultMisaligned } from '../codegen/check-alignment.ts';
import { type Emitter, pushAll, typeOf, writeBits } from '../codegen/emitter.ts';
import type { SanitizerHooks } from '../codegen/hooks.ts';
import { loadAs, storeAs } from '../codegen/mnemonics.ts';
import { withScratch } from '../codegen/scratch.ts';
import { heldAs } from '../codegen/values.ts';
import { isStrong, loadStrong, storeStrong } from './shared-atomics.ts';

/** A select; for a vector the condition is evaluated once. */
export function select(e: Emitter, inst: InstOf<'select'>): void {
  if (!isVector(inst.type)) {
    pushAll(e, [inst.a, inst.b, inst.cond]);
    return e.code.op('select');
  }
  withScratch(e, 'i32', 1, ([cond]) => {
    e.values.push(inst.cond);
    e.code.at('local.set', cond);
    for (let lane = 0; lane < lanesOf(inst.type); lane++) {
      e.values.pushLane(inst.a, lane);
      e.values.pushLane(inst.b, lane);
      e.code.at('local.get', cond);
      e.code.op('select');
    }
  });
}

/** The WebAssembly instruction that loads a scalar or pointer. */
export const loadOf = (element: Type): NameWith<'memory'> => loadAs(element, heldAs(element));
const storeOf = (element: Type): NameWith<'memory'> => storeAs(element, heldAs(element));

/**
 * Converts the 64-bit address on the stack to a memory index. The first 64 KiB page is unmapped by convention, and memory ends below 4 GiB: an
 * address outside becomes an index at which every access traps. The index is a multiple of 8, so an atomic does not trap for its alignment.
 */
export function wrapAddress(e: Emitter): void {
  withScratch(e, 'i64', 1, ([address]) => {
    e.code.at('local.tee', address);
    e.code.op('i32.wrap_i64');
    e.code.i32(-8);
    e.code.at('local.get', address);
    e.code.i64(65536n);
    e.code.op('i64.sub');
    e.code.i64(0xffff0000n);
    e.code.op('i64.lt_u');
    e.code.op('select');
  });
}

/** Faults unless an address is a multiple of a power of two. */
export function checkAligned(e: Emitter, { a, align }: InstOf<'aligned'>): void {
  e.values.push(a);
  e.code.op('i32.wrap_i64');
  e.code.i32(align - 1);
  e.code.op('i32.and');
  e.code.openRare();
  faultMisaligned(e.code);
  e.code.end();
}

/** A load, element by element. */
export function load(e: Emitter, inst: InstOf<'load'>, value: Value): void {
  if (e.sanitizer) return checkedLoad(e, e.sanitizer, inst, value);
  const element = elementOf(inst.type);
  const name = loadOf(element);
  const size = bytesOf(element);
  const read = (offset: number): void => (isStrong(e, inst) ? loadStrong(e, element, offset) : e.code.access(name, 1, offset));
  e.values.push(inst.addr);
  wrapAddress(e);
  e.probe?.accesses(e, value);
  if (!isVector(inst.type)) return read(0);
  withScratch(e, 'i32', 1, ([base]) => {
    e.code.at('local.set', base);
    for (let lane = 0; lane < lanesOf(inst.type); lane++) {
      e.code.at('local.get', base);
      read(lane * size);
    }
  });
}

/** A store, element by element. */
export function store(e: Emitter, inst: InstOf<'store'>, value: Value): void {
  if (e.sanitizer) return checkedStore(e, e.sanitizer, inst, value);
  const type = typeOf(e, inst.value);
  const element = elementOf(type);
  const name = storeOf(element);
  const write = (offset: number): void => (isStrong(e, inst) ? storeStrong(e, element, offset) : e.code.access(name, 1, offset));
  e.values.push(inst.addr);
  wrapAddress(e);
  e.probe?.accesses(e, value);
  if (!isVector(type)) {
    e.values.push(inst.value);
    return write(0);
  }
  withScratch(e, 'i32', 1, ([base]) => {
    e.code.at('local.set', base);
    for (let lane = 0; lane < lanesOf(type); lane++) {
      e.code.at('local.get', base);
      e.values.pushLane(inst.value, lane);
      write(lane * bytesOf(element));
    }
  });
}

// ── accesses that a sanitizer checks ──

/** Visits every element with its address on the stack. */
function eachAddress(e: Emitter, addr: Value, type: Type, act: (lane: number) => void): void {
  e.values.push(addr);
  if (!isVector(type)) return act(0);
  withScratch(e, 'i64', 1, ([base]) => {
    e.code.at('local.set', base);
    for (let lane = 0; lane < lanesOf(type); lane++) {
      e.code.at('local.get', base);
      e.code.i64(BigInt(lane * bytesOf(elementOf(type))));
      e.code.op('i64.add');
      act(lane);
    }
  });
}

function checkedLoad(e: Emitter, sanitizer: SanitizerHooks, inst: InstOf<'load'>, value: Value): void {
  const element = elementOf(inst.type);
  eachAddress(e, inst.addr, inst.type, (lane) => {
    sanitizer.place(e, inst, value, lane);
    e.code.access(loadOf(element), 1);
  });
}

function checkedStore(e: Emitter, sanitizer: SanitizerHooks, inst: InstOf<'store'>, value: Value): void {
  const type = typeOf(e, inst.value);
  const element = elementOf(type);
  withScratch(e, heldAs(element), 1, ([stored]) => {
    const saveStored = (lane: number): void => {
      if (isVector(type)) e.values.pushLane(inst.value, lane);
      else e.values.push(inst.value);
      e.code.at('local.set', stored);
    };
    if (!isVector(type)) saveStored(0);
    eachAddress(e, inst.addr, type, (lane) => {
      if (isVector(type)) saveStored(lane);
      sanitizer.place(e, inst, value, lane, () => {
        e.code.at('local.get', stored);
        writeBits(e.code, element);
      });
      e.code.at('local.get', stored);
      e.code.access(storeOf(element), 1);
    });
  });
}
