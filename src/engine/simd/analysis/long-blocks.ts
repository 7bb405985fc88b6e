/** Which kernels have long straight code, told before strips are planned. */
import { isVector, type Kernel, operandsOf, specOf, type Value } from '../../../ir/index.ts';
import { isLeaf } from '../../codegen/plan.ts';
import type { Shapes } from './lane-shapes.ts';

/** Vector instructions from which on straight code is rolled (`emit/reroll.ts`), whatever the strip's length. */
export const minRerolledInstructions = 360;
/** Instructions that have to wait for no other, by mean: where each waits for the one before, one vector alone keeps no processor busy. */
const leastParallel = 2.5;

/** Whether a stretch of vector instructions is worth being rolled: it is long, and a processor finds enough in it that can be done at once. */
export function isLongStretch({ insts }: Kernel, values: readonly Value[]): boolean {
  if (values.length < minRerolledInstructions) return false;
  const depths = new Map<Value, number>();
  let deepest = 0;
  for (const value of values) {
    const depth = 1 + Math.max(0, ...operandsOf(insts[value]!).map((operand) => depths.get(operand) ?? 0));
    depths.set(value, depth);
    deepest = Math.max(deepest, depth);
  }
  return values.length >= leastParallel * deepest;
}

/** Whether a kernel has code that may be rolled, told without rules: strips are as long as they can be then. */
export function hasLongStretch(kernel: Kernel, { shape }: Shapes): boolean {
  return kernel.blocks.some(({ body }) => {
    let run: Value[] = [];
    for (const value of body) {
      const inst = kernel.insts[value]!;
      if ((specOf(inst.op).effect === 'pure' || inst.op === 'load') && !isVector(inst.type)) {
        if (shape[value] === 2 && !isLeaf(inst)) run.push(value);
        continue;
      }
      if (isLongStretch(kernel, run)) return true;
      run = [];
    }
    return isLongStretch(kernel, run);
  });
}
