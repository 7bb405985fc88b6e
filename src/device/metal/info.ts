/** Name, limits and properties of the Metal device of this machine. */
import { targets } from '../../air/targets.ts';
import { gpuCoreCount, type Handle, type MetalBinding, openMetal } from '../../ffi/index.ts';
import type { DeviceInfo } from '../device.ts';
import { commonProperties } from '../properties.ts';
import { coresOf } from './chips.ts';

/** Most bytes of a JavaScript view. */
const largestView = 2 ** 32;
/** Threads of a simdgroup on every Apple GPU; warps are as wide, and kernels are compiled for it. */
export const simdWidth = 32;

/** Name and limits of a device. */
export function metalInfo(binding: MetalBinding, device: Handle): DeviceInfo {
  const { maxThreads, maxThreadgroupBytes, maxBufferBytes, workingSetBytes } = binding.deviceFacts(device);
  const name = binding.deviceName(device);
  const limits = {
    // The pipeline of a kernel may allow fewer.
    maxThreadsPerThreadgroup: Math.min(1024, maxThreads[0]),
    maxThreadgroupBytes: maxThreadgroupBytes || targets.macos14.shared.total,
    maxBufferBytes: Math.min(maxBufferBytes, largestView),
    simdWidth,
  };
  const more = { name, totalGlobalMem: workingSetBytes, multiProcessorCount: coresOf(name, gpuCoreCount()), maxThreadsDim: maxThreads };
  return { kind: 'metal', name, limits, properties: commonProperties(limits, more) };
}

/** Metal on this machine. */
export interface SystemMetal {
  readonly binding: MetalBinding | undefined;
  readonly info: DeviceInfo | undefined;
  /** The ways that failed; empty on other machines than Macs. */
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
