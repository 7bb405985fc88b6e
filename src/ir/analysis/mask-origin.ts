/**
 * Masks in divergent code that name only lanes which are together: those that come from a ballot of the same lanes, as in
 * `mask = __ballot_sync(m, p); if (p) __shfl_sync(mask, …)` and in groups of `__activemask()`, and those that like the branches depend on
 * the lane alone, as in `if (lane < 16) __shfl_sync(0xffff, …)`.
 */
import type { Block, Edge, Kernel, Value } from '../kernel.ts';
import type { Cfg } from './cfg.ts';
import { type DominatorTree, dominatorsOf } from './dominators.ts';
import { areMasksWithin, lanesWhere, type ThreadValues, threadValuesOf } from './lane-sets.ts';

/** What is known of the control flow of a kernel. */
export interface MaskFlow {
  readonly kernel: Kernel;
  readonly cfg: Cfg;
  readonly home: Int32Array;
  /** Branches that diverge in a warp, with the blocks up to where its lanes reconverge. */
  readonly splits: ReadonlyMap<number, ReadonlySet<number>>;
  readonly areRowsAligned: boolean;
}

/** Whether all lanes that a mask names execute a block together, because a ballot found them together before. */
export function newMaskOrigin(flow: MaskFlow): (mask: Value, block: number) => boolean {
  const dominators = dominatorsOf(flow.cfg);
  const valuesOf = threadValuesOf(flow.kernel, flow.areRowsAligned);
  return (mask, block) =>
    ballotsIn(flow.kernel, mask).some((ballot) => staysTogether(flow, dominators, ballot, block)) ||
    isWithinLanes(flow, dominators, valuesOf, { mask, block });
}

/** Whether the lanes alone decide which of them execute a block, and the mask names no others. */
function isWithinLanes(
  { kernel, cfg, splits }: MaskFlow,
  dominators: DominatorTree,
  valuesOf: ThreadValues,
  { mask, block }: { readonly mask: Value; readonly block: number },
): boolean {
  const masks = valuesOf(mask);
  if (!masks) return false;
  let active: number[] | undefined;
  for (const [split, region] of splits) {
    if (!region.has(block)) continue;
    const { end } = kernel.blocks[split]!;
    if (end.op !== 'condbr') return false;
    const leads = ({ block: side }: Edge): boolean => cfg.predecessors[side.id]!.length === 1 && dominators.dominates(side.id, block);
    const [isThen, isElse] = [leads(end.then), leads(end.else)];
    const conditions = valuesOf(end.cond);
    if (!conditions || isThen === isElse) return false;
    const side = lanesWhere(conditions, isThen);
    active = active ? active.map((lanes, warp) => lanes & side[warp]!) : side;
  }
  return active !== undefined && areMasksWithin(masks, active);
}

/** Ballots of which a mask is a subset: itself, or operands of the `and`s that it consists of. */
function ballotsIn({ insts }: Kernel, mask: Value): Value[] {
  const found: Value[] = [];
  const stack = [mask];
  for (let value = stack.pop(); value !== undefined; value = stack.pop()) {
    const inst = insts[value]!;
    if (inst.op === 'and') stack.push(inst.a, inst.b);
    else if (inst.op === 'ballot' || inst.op === 'ballotsync') found.push(value);
  }
  return found;
}

/** Whether the lanes of a ballot reach a block together: no branch on the way parts them, other than one on what they voted for. */
function staysTogether({ kernel, cfg, home, splits }: MaskFlow, dominators: DominatorTree, ballot: Value, block: number): boolean {
  const from = home[ballot]!;
  if (from === block) return true;
  if (from < 0 || !dominators.dominates(from, block)) return false;
  const inst = kernel.insts[ballot]!;
  const vote = 'a' in inst ? inst.a : undefined;
  for (const split of blocksBetween(cfg, from, block)) {
    if (!splits.get(split)?.has(block)) continue;
    const { end } = kernel.blocks[split]!;
    if (end.op !== 'condbr' || end.cond !== vote || end.then.block === end.else.block) return false;
    const side: Block = end.then.block;
    if (cfg.predecessors[side.id]!.length !== 1 || !dominators.dominates(side.id, block)) return false;
  }
  return true;
}

/** The blocks on ways from one block to another that do not come through the first again, without the last. */
function blocksBetween({ successors, predecessors }: Cfg, from: number, to: number): number[] {
  const ahead = reach(successors, successors[from]!, from);
  const back = reach(predecessors, predecessors[to]!, from);
  return [from, ...[...ahead].filter((block) => back.has(block) && block !== from)];
}

function reach(edges: readonly (readonly number[])[], starts: readonly number[], stop: number): Set<number> {
  const seen = new Set<number>();
  const stack = [...starts];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (seen.has(node)) continue;
    seen.add(node);
    if (node !== stop) stack.push(...edges[node]!);
  }
  return seen;
}
