/** Numbers of barriers that only calls in place show, as debug builds have them: 0 is the barrier of the block, others are refused. */
import type { Diagnostics } from '../../base/diagnostic.ts';
import type { Kernel, Value } from '../../ir/index.ts';
import { type Operand, printOperand } from '../../ptx/index.ts';
import { constantBits } from './constant-branches.ts';

/** The number of a barrier as a value, and its place in the source. */
export interface BarrierNumber {
  readonly value: Value;
  readonly node: Operand;
}

/** Refuses the barriers that are reached and not known to be number 0. */
export function refuseOtherBarriers(kernel: Kernel, numbers: ReadonlyMap<Value, BarrierNumber>, diagnostics: Diagnostics): void {
  if (numbers.size === 0) return;
  for (const { body } of kernel.blocks)
    for (const value of body) {
      const number = numbers.get(value);
      if (number && numberOf(kernel, number.value) !== 0n) refuseBarrier(number.node, undefined, diagnostics);
    }
}

/** Reports that an operand of a barrier makes it another than that of the whole block. */
export const refuseBarrier = (node: Operand, why: string | undefined, diagnostics: Diagnostics): void =>
  diagnostics.report('CM2049', { operand: printOperand(node), why: why ?? 'only barrier 0 is there' }, { span: node.span });

/** The bits of a value, where constants decide them within a few steps. */
const numberOf = (kernel: Kernel, value: Value, steps = 17): bigint | undefined =>
  steps === 0 ? undefined : constantBits(kernel, kernel.insts[value]!, (operand) => numberOf(kernel, operand, steps - 1));
