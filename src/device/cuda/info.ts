/** Name, limits and properties of the CUDA device of this machine. */
import { type CudaBinding, openCuda } from '../../ffi/index.ts';
import type { DeviceInfo, DeviceProperties } from '../device.ts';

/**
 * The `CUdevice_attribute` of each field of `cudaDeviceProp`; three in a row for dimensions.
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
  clusterLaunch: 120,
} as const satisfies Record<string, number | readonly number[]>;

/** The largest buffer in bytes: exact as a JavaScript number. */
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
    ...(device > 0 ? { ordinal: device } : {}),
    limits: {
      maxThreadsPerThreadgroup: read(deviceAttributes.maxThreadsPerBlock),
      // The launch requests more than 48 KB.
      maxThreadgroupBytes: read(deviceAttributes.sharedMemPerBlockOptin) || read(deviceAttributes.sharedMemPerBlock),
      maxBufferBytes: Math.min(memory, largestBuffer),
      simdWidth: read(deviceAttributes.warpSize),
    },
    properties,
  };
}

/** CUDA on this machine. */
export interface SystemCuda {
  readonly binding: CudaBinding | undefined;
  /** The first device, and all of them. */
  readonly info: DeviceInfo | undefined;
  readonly infos: readonly DeviceInfo[];
  /** The reasons why there is no device. */
  readonly failures: readonly string[];
}

/** Looks for the driver and its devices. */
export function systemCuda(): SystemCuda {
  const { binding, failures } = openCuda();
  if (!binding) return { binding, info: undefined, infos: [], failures };
  const infos = Array.from({ length: binding.deviceCount() }, (_, device) => cudaInfo(binding, device));
  if (infos[0]) return { binding, info: infos[0], infos, failures };
  return { binding: undefined, info: undefined, infos, failures: [...failures, 'the CUDA driver is here, and no device of it'] };
}
