/** Buffers of the CPU device: a range of its WebAssembly memory each. */
import type { DeviceBuffer } from '../device.ts';
import type { DeviceMemory } from './memory.ts';

/** A buffer of the CPU device. */
export interface CpuBuffer extends DeviceBuffer {
  readonly owner: DeviceMemory;
  readonly address: number;
  readonly isFree: boolean;
}

const isCpuBuffer = (buffer: DeviceBuffer): buffer is CpuBuffer => 'owner' in buffer && 'address' in buffer;

/** The address of a buffer of the CPU device; undefined for one of another device. */
export const addressOf = (buffer: DeviceBuffer): number | undefined => (isCpuBuffer(buffer) ? buffer.address : undefined);

/** A buffer that was allocated in a memory; undefined for one of another device. */
export const bufferIn = (memory: DeviceMemory, buffer: DeviceBuffer): CpuBuffer | undefined =>
  isCpuBuffer(buffer) && buffer.owner === memory ? buffer : undefined;
