/** Who uses a value. */
import { operandsOf, type Value } from '../../../ir/index.ts';
import type { SimdPlan } from './plan.ts';

/** By value: an instruction that uses it, the only one of a value that is used once. */
export function consumersOf({ kernel }: SimdPlan): Map<Value, Value> {
  const consumers = new Map<Value, Value>();
  for (const { body } of kernel.blocks)
    for (const value of body) for (const operand of operandsOf(kernel.insts[value]!)) consumers.set(operand, value);
  return consumers;
}

/** Whether a value is what its block branches on. */
export function isCondition({ kernel, home }: SimdPlan, value: Value): boolean {
  const { end } = kernel.blocks[home[value]!]!;
  return end.op === 'condbr' && end.cond === value;
}
