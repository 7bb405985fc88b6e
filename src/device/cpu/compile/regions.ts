/**
 * Regions: what a thread runs from one barrier to the next. Each has one entry (that of the kernel, or the block behind a
 * barrier) and holds every block that can be reached from there without passing a barrier; a block may be in several.
 * Source: Jääskeläinen et al., "pocl: A Performance-Portable OpenCL Implementation" (IJPP 2015), parallel regions.
 */
import {
  type Cfg,
  cfgOf,
  type DominatorTree,
  dominatorsOf,
  edgesOf,
  type Kernel,
  loopsOf,
  positionsIn,
  reversed,
  reversePostorder,
  uniformityOf,
} from '../../../ir/index.ts';
import { endsInBarrier } from './split.ts';

export interface Region {
  /** The number that a thread's state holds while this region is the next it runs. */
  readonly id: number;
  /** Block where it starts. */
  readonly entry: number;
  /** The graph without edges over barriers; `order` holds the region's blocks. */
  readonly cfg: Cfg;
  readonly dominators: DominatorTree;
  readonly isReducible: boolean;
}

export interface Regions {
  readonly list: readonly Region[];
  /** Region by the block it starts with. */
  readonly byEntry: ReadonlyMap<number, Region>;
  /** Whether all threads of a block always stand at the same barrier, so that one state serves them all. */
  readonly isUniform: boolean;
}

/** The regions of a kernel that was split at barriers. */
export function regionsOf(kernel: Kernel): Regions {
  const successors = kernel.blocks.map((block) => (endsInBarrier(kernel, block) ? [] : edgesOf(block.end).map((edge) => edge.block.id)));
  const predecessors = reversed(successors);
  const reachable = cfgOf(kernel).order;
  const barriers = kernel.blocks.filter((block) => endsInBarrier(kernel, block) && reachable.includes(block.id));
  const entries = [0, ...barriers.map((block) => edgesOf(block.end)[0]!.block.id)];
  const list = entries.map((entry, id): Region => {
    const order = reversePostorder(successors, entry);
    const cfg: Cfg = { successors, predecessors, order, position: positionsIn(order, successors.length) };
    const dominators = dominatorsOf(cfg, entry);
    return { id, entry, cfg, dominators, isReducible: loopsOf(cfg, dominators).isReducible };
  });
  const divergence = barriers.length > 0 ? uniformityOf(kernel).divergence : undefined;
  return {
    list,
    byEntry: new Map(list.map((region) => [region.entry, region])),
    isUniform: barriers.every((block) => divergence?.[block.id] === 0),
  };
}
