/** Which kernels have long straight-line code, decided before lane groups are planned. */
import { isAddressCheck, isVector, type Kernel, operandsOf, specOf, type Value, varying } from '../../../ir/index.ts';
import { isLeaf } from '../../codegen/plan.ts';
import { tuning } from '../../tuning.ts';
import type { Shapes } from './lane-shapes.ts';

/** Whether a stretch of vector instructions is worth re-rolling: it is long and has enough instruction-level parallelism. */
export function isLongStretch({ insts }: Kernel, values: readonly Value[]): boolean {
  if (values.length < tuning.minRerolledInstructions) return false;
  const depths = new Map<Value, number>();
  let deepest = 0;
  for (const value of values) {
    const depth = 1 + Math.max(0, ...operandsOf(insts[value]!).map((operand) => depths.get(operand) ?? 0));
    depths.set(value, depth);
    deepest = Math.max(deepest, depth);
  }
  return values.length >= tuning.minParallelism * deepest;
}

/** Whether a kernel has a stretch that may be re-rolled, without asking the rules. Its lane groups are then as large as possible. */
export function hasLongStretch(kernel: Kernel, { shape }: Shapes): boolean {
  return kernel.blocks.some(({ body }) => {
    let run: Value[] = [];
    for (const value of body) {
      const inst = kernel.insts[value]!;
      if ((specOf(inst.op).effect === 'pure' || inst.op === 'load' || isAddressCheck(inst)) && !isVector(inst.type)) {
        if (isAddressCheck(inst)) continue;
        if (shape[value] === varying && !isLeaf(inst)) run.push(value);
        continue;
      }
      if (isLongStretch(kernel, run)) return true;
      run = [];
    }
    return isLongStretch(kernel, run);
  });
}
