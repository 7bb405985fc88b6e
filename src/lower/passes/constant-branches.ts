/**
 * Branches whose condition the arguments of a call decide: what a function does with a pointer that is null here, or with a
 * flag that is off, is no part of the kernel, and what would be refused in it is none of its faults.
 */
import { evalOp, type Inst, isEvaluableInst, isScalar, type Kernel, operandsOf, type Value } from '../../ir/index.ts';

/** Makes jumps of branches whose condition is known; blocks stand in the order in which control reaches them. Gives whether there were any. */
export function takeConstantBranches(kernel: Kernel): boolean {
  const known = new Map<Value, bigint>();
  let changed = false;
  for (const block of kernel.blocks) {
    for (const value of block.body) {
      const bits = constantBits(kernel, kernel.insts[value]!, (operand) => known.get(operand));
      if (bits !== undefined) known.set(value, bits);
    }
    const { end } = block;
    const taken = end.op === 'condbr' ? known.get(end.cond) : undefined;
    if (end.op !== 'condbr' || taken === undefined) continue;
    block.end = { op: 'br', to: taken === 1n ? end.then : end.else };
    changed = true;
  }
  return changed;
}

/** What an instruction gives, where its operands are known; `bitsOf` says what they are. */
export function constantBits(kernel: Kernel, inst: Inst, bitsOf: (operand: Value) => bigint | undefined): bigint | undefined {
  if (inst.op === 'const') return inst.bits;
  if (!isScalar(inst.type) || !isEvaluableInst(inst)) return undefined;
  const operands = operandsOf(inst);
  const bits = operands.map(bitsOf);
  if (bits.some((each) => each === undefined)) return undefined;
  return evalOp(
    inst,
    bits as bigint[],
    operands.map((operand) => kernel.insts[operand]!.type),
  );
}
