/** Where a rendezvous loop cuts a kernel: at collectives, at the ways in and out, and at back edges of loops that contain these. */
import { type Cfg, cfgOf } from '../analysis/cfg.ts';
import { dominatorsOf } from '../analysis/dominators.ts';
import { type Loop, loopsOf } from '../analysis/loops.ts';
import { isSpinLoop } from '../analysis/spin-loops.ts';
import { addBlock, type Builder, builder } from '../build.ts';
import { type Block, constantOf, type Edge, edgesOf, type Inst, type Kernel, type Value } from '../kernel.ts';
import { folds } from '../ops.ts';
import { type Detour, splitBehind } from './carry-values.ts';
import { isMasked, type MaskedInst } from './replace-masks.ts';

/**
 * What a thread waits for: `left`: the end of the loop; `free`: nothing; `barrier`: all threads; and the kinds of collectives, which must be
 * equal for threads to meet. Reductions have `firstFold` and the index of their fold.
 */
export const waits = { left: 0, free: 1, barrier: 2, shuffle: 3, ballot: 4, fence: 5, convergence: 6, firstFold: 7 } as const;

/** A place where threads leave their code for the dispatch block. */
export interface Cut extends Detour {
  /** Whether it leads into the loop for the first time. */
  readonly isEntry: boolean;
  readonly wait: number;
  /** Of a collective or barrier: its instruction before the cut. Its value, if it has one, is now a parameter of the block `resume`. */
  readonly inst?: Inst;
  readonly value?: Value;
}

export function waitOf(inst: MaskedInst): number {
  if (inst.op === 'shufflesync') return waits.shuffle;
  if (inst.op === 'ballotsync') return waits.ballot;
  if (inst.op === 'warpsync') return inst.isFence ? waits.fence : waits.convergence;
  return waits.firstFold + folds.indexOf(inst.fold);
}

/** Whether an instruction gives the threads that execute it together. */
export const isActiveMask = (kernel: Kernel, inst: Inst): boolean => inst.op === 'ballot' && constantOf(kernel, inst.a) === 1n;

/** Cuts the blocks of a region, which no way leads back into, for detours through a block. Returns undefined for a region with a cycle of several entries. */
export function cutRegion(kernel: Kernel, region: ReadonlySet<number>, through: Block): Cut[] | undefined {
  const spinning = spinHeaders(kernel);
  const blocks = [...region].map((id) => kernel.blocks[id]!);
  const inside = new Set(blocks);
  const sites = blocks.flatMap((block) => cutSites(kernel, block, inside, through));
  const cfg = cfgOf(kernel);
  const { loops, isReducible } = loopsOf(cfg, dominatorsOf(cfg));
  if (!isReducible) return undefined;
  const cutEdge = (edge: Edge, wait: number, isEntry = false): Cut => {
    const [leave, resume] = [addBlock(kernel), addBlock(kernel)];
    resume.end = { op: 'br', to: { ...edge } };
    leave.end = { op: 'br', to: { block: resume, args: [] } };
    Object.assign(edge, { block: leave, args: [] });
    return { leave, through, resume, wait, isEntry };
  };
  const backEdges = edgesToCut(kernel, cfg, { loops, sites, spinning });
  addExit(kernel, inside);
  const reached = cfg.order.map((id) => kernel.blocks[id]!);
  const ends = reached.flatMap((block) => edgesOf(block.end).map((edge) => ({ isFromInside: inside.has(block), edge })));
  const across = ends.filter(({ isFromInside, edge }) => isFromInside !== inside.has(edge.block));
  return [
    ...sites,
    ...backEdges.map((edge) => cutEdge(edge, waits.free)),
    ...across.map(({ isFromInside, edge }) => cutEdge(edge, isFromInside ? waits.left : waits.free, !isFromInside)),
  ];
}

/** Makes the blocks of a region that end threads jump to one block behind it that does. */
function addExit(kernel: Kernel, inside: ReadonlySet<Block>): void {
  const ends = [...inside].filter(({ end }) => end.op === 'ret');
  if (ends.length === 0) return;
  const exit = addBlock(kernel);
  for (const block of ends) block.end = { op: 'br', to: { block: exit, args: [] } };
}

