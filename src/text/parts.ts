/** The parts of a kernel that are written apart: the whole of it, or the regions between its sync points, which a scheduler runs. */
import { type Regions, syncPointsOf } from '../engine/index.ts';
import { cfgOf, dominatorsOf, type Kernel, loopsOf } from '../ir/index.ts';
import { structure } from './structure.ts';
import type { Part } from './uses.ts';

/** A kernel without a scheduler. */
export function wholePart(kernel: Kernel): Part {
  const cfg = cfgOf(kernel);
  const dominators = dominatorsOf(cfg);
  const { isReducible } = loopsOf(cfg, dominators);
  return { tree: structure(kernel, { cfg, dominators, entry: 0, isReducible, isLast: () => false }), isRegion: false };
}

/** The regions of a kernel, by number; each ends at its sync points. */
export const regionParts = (kernel: Kernel, regions: Regions): Map<number, Part> =>
  new Map(
    regions.list.map((region) => [
      region.id,
      { tree: structure(kernel, { ...region, isLast: (block) => syncPointsOf(kernel, block).length > 0 }), isRegion: true },
    ]),
  );
