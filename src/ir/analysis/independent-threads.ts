/** Kernels whose threads do not communicate, so that every order of their instructions gives the same results. */
import { isHidden, type Kernel } from '../kernel.ts';
import { specOf } from '../ops.ts';

/**
 * Whether the threads of a kernel share no memory but what they load and store in global memory without an order, which no correct kernel
 * relies on: it has no shared memory, barrier, atomic, fence, collective or clock, and needs nothing of the device but a word for its faults.
 */
export function hasIndependentThreads({ blocks, insts, params, variables }: Kernel): boolean {
  if (variables.some(({ space }) => space === 'shared')) return false;
  if (params.some((param) => param.kind === 'threadgroup' || (isHidden(param) && param.memory === undefined && param.faults === undefined)))
    return false;
  return blocks.every(({ body }) =>
    body.every((value) => {
      const inst = insts[value]!;
      if (inst.op === 'load' && inst.volatile) return false;
      const { effect } = specOf(inst.op);
      return effect === 'pure' || effect === 'reads' || inst.op === 'store';
    }),
  );
}
