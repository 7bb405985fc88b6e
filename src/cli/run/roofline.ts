/**
 * The roofline of a kernel: its maximum speed on a device by peak arithmetic throughput and memory bandwidth.
 * Source: Williams, Waterman and Patterson, "Roofline: An Insightful Visual Performance Model" (CACM 2009).
 */
import type { Profile, ProfileCounts } from '../../device/profile.ts';

export interface Roof {
  readonly name: string;
  /** Peak f32 (and f16) and f64 operations per second; an FMA counts as two. Apple GPUs have no double precision. */
  readonly flops: number;
  readonly doubles?: number;
  /** Memory bandwidth in bytes per second. */
  readonly bandwidth: number;
  readonly source: string;
}

/** Peak operations per second of a GPU with `count` cores of 128 ALUs at a clock in hertz. */
const cores = (count: number, clock: number): number => count * 128 * 2 * clock;

const clocks = '128 ALUs per core and clocks: github.com/philipturner/metal-benchmarks, github.com/philipturner/applegpuinfo';
const bandwidth = (where: string): string => `bandwidth: Apple, ${where}`;
const counted = 'single precision: packages/tasks/src/hardware.ts of github.com/huggingface/huggingface.js';

/** The devices of `--roofline`; each chip with all of its GPU cores. */
export const roofs: Readonly<Record<string, Roof>> = {
  m1: { name: 'Apple M1', flops: cores(8, 1.278e9), bandwidth: 68.25e9, source: `${clocks}; ${bandwidth('LPDDR4X-4266 of 128 bits')}` },
  'm1-pro': { name: 'Apple M1 Pro', flops: cores(16, 1.296e9), bandwidth: 200e9, source: `${clocks}; ${bandwidth('October 2021')}` },
  'm1-max': { name: 'Apple M1 Max', flops: cores(32, 1.296e9), bandwidth: 400e9, source: `${clocks}; ${bandwidth('October 2021')}` },
  'm1-ultra': { name: 'Apple M1 Ultra', flops: cores(64, 1.296e9), bandwidth: 800e9, source: `${clocks}; ${bandwidth('March 2022')}` },
  m2: { name: 'Apple M2', flops: cores(10, 1.398e9), bandwidth: 100e9, source: `${clocks}; ${bandwidth('June 2022')}` },
  'm2-pro': { name: 'Apple M2 Pro', flops: cores(19, 1.398e9), bandwidth: 200e9, source: `${clocks}; ${bandwidth('January 2023')}` },
  'm2-max': { name: 'Apple M2 Max', flops: cores(38, 1.398e9), bandwidth: 400e9, source: `${clocks}; ${bandwidth('January 2023')}` },
  'm2-ultra': { name: 'Apple M2 Ultra', flops: cores(76, 1.398e9), bandwidth: 800e9, source: `${clocks}; ${bandwidth('June 2023')}` },
  m3: { name: 'Apple M3', flops: 4.1e12, bandwidth: 100e9, source: `${counted}; ${bandwidth('October 2023')}` },
  m4: { name: 'Apple M4', flops: 4.6e12, bandwidth: 120e9, source: `${counted}; ${bandwidth('May 2024')}` },
  'm4-pro': { name: 'Apple M4 Pro', flops: 9.2e12, bandwidth: 273e9, source: `${counted}; ${bandwidth('October 2024')}` },
  'm4-max': { name: 'Apple M4 Max', flops: 18.4e12, bandwidth: 546e9, source: `${counted}; ${bandwidth('October 2024')}` },
  h200: { name: 'NVIDIA H200', flops: 67e12, doubles: 34e12, bandwidth: 4.8e12, source: 'NVIDIA H200 Tensor Core GPU datasheet, SXM' },
};

/** The number of floating-point operations of all widths. */
export const flopsIn = ({ flops }: ProfileCounts): number => flops.f16 + flops.f32 + flops.f64;

/** The bytes of all requested global memory sectors, twice for atomics: the memory traffic without caches. */
export const movedBytes = ({ global }: ProfileCounts): number =>
  32 * (global.load.sectors + global.store.sectors + 2 * global.atomic.sectors);

export interface Position {
  /** Operations per byte of memory traffic. */
  readonly intensity: number;
  /** The maximum number of operations per second at this intensity. */
  readonly most: number;
  readonly bound: 'memory' | 'compute';
}

export interface OnRoof {
  readonly roof: Roof;
  /** Peak operations per second for the kernel's mix of widths. */
  readonly peak: number;
  /** Without caches, and with perfect caches, which move each sector once. */
  readonly uncached: Position;
  readonly cached: Position;
}

/** The place of a launch on a roofline; undefined without floating-point operations or global memory accesses. */
export function placeOn(roof: Roof, { total, footprint }: Profile): OnRoof | undefined {
  const { f16, f32, f64 } = total.flops;
  const flops = f16 + f32 + (roof.doubles ? f64 : 0);
  const moved = movedBytes(total);
  if (flops === 0 || moved === 0) return undefined;
  const seconds = (f16 + f32) / roof.flops + (roof.doubles ? f64 / roof.doubles : 0);
  const peak = flops / seconds;
  const at = (bytes: number): Position => {
    const [intensity, byMemory] = [flops / bytes, (flops / bytes) * roof.bandwidth];
    return { intensity, most: Math.min(peak, byMemory), bound: byMemory < peak ? 'memory' : 'compute' };
  };
  return { roof, peak, uncached: at(moved), cached: at(footprint.read + footprint.written) };
}
