/** Which of several kernels with the same result a launch runs: by what the device has, the sizes, and a table of measured speeds. */
import type { Device } from '../api/index.ts';
import type { GemmArguments, GemmOptions, GemmParameters, GemmType, HalfType } from './gemm-plan.ts';
import { singleGemm } from './gemm-single.ts';
import { tensorGemm } from './gemm-tensor.ts';
import type { Routine } from './routine.ts';
import { tableOf } from './tables.ts';

/** What an NVIDIA device has. */
export interface Capability {
  /** The number of the architecture: 90 for an H200. */
  readonly sm: number;
  readonly multiprocessors: number;
}

/** What a device has; undefined for one that is not of NVIDIA. */
export function capabilityOf({ info }: Device): Capability | undefined {
  const { major, minor, multiProcessorCount: multiprocessors } = info.properties ?? {};
  if (info.kind !== 'cuda' || typeof major !== 'number' || typeof minor !== 'number' || typeof multiprocessors !== 'number')
    return undefined;
  return { sm: 10 * major + minor, multiprocessors };
}

/** The routine of products that runs everywhere. */
export type PlainGemm = (options: GemmOptions) => GemmRoutine;
type GemmRoutine = Routine<GemmParameters<GemmType>, GemmArguments<GemmType>>;

/** A kernel for products. */
export interface GemmCandidate {
  readonly name: string;
  readonly types: readonly GemmType[];
  /** Whether an architecture has its instructions; 0 is a device that is not of NVIDIA. */
  readonly fits: (sm: number) => boolean;
  readonly rows: number;
  readonly columns: number;
  readonly make: (options: GemmOptions, plain: PlainGemm) => GemmRoutine;
}

const halves: readonly GemmType[] = ['f16', 'bf16'];
const tensor = (by: 'mma' | 'wgmma', rows: number, columns: number, stages: number, warp?: readonly [number, number]): GemmCandidate => ({
  ...{ name: `${by} ${rows}x${columns}`, types: halves, rows, columns },
  // `wgmma` is of sm_90a alone: later chips do not have it.
  fits: (sm) => (by === 'wgmma' ? sm === 90 : sm >= 80),
  make: (options) =>
    tensorGemm({ ...(options as GemmOptions<HalfType>), by, tile: { rows, columns, stages, ...(warp ? { warp } : {}) } }) as never,
});
const single = (rows: number, columns: number, own: 8 | 16, stages: number, minBlocks?: number): GemmCandidate => ({
  ...{ name: `single ${rows}x${columns}`, types: ['f32'], rows, columns },
  fits: (sm) => sm >= 80,
  make: (options) =>
    singleGemm({
      ...(options as GemmOptions<'f32'>),
      tile: { rows, columns, stages, depth: 16, own, ...(minBlocks === undefined ? {} : { minBlocks }) },
    }) as never,
});

const everywhere = (tile: 64 | 128): GemmCandidate => ({
  ...{ name: `plain ${tile}x${tile}`, types: ['f32', 'f16', 'bf16'], rows: tile, columns: tile },
  fits: () => true,
  make: (options, plain) => plain({ ...options, tile }),
});

/** The kernels for products. */
export const gemmCandidates: readonly GemmCandidate[] = [
  everywhere(128),
  everywhere(64),
  tensor('wgmma', 128, 256, 4),
  tensor('wgmma', 256, 128, 4),
  tensor('wgmma', 128, 128, 3),
  tensor('wgmma', 128, 64, 4),
  tensor('mma', 128, 128, 3, [64, 64]),
  tensor('mma', 64, 64, 3, [32, 32]),
  single(128, 256, 16, 3, 1),
  single(64, 128, 8, 3, 4),
  single(64, 64, 8, 4),
];

/** The time of a product by a candidate: whole tiles on the multiprocessor that has most of them. */
function timeOf(
  { rows, columns }: GemmCandidate,
  speed: number,
  sizes: { m: number; n: number; batch?: number },
  multiprocessors: number,
): number {
  const tiles = Math.ceil(sizes.m / rows) * Math.ceil(sizes.n / columns) * (sizes.batch ?? 1);
  return (Math.ceil(tiles / multiprocessors) * rows * columns) / speed;
}

/** The fastest kernel for a product on a device, if there are several of which a table has the speeds. */
export function chooseGemm<T extends GemmType>(
  device: Device,
  options: GemmOptions<T>,
  given: GemmArguments<T>,
  plain: PlainGemm,
): Routine<GemmParameters<T>, GemmArguments<T>> | undefined {
  if (options.tile !== undefined) return undefined;
  const type = options.type?.name ?? 'f32';
  const speeds = tableOf(device)?.gemm[type];
  if (!speeds) return undefined;
  // Whole tiles are what counts on a device whose multiprocessors are not known.
  const { sm, multiprocessors } = capabilityOf(device) ?? { sm: 0, multiprocessors: 1 };
  const able = gemmCandidates.filter(({ name, types, fits }) => types.includes(type) && fits(sm) && speeds[name]! > 0);
  const timed = able.map((each) => ({ each, time: timeOf(each, speeds[each.name]!, given, multiprocessors) }));
  const best = timed.sort((a, b) => a.time - b.time)[0]?.each;
  return best?.make(options as GemmOptions, plain) as Routine<GemmParameters<T>, GemmArguments<T>> | undefined;
}
