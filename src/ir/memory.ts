/** What instructions do to memory, for whoever looks at accesses of every kind. */
import type { Inst, Kernel, Value } from './kernel.ts';
import { elementOf, type ScalarType } from './types.ts';

export interface Access {
  readonly addr: Value;
  /** What is moved; of a vector its element. */
  readonly element: ScalarType;
  readonly reads: boolean;
  readonly writes: boolean;
}

/** The address that an instruction accesses. */
export function addressOf(inst: Inst): Value | undefined {
  if (inst.op === 'load' || inst.op === 'store') return inst.addr;
  return inst.op === 'atomic' || inst.op === 'cas' ? inst.a : undefined;
}

/** The access that an instruction is. */
export function accessOf(kernel: Kernel, inst: Inst): Access | undefined {
  const addr = addressOf(inst);
  if (addr === undefined) return undefined;
  const moved = inst.op === 'store' ? kernel.insts[inst.value]!.type : inst.type;
  return { addr, element: elementOf(moved), reads: inst.op !== 'store', writes: inst.op !== 'load' };
}
