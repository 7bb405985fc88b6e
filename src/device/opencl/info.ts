/** Name, limits and properties of the OpenCL device of this machine. */
import { type ClHandle, type OpenclBinding, openOpencl } from '../../ffi/index.ts';
import { fpConfig, svmCoarseGrainBuffer } from '../../ffi/opencl/api.ts';
import type { DeviceInfo } from '../device.ts';
import { commonProperties } from '../properties.ts';

/** Threads of a warp, which the printed code forms itself. */
const warpSize = 32;
/** The printed code has local arrays for as many threads. */
const maxThreads = 1024;
const largestBuffer = 2 ** 32;

/** Name and limits of a device. */
export function openclInfo(binding: OpenclBinding, device: ClHandle): DeviceInfo {
  const limits = {
    maxThreadsPerThreadgroup: Math.min(maxThreads, binding.deviceNumber(device, 'maxWorkGroupSize')),
    maxThreadgroupBytes: binding.deviceNumber(device, 'localMemSize'),
    maxBufferBytes: Math.min(largestBuffer, binding.deviceNumber(device, 'maxMemAllocSize')),
    simdWidth: warpSize,
  };
  const name = `${binding.deviceText(device, 'name')} (${binding.deviceText(device, 'version')})`;
  const more = {
    name,
    totalGlobalMem: binding.deviceNumber(device, 'globalMemSize'),
    multiProcessorCount: binding.deviceNumber(device, 'maxComputeUnits'),
    maxThreadsDim: binding.deviceSizes(device, 'maxWorkItemSizes'),
  };
  return { kind: 'opencl', name, limits, properties: commonProperties(limits, more) };
}

/** What a device lacks of what every kernel needs; undefined for one that can be used. */
function lack(binding: OpenclBinding, device: ClHandle): string | undefined {
  const name = binding.deviceText(device, 'name');
  if ((binding.deviceNumber(device, 'svmCapabilities') & svmCoarseGrainBuffer) === 0)
    return `${name} has no shared virtual memory, so that buffers have no addresses`;
  const config = binding.deviceNumber(device, 'singleFpConfig');
  if ((config & fpConfig.correctlyRoundedDivideSqrt) === 0) return `${name} has no correctly rounded division and square root`;
  if ((config & fpConfig.denorm) === 0) return `${name} has no subnormal numbers`;
  return undefined;
}

/** OpenCL on this machine. */
export interface SystemOpencl {
  readonly binding: OpenclBinding | undefined;
  readonly info: DeviceInfo | undefined;
  readonly device?: ClHandle;
  /** The reasons why there is no device. */
  readonly failures: readonly string[];
}

/** Looks for the library and the first device that has what kernels need. */
export function systemOpencl(): SystemOpencl {
  const { binding, failures } = openOpencl();
  if (!binding) return { binding, info: undefined, failures };
  const devices = binding.devices();
  const device = devices.find((each) => lack(binding, each) === undefined);
  if (device !== undefined) return { binding, info: openclInfo(binding, device), device, failures };
  const why = devices.map((each) => lack(binding, each)!);
  return {
    binding: undefined,
    info: undefined,
    failures: [...failures, ...(why.length > 0 ? why : ['OpenCL is here, and no device of it'])],
  };
}
