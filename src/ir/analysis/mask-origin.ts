/**
 * Masks in divergent code that name only lanes which are together: those that come from a ballot of the same lanes, as in
 * `mask = __ballot_sync(m, p); if (p) __shfl_sync(mask, …)` and in groups of `__activemask()`, also if a loop carries the mask of its lanes or ways that join bring theirs,
 * and those that like the branches depend on the lane alone, as in `if (lane < 16) __shfl_sync(0xffff, …)`.
 */
import { type Block, type Edge, edgesOf, type Kernel, type Value } from '../kernel.ts';
import { negated } from './branch-conditions.ts';
import type { Cfg } from './cfg.ts';
import { type DominatorTree, dominatorsOf } from './dominators.ts';
import { areMasksWithin, lanesWhere, type ThreadValues, threadValuesOf } from './lane-sets.ts';

/** What is known of the control flow of a kernel. */
export interface MaskFlow {
  readonly kernel: Kernel;
  readonly cfg: Cfg;
  readonly home: Int32Array;
  /** By block: 1 where all lanes of a warp that have not exited run it together. */
  readonly convergent: Uint8Array;
  /** Branches that diverge in a warp, with the blocks up to where its lanes reconverge. */
  readonly splits: ReadonlyMap<number, ReadonlySet<number>>;
  readonly areRowsAligned: boolean;
}

/** Whether all lanes that a mask names execute a block together, because a ballot found them together before. */
export function newMaskOrigin(flow: MaskFlow): (mask: Value, block: number) => boolean {
  const dominators = dominatorsOf(flow.cfg);
  const valuesOf = threadValuesOf(flow.kernel, flow.areRowsAligned);
  return (mask, block) =>
    originsOf(flow.kernel, mask).some((value) => staysTogether(flow, dominators, value, block)) ||
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

/** Ballots and parameters of blocks of which a mask is a subset: itself, or operands of the `and`s that it consists of. */
function originsOf({ insts }: Kernel, mask: Value): Value[] {
  const found: Value[] = [];
  const stack = [mask];
  for (let value = stack.pop(); value !== undefined; value = stack.pop()) {
    const inst = insts[value]!;
    if (inst.op === 'and') stack.push(inst.a, inst.b);
    else if (inst.op === 'ballot' || inst.op === 'ballotsync' || inst.op === 'arg') found.push(value);
  }
  return found;
}

/** Whether the lanes of a ballot, or of a mask that a block is given, reach a block together. */
function staysTogether(flow: MaskFlow, dominators: DominatorTree, value: Value, block: number): boolean {
  const { kernel, home } = flow;
  const inst = kernel.insts[value]!;
  if (inst.op !== 'arg') return staysOn(flow, dominators, { from: home[value]!, to: block, vote: 'a' in inst ? inst.a : undefined });
  return (
    staysOn(flow, dominators, { from: home[value]!, to: block, vote: undefined }) &&
    isOfThoseWhoEnter(flow, dominators, value, home[value]!)
  );
}

interface Way {
  readonly from: number;
  readonly to: number;
  /** What lanes voted for at the start. */
  readonly vote: Value | undefined;
}

/** Whether lanes that are together in one block reach one that it dominates together: no branch on the way parts them, other than one on their vote. */
function staysOn({ kernel, cfg, splits }: MaskFlow, dominators: DominatorTree, { from, to, vote }: Way): boolean {
  if (from === to) return true;
  for (const split of blocksBetween(cfg, from, to)) {
    if (!splits.get(split)?.has(to)) continue;
    const side = edgeOfVoters(kernel, kernel.blocks[split]!, vote)?.block.id;
    if (side === undefined || cfg.predecessors[side]!.length !== 1 || !dominators.dominates(side, to)) return false;
  }
  return true;
}

/** The edge that exactly those take that voted for a condition; undefined if the block does not branch on it. */
function edgeOfVoters({ insts }: Kernel, { end }: Block, vote: Value | undefined): Edge | undefined {
  if (vote === undefined || end.op !== 'condbr' || end.then.block === end.else.block) return undefined;
  if (end.cond === vote) return end.then;
  const [cond, voted] = [insts[end.cond]!, insts[vote]!];
  if (cond.op !== 'icmp' || voted.op !== 'icmp' || cond.a !== voted.a || cond.b !== voted.b) return undefined;
  return cond.pred === negated[voted.pred] ? end.else : undefined;
}

/**
 * Whether a parameter of a block is a mask of lanes that enter it together, as in `while (p) { …; mask = __ballot_sync(mask, p); }`: each edge to the
 * block passes a mask of lanes that take this edge together.
 */
function isOfThoseWhoEnter(flow: MaskFlow, dominators: DominatorTree, param: Value, block: number): boolean {
  const { kernel, cfg } = flow;
  const index = kernel.blocks[block]!.params.indexOf(param);
  return [...new Set(cfg.predecessors[block])].every((from) =>
    edgesOf(kernel.blocks[from]!.end).every(
      (edge) => edge.block.id !== block || takesEdge(flow, dominators, { from, edge, mask: edge.args[index]! }),
    ),
  );
}

/** Whether the lanes of a mask leave a block together by an edge. */
function takesEdge(
  flow: MaskFlow,
  dominators: DominatorTree,
  { from, edge, mask }: { readonly from: number; readonly edge: Edge; readonly mask: Value },
): boolean {
  const { kernel, home, splits, convergent } = flow;
  const isDivergent = splits.has(from);
  if (convergent[from] === 1 && !isDivergent) return true;
  return originsOf(kernel, mask).some((value) => {
    const inst = kernel.insts[value]!;
    if (inst.op === 'arg') return false;
    const vote = 'a' in inst ? inst.a : undefined;
    if (isDivergent && edgeOfVoters(kernel, kernel.blocks[from]!, vote) !== edge) return false;
    return staysOn(flow, dominators, { from: home[value]!, to: from, vote });
  });
}

/** The blocks on ways from one block to another that do not come through the first again, without the last. */
function blocksBetween({ successors, predecessors }: Cfg, from: number, to: number): number[] {
  const ahead = reach(successors, successors[from]!, from);
  const back = reach(predecessors, predecessors[to]!, from);
  return [from, ...[...ahead].filter((block) => back.has(block))];
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
