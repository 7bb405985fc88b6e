/**
 * Loads and stores in AIR. A volatile access to device memory is an atomic access, because threadgroups do not see each other's plain ones.
 * Those exist for 32 bits only, so Apple targets refuse other sizes.
 */
import type { Value as LlvmValue } from '../../bitcode/model.ts';
import { types } from '../../bitcode/types.ts';
import { bitsOf, bytesOf, type InstOf, type Type as IrType, isPointer, isVector, type ScalarType, type Value } from '../../ir/index.ts';
import { atomicFunction, type Intrinsic } from '../intrinsics.ts';
import { addressFor, llvmType } from './address.ts';
import { orderOf } from './atomic-rules.ts';
import type { KernelEmitter } from './emitter.ts';

/** Pointers are stored as 64-bit addresses. */
const memoryType = (type: IrType): IrType => (isPointer(type) ? 'i64' : type);

export function loadRule(e: KernelEmitter, { addr, type, align, volatile }: InstOf<'load'>, value: Value): LlvmValue {
  const moved = memoryType(type);
  const row = volatile && inDevice(e, addr) ? coherentAccess(e, 'load', moved, align, value) : undefined;
  const pointer = addressFor(e, addr, moved, align);
  if (row) return e.call(row, [pointer, ...orderOf('global')]);
  return e.b.emit('load', llvmType(moved), { pointer, align: Math.min(align, bytesOf(moved)), isVolatile: volatile });
}

export function storeRule(e: KernelEmitter, { addr, value, align, volatile }: InstOf<'store'>, store: Value): undefined {
  const type = memoryType(e.kernel.insts[value]!.type);
  const row = volatile && inDevice(e, addr) ? coherentAccess(e, 'store', type, align, store) : undefined;
  const pointer = addressFor(e, addr, type, align);
  if (row) e.call(row, [pointer, e.value(value), ...orderOf('global')]);
  else e.b.emit('store', types.void, { pointer, value: e.value(value), align: Math.min(align, bytesOf(type)), isVolatile: volatile });
  return undefined;
}

const inDevice = (e: KernelEmitter, addr: Value): boolean => e.kernel.insts[addr]!.type === 'ptr.global';

/**
 * The atomic access for memory that other threads observe. Without one, the CPU device uses a plain access, and other targets refuse it.
 */
function coherentAccess(e: KernelEmitter, form: 'load' | 'store', type: IrType, align: number, at: Value): Intrinsic | undefined {
  const row = isVector(type) || align < 4 ? undefined : atomicFunction(form, 'global', type as ScalarType);
  if (row || e.target.allowsCpuOnly) return row;
  const what = `a volatile or relaxed ${form} of ${isVector(type) ? type : `${bitsOf(type)} bits`} in global memory`;
  const span = e.kernel.locs[at];
  const why = 'Apple GPUs have coherent accesses of 32 bits only';
  e.diagnostics.report('CM2090', { what, target: e.target.name, why }, span ? { span } : {});
  return undefined;
}