function spinHeaders(kernel: Kernel): Set<number> {
  const cfg = cfgOf(kernel);
  return new Set(loopsOf(cfg, dominatorsOf(cfg)).loops.flatMap((loop) => (isSpinLoop(kernel, loop) ? [loop.header] : [])));
}

/** Cuts a block behind each of its collectives; the new blocks are inside as well. */
function cutSites(kernel: Kernel, block: Block, inside: Set<Block>, through: Block): Cut[] {
  const cuts: Cut[] = [];
  for (let at = block; ; ) {
    const value = at.body.find((each) => isSite(kernel, kernel.insts[each]!));
    if (value === undefined) return cuts;
    const cut = cutSite(kernel, at, value, through);
    inside.add(cut.leave).add(cut.resume);
    cuts.push(cut);
    at = cut.resume;
  }
}

const isSite = (kernel: Kernel, inst: Inst): boolean => isMasked(inst) || inst.op === 'barrier' || isActiveMask(kernel, inst);

function cutSite(kernel: Kernel, block: Block, value: Value, through: Block): Cut {
  const inst = kernel.insts[value]!;
  const { leave, resume } = splitBehind(kernel, block, value);
  const cut = { leave, through, resume, isEntry: false, inst, value };
  if (!isMasked(inst)) return { ...cut, wait: inst.op === 'barrier' ? waits.barrier : waits.free };
  const b = builder(kernel, leave);
  b.loc = kernel.locs[value];
  const a = inst.op === 'warpsync' ? b.const('i32', 0) : inst.op === 'ballotsync' ? b.zext('i32', inst.a) : inst.a;
  const brought = [inst.members, a, inst.op === 'shufflesync' ? inst.b : b.const('i32', 0)];
  leave.end = { op: 'br', to: { block: resume, args: brought } };
  return { ...cut, wait: waitOf(inst) };
}

/** The mask and the operands that threads bring, in the block that they leave; zeros where there are none. */
export function broughtBy(b: Builder, { leave: { end } }: Cut): Value[] {
  if (end.op === 'br' && end.to.args.length > 0) return end.to.args;
  const zero = b.const('i32', 0);
  return [zero, zero, zero];
}

interface Cycles {
  readonly loops: readonly Loop[];
  readonly sites: readonly Cut[];
  /** Headers of loops that wait for other threads. */
  readonly spinning: ReadonlySet<number>;
}

/**
 * The back edges to cut: of loops in which threads may wait for others, and of loops that contain a cut and still have a way round without one,
 * since the cut is a second entry.
 */
function edgesToCut(kernel: Kernel, cfg: Cfg, { loops, sites, spinning }: Cycles): Edge[] {
  const leaves = new Set(sites.map(({ leave }) => leave.id));
  const cut = new Set<number>();
  const edges: Edge[] = [];
  for (const loop of [...loops].reverse()) {
    const isEntered = loop.blocks.some((id) => leaves.has(id) || cut.has(id));
    if (!spinning.has(loop.header) && !(isEntered && hasWayRound(cfg, loop, leaves))) continue;
    cut.add(loop.header);
    for (const id of loop.latches) edges.push(...edgesOf(kernel.blocks[id]!.end).filter(({ block }) => block.id === loop.header));
  }
  return edges;
}

/** Whether a loop leads from its header back to it without a detour. */
function hasWayRound(cfg: Cfg, { header, blocks }: Loop, leaves: ReadonlySet<number>): boolean {
  const inside = new Set(blocks);
  const seen = new Set<number>();
  const stack = [header];
  for (let id = stack.pop(); id !== undefined; id = stack.pop()) {
    if (leaves.has(id)) continue;
    for (const to of cfg.successors[id]!) {
      if (to === header) return true;
      if (!inside.has(to) || seen.has(to)) continue;
      seen.add(to);
      stack.push(to);
    }
  }
  return false;
}
