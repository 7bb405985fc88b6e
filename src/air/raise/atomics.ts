/** Raises AIR atomics from any compiler. The order is relaxed, or stronger than a CPU that runs one thread needs. */
import type { InstructionOf } from '../../bitcode/model.ts';
import { bytesOf, type ScalarType, type Value } from '../../ir/index.ts';
import { type Intrinsic, isCpuOnly } from '../intrinsics.ts';
import type { Lanes } from '../types.ts';
import type { RaiseState } from './state.ts';

/** The result of a call of an atomic function; undefined if there is none. */
export function raiseAtomic(state: RaiseState, row: Intrinsic, inst: InstructionOf<'call'>): Lanes | undefined {
  const { b } = state;
  const [pointer, x, y] = inst.args.flatMap((arg) => (arg.kind === 'metadata' ? [] : [state.scalar(arg)])) as [Value, Value, Value];
  const type = row.operand!;
  const access = { align: bytesOf(type), volatile: true };
  switch (row.atomic!.form) {
    case 'load':
      return [b.load(type, pointer, access)];
    case 'store':
      b.store(pointer, x, access);
      return undefined;
    case 'sub':
      return [b.atomic(pointer, type === 'f32' ? b.fneg(x) : b.sub(b.const(type, 0), x), { rmw: type === 'f32' ? 'fadd' : 'add' })];
    case 'cas':
      return [isCpuOnly(row) ? b.cas(pointer, x, y) : swap(state, type, pointer, x, y)];
    default: {
      const before = b.atomic(pointer, x, { rmw: row.atomic!.form });
      return inst.type.kind === 'void' ? undefined : [before];
    }
  }
}

/** The expected value is in memory, and the old value replaces it. */
function swap({ b }: RaiseState, type: ScalarType, pointer: Value, address: Value, desired: Value): Value {
  const access = { align: 4, volatile: false };
  const found = b.cas(pointer, b.load(type, address, access), desired);
  b.store(address, found, access);
  return found;
}
