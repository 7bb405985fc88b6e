/** The warps that are resident on a multiprocessor, by the block and its shared memory. */
import { type Dim3, product } from '../base/dim3.ts';
import { warpThreads } from './launch.ts';

/** The limits of a multiprocessor: resident threads and blocks, and bytes of shared memory. */
interface Limits {
  readonly threads: number;
  readonly blocks: number;
  readonly shared: number;
  /** Bytes of shared memory that each block has besides its own. */
  readonly reserved: number;
}

const limits = (threads: number, blocks: number, kibibytes: number, reserved = 0): Limits => ({
  threads,
  blocks,
  shared: kibibytes * 1024,
  reserved,
});

/** By compute capability. Source: CUDA C++ Programming Guide, "Compute Capabilities", technical specifications. */
const byArch: ReadonlyMap<number, Limits> = new Map([
  [50, limits(2048, 32, 64)],
  [52, limits(2048, 32, 96)],
  [53, limits(2048, 32, 64)],
  [60, limits(2048, 32, 64)],
  [61, limits(2048, 32, 96)],
  [62, limits(2048, 32, 64)],
  [70, limits(2048, 32, 96)],
  [72, limits(2048, 32, 96)],
  [75, limits(1024, 16, 64)],
  [80, limits(2048, 32, 164, 1024)],
  [86, limits(1536, 16, 100, 1024)],
  [87, limits(1536, 16, 164, 1024)],
  [89, limits(1536, 24, 100, 1024)],
  [90, limits(2048, 32, 228, 1024)],
]);

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
  const of = byArch.get(sm);
  if (!of) return undefined;
  const warps = Math.ceil(product(block) / warpThreads);
  const shared = sharedBytes + of.reserved;
  const bounds = [
    { by: 'threads', blocks: Math.floor(of.threads / (warps * warpThreads)) },
    { by: 'blocks', blocks: of.blocks },
    { by: 'shared memory', blocks: shared > 0 ? Math.floor(of.shared / shared) : Number.POSITIVE_INFINITY },
  ] as const;
  const least = bounds.reduce((a, b) => (b.blocks < a.blocks ? b : a));
  return { arch: `sm_${sm}`, blocks: least.blocks, warps: least.blocks * warps, maxWarps: of.threads / warpThreads, by: least.by };
}
