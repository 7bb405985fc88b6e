/** Removes the lane masks that only the sanitizer uses. It runs before other passes, so that their results do not depend on the masks. */
import type { Kernel } from '../kernel.ts';

/** Removes every `members`, in place; returns whether there was any. Their operands are left to `dce`. */
export function dropMembers(kernel: Kernel): boolean {
  let changed = false;
  for (const block of kernel.blocks) {
    if (!block.body.some((value) => kernel.insts[value]!.op === 'members')) continue;
    block.body = block.body.filter((value) => kernel.insts[value]!.op !== 'members');
    changed = true;
  }
  return changed;
}
