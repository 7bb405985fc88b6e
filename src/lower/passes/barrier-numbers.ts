/** Numbers of barriers that only calls in place show, as debug builds have them: 0 is the barrier of the block, others are refused. */
import type { Diagnostics } from '../../base/diagnostic.ts';
import { evalOp, isEvaluableInst, isScalar, type Kernel, operandsOf, type Value } from '../../ir/index.ts';
import type { Operand } from '../../ptx/index.ts';
import type { BarrierNumber } from '../context.ts';

/** Refuses the barriers that are reached and not known to be number 0. */
export function refuseOtherBarriers(kernel: Kernel, numbers: ReadonlyMap<Value, BarrierNumber>, diagnostics: Diagnostics): void {
  if (numbers.size === 0) return;
  for (const { body } of kernel.blocks)
    for (const value of body) {
      const number = numbers.get(value);
      if (number && constantOf(kernel, number.value) !== 0n) refuseBarrier(number.node, undefined, diagnostics);
    }
}

/** Reports that an operand of a barrier makes it another than that of the whole block. */
export function refuseBarrier({ span }: Operand, why: string | undefined, diagnostics: Diagnostics): void {
  const operand = diagnostics.file?.text.slice(span.start, span.end) ?? '';
  diagnostics.report('CM2049', { operand, why: why ?? 'only barrier 0 is there' }, { span });
}

/** What a value is, where constants decide it within a few steps. */
function constantOf(kernel: Kernel, value: Value, steps = 16): bigint | undefined {
  const inst = kernel.insts[value]!;
  if (inst.op === 'const') return inst.bits;
  if (steps === 0 || !isScalar(inst.type) || !isEvaluableInst(inst)) return undefined;
  const operands = operandsOf(inst);
  const bits = operands.map((operand) => constantOf(kernel, operand, steps - 1));
  if (bits.some((each) => each === undefined)) return undefined;
  return evalOp(
    inst,
    bits as bigint[],
    operands.map((operand) => kernel.insts[operand]!.type),
  );
}
