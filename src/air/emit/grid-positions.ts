/**
 * Recognizes `ctaid * ntid + tid`, which nearly every CUDA kernel computes. Metal provides it as the thread's position in the grid: one
 * input instead of three, and the form that Apple's compiler emits.
 */
import type { Inst, Kernel, Sreg, Value } from '../../ir/index.ts';

/** Replaces the sums in place, modulo 2^32 as in PTX. Returns whether there were any. Dead operands remain. */
export function useGridPositions(kernel: Kernel): boolean {
  let changed = false;
  for (const block of kernel.blocks)
    for (const value of block.body) {
      const axis = axisOf(kernel, kernel.insts[value]!);
      if (axis === undefined) continue;
      kernel.insts[value] = { op: 'sreg', type: 'i32', name: `gid.${axis}` as Sreg };
      changed = true;
    }
  return changed;
}

function axisOf(kernel: Kernel, inst: Inst): string | undefined {
  if (inst.op !== 'add' || inst.type !== 'i32') return undefined;
  return axisOfSum(kernel, inst.a, inst.b) ?? axisOfSum(kernel, inst.b, inst.a);
}

function axisOfSum(kernel: Kernel, product: Value, thread: Value): string | undefined {
  const mul = kernel.insts[product]!;
  const axis = registerAxis(kernel, thread, 'tid');
  if (mul.op !== 'mul' || axis === undefined) return undefined;
  const pair = [mul.a, mul.b].map((v) => registerAxis(kernel, v, 'ctaid') ?? registerAxis(kernel, v, 'ntid'));
  const names = [mul.a, mul.b].map((v) => kernel.insts[v]!).map((each) => (each.op === 'sreg' ? each.name.split('.')[0] : ''));
  return pair.every((each) => each === axis) && names[0] !== names[1] ? axis : undefined;
}

/** The axis of a special register with this base: `x` for `tid.x`. */
function registerAxis(kernel: Kernel, value: Value, base: string): string | undefined {
  const inst = kernel.insts[value]!;
  if (inst.op !== 'sreg') return undefined;
  const [name, axis] = inst.name.split('.');
  return name === base && axis !== 'linear' ? axis : undefined;
}
