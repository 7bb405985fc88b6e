/** Buffers in GPU memory, which the host reads and writes by copies. */
import type { Diagnostics } from '../../base/diagnostic.ts';
import type { DeviceBuffer } from '../device.ts';
import type { Context, CudaBuffer } from './context.ts';
import { faultText } from './faults.ts';

const isCudaBuffer = (buffer: DeviceBuffer): buffer is CudaBuffer => 'context' in buffer && 'address' in buffer;

/** The buffer, if it belongs to the device. */
export const cudaBuffer = (context: Context, buffer: DeviceBuffer): CudaBuffer | undefined =>
  isCudaBuffer(buffer) && buffer.context === context ? buffer : undefined;

/** Copies between the host and a range of GPU memory; throws if the device is lost, because the contents are undefined then. */
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

/** GPU memory, or managed memory if the host needs a view. */
function take({ binding, info, lost }: Context, size: number, isSeen: boolean): { address: bigint; view?: Uint8Array } | undefined {
  const isSize = Number.isInteger(size) && size >= 0 && size <= info.limits.maxBufferBytes;
  if (!isSize || lost !== undefined) return undefined;
  // The driver has no empty allocations.
  const bytes = Math.max(16, size);
  const hasBoth = isSeen && info.properties?.managedMemory === 1;
  const address = hasBoth ? undefined : binding.allocate(bytes);
  const taken = hasBoth ? binding.allocateManaged(bytes) : address === undefined ? undefined : { address };
  if (!taken || binding.fill(taken.address, 0, bytes)) return taken;
  binding.free(taken.address);
  return undefined;
}

/** A zeroed buffer; undefined after reporting CM6012. */
export function allocate(context: Context, size: number, diagnostics: Diagnostics, isSeen: boolean): CudaBuffer | undefined {
  const taken = take(context, size, isSeen);
  if (!taken) {
    diagnostics.report('CM6012', { bytes: size, what: 'a buffer' });
    return undefined;
  }
  const { binding, memory } = context;
  const { address, view } = taken;
  memory.add(address);
  let isFree = false;
  const { write, read } = copies(context, address, size);
  const isGone = (): boolean => isFree || context.isClosed;
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
    ...(view ? { view: () => (isGone() ? new Uint8Array(0) : view.subarray(0, size)) } : {}),
    deviceAddress: () => address,
    free() {
      if (isFree) return;
      isFree = true;
      // Freeing memory waits for the GPU, possibly forever.
      if (memory.delete(address) && !context.isRunning) binding.free(address);
    },
  };
}
