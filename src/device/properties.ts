/** Device properties by CUDA's names, where the name applies to every device. */
import type { DeviceLimits, DeviceProperties } from './device.ts';

/** Properties besides the limits. */
export interface More {
  readonly name: string;
  /** Bytes; undefined if unknown. */
  readonly totalGlobalMem: number | undefined;
  /** A number, or a range as text. */
  readonly multiProcessorCount: number | string | undefined;
  /** Threads of a block in x, y, z. */
  readonly maxThreadsDim: readonly number[];
}

/** Most blocks of a grid in each dimension, on devices other than NVIDIA's. */
const maxBlocks = 2 ** 31 - 1;

/**
 * The fields of `cudaDeviceProp` of a device that shares the memory of the host.
 *
 * Source: NVIDIA, CUDA Runtime API, "cudaDeviceProp".
 */
export function commonProperties(
  limits: DeviceLimits,
  { name, totalGlobalMem, multiProcessorCount, maxThreadsDim }: More,
): DeviceProperties {
  return {
    name,
    ...(totalGlobalMem ? { totalGlobalMem } : {}),
    maxThreadsPerBlock: limits.maxThreadsPerThreadgroup,
    maxThreadsDim,
    maxGridSize: [maxBlocks, maxBlocks, maxBlocks],
    sharedMemPerBlock: limits.maxThreadgroupBytes,
    warpSize: limits.simdWidth,
    ...(multiProcessorCount === undefined ? {} : { multiProcessorCount }),
    integrated: 1,
    unifiedAddressing: 1,
  };
}
