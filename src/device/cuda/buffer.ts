/** Buffers: memory of the GPU, which the host reads and writes by copies. */
import type { Diagnostics } from '../../base/diagnostic.ts';
import type { DeviceBuffer } from '../device.ts';
import type { Context, CudaBuffer } from './context.ts';
import { faultText } from './faults.ts';

const isCudaBuffer = (buffer: DeviceBuffer): buffer is CudaBuffer => 'context' in buffer && 'address' in buffer;

/** The buffer as one of the device. */
export const cudaBuffer = (context: Context, buffer: DeviceBuffer): CudaBuffer | undefined =>
  isCudaBuffer(buffer) && buffer.context === context ? buffer : undefined;

/** A part of the GPU's memory that the host copies from and to; throws where the device is lost, for what it holds is nobody's to see. */
export function copies(context: Context, address: bigint, size: number): Pick<DeviceBuffer, 'write' | 'read'> {
  const { binding } = context;
  const mind = (isGood: boolean): void => {
    if (!isGood) throw new Error(`the CUDA driver does not copy memory: ${faultText(binding.lastFault())}`);
  };
  const isOpen = (): boolean => {
    if (context.lost !== undefined) throw new Error(`the CUDA device is lost: ${context.lost}`);
    return !context.isClosed;
  };
  return {
    write(bytes, offset = 0) {
      if (offset < 0 || offset + bytes.length > size) throw new RangeError(`${bytes.length} bytes at ${offset} of ${size}`);
      if (isOpen()) mind(binding.write(address + BigInt(offset), bytes));
    },
    read() {
      const bytes = new Uint8Array(isOpen() ? size : 0);
      mind(binding.read(address, bytes));
      return bytes;
    },
  };
}

/** A buffer of zeros; nothing after reporting CM6012. */
export function allocate(context: Context, size: number, diagnostics: Diagnostics): CudaBuffer | undefined {
  const { binding, memory, info } = context;
  const isSize = Number.isInteger(size) && size >= 0 && size <= info.limits.maxBufferBytes;
  // The driver has no memory of nothing.
  const address = isSize && context.lost === undefined ? binding.allocate(Math.max(16, size)) : undefined;
  if (address === undefined || !binding.fill(address, 0, Math.max(16, size))) {
    if (address !== undefined) binding.free(address);
    diagnostics.report('CM6012', { bytes: size, what: 'a buffer' });
    return undefined;
  }
  memory.add(address);
  let isFree = false;
  const { write, read } = copies(context, address, size);
  return {
    context,
    address,
    size,
    get isFree() {
      return isFree;
    },
    write: (bytes, offset) => {
      if (!isFree) write(bytes, offset);
    },
    read: () => (isFree ? new Uint8Array(0) : read()),
    deviceAddress: () => address,
    free() {
      if (isFree) return;
      isFree = true;
      // Giving memory back waits for the GPU, and may wait for ever.
      if (memory.delete(address) && !context.isRunning) binding.free(address);
    },
  };
}
