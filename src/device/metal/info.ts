/** What a Metal device is, and what this machine says of it. */
import { targets } from '../../air/targets.ts';
import { gpuCoreCount, type Handle, type MetalBinding, openMetal } from '../../ffi/index.ts';
import type { DeviceInfo } from '../device.ts';
import { commonProperties } from '../properties.ts';
import { coresOf } from './chips.ts';

/** Bytes that one view of JavaScript can show. */
const largestView = 2 ** 32;
/** Threads of a simdgroup on every Apple GPU; warps are as wide, and kernels are compiled for it. */
export const simdWidth = 32;

/** Name and limits of a device. */
export function metalInfo(binding: MetalBinding, device: Handle): DeviceInfo {
  const { maxThreads, maxThreadgroupBytes, maxBufferBytes, workingSetBytes } = binding.deviceFacts(device);
  const name = binding.deviceName(device);
  const limits = {
    // What a kernel takes may be less, which its pipeline says.
    maxThreadsPerThreadgroup: Math.min(1024, maxThreads[0]),
    maxThreadgroupBytes: maxThreadgroupBytes || targets.macos14.shared.total,
    maxBufferBytes: Math.min(maxBufferBytes, largestView),
    simdWidth,
  };
  const more = { name, totalGlobalMem: workingSetBytes, multiProcessorCount: coresOf(name, gpuCoreCount()), maxThreadsDim: maxThreads };
  return { kind: 'metal', name, limits, properties: commonProperties(limits, more) };
}

/** What there is of Metal on this machine. */
export interface SystemMetal {
  readonly binding: MetalBinding | undefined;
  readonly info: DeviceInfo | undefined;
  /** What was tried and did not work; empty where the machine is no Mac. */
  readonly failures: readonly string[];
}

/** Looks for Metal and its device. */
export function systemMetal(): SystemMetal {
  const { binding, failures } = openMetal();
  const device = binding?.device();
  if (!binding || !device)
    return { binding: undefined, info: undefined, failures: binding ? [...failures, binding.lastFault().text] : failures };
  const info = metalInfo(binding, device);
  binding.release(device);
  return { binding, info, failures };
}
