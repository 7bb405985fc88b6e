/** Promises V1 to V4: the places of values and of their uses. */
import type { Cfg } from '../analysis/cfg.ts';
import type { DominatorTree } from '../analysis/dominators.ts';
import type { Block, Kernel, Value } from '../kernel.ts';
import { operandsOf, terminatorOperands } from '../operands.ts';
import type { Report } from './report.ts';

interface Graph {
  readonly cfg: Cfg;
  readonly dominators: DominatorTree;
  readonly home: Int32Array;
}

/** V1 and V4; false where a block names an instruction that is not there. */
export function checkPlaces(kernel: Kernel, report: Report): boolean {
  if (kernel.locs.length !== kernel.insts.length)
    report('V4', `there are ${kernel.locs.length} locations for ${kernel.insts.length} instructions`);
  const placed = new Set<Value>();
  let isSound = true;
  for (const block of kernel.blocks)
    for (const value of [...block.params, ...block.body]) {
      const inst = kernel.insts[value];
      if (!inst) report('V1', `b${block.id} holds value ${value}, which is not there`);
      else if (placed.has(value)) report('V1', `the ${inst.op} of b${block.id} is in more than one place`, kernel.locs[value]);
      isSound &&= inst !== undefined;
      placed.add(value);
    }
  for (const block of kernel.blocks) checkArgs(kernel, block, report);
  return isSound;
}

function checkArgs(kernel: Kernel, block: Block, report: Report): void {
  for (const value of block.params)
    if (kernel.insts[value]?.op !== 'arg') report('V1', `a parameter of b${block.id} is no \`arg\``, kernel.locs[value]);
  for (const value of block.body)
    if (kernel.insts[value]?.op === 'arg') report('V1', `an \`arg\` is in the body of b${block.id}`, kernel.locs[value]);
}

/** V2 and V3. */
export function checkUses(kernel: Kernel, graph: Graph, report: Report): void {
  for (const block of kernel.blocks) {
    const before = new Set(block.params);
    for (const value of block.body) {
      const inst = kernel.insts[value]!;
      for (const operand of operandsOf(inst))
        checkUse(kernel, graph, { block, before, operand, user: inst.op, loc: kernel.locs[value] }, report);
      before.add(value);
    }
    for (const operand of terminatorOperands(block.end))
      checkUse(kernel, graph, { block, before, operand, user: block.end.op, loc: block.endLoc }, report);
  }
}

interface Use {
  readonly block: Block;
  /** The values that the block defines before the use. */
  readonly before: ReadonlySet<Value>;
  readonly operand: Value;
  readonly user: string;
  readonly loc: Kernel['locs'][number];
}

function checkUse(kernel: Kernel, graph: Graph, { block, before, operand, user, loc }: Use, report: Report): void {
  const home = graph.home[operand] ?? -1;
  const where = `the ${user} of b${block.id}`;
  if (home < 0) report('V2', `${where} uses a value that no block holds`, loc);
  else if (kernel.insts[operand]!.type === 'void') report('V3', `${where} uses a void`, loc);
  else if (home === block.id ? !before.has(operand) : !isBefore(graph, home, block.id))
    report('V2', `${where} uses a value of b${home} that is not defined on every path to it`, loc);
}

/** Code that cannot be reached may use anything. */
const isBefore = ({ cfg, dominators }: Graph, home: number, block: number): boolean =>
  cfg.position[block]! < 0 || dominators.dominates(home, block);
