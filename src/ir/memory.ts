/** Memory accesses: one description for loads, stores and atomics. */
import type { Inst, InstOf, Kernel, Value } from './kernel.ts';
import { elementOf, type ScalarType } from './types.ts';

export interface Access {
  readonly addr: Value;
  /** The type that is moved; of a vector its element. */
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

/** Whether an instruction checks the address of an access behind it, as each launch does. */
export const isAddressCheck = ({ op }: Inst): boolean => op === 'addressable' || op === 'aligned';

/** Whether an atomic flushes subnormal operands and results to zeros of their sign: NVIDIA GPUs do so for f32 sums, in global memory alone. */
export const flushesSubnormals = (kernel: Kernel, { rmw, type, a }: InstOf<'atomic'>): boolean =>
  rmw === 'fadd' && type === 'f32' && kernel.insts[a]!.type === 'ptr.global';
