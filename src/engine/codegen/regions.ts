/**
 * Parallel regions: the code that a thread runs from one sync point to the next. A region has one entry (the kernel's entry, the block behind a
 * sync point, or a block where diverged threads reconverge) and holds every block that is reachable from there without passing another entry or
 * a sync point; a block may be in several regions. Collectives are the sync points at which a warp exchanges values.
 * Source: Jääskeläinen et al., "pocl: A Performance-Portable OpenCL Implementation" (IJPP 2015), parallel regions.
 */
import {
  type Cfg,
  cfgOf,
  convergenceOrder,
  type DominatorTree,
  dominatorsOf,
  edgesOf,
  type Kernel,
  loopsOf,
  positionsIn,
  reversed,
  reversePostorder,
  uniformityOf,
  type Value,
} from '../../ir/index.ts';
import { continuation, syncKindOf, syncPointOf, syncPointsOf } from './split-at-sync-points.ts';

export interface Region {
  /** The state of a thread that runs this region next. */
  readonly id: number;
  /** The block where it starts. */
  readonly entry: number;
  /** The control-flow graph without edges across sync points and into entries; `order` holds the region's blocks. */
  readonly cfg: Cfg;
  readonly dominators: DominatorTree;
  readonly isReducible: boolean;
}

export interface Collective {
  /** The state of a thread at this collective; regions and collectives share one numbering. */
  readonly id: number;
  /** The block that ends with it. */
  readonly block: number;
  /** Its instructions: one, or several shuffles. */
  readonly values: readonly Value[];
  /** The entry of the region behind it. */
  readonly to: number;
}

/** A collective by a member mask. */
export interface Rendezvous {
  /** The number in the state of a thread at this rendezvous, behind those of regions and collectives. */
  readonly id: number;
  readonly block: number;
  readonly value: Value;
}

/**
 * How threads are scheduled. `once`: there is one region and no sync point. `block`: every sync point is uniform over the block, so one state
 * serves all of its threads. `warp`: every thread has a state, and in a warp the threads with the lowest state run first. `masks`: the same, and threads may
 * also wait for the other threads of a member mask, or let others run first.
 */
export type Schedule = 'once' | 'block' | 'warp' | 'masks';

/** Whether every thread has a state of its own. */
export const hasStates = ({ schedule }: Pick<Regions, 'schedule'>): boolean => schedule === 'warp' || schedule === 'masks';

export interface Regions {
  readonly list: readonly Region[];
  readonly collectives: readonly Collective[];
  readonly rendezvous: readonly Rendezvous[];
  /** Region by the block it starts with. */
  readonly byEntry: ReadonlyMap<number, Region>;
  /** Collective by the block that ends with it. */
  readonly byBlock: ReadonlyMap<number, Collective>;
  readonly schedule: Schedule;
  /** Whether threads yield, so that a block may wait for another block. */
  readonly hasYields: boolean;
  /** Whether a thread that comes from one region into another one may only have waited: a loop that yields has both. */
  mayWait(from: Region, to: Region): boolean;
}

