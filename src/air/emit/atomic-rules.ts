/** Atomics in AIR: each is one function, or refused if no target has it. */
import type { Value as LlvmValue } from '../../bitcode/model.ts';
import { types } from '../../bitcode/types.ts';
import { type AtomicOp, bytesOf, type InstOf, type ScalarType, type Value } from '../../ir/index.ts';
import { i32Constant, intConstant } from '../constants.ts';
import { type AtomicSpace, atomicFunction, atomicOrder, type Intrinsic, isCpuOnly } from '../intrinsics.ts';
import { addressFor, llvmType } from './address.ts';
import type { KernelEmitter } from './emitter.ts';
import { undef } from './function-builder.ts';

const spaceOf = (e: KernelEmitter, pointer: Value): AtomicSpace | undefined =>
  (({ 'ptr.global': 'global', 'ptr.shared': 'local' }) as const)[e.kernel.insts[pointer]!.type as 'ptr.global'];

/** A read-modify-write operation that returns the old value. */
export function atomicRule(e: KernelEmitter, inst: InstOf<'atomic'>, value: Value): LlvmValue {
  const found = functionFor(e, inst.rmw, inst, value);
  if (!found) return undef(llvmType(inst.type));
  const { row, space } = found;
  const pointer = pointerFor(e, inst);
  return e.call(row, [pointer, e.value(inst.b), ...(isCpuOnly(row) ? [] : orderOf(space))]);
}

/** Apple's compare-and-swap takes the expected value in thread memory. */
export function casRule(e: KernelEmitter, inst: InstOf<'cas'>, value: Value): LlvmValue {
  const found = functionFor(e, 'cas', inst, value);
  if (!found) return undef(llvmType(inst.type));
  const { row, space } = found;
  const pointer = pointerFor(e, inst);
  const [expected, desired] = [e.value(inst.b), e.value(inst.c)];
  if (isCpuOnly(row)) return e.call(row, [pointer, expected, desired]);
  const place = e.entry.emit('alloca', types.pointer(expected.type), { allocated: expected.type, count: i32Constant(1), align: 4 });
  // Allocas come first in the entry block.
  e.entry.block.body.unshift(e.entry.block.body.pop()!);
  e.b.emit('store', types.void, { pointer: place, value: expected, align: 4, isVolatile: false });
  const relaxed = i32Constant(atomicOrder.relaxed);
  return e.call(row, [pointer, place, desired, relaxed, ...orderOf(space)], 'none');
}

/** Relaxed order, and the scope of the address space. */
export const orderOf = (space: AtomicSpace): LlvmValue[] => [
  i32Constant(atomicOrder.relaxed),
  i32Constant(atomicOrder.scope[space]),
  intConstant(types.i1, 1),
];

function pointerFor(e: KernelEmitter, inst: InstOf<'atomic'> | InstOf<'cas'>): LlvmValue {
  return addressFor(e, inst.a, inst.type, bytesOf(inst.type));
}

/** Reports CM2090 if there is no function, or none for the target. Instrumented modules, which only the CPU device runs, have all. */
function functionFor(
  e: KernelEmitter,
  form: AtomicOp | 'cas',
  inst: InstOf<'atomic'> | InstOf<'cas'>,
  value: Value,
): { row: Intrinsic; space: AtomicSpace } | undefined {
  const space = spaceOf(e, inst.a);
  const row = space && atomicFunction(form, space, inst.type as ScalarType);
  if (row && (!isCpuOnly(row) || e.target.allowsCpuOnly || e.lines)) return { row, space };
  // Atomics on f64 (i64 at this point) are already refused.
  if (form === 'fadd' && inst.type === 'i64') return undefined;
  const span = e.kernel.locs[value];
  const why = space ? 'Apple GPUs have 32-bit atomics only' : 'it is neither in global nor in shared memory';
  e.diagnostics.report('CM2090', { what: `an atomic \`${form}\` of ${inst.type}`, target: e.target.name, why }, span ? { span } : {});
  return undefined;
}
