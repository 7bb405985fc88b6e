/** Splits blocks behind barriers, so that a region starts and ends at the border of a block. */
import { addBlock, type Kernel, renumber } from '../../../ir/index.ts';

/** Splits in place, so that barriers are the last instructions of their block; returns whether a block was split. */
export function splitAtBarriers(kernel: Kernel): boolean {
  const count = kernel.blocks.length;
  for (let at = 0; at < kernel.blocks.length; at++) {
    const block = kernel.blocks[at]!;
    const index = block.body.findIndex((value) => kernel.insts[value]!.op === 'barrier');
    if (index < 0) continue;
    const rest = addBlock(kernel);
    rest.body = block.body.splice(index + 1);
    rest.end = block.end;
    block.end = { op: 'br', to: { block: rest, args: [] } };
  }
  renumber(kernel);
  return kernel.blocks.length > count;
}
