/** The addresses of variables as numbers: `ptrtoint` of a variable is its offset in the window, which the passes can then fold. */
import { windowOf } from '../air/windows.ts';
import { type Kernel, type PointerType, spaceOf } from '../ir/index.ts';

/** Replaces the addresses of variables, in place. */
export function resolveOffsets(kernel: Kernel): void {
  const { insts } = kernel;
  for (const { body } of kernel.blocks)
    for (const value of body) {
      const inst = insts[value]!;
      if (inst.op !== 'ptrtoint') continue;
      const of = insts[inst.a]!;
      if (of.op !== 'variable') continue;
      const offset = windowOf(kernel, spaceOf(of.type as PointerType) as 'shared')!.offsets.get(of.name)!;
      insts[value] = { op: 'const', type: 'i64', bits: BigInt(offset) };
    }
}
