/** Uses of values. */
import { operandsOf, type Value } from '../../../ir/index.ts';
import type { SimdPlan } from './plan.ts';

/** By value: an instruction that uses it. For a value with one use it is the only one. */
export function consumersOf({ kernel }: SimdPlan): Map<Value, Value> {
  const consumers = new Map<Value, Value>();
  for (const { body } of kernel.blocks)
    for (const value of body) for (const operand of operandsOf(kernel.insts[value]!)) consumers.set(operand, value);
  return consumers;
}

/** Whether a value is the branch condition of its block. */
export function isCondition({ kernel, home }: SimdPlan, value: Value): boolean {
  const { end } = kernel.blocks[home[value]!]!;
  return end.op === 'condbr' && end.cond === value;
}
