/**
 * Branches whose condition the arguments of a call decide: the code that a function has for a pointer that is null here, or for a
 * flag that is off, is not part of the kernel, and is not refused.
 */
import { evalOp, type Inst, isEvaluableInst, isScalar, type Kernel, operandsOf, type Value } from '../../ir/index.ts';

/** Makes jumps of branches whose condition is known; blocks are in the order in which control reaches them. Returns whether there were any. */
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

/** The result of an instruction whose operands are known; `bitsOf` gives those. */
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
