/** Takes out what only the sanitizer wants: which lanes take part in what a warp does. Before other passes, so that code is what it would be without. */
import type { Kernel } from '../kernel.ts';

/** Removes every `members`, in place; true where there was any. What it was computed from is left to `dce`. */
export function dropMembers(kernel: Kernel): boolean {
  let changed = false;
  for (const block of kernel.blocks) {
    if (!block.body.some((value) => kernel.insts[value]!.op === 'members')) continue;
    block.body = block.body.filter((value) => kernel.insts[value]!.op !== 'members');
    changed = true;
  }
  return changed;
}
