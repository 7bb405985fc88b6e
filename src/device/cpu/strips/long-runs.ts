/** Which kernels have long straight code, told before strips are planned. */
import { isVector, type Kernel, specOf } from '../../../ir/index.ts';
import { isFree } from '../compile/plan.ts';
import type { Shapes } from './shapes.ts';

/** Vector instructions from which on straight code is rolled (`rolled.ts`), whatever the strip's length. */
export const fewestRolled = 360;

/** Whether a kernel has code that may be rolled, told without rules: strips are as long as they can be then. */
export function hasLongRun(kernel: Kernel, { shape }: Shapes): boolean {
  return kernel.blocks.some(({ body }) => {
    let length = 0;
    return body.some((value) => {
      const inst = kernel.insts[value]!;
      if ((specOf(inst.op).effect !== 'pure' && inst.op !== 'load') || isVector(inst.type)) length = 0;
      else if (shape[value] === 2 && !isFree(inst)) length++;
      return length >= fewestRolled;
    });
  });
}