/** The regions of a kernel whose blocks are split at sync points. */
export function regionsOf(kernel: Kernel): Regions {
  const cfg = cfgOf(kernel);
  const syncBlocks = cfg.order.filter((id) => syncPointOf(kernel, kernel.blocks[id]!) !== undefined);
  const divergence = syncBlocks.length > 0 ? uniformityOf(kernel, cfg).divergence : new Uint8Array(0);
  const kindOf = (id: number): ReturnType<typeof syncKindOf> => syncKindOf(kernel.insts[syncPointOf(kernel, kernel.blocks[id]!)!]!);
  const collectiveBlocks = syncBlocks.filter((id) => kindOf(id) === 'collective');
  const rendezvousBlocks = syncBlocks.filter((id) => kindOf(id) === 'rendezvous');
  // A block of a cluster has to keep its memory while others of the cluster run.
  const hasYields = syncBlocks.some((id) => kindOf(id) === 'yield') || kernel.params.some(({ service }) => service === 'cluster');
  const joins = [...collectiveBlocks, ...rendezvousBlocks].some((id) => divergence[id] === 2) ? reconvergencePoints(cfg) : [];
  const entries = [...new Set([0, ...syncBlocks.map((id) => continuation(kernel.blocks[id]!).id), ...joins])];
  const position = positionsIn(convergenceOrder(cfg), kernel.blocks.length);
  const ids = numberStates(entries, collectiveBlocks, position);
  const list = buildRegions(kernel, entries, ids.regions);
  const collectives = collectiveBlocks.map((block): Collective => {
    const values = syncPointsOf(kernel, kernel.blocks[block]!);
    return { id: ids.collectives.get(block)!, block, values, to: continuation(kernel.blocks[block]!).id };
  });
  const firstRendezvous = list.length + collectives.length;
  const rendezvous = rendezvousBlocks.map(
    (block, i): Rendezvous => ({ id: firstRendezvous + i, block, value: syncPointOf(kernel, kernel.blocks[block]!)! }),
  );
  const unmasked = list.length === 1 ? 'once' : syncBlocks.every((id) => divergence[id] === 0) ? 'block' : 'warp';
  return {
    list,
    collectives,
    rendezvous,
    byEntry: new Map(list.map((region) => [region.entry, region])),
    byBlock: new Map(collectives.map((collective) => [collective.block, collective])),
    schedule: hasYields || rendezvousBlocks.length > 0 ? 'masks' : unmasked,
    hasYields,
    mayWait: waitingIn(
      cfg,
      syncBlocks.filter((id) => kindOf(id) === 'yield'),
    ),
  };
}

/** Whether one of the innermost loops around some blocks, which yield, has the entries of both regions. */
function waitingIn(cfg: Cfg, yields: readonly number[]): Regions['mayWait'] {
  if (yields.length === 0) return () => false;
  const { loops, innermost } = loopsOf(cfg, dominatorsOf(cfg));
  const waiting = new Set(yields.map((id) => innermost[id]!).filter((loop) => loop >= 0));
  const members = [...waiting].map((loop) => new Set(loops[loop]!.blocks));
  return (from, to) => members.some((blocks) => blocks.has(from.entry) && blocks.has(to.entry));
}

/**
 * Blocks where diverged threads of a warp reconverge, which a collective further down needs: merge points of the graph, and the exits of loops.
 * Behind a loop, threads that left it wait for those still inside, as on a GPU, even if the loop has a single exit.
 */
function reconvergencePoints(cfg: Cfg): number[] {
  const { order, predecessors, position } = cfg;
  const { loops, innermost } = loopsOf(cfg, dominatorsOf(cfg));
  const leavesLoop = (from: number, to: number): boolean => innermost[from]! >= 0 && !loops[innermost[from]!]!.blocks.includes(to);
  return order.filter((id) => {
    const from = predecessors[id]!.filter((block) => position[block]! >= 0);
    return from.length > 1 || from.some((block) => leavesLoop(block, id));
  });
}

interface Ids {
  readonly regions: ReadonlyMap<number, number>;
  readonly collectives: ReadonlyMap<number, number>;
}

/** Numbers states in the order in which threads run; a collective follows the block that ends with it. */
function numberStates(entries: readonly number[], collectives: readonly number[], position: Int32Array): Ids {
  const states = [
    ...entries.map((block) => ({ block, isCollective: false, at: 2 * position[block]! })),
    ...collectives.map((block) => ({ block, isCollective: true, at: 2 * position[block]! + 1 })),
  ].sort((a, b) => a.at - b.at);
  const ids = { regions: new Map<number, number>(), collectives: new Map<number, number>() };
  for (const [id, { block, isCollective }] of states.entries()) (isCollective ? ids.collectives : ids.regions).set(block, id);
  return ids;
}

function buildRegions(kernel: Kernel, entries: readonly number[], ids: ReadonlyMap<number, number>): Region[] {
  const isEntry = new Set(entries);
  const inside = (to: number): boolean => !isEntry.has(to);
  const successors = kernel.blocks.map((block) =>
    syncPointOf(kernel, block) === undefined
      ? edgesOf(block.end)
          .map((edge) => edge.block.id)
          .filter(inside)
      : [],
  );
  const predecessors = reversed(successors);
  return entries.map((entry): Region => {
    const order = reversePostorder(successors, entry);
    const cfg: Cfg = { successors, predecessors, order, position: positionsIn(order, successors.length) };
    const dominators = dominatorsOf(cfg, entry);
    return { id: ids.get(entry)!, entry, cfg, dominators, isReducible: loopsOf(cfg, dominators).isReducible };
  });
}
