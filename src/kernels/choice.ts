/**
 * Which of several kernels with the same result a launch runs: by what the device has, the sizes, and a table of measured speeds. The table that is here was
 * measured on an NVIDIA H200; `tune` measures another device.
 */
import type { Device } from '../api/index.ts';
import type { GemmArguments, GemmOptions, GemmParameters, GemmType, HalfType } from './gemm-plan.ts';
import { singleGemm } from './gemm-single.ts';
import { tensorGemm } from './gemm-tensor.ts';
import type { Routine } from './routine.ts';

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

/** A kernel for products. */
export interface GemmCandidate {
  readonly name: string;
  readonly types: readonly GemmType[];
  /** Whether an architecture has its instructions. */
  readonly fits: (sm: number) => boolean;
  readonly rows: number;
  readonly columns: number;
  readonly make: (options: GemmOptions) => Routine<GemmParameters<GemmType>, GemmArguments<GemmType>>;
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

/** The kernels for products besides the one that runs everywhere. */
export const gemmCandidates: readonly GemmCandidate[] = [
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

/** Speeds of kernels for products in TFLOP/s, for sizes of which a device has many tiles; by type and by the name of the candidate. */
export type Speeds = Readonly<Record<string, Readonly<Record<string, number>>>>;

/** A table of measured speeds, as `tune` gives it: it is JSON. */
export interface TuningTable {
  readonly version: 1;
  /** The name of the device. */
  readonly device: string;
  /** The number of its architecture. */
  readonly sm: number;
  readonly gemm: Speeds;
}

const halfSpeeds = {
  ...{ 'wgmma 128x256': 631, 'wgmma 256x128': 603, 'wgmma 128x128': 486, 'wgmma 128x64': 434 },
  ...{ 'mma 128x128': 433, 'mma 64x64': 260 },
} as const;
/** Measured on an NVIDIA H200. */
const measured: TuningTable = {
  version: 1,
  device: 'NVIDIA H200',
  sm: 90,
  gemm: { f16: halfSpeeds, bf16: halfSpeeds, f32: { 'single 128x256': 44.9, 'single 64x128': 40.7, 'single 64x64': 43.5 } },
};

const tables = new Map<string, TuningTable>();

/** Has launches on devices of the table's name use it. */
export const useTable = (table: TuningTable): void => void tables.set(table.device, table);

/** The table of a device: its own, or that of the H200. */
export const tableOf = ({ info }: Device): TuningTable => tables.get(info.name) ?? measured;

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

/** The fastest kernel for a product on a device, if there are several. */
export function chooseGemm<T extends GemmType>(
  device: Device,
  options: GemmOptions<T>,
  given: GemmArguments<T>,
): Routine<GemmParameters<T>, GemmArguments<T>> | undefined {
  const capability = capabilityOf(device);
  const type = options.type?.name ?? 'f32';
  const speeds = tableOf(device).gemm[type];
  if (!capability || !speeds || options.tile !== undefined) return undefined;
  const able = gemmCandidates.filter(({ name, types, fits }) => types.includes(type) && fits(capability.sm) && speeds[name]! > 0);
  const timed = able.map((each) => ({ each, time: timeOf(each, speeds[each.name]!, given, capability.multiprocessors) }));
  const best = timed.sort((a, b) => a.time - b.time)[0]?.each;
  return best?.make(options as GemmOptions) as Routine<GemmParameters<T>, GemmArguments<T>> | undefined;
}
