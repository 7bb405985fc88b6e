/**
 * Merges the collectives by member masks in the two arms of a divergent branch: both arms jump to a block that has the collective once, which
 * branches back to what follows it in each. Threads of both arms are together there.
 *
 * This is legal for collectives of the same kind with the same mask, the first of one arm and the first of the other, and so on. All threads of a
 * warp have to reach the branch together, and each arm has to execute the collective exactly once, with no other collective or barrier before
 * it. Every thread executes the same instructions in the same order as before.
 *
 * A kernel is transformed only if the threads of all its masks are then known to be together.
 * Source: tail merging, as in Muchnick, "Advanced Compiler Design and Implementation" (1997), 18.8, with the rest of each arm split off.
 */
import { cfgOf } from '../analysis/cfg.ts';
import { type Convergence, convergenceOf, convergencesOf, stayingGraphOf } from '../analysis/convergence.ts';
import { type DominatorTree, dominatorsOf, postDominatorsOf } from '../analysis/dominators.ts';
import { influenceOf } from '../analysis/influence.ts';
import { type Loops, loopsOf } from '../analysis/loops.ts';
import { addBlock, addBlockParam, builder } from '../build.ts';
import { copyOf } from '../copy.ts';
import { type Block, constantOf, edgesOf, type Kernel, type Value } from '../kernel.ts';
import { specOf } from '../ops.ts';
import { carryValues, type Detour, splitBehind } from './carry-values.ts';
import { divergentMasks, isMasked, type MaskedInst, type MaskOptions } from './replace-masks.ts';

/** Branches whose arms are merged, at most; each takes an analysis of the kernel. */
const maxBranches = 64;

/** Merges collectives in place. Returns whether it did. */
export function mergeCollectives(kernel: Kernel, { areRowsAligned, convergences = convergencesOf(kernel) }: MaskOptions): boolean {
  const convergence = convergences(areRowsAligned);
  if (divergentMasks(kernel, convergence).length === 0) return false;
  const copy = copyOf(kernel);
  for (let count = 0; count < maxBranches; count++) {
    const found = firstBranch(copy, count === 0 ? convergence : convergenceOf(copy, areRowsAligned));
    if (found === 'together') break;
    if (!found) return false;
    mergePairs(copy, found);
  }
  if (divergentMasks(copy, convergenceOf(copy, areRowsAligned)).length > 0) return false;
  Object.assign(kernel, copy);
  return true;
}

/** A branch, and the collectives of its arms that are merged in pairs. */
interface Branch {
  readonly block: Block;
  readonly pairs: readonly (readonly [Value, Value])[];
}

/** The first branch to merge; `together` if nothing is left to do, undefined if nothing can be done. */
function firstBranch(kernel: Kernel, convergence: Convergence): Branch | 'together' | undefined {
  const divergent = new Set(divergentMasks(kernel, convergence));
  if (divergent.size === 0) return 'together';
  const graph = graphOf(kernel);
  for (const id of graph.order) {
    const block = kernel.blocks[id]!;
    if (convergence.blocks[id] !== 1 || block.end.op !== 'condbr') continue;
    const [then, other] = edgesOf(block.end).map((edge) => collectivesOf(graph, id, edge.block.id)) as [Value[], Value[]];
    const isPair = (i: number): boolean => other[i] !== undefined && isSame(kernel, then[i]!, other[i]!);
    const until = then.findIndex((_, i) => !isPair(i));
    const pairs = then.slice(0, until < 0 ? then.length : until).map((value, i) => [value, other[i]!] as const);
    if (pairs.some((pair) => pair.some((value) => divergent.has(value)))) return { block, pairs };
  }
  return undefined;
}

interface Graph {
  readonly kernel: Kernel;
  readonly order: readonly number[];
  readonly dominators: DominatorTree;
  /** Of the threads that reach another collective or barrier. */
  readonly staying: ReturnType<typeof stayingGraphOf>['staying'];
  readonly post: DominatorTree;
  readonly loops: Loops;
}

function graphOf(kernel: Kernel): Graph {
  const cfg = cfgOf(kernel);
  const { staying } = stayingGraphOf(kernel, cfg);
  const dominators = dominatorsOf(cfg);
  return { kernel, order: cfg.order, dominators, staying, post: postDominatorsOf(staying), loops: loopsOf(cfg, dominators) };
}

