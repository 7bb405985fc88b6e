/**
 * Yields in spin loops. A thread that waits in a loop for what another thread of its block writes has to let that thread run: the scalar
 * compiler runs threads one after the other.
 */
import {
  addBlock,
  addBlockParam,
  type Block,
  builder,
  cfgOf,
  dominatorsOf,
  edgesOf,
  isSpinLoop,
  type Kernel,
  loopsOf,
} from '../../ir/index.ts';
import { tuning } from '../tuning.ts';

/** Makes each spin loop of a kernel yield every few iterations, in place. */
export function insertYields(kernel: Kernel): void {
  const cfg = cfgOf(kernel);
  const { loops } = loopsOf(cfg, dominatorsOf(cfg));
  const found = loops.filter((loop) => isSpinLoop(kernel, loop));
  for (const { header, latches } of found) yieldAt(kernel, kernel.blocks[header]!, new Set(latches));
}

/** Counts the iterations of a loop in a parameter of its header, and yields on its back edges. */
function yieldAt(kernel: Kernel, header: Block, latches: ReadonlySet<number>): void {
  const turn = addBlockParam(kernel, header, 'i32');
  for (const block of [...kernel.blocks]) {
    for (const edge of edgesOf(block.end).filter((each) => each.block === header)) {
      const b = builder(kernel, block);
      b.loc = block.endLoc;
      if (!latches.has(block.id)) {
        edge.args = [...edge.args, b.const('i32', 0)];
        continue;
      }
      // The instruments have a line for each instruction.
      b.loc = block.endLoc ?? kernel.locs[block.body.at(-1) ?? turn];
      const next = b.add(turn, b.const('i32', 1));
      const isDue = b.icmp(b.and(next, b.const('i32', tuning.turnsBetweenYields - 1)), b.const('i32', 0), { pred: 'eq' });
      const args = [...edge.args, next];
      const [choice, pause] = [addBlock(kernel), addBlock(kernel)];
      choice.end = { op: 'condbr', cond: isDue, then: { block: pause, args: [] }, else: { block: header, args } };
      choice.endLoc = b.loc;
      pause.endLoc = b.loc;
      const p = builder(kernel, pause);
      p.loc = b.loc;
      p.yield();
      pause.end = { op: 'br', to: { block: header, args } };
      edge.block = choice;
      edge.args = [];
    }
  }
}
