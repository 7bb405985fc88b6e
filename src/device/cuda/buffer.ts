/** Buffers in GPU memory, which the host reads and writes by copies. */
import type { Diagnostics } from '../../base/diagnostic.ts';
import type { DeviceBuffer, Reservation } from '../device.ts';
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

function copyBetween(context: Context, to: bigint, from: Context, at: bigint, bytes: number): void {
  const { binding, handle } = context;
  const lost = context.lost ?? from.lost;
  if (lost !== undefined) throw new Error(`the CUDA device is lost: ${lost}`);
  const isGood = from === context ? binding.copy(to, at, bytes) : binding.copyPeer(to, handle, at, from.handle, bytes);
  if (!isGood) throw new Error(`the CUDA driver does not copy memory: ${faultText(binding.lastFault())}`);
}

/** GPU memory, or managed memory if the host needs a view. */
function take({ binding, info, lost }: Context, size: number, isSeen: boolean): Taken | undefined {
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
  context.memory.add(taken.address);
  return bufferOver(context, taken, size, () => giveBack(context, taken.address));
}

/** Freeing memory waits for the GPU, possibly forever. */
function giveBack({ binding, memory, isRunning }: Context, address: bigint): void {
  if (memory.delete(address) && !isRunning) binding.free(address);
}

/** Memory for a pool; undefined after reporting CM6012. */
export function reserve(context: Context, size: number, diagnostics: Diagnostics, isSeen: boolean): Reservation | undefined {
  const taken = take(context, size, isSeen);
  if (!taken) {
    diagnostics.report('CM6012', { bytes: size, what: 'a pool' });
    return undefined;
  }
  const { address, view } = taken;
  context.memory.add(address);
  return {
    size,
    part(offset, bytes) {
      const place = { address: address + BigInt(offset), ...(view ? { view: view.subarray(offset, offset + bytes) } : {}) };
      return Object.assign(
        bufferOver(context, place, bytes, () => undefined),
        { begin: () => undefined },
      );
    },
    free: () => giveBack(context, address),
  };
}

/** GPU memory, with the host's view of it if there is one. */
interface Taken {
  readonly address: bigint;
  readonly view?: Uint8Array;
}

function bufferOver(context: Context, { address, view }: Taken, size: number, give: () => void): CudaBuffer {
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
    copyFrom(from, fromOffset, bytes, offset) {
      const source = isCudaBuffer(from) ? from : undefined;
      if (source?.context.driver !== context.driver || isGone() || source.isFree) return false;
      const [to, at] = [address + BigInt(offset), source.address + BigInt(fromOffset)];
      // The driver copies ranges that overlap in any order.
      if (source.context === context && to < at + BigInt(bytes) && at < to + BigInt(bytes)) return false;
      copyBetween(context, to, source.context, at, bytes);
      return true;
    },
    fill(value, offset, bytes) {
      // Memory that the host sees is filled when it is called: kernels may still use it.
      if (view || !context.queue || isGone()) return false;
      if (context.lost !== undefined) throw new Error(`the CUDA device is lost: ${context.lost}`);
      const { binding } = context;
      if (!binding.fill(address + BigInt(offset), value, bytes))
        throw new Error(`the CUDA driver does not fill memory: ${faultText(binding.lastFault())}`);
      return true;
    },
    deviceAddress: () => address,
    free() {
      if (isFree) return;
      isFree = true;
      give();
    },
  };
}
