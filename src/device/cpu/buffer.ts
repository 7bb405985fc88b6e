/** Buffers of the CPU device, and what it says of a launch request. */
import type { KernelReflection } from '../../air/index.ts';
import type { DeviceBuffer, DeviceLimits } from '../device.ts';
import type { Judge } from '../request.ts';
import type { DeviceMemory } from './memory.ts';

/** A buffer of the CPU device. */
export interface CpuBuffer extends DeviceBuffer {
  readonly owner: DeviceMemory;
  readonly address: number;
  readonly isFree: boolean;
}

const isCpuBuffer = (buffer: DeviceBuffer): buffer is CpuBuffer => 'owner' in buffer && 'address' in buffer;

/** Where a buffer of the CPU device starts. */
export const addressOf = (buffer: DeviceBuffer): number | undefined => (isCpuBuffer(buffer) ? buffer.address : undefined);

/** The judge of requests for a kernel on a memory. */
export const judgeOf = (memory: DeviceMemory, limits: DeviceLimits, { maxSharedBytes }: KernelReflection): Judge => ({
  limits,
  who: 'the CPU device',
  maxSharedBytes: maxSharedBytes ?? limits.maxThreadgroupBytes,
  canWatch: true,
  whyNot(buffer) {
    if (!isCpuBuffer(buffer) || buffer.owner !== memory) return 'a buffer of another device';
    return buffer.isFree ? 'a buffer that was freed' : undefined;
  },
});
