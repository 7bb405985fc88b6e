/**
 * Which of several kernels with the same result a launch runs: by what the device has, the sizes, and a table of measured speeds. The table that is here was
 * measured on an NVIDIA H200; `tune` measures another device.
 */
import type { Device } from '../api/index.ts';
import type { GemmArguments, GemmOptions, GemmParameters, GemmType, HalfType } from './gemm-plan.ts';
import { type SingleTile, singleGemm, singleThreads } from './gemm-single.ts';
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
  /** The warps of a block, and the blocks that a multiprocessor has at a time, where few warps do not occupy it. */
  readonly warps?: number;
  readonly blocks?: number;
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
const single = (name: string, tile: SingleTile, blocks: number): GemmCandidate => ({
  ...{ name: `single ${name}`, types: ['f32'], rows: tile.rows, columns: tile.columns, warps: singleThreads(tile) / 32, blocks },
  fits: (sm) => sm >= 80,
  make: (options) => singleGemm({ ...(options as GemmOptions<'f32'>), tile }) as never,
});

/** The kernels for products besides the one that runs everywhere. */
export const gemmCandidates: readonly GemmCandidate[] = [
  tensor('wgmma', 128, 256, 4),
  tensor('wgmma', 256, 128, 4),
  tensor('wgmma', 128, 128, 3),
  tensor('wgmma', 128, 64, 4),
  tensor('mma', 128, 128, 3, [64, 64]),
  tensor('mma', 64, 64, 3, [32, 32]),
  single('128x256', { rows: 128, columns: 256, stages: 4, depth: 8, own: 16, minBlocks: 1 }, 1),
  single('64x128', { rows: 64, columns: 128, stages: 4, depth: 8, own: 16, minBlocks: 4 }, 4),
  single('64x128 of 4 warps', { rows: 64, columns: 128, stages: 4, depth: 8, own: 8, minBlocks: 4 }, 4),
  single('64x64', { rows: 64, columns: 64, stages: 4, depth: 8, own: 8 }, 7),
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
  gemm: {
    f16: halfSpeeds,
    bf16: halfSpeeds,
    f32: { 'single 128x256': 50.3, 'single 64x128': 49.6, 'single 64x128 of 4 warps': 46.4, 'single 64x64': 46.4 },
  },
};

const tables = new Map<string, TuningTable>();

/** Has launches on devices of the table's name use it. */
export const useTable = (table: TuningTable): void => void tables.set(table.device, table);

/** The table of a device: its own, or that of the H200. */
export const tableOf = ({ info }: Device): TuningTable => tables.get(info.name) ?? measured;

/** Warps that a multiprocessor needs for its speed; with a half of them it has two thirds of it on an H200, with a quarter 0.43. */
const enoughWarps = 8;
const share = (warps: number): number => Math.min(1, (warps / enoughWarps) ** 0.6);

/** The time of a product by a candidate, on the multiprocessor that has most of its tiles, and the elements of all tiles. */
function timeOf(
  { rows, columns, warps = enoughWarps, blocks = 1 }: GemmCandidate,
  speed: number,
  sizes: { m: number; n: number; batch?: number },
  multiprocessors: number,
): { time: number; work: number } {
  const tiles = Math.ceil(sizes.m / rows) * Math.ceil(sizes.n / columns) * (sizes.batch ?? 1);
  const most = Math.ceil(tiles / multiprocessors);
  const last = most % blocks;
  const rest = last === 0 ? 0 : last / share(last * warps);
  return { time: ((most - last + rest) * rows * columns) / speed, work: tiles * rows * columns };
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
  const timed = able.map((each) => ({ each, ...timeOf(each, speeds[each.name]!, given, capability.multiprocessors) }));
  const best = timed.sort((a, b) => a.time - b.time || a.work - b.work)[0]?.each;
  return best?.make(options as GemmOptions) as Routine<GemmParameters<T>, GemmArguments<T>> | undefined;
}
