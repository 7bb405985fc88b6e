/** What devices say of themselves in CUDA's names, where the name means something for all of them. */
import type { DeviceLimits, DeviceProperties } from './device.ts';

/** What a device adds to its limits. */
export interface More {
  readonly name: string;
  /** Bytes; nothing where it is not known. */
  readonly totalGlobalMem: number | undefined;
  /** A number, or in words what is known of it. */
  readonly multiProcessorCount: number | string | undefined;
  /** Threads of a block in x, y, z. */
  readonly maxThreadsDim: readonly number[];
}

/** Blocks of a grid in a dimension; devices other than NVIDIA's take as many in each. */
const mostBlocks = 2 ** 31 - 1;

/**
 * The fields of `cudaDeviceProp` that follow from limits and little more, for a device whose memory is the host's.
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
    maxGridSize: [mostBlocks, mostBlocks, mostBlocks],
    sharedMemPerBlock: limits.maxThreadgroupBytes,
    warpSize: limits.simdWidth,
    ...(multiProcessorCount === undefined ? {} : { multiProcessorCount }),
    integrated: 1,
    unifiedAddressing: 1,
  };
}
