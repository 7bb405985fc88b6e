/** Cuts basic blocks behind stops, where threads wait for each other: barriers, and what a warp does together. */
import { addBlock, type Block, edgesOf, type Kernel, renumber, specOf, type Value } from '../../../ir/index.ts';

/** Splits in place, so that a stop is always the last instruction of its block; block ids are positions afterwards. */
export function splitAtStops(kernel: Kernel): void {
  for (let at = 0; at < kernel.blocks.length; at++) splitFirst(kernel, kernel.blocks[at]!);
  renumber(kernel);
}

/** The rest of the block goes to a new one at the end of the list, which is visited later. */
function splitFirst(kernel: Kernel, block: Block): void {
  const index = block.body.findIndex((value) => isStop(kernel, value));
  if (index < 0) return;
  const rest = addBlock(kernel);
  rest.body = block.body.splice(index + 1);
  rest.end = block.end;
  block.end = { op: 'br', to: { block: rest, args: [] } };
}

function isStop(kernel: Kernel, value: Value): boolean {
  const { effect } = specOf(kernel.insts[value]!.op);
  return effect === 'barrier' || effect === 'warp';
}

/** The stop that a block of a split kernel ends in; the one block that follows is where threads go on. */
export function stopOf(kernel: Kernel, block: Block): Value | undefined {
  const last = block.body.at(-1);
  return last !== undefined && isStop(kernel, last) ? last : undefined;
}

/** The block behind a stop. */
export const continuation = (block: Block): Block => edgesOf(block.end)[0]!.block;
