/**
 * Regions: what a thread runs from one stop to the next. Each has one entry (that of the kernel, the block behind a stop, or a
 * block where threads wait for each other to go on together) and holds every block that can be reached from there without
 * passing another entry or a stop; a block may be in several. Meetings: what a warp does together at a stop.
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
import { continuation, syncPointOf, syncPointsOf } from './split-at-sync-points.ts';

export interface Region {
  /** The number that a thread's state holds while this is what it does next. */
  readonly id: number;
  /** Block where it starts. */
  readonly entry: number;
  /** The graph without edges over stops and into entries; `order` holds the region's blocks. */
  readonly cfg: Cfg;
  readonly dominators: DominatorTree;
  readonly isReducible: boolean;
}

export interface Collective {
  /** As of a region, and in the same count. */
  readonly id: number;
  /** Block that ends in it. */
  readonly block: number;
  /** What is done: one thing, or shuffles. */
  readonly values: readonly Value[];
  /** Entry of the region behind it. */
  readonly to: number;
}

/**
 * `once`: there is one region, and no stop. `block`: the threads of a block do everything together, so that one state serves
 * them all. `warp`: every thread has a state, and of a warp's threads those go first whose state is lowest.
 */
export type Schedule = 'once' | 'block' | 'warp';

export interface Regions {
  readonly list: readonly Region[];
  readonly collectives: readonly Collective[];
  /** Region by the block it starts with. */
  readonly byEntry: ReadonlyMap<number, Region>;
  /** Meeting by the block that ends in it. */
  readonly byBlock: ReadonlyMap<number, Collective>;
  readonly schedule: Schedule;
}

/** The regions of a kernel that was split at stops. */
export function regionsOf(kernel: Kernel): Regions {
  const cfg = cfgOf(kernel);
  const stops = cfg.order.filter((id) => syncPointOf(kernel, kernel.blocks[id]!) !== undefined);
  const divergence = stops.length > 0 ? uniformityOf(kernel, cfg).divergence : new Uint8Array(0);
  const isMeeting = (id: number): boolean => kernel.insts[syncPointOf(kernel, kernel.blocks[id]!)!]!.op !== 'barrier';
  const collectives = stops.filter(isMeeting);
  const joins = collectives.some((id) => divergence[id] === 2) ? joinsOf(cfg) : [];
  const entries = [...new Set([0, ...stops.map((id) => continuation(kernel.blocks[id]!).id), ...joins])];
  const position = positionsIn(convergenceOrder(cfg), kernel.blocks.length);
  const ids = numbered(entries, collectives, position);
  const list = partsOf(kernel, entries, ids.regions);
  const together = collectives.map((block): Collective => {
    const values = syncPointsOf(kernel, kernel.blocks[block]!);
    return { id: ids.collectives.get(block)!, block, values, to: continuation(kernel.blocks[block]!).id };
  });
  return {
    list,
    collectives: together,
    byEntry: new Map(list.map((region) => [region.entry, region])),
    byBlock: new Map(together.map((meeting) => [meeting.block, meeting])),
    schedule: list.length === 1 ? 'once' : stops.every((id) => divergence[id] === 0) ? 'block' : 'warp',
  };
}

/**
 * Where threads of a warp that parted may meet again: parts of warps do something together further down, so they have to. Behind a loop
 * those that left it wait for those still inside, as they do on a GPU, though there may be one way out of it alone.
 */
function joinsOf(cfg: Cfg): number[] {
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

/** Numbers in the order in which threads are to be let on: a meeting comes behind the block that ends in it. */
function numbered(entries: readonly number[], collectives: readonly number[], position: Int32Array): Ids {
  const places = [
    ...entries.map((block) => ({ block, isMeeting: false, at: 2 * position[block]! })),
    ...collectives.map((block) => ({ block, isMeeting: true, at: 2 * position[block]! + 1 })),
  ].sort((a, b) => a.at - b.at);
  const ids = { regions: new Map<number, number>(), collectives: new Map<number, number>() };
  for (const [id, { block, isMeeting }] of places.entries()) (isMeeting ? ids.collectives : ids.regions).set(block, id);
  return ids;
}

function partsOf(kernel: Kernel, entries: readonly number[], ids: ReadonlyMap<number, number>): Region[] {
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
