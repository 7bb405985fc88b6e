/**
 * Atomics. Where one thread runs at a time, reading and writing back is one step; memory that workers share has them in
 * `shared-atomics.ts`. Operands are put aside first, in locals that no other rule uses: working them out may use the others.
 */
import { type AtomicOp, flushesSubnormals, type InstOf, type Value } from '../../ir/index.ts';
import { call, type Emitter, suffix } from '../codegen/emitter.ts';
import { wordOpOf } from '../codegen/lane-ops.ts';
import { heldAs } from '../codegen/values.ts';
import { wrapAddress } from './memory-rules.ts';
import { directAtomic, isForAll, type AtomicPlaces as LaneAddresses, writeDirect, writeOneSwap, writeSwaps } from './shared-atomics.ts';

/** Puts the address and the operand aside. */
function prepare(e: Emitter, inst: InstOf<'atomic'> | InstOf<'cas'>, value: Value): LaneAddresses {
  const type = heldAs(inst.type);
  const operand = e.values.scratch(type, 1);
  const address = e.values.scratch('i32', 2);
  const old = e.values.scratch(type, 3);
  e.values.push(inst.b);
  e.code.at('local.set', operand);
  if (e.index) e.index();
  else {
    e.values.push(inst.a);
    if (e.sanitizer) e.sanitizer.place(e, inst, value, 0);
    else wrapAddress(e);
  }
  e.probe?.accesses(e, value);
  e.code.at('local.set', address);
  return { type, address, old, operand };
}

/** Reads the old value, where nobody else writes it meanwhile. */
function readOld({ code }: Emitter, { type, address, old }: LaneAddresses): void {
  code.at('local.get', address);
  code.access(`${type}.load`, 1);
  code.at('local.set', old);
}

/** Leaves the old value on the stack. */
export function atomic(e: Emitter, inst: InstOf<'atomic'>, value: Value): void {
  const places = prepare(e, inst, value);
  const isFlushed = flushesSubnormals(e.kernel, inst) || (e.isFlushing && inst.rmw === 'fadd' && inst.type === 'f32');
  const pushNew = (): void => (isFlushed ? addFlushed(e, places) : writeNew(e, inst.rmw, places));
  if (isForAll(e, inst.a)) {
    const name = directAtomic(inst.rmw, places.type);
    if (name) writeDirect(e, name, places);
    else writeSwaps(e, places, pushNew);
    return e.code.at('local.get', places.old);
  }
  const name = wordOpOf(inst.rmw);
  if (name && places.type === 'i32' && !e.sanitizer) return inOneLane(e, name, places);
  readOld(e, places);
  e.code.at('local.get', places.address);
  pushNew();
  e.code.access(`${places.type}.store`, 1);
  e.sanitizer?.changed(e, places.type, places.address, places.old);
  e.code.at('local.get', places.old);
}

/**
 * Changes a word in the lane of a vector, and leaves the old one on the stack. A Zen 4 guesses which store a load into a general register
 * meets; where a kernel has more than some such pairs it guesses wrong, and each then costs up to fourteen times as much. It does not guess for
 * vectors. As floats words go there and back by one instruction each, with their bits as they are.
 */
function inOneLane({ code, values }: Emitter, name: string, { address, operand }: LaneAddresses): void {
  const word = values.scratch('v128', 4);
  code.at('local.get', address);
  code.access('f32.load', 1);
  code.op('f32x4.splat');
  code.at('local.set', word);
  code.at('local.get', address);
  code.at('local.get', word);
  code.at('local.get', operand);
  code.op('i32x4.splat');
  code.op(name);
  code.lane('f32x4.extract_lane', 0);
  code.access('f32.store', 1);
  code.at('local.get', word);
  code.lane('i32x4.extract_lane', 0);
}

function writeNew(e: Emitter, rmw: AtomicOp, { type, old, operand }: LaneAddresses): void {
  const { code } = e;
  if (rmw === 'exch') return code.at('local.get', operand);
  if (rmw === 'inc' || rmw === 'dec') return writeWrapping(e, rmw, { old, operand });
  code.at('local.get', old);
  code.at('local.get', operand);
  if (rmw === 'smin' || rmw === 'smax' || rmw === 'umin' || rmw === 'umax') call(e, `${rmw}${suffix(type)}`);
  else code.op(`${type}.${rmw === 'fadd' ? 'add' : rmw}`);
}

function addFlushed(e: Emitter, { old, operand }: LaneAddresses): void {
  for (const local of [old, operand]) {
    e.code.at('local.get', local);
    call(e, 'flush32');
  }
  e.code.op('f32.add');
  call(e, 'flush32');
}

/** `old >= b ? 0 : old + 1`, or `old == 0 || old > b ? b : old - 1`, of words. */
function writeWrapping({ code }: Emitter, rmw: 'inc' | 'dec', { old, operand }: Pick<LaneAddresses, 'old' | 'operand'>): void {
  if (rmw === 'inc') code.i32(0);
  else code.at('local.get', operand);
  code.at('local.get', old);
  code.i32(1);
  code.op(rmw === 'inc' ? 'i32.add' : 'i32.sub');
  code.at('local.get', old);
  code.at('local.get', operand);
  code.op(rmw === 'inc' ? 'i32.ge_u' : 'i32.gt_u');
  if (rmw === 'dec') {
    code.at('local.get', old);
    code.op('i32.eqz');
    code.op('i32.or');
  }
  code.op('select');
}

/** Leaves the old value on the stack. */
export function compareAndSwap(e: Emitter, inst: InstOf<'cas'>, value: Value): void {
  const type = heldAs(inst.type);
  const wanted = e.values.scratch(type, 4);
  e.values.push(inst.c);
  e.code.at('local.set', wanted);
  const places = prepare(e, inst, value);
  const { address, old, operand } = places;
  if (isForAll(e, inst.a)) {
    writeOneSwap(e, places, wanted);
    return e.code.at('local.get', old);
  }
  readOld(e, places);
  e.code.at('local.get', address);
  e.code.at('local.get', wanted);
  e.code.at('local.get', old);
  e.code.at('local.get', old);
  e.code.at('local.get', operand);
  e.code.op(`${type}.eq`);
  e.code.op('select');
  e.code.access(`${type}.store`, 1);
  e.sanitizer?.changed(e, type, address, old);
  e.code.at('local.get', old);
}
