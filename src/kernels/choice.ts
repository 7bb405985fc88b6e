/** Which of several kernels with the same result a launch runs: by what the device has, the sizes, and a table of measured speeds. */
import type { Device } from '../api/index.ts';
import { type CpuVectorBits, cpuGemm } from './gemm-cpu.ts';
import { type DoubleMma, type DoubleTile, doubleGemm, doubleThreads } from './gemm-double.ts';
import {
  type FactorKind,
  type GemmArguments,
  type GemmOptions,
  type GemmParameters,
  type GemmType,
  type HalfType,
  kindOf,
} from './gemm-plan.ts';
import { type SingleTile, singleGemm, singleThreads } from './gemm-single.ts';
import { tensorGemm } from './gemm-tensor.ts';
import { type RoundedTile, tf32Gemm } from './gemm-tf32.ts';
import type { Routine } from './routine.ts';
import { speedsOf } from './tables.ts';

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
  readonly types: readonly FactorKind[];
  /** Whether an architecture has its instructions; 0 is a device that is not of NVIDIA, of which the CPU device is one. */
  readonly fits: (sm: number, isCpu: boolean) => boolean;
  readonly rows: number;
  readonly columns: number;
  /** The warps of a block, and the blocks that a multiprocessor has at a time, where few warps do not occupy it. */
  readonly warps?: number;
  readonly blocks?: number;
  readonly make: (options: GemmOptions, plain: PlainGemm) => GemmRoutine;
}

const halves: readonly FactorKind[] = ['f16', 'bf16'];
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

const rounded = (by: 'mma' | 'wgmma', tile: RoundedTile, blocks: number): GemmCandidate => ({
  ...{ name: `tf32 ${by} ${tile.rows}x${tile.columns}`, types: ['tf32'], rows: tile.rows, columns: tile.columns, blocks },
  fits: (sm) => (by === 'wgmma' ? sm === 90 : sm >= 80),
  make: ({ type: _, tf32: __, tile: ___, ...options }) => tf32Gemm({ ...options, by, tile }) as never,
});
const double = (by: DoubleMma, tile: DoubleTile, blocks: number): GemmCandidate => ({
  ...{ name: `${by} ${tile.rows}x${tile.columns}`, types: ['f64'], rows: tile.rows, columns: tile.columns },
  ...{ warps: doubleThreads(tile) / 32, blocks },
  fits: (sm) => sm >= (by === 'f64' ? 80 : 90),
  make: ({ transposeA = false, transposeB = false }) => doubleGemm({ by, tile, transposeA, transposeB }) as never,
});

const everywhere = (tile: 64 | 128): GemmCandidate => ({
  ...{ name: `plain ${tile}x${tile}`, types: ['f32', 'f16', 'bf16', 'tf32'], rows: tile, columns: tile },
  fits: () => true,
  make: (options, plain) => plain({ ...options, tile }),
});

const cpu = (isFused: boolean): GemmCandidate => ({
  ...{ name: `cpu${isFused ? ' fused' : ''} 128x128`, types: ['f32', 'f64', 'f16', 'bf16', 's8', 'tf32'], rows: 128, columns: 128 },
  fits: (_, isCpu) => isCpu,
  make: (options) => cpuGemm({ ...options, isFused }) as never,
});

/** The kernels for products. */
export const gemmCandidates: readonly GemmCandidate[] = [
  everywhere(128),
  everywhere(64),
  cpu(false),
  cpu(true),
  tensor('wgmma', 128, 256, 4),
  tensor('wgmma', 256, 128, 4),
  tensor('wgmma', 128, 128, 3),
  tensor('wgmma', 128, 64, 4),
  tensor('mma', 128, 128, 3, [64, 64]),
  tensor('mma', 64, 64, 3, [32, 32]),
  single('128x256', { rows: 128, columns: 256, stages: 4, depth: 8, own: 16, minBlocks: 1 }, 1),
  single('64x128', { rows: 64, columns: 128, stages: 4, depth: 8, own: 16, minBlocks: 4 }, 4),
  single('64x128 of 4 warps', { rows: 64, columns: 128, stages: 4, depth: 8, own: 8, minBlocks: 4 }, 4),
  rounded('wgmma', { rows: 128, columns: 256 }, 1),
  rounded('wgmma', { rows: 256, columns: 128 }, 1),
  rounded('wgmma', { rows: 128, columns: 128, minBlocks: 2 }, 2),
  rounded('mma', { rows: 128, columns: 128, warp: [64, 32] }, 1),
  rounded('mma', { rows: 64, columns: 64, warp: [32, 32] }, 4),
  double('f64x16', { rows: 128, columns: 128, warp: [64, 32], stages: 4 }, 1),
  double('f64x8', { rows: 64, columns: 64, warp: [32, 32], stages: 4 }, 2),
  double('f64', { rows: 128, columns: 128, warp: [64, 32], stages: 4 }, 1),
  double('f64', { rows: 64, columns: 64, warp: [32, 32], stages: 4 }, 2),
  single('64x64', { rows: 64, columns: 64, stages: 4, depth: 8, own: 8 }, 7),
];

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

/** Products from which on a launch is long enough for native code. */
const minNativeProducts = 2 ** 27;

/** The form of `cpuGemm` for a CPU device: one for native code has fused operations, which WebAssembly emulates. */
export function cpuForm(
  { info: { emulatesFma = false, vectorBits = 128 } }: Device,
  { m, n, k, batch = 1 }: { readonly m: number; readonly n: number; readonly k: number; readonly batch?: number },
): { readonly isFused: boolean; readonly vectorBits: CpuVectorBits } {
  const isNative = vectorBits > 128 && (!emulatesFma || m * n * k * batch >= minNativeProducts);
  return { isFused: isNative || !emulatesFma, vectorBits: isNative ? vectorBits : 128 };
}

/** The fastest kernel for a product on a device, if there are several of which a table has the speeds. */
export function chooseGemm<T extends GemmType>(
  device: Device,
  options: GemmOptions<T>,
  given: GemmArguments<T>,
  plain: PlainGemm,
): Routine<GemmParameters<T>, GemmArguments<T>> | undefined {
  if (options.tile !== undefined) return undefined;
  const type = kindOf(options as GemmOptions);
  const speeds = speedsOf(device, type);
  const isCpu = device.info.kind === 'cpu';
  if (!speeds) return isCpu ? cpuGemm({ ...options, ...cpuForm(device, given) }) : undefined;
  // Whole tiles are what counts on a device whose multiprocessors are not known.
  const { sm, multiprocessors } = capabilityOf(device) ?? { sm: 0, multiprocessors: 1 };
  const able = gemmCandidates.filter(({ name, types, fits }) => types.includes(type) && fits(sm, isCpu) && speeds[name]! > 0);
  const timed = able.map((each) => ({ each, ...timeOf(each, speeds[each.name]!, given, multiprocessors) }));
  const best = timed.sort((a, b) => a.time - b.time || a.work - b.work)[0]?.each;
  return best?.make(options as GemmOptions, plain) as Routine<GemmParameters<T>, GemmArguments<T>> | undefined;
}
