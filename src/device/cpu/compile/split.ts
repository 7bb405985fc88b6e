/** Cuts basic blocks behind barriers, so that a barrier is always the last instruction of its block. */
import { addBlock, type Block, type Kernel, renumber } from '../../../ir/index.ts';

/** Splits in place; block ids are positions afterwards. */
export function splitAtBarriers(kernel: Kernel): void {
  for (let at = 0; at < kernel.blocks.length; at++) splitFirst(kernel, kernel.blocks[at]!);
  renumber(kernel);
}

/** The rest of the block goes to a new one at the end of the list, which is visited later. */
function splitFirst(kernel: Kernel, block: Block): void {
  const index = block.body.findIndex((value) => kernel.insts[value]!.op === 'barrier');
  if (index < 0) return;
  const rest = addBlock(kernel);
  rest.body = block.body.splice(index + 1);
  rest.end = block.end;
  block.end = { op: 'br', to: { block: rest, args: [] } };
}

/** Whether a block of a split kernel ends with a barrier; the one block that follows is where threads go on. */
export function endsInBarrier(kernel: Kernel, block: Block): boolean {
  const last = block.body.at(-1);
  return last !== undefined && kernel.insts[last]!.op === 'barrier';
}
