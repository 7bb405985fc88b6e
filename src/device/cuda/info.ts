/** What a CUDA device is, and what this machine says of it. */
import { type CudaBinding, openCuda } from '../../ffi/index.ts';
import type { DeviceInfo, DeviceProperties } from '../device.ts';

/**
 * `CUdevice_attribute` by the field of `cudaDeviceProp` that it fills; three in a row for dimensions.
 *
 * Source: cuda.h, and NVIDIA, CUDA Runtime API, "cudaDeviceProp".
 */
const deviceAttributes = {
  maxThreadsPerBlock: 1,
  maxThreadsDim: [2, 3, 4],
  maxGridSize: [5, 6, 7],
  sharedMemPerBlock: 8,
  totalConstMem: 9,
  warpSize: 10,
  regsPerBlock: 12,
  multiProcessorCount: 16,
  integrated: 18,
  concurrentKernels: 31,
  ECCEnabled: 32,
  memoryBusWidth: 37,
  l2CacheSize: 38,
  maxThreadsPerMultiProcessor: 39,
  asyncEngineCount: 40,
  unifiedAddressing: 41,
  major: 75,
  minor: 76,
  sharedMemPerMultiprocessor: 81,
  regsPerMultiprocessor: 82,
  managedMemory: 83,
  cooperativeLaunch: 95,
  sharedMemPerBlockOptin: 97,
  maxBlocksPerMultiProcessor: 106,
} as const satisfies Record<string, number | readonly number[]>;

/** A number of JavaScript's that stands for any size of memory, and that a buffer of bytes may have. */
const largestBuffer = 2 ** 32;

/** Name, limits and properties of a device. */
export function cudaInfo(binding: CudaBinding, device: number): DeviceInfo {
  const read = (attribute: number): number => binding.deviceAttribute(device, attribute) ?? 0;
  const name = binding.deviceName(device);
  const memory = binding.deviceMemory(device);
  const properties: DeviceProperties = {
    name,
    totalGlobalMem: memory,
    ...Object.fromEntries(Object.entries(deviceAttributes).map(([field, at]) => [field, typeof at === 'number' ? read(at) : at.map(read)])),
    driverVersion: binding.version,
  };
  return {
    kind: 'cuda',
    name,
    limits: {
      maxThreadsPerThreadgroup: read(deviceAttributes.maxThreadsPerBlock),
      // Above the 48 KB that every kernel has, the launch asks for it.
      maxThreadgroupBytes: read(deviceAttributes.sharedMemPerBlockOptin) || read(deviceAttributes.sharedMemPerBlock),
      maxBufferBytes: Math.min(memory, largestBuffer),
      simdWidth: read(deviceAttributes.warpSize),
    },
    properties,
  };
}

/** What there is of CUDA on this machine. */
export interface SystemCuda {
  readonly binding: CudaBinding | undefined;
  readonly info: DeviceInfo | undefined;
  /** Why there is no device, a sentence each. */
  readonly failures: readonly string[];
}

/** The device that is taken; `CUDA_VISIBLE_DEVICES` makes another one the first. */
export const firstDevice = 0;

/** Looks for the driver and its first device. */
export function systemCuda(): SystemCuda {
  const { binding, failures } = openCuda();
  if (!binding) return { binding, info: undefined, failures };
  if (binding.deviceCount() > firstDevice) return { binding, info: cudaInfo(binding, firstDevice), failures };
  return { binding: undefined, info: undefined, failures: [...failures, 'the CUDA driver is here, and no device of it'] };
}
