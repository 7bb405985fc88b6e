/** Promises B1 to B5, and T6 of edges: blocks and edges. */
import { isWide } from '../dialect.ts';
import { type Block, type Edge, edgesOf, type Kernel } from '../kernel.ts';
import type { Report } from './report.ts';

/** B1 to B3; false where the graph cannot be walked. */
export function checkBlocks(kernel: Kernel, report: Report): boolean {
  const entry = kernel.blocks[0];
  if (!entry) {
    report('B1', 'there is no block');
    return false;
  }
  if (entry.params.length > 0) report('B1', 'the entry block has parameters');
  const misnumbered = kernel.blocks.filter((block, at) => block.id !== at);
  for (const block of misnumbered) report('B2', `the block at ${kernel.blocks.indexOf(block)} has the id ${block.id}`, block.endLoc);
  const known = new Set(kernel.blocks);
  const areSound = kernel.blocks.map((block) => checkTargets(block, known, entry, report));
  return misnumbered.length === 0 && areSound.every((isSound) => isSound);
}

function checkTargets(block: Block, known: ReadonlySet<Block>, entry: Block, report: Report): boolean {
  const targets = edgesOf(block.end).map((edge) => edge.block);
  if (targets.includes(entry)) report('B1', `b${block.id} jumps to the entry block`, block.endLoc);
  const strangers = targets.filter((target) => !known.has(target));
  if (strangers.length > 0) report('B3', `b${block.id} jumps to a block of no place in the kernel`, block.endLoc);
  return strangers.length === 0;
}

/** B4, B5 and T6. */
export function checkEdges(kernel: Kernel, report: Report): void {
  for (const block of kernel.blocks) {
    for (const edge of edgesOf(block.end)) checkEdge(kernel, block, edge, report);
    const cond = block.end.op === 'condbr' ? kernel.insts[block.end.cond]?.type : 'i1';
    if (cond !== 'i1') report('B5', `b${block.id} branches on a value of type ${cond}`, block.endLoc);
  }
}

function checkEdge(kernel: Kernel, from: Block, { block: to, args }: Edge, report: Report): void {
  const where = `the edge from b${from.id} to b${to.id}`;
  if (args.length !== to.params.length) {
    report('B4', `${where} passes ${args.length} arguments for ${to.params.length} parameters`, from.endLoc);
    return;
  }
  args.forEach((arg, i) => {
    const [given, wanted] = [kernel.insts[arg]?.type, kernel.insts[to.params[i]!]?.type];
    if (given !== wanted) report('B4', `${where} passes a ${given} for parameter ${i}, a ${wanted}`, from.endLoc);
    else if (isWide(kernel, arg) !== isWide(kernel, to.params[i]!))
      report('T6', `${where} passes a pointer of another width for parameter ${i}`, from.endLoc);
  });
}
