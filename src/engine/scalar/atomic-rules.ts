/**
 * Atomics of the scalar compiler. Where one worker runs the kernel, a load and a store are atomic; `shared-atomics.ts` has the atomics on memory
 * that workers share. Address and operand are saved in scratch locals first.
 */
import { type AtomicOp, flushesSubnormals, type InstOf, type Value } from '../../ir/index.ts';
import type { NameWith } from '../../wasm/index.ts';
import { call, type Emitter, suffix } from '../codegen/emitter.ts';
import { wordOpOf } from '../codegen/lane-ops.ts';
import { withScratch } from '../codegen/scratch.ts';
import { heldAs } from '../codegen/values.ts';
import { wrapAddress } from './memory-rules.ts';
import { type AtomicLocals, bitsType, directAtomic, isShared, writeDirect, writeOneSwap, writeSwaps } from './shared-atomics.ts';

/** Saves the address and the operand in locals, and runs `body` with them. */
function withAtomicLocals(e: Emitter, inst: InstOf<'atomic'> | InstOf<'cas'>, value: Value, body: (locals: AtomicLocals) => void): void {
  const type = heldAs(inst.type);
  withScratch(e, type, 2, ([operand, old]) =>
    withScratch(e, 'i32', 1, ([address]) => {
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
      body({ type, address, old, operand });
    }),
  );
}

/** Loads the old value, in memory that no other worker accesses. */
function readOld({ code }: Emitter, { type, address, old }: AtomicLocals): void {
  code.at('local.get', address);
  code.access(`${type}.load`, 1);
  code.at('local.set', old);
}

/** An atomic read-modify-write; leaves the old value on the stack. */
export function atomic(e: Emitter, inst: InstOf<'atomic'>, value: Value): void {
  withAtomicLocals(e, inst, value, (locals) => readModifyWrite(e, inst, locals));
}

function readModifyWrite(e: Emitter, inst: InstOf<'atomic'>, locals: AtomicLocals): void {
  const isFlushed = flushesSubnormals(e.kernel, inst) || (e.isFlushing && inst.rmw === 'fadd' && inst.type === 'f32');
  const pushNew = (): void => (isFlushed ? addFlushed(e, locals) : writeNew(e, inst.rmw, locals));
  if (isShared(e, inst.a)) {
    const name = directAtomic(inst.rmw, locals.type);
    if (name) writeDirect(e, name, locals);
    else writeSwaps(e, locals, pushNew);
    return e.code.at('local.get', locals.old);
  }
  const name = wordOpOf(inst.rmw);
  if (name && locals.type === 'i32' && !e.sanitizer) return inOneLane(e, name, locals);
  readOld(e, locals);
  e.code.at('local.get', locals.address);
  pushNew();
  e.code.access(`${locals.type}.store`, 1);
  e.sanitizer?.changed(e, locals.type, locals.address, locals.old);
  e.code.at('local.get', locals.old);
}

/**
 * An atomic on 32 bits by way of a vector register; leaves the old value on the stack. Zen 4 predicts which store forwards to a load into a
 * general register (memory renaming). A kernel with more than a few such pairs is mispredicted, and each pair then costs up to fourteen times as
 * much. Loads into vector registers are not predicted. An f32 load and store move the bits unchanged, with one instruction each.
 */
function inOneLane(e: Emitter, name: NameWith<'none'>, { address, operand }: AtomicLocals): void {
  const { code } = e;
  withScratch(e, 'v128', 1, ([word]) => {
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
  });
}

/** Pushes the new value. */
function writeNew(e: Emitter, rmw: AtomicOp, { type, old, operand }: AtomicLocals): void {
  const { code } = e;
  if (rmw === 'exch') return code.at('local.get', operand);
  if (rmw === 'inc' || rmw === 'dec') return writeWrapping(e, rmw, { old, operand });
  code.at('local.get', old);
  code.at('local.get', operand);
  if (rmw === 'smin' || rmw === 'smax' || rmw === 'umin' || rmw === 'umax') call(e, `${rmw}${suffix(type)}`);
  else if (rmw === 'fadd') {
    code.op(`${type}.add`);
    if (type === 'f32') withOneNaN(e);
  } else code.op(`${bitsType(type)}.${rmw}`);
}

/** Pushes the sum of two f32 values, with subnormals flushed. */
function addFlushed(e: Emitter, { old, operand }: AtomicLocals): void {
  for (const local of [old, operand]) {
    e.code.at('local.get', local);
    call(e, 'flush32');
  }
  e.code.op('f32.add');
  call(e, 'flush32');
  withOneNaN(e);
}

/** Replaces a NaN on top of the stack by that which GPUs give. Source: recorded on an NVIDIA H200. */
function withOneNaN(e: Emitter): void {
  const { code } = e;
  withScratch(e, 'f32', 1, ([sum]) => {
    code.at('local.tee', sum);
    code.f32(0x7fff_ffff);
    code.at('local.get', sum);
    code.at('local.get', sum);
    code.op('f32.eq');
    code.op('select');
  });
}

/** Pushes `old >= b ? 0 : old + 1`, or `old == 0 || old > b ? b : old - 1`, in 32 bits. */
function writeWrapping({ code }: Emitter, rmw: 'inc' | 'dec', { old, operand }: Pick<AtomicLocals, 'old' | 'operand'>): void {
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

/** An atomic compare-and-swap; leaves the old value on the stack. */
export function compareAndSwap(e: Emitter, inst: InstOf<'cas'>, value: Value): void {
  withScratch(e, heldAs(inst.type), 1, ([replacement]) => {
    e.values.push(inst.c);
    e.code.at('local.set', replacement);
    withAtomicLocals(e, inst, value, (locals) => swapIfEqual(e, inst, locals, replacement));
  });
}

function swapIfEqual(e: Emitter, inst: InstOf<'cas'>, locals: AtomicLocals, replacement: number): void {
  const { type, address, old, operand } = locals;
  if (isShared(e, inst.a)) {
    writeOneSwap(e, locals, replacement);
    return e.code.at('local.get', old);
  }
  readOld(e, locals);
  e.code.at('local.get', address);
  e.code.at('local.get', replacement);
  e.code.at('local.get', old);
  e.code.at('local.get', old);
  e.code.at('local.get', operand);
  e.code.op(`${type}.eq`);
  e.code.op('select');
  e.code.access(`${type}.store`, 1);
  e.sanitizer?.changed(e, type, address, old);
  e.code.at('local.get', old);
}
