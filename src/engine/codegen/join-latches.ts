/**
 * One back edge for each loop in which threads reconverge: threads that start the next iteration at different places wait for each other at the
 * end of the loop. In the order in which threads of a warp run, the header is before the rest of the loop, so that they cannot wait there.
 */
import { addBlock, addBlockParam, cfgOf, dominatorsOf, edgesOf, type Kernel, loopsOf, specOf, type Value } from '../../ir/index.ts';

/** Gives every loop with several back edges one block that these lead to and that jumps to the header, in place, if a kernel has collectives. */
export function joinLatches(kernel: Kernel): void {
  const isCollective = (value: Value): boolean => specOf(kernel.insts[value]!.op).effect === 'warp';
  if (!kernel.blocks.some(({ body }) => body.some(isCollective))) return;
  const cfg = cfgOf(kernel);
  for (const { header, latches } of loopsOf(cfg, dominatorsOf(cfg)).loops) {
    const to = kernel.blocks[header]!;
    const edges = latches.flatMap((id) => edgesOf(kernel.blocks[id]!.end).filter(({ block }) => block === to));
    if (edges.length < 2) continue;
    const latch = addBlock(kernel);
    for (const param of to.params) addBlockParam(kernel, latch, kernel.insts[param]!.type);
    latch.end = { op: 'br', to: { block: to, args: [...latch.params] } };
    for (const edge of edges) edge.block = latch;
  }
}
