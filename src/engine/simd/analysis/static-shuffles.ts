/** Static shuffles: shuffles whose source lanes depend on the lane number alone. The code that computes these lane numbers becomes dead. */
import { addInst, dce, evalOp, isEvaluableInst, type Kernel, operandsOf, type Value } from '../../../ir/index.ts';

/** By shuffle: the source lane of each lane. In the kernel a simple value of the same shape replaces the operand that computed it. */
export function staticShufflesOf(kernel: Kernel): Map<Value, readonly number[]> {
  const found = new Map<Value, readonly number[]>();
  for (const block of kernel.blocks) {
    const body: Value[] = [];
    for (const value of block.body) {
      const inst = kernel.insts[value]!;
      const lanes = inst.op === 'shuffle' ? sourceLanes(kernel, inst.b) : undefined;
      if (inst.op === 'shuffle' && lanes) {
        found.set(value, lanes);
        // One source lane for all makes the operand uniform; anything else makes it vary.
        const isOne = lanes.every((lane) => lane === lanes[0]);
        const b = addInst(
          kernel,
          isOne ? { op: 'const', type: 'i32', bits: BigInt(lanes[0]!) } : { op: 'sreg', type: 'i32', name: 'laneid' },
        );
        kernel.insts[value] = { ...inst, b };
        body.push(b);
      }
      body.push(value);
    }
    block.body = body;
  }
  if (found.size > 0) dce(kernel);
  return found;
}

/** The source lane of each lane, where it depends on the lane number alone. */
function sourceLanes(kernel: Kernel, value: Value): number[] | undefined {
  const known = new Map<Value, readonly bigint[] | undefined>();
  const lanes = [...Array(32).keys()];
  const visit = (at: Value, depth: number): readonly bigint[] | undefined => {
    if (known.has(at)) return known.get(at);
    known.set(at, depth > 40 ? undefined : evaluate(at, depth));
    return known.get(at);
  };
  const evaluate = (at: Value, depth: number): readonly bigint[] | undefined => {
    const inst = kernel.insts[at]!;
    if (inst.op === 'sreg') return inst.name === 'laneid' ? lanes.map(BigInt) : undefined;
    if (!isEvaluableInst(inst)) return undefined;
    const operands = operandsOf(inst);
    const types = operands.map((operand) => kernel.insts[operand]!.type);
    if ([inst.type, ...types].some((type) => type.startsWith('ptr.') || type.startsWith('v'))) return undefined;
    const given = operands.map((operand) => visit(operand, depth + 1));
    if (given.some((each) => each === undefined)) return undefined;
    return lanes.map((lane) =>
      evalOp(
        inst,
        given.map((each) => each![lane]!),
        types,
      ),
    );
  };
  return visit(value, 0)?.map((lane, own) => (lane < 32n ? Number(lane) : own));
}