/** The collectives that all threads of an arm execute once and in this order, up to the first that may be different. */
function collectivesOf({ kernel, dominators, staying, post, loops }: Graph, branch: number, arm: number): Value[] {
  const found: Value[] = [];
  const end = post.parent[branch]!;
  if (staying.predecessors[arm]?.length !== 1) return found;
  for (let id = arm; id !== end && id < kernel.blocks.length && dominators.dominates(arm, id); ) {
    const isOnce = loops.innermost[id] === loops.innermost[branch];
    for (const value of kernel.blocks[id]!.body.filter((each) => isSyncPoint(kernel, each))) {
      if (!isOnce || !isMasked(kernel.insts[value]!)) return found;
      found.push(value);
    }
    const next = post.parent[id]!;
    const { region } = influenceOf(staying, id, next);
    if ([...region].some((each) => kernel.blocks[each]?.body.some((value) => isSyncPoint(kernel, value)))) return found;
    id = next;
  }
  return found;
}

const isSyncPoint = (kernel: Kernel, value: Value): boolean => /^(?:barrier|warp)$/.test(specOf(kernel.insts[value]!.op).effect);

/** Whether two collectives are of one kind with one mask. */
function isSame(kernel: Kernel, first: Value, second: Value): boolean {
  const [a, b] = [kernel.insts[first] as MaskedInst, kernel.insts[second] as MaskedInst];
  if (a.op !== b.op || a.type !== b.type) return false;
  if (a.op === 'reducesync' && b.op === 'reducesync' && a.fold !== b.fold) return false;
  if (a.op === 'warpsync' && b.op === 'warpsync' && a.isFence !== b.isFence) return false;
  const mask = constantOf(kernel, a.members);
  return a.members === b.members || (mask !== undefined && mask === constantOf(kernel, b.members));
}

/** The operands of a collective without its mask. */
const operandsBeside = (inst: MaskedInst): Value[] =>
  inst.op === 'shufflesync' ? [inst.a, inst.b] : inst.op === 'warpsync' ? [] : [inst.a];

function mergePairs(kernel: Kernel, { block, pairs }: Branch): void {
  const { end } = block;
  if (end.op !== 'condbr') return;
  const merged = pairs.map((pair) => {
    const inst = kernel.insts[pair[0]] as MaskedInst;
    const through = addBlock(kernel);
    const detours = pair.map((value): Detour => ({ ...splitAt(kernel, value), through }));
    const result = addMerged(kernel, through, inst, pair[0]);
    return { through, detours, args: inst.type === 'void' ? [] : [result] };
  });
  const detours = merged.flatMap((each) => each.detours);
  const carried = carryValues(kernel, detours, [block]);
  for (const { leave, through } of detours) {
    const own = leave.end.op === 'br' ? leave.end.to.args : [];
    leave.end = { op: 'br', to: { block: through, args: [...own, ...carried.get(leave)!] } };
  }
  for (const { through, detours: sides, args } of merged) {
    const [then, other] = sides.map(({ resume }) => ({ block: resume, args: [...args] }));
    through.end = { op: 'condbr', cond: end.cond, then: then!, else: other! };
  }
}

/** Splits the block of a collective behind it; the edge to the rest passes its operands. */
function splitAt(kernel: Kernel, value: Value): Pick<Detour, 'leave' | 'resume'> {
  const operands = operandsBeside(kernel.insts[value] as MaskedInst);
  const { leave, resume } = splitBehind(kernel, kernel.blocks.find(({ body }) => body.includes(value))!, value);
  leave.end = { op: 'br', to: { block: resume, args: operands } };
  return { leave, resume };
}

/** Adds a collective like another one to a block, with parameters of the block as its operands. */
function addMerged(kernel: Kernel, block: Block, inst: MaskedInst, like: Value): Value {
  const [a, b] = operandsBeside(inst).map((operand) => addBlockParam(kernel, block, kernel.insts[operand]!.type));
  const at = builder(kernel, block);
  at.loc = kernel.locs[like];
  const mask = constantOf(kernel, inst.members);
  const members = mask === undefined ? inst.members : at.const('i32', mask);
  switch (inst.op) {
    case 'shufflesync':
      return at.shufflesync(a!, b!, members);
    case 'ballotsync':
      return at.ballotsync(inst.type, a!, members);
    case 'reducesync':
      return at.reducesync(a!, members, { fold: inst.fold });
    case 'warpsync':
      return at.warpsync(members, { isFence: inst.isFence });
  }
}
