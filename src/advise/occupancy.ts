/** The warps that are resident on a multiprocessor, by the block and its shared memory. */
import { type Dim3, product } from '../base/dim3.ts';
import { type Residency, residencies } from '../compile/index.ts';
import { warpThreads } from './launch.ts';

/** The occupancy of a launch, without a limit by registers. */
export interface Occupancy {
  readonly arch: string;
  /** Resident blocks and warps of a multiprocessor, and the most warps that it has. */
  readonly blocks: number;
  readonly warps: number;
  readonly maxWarps: number;
  /** What limits the blocks. */
  readonly by: 'threads' | 'blocks' | 'shared memory';
}

/** The occupancy of a block with its shared memory in bytes; undefined for an architecture whose limits are not in the table. */
export function occupancyOf(sm: number, block: Dim3, sharedBytes: number): Occupancy | undefined {
  const of = (residencies as Readonly<Record<string, Residency>>)[`sm_${sm}`];
  if (!of) return undefined;
  const warps = Math.ceil(product(block) / warpThreads);
  const shared = sharedBytes + of.sharedOfBlock;
  const bounds = [
    { by: 'threads', blocks: Math.floor(of.threads / (warps * warpThreads)) },
    { by: 'blocks', blocks: of.blocks },
    { by: 'shared memory', blocks: shared > 0 ? Math.floor(of.sharedBytes / shared) : Number.POSITIVE_INFINITY },
  ] as const;
  const least = bounds.reduce((a, b) => (b.blocks < a.blocks ? b : a));
  return { arch: `sm_${sm}`, blocks: least.blocks, warps: least.blocks * warps, maxWarps: of.threads / warpThreads, by: least.by };
}
