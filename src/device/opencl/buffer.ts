/** Buffers in shared virtual memory, whose addresses are the same for host and device; the host reads and writes by copies. */
import type { Diagnostics } from '../../base/diagnostic.ts';
import { bufferAt, reservedAt } from '../address-buffer.ts';
import type { DeviceBuffer, Reservation } from '../device.ts';
import type { ClBuffer, Context } from './context.ts';

const isClBuffer = (buffer: DeviceBuffer): buffer is ClBuffer => 'context' in buffer && 'address' in buffer;

/** The buffer, if it belongs to the device. */
export const clBuffer = (context: Context, buffer: DeviceBuffer): ClBuffer | undefined =>
  isClBuffer(buffer) && buffer.context === context ? buffer : undefined;

/** Zeroed memory; undefined if there is none left. */
export function take({ binding, context, queue, memory, lost }: Context, size: number): number | undefined {
  if (lost !== undefined) return undefined;
  // The driver has no empty allocations.
  const bytes = Math.max(16, size);
  const address = binding.allocate(context, bytes);
  if (address === undefined) return undefined;
  memory.add(address);
  if (binding.fill(queue, address, 0, bytes)) return address;
  give({ binding, context, memory, lost } as Context, address);
  return undefined;
}

/** Frees memory, unless closing the device has. */
export function give({ binding, context, memory, lost }: Context, address: number): void {
  // A kernel that is lost may still write it.
  if (lost === undefined && memory.delete(address)) binding.free(context, address);
}

/** Copies between the host and a range of memory. */
export function copies(context: Context, address: number, size: number): Pick<DeviceBuffer, 'write' | 'read'> {
  const { binding, queue } = context;
  const mind = (isGood: boolean): void => {
    if (isGood) return;
    const { call, name } = binding.lastFault();
    throw new Error(`OpenCL does not copy memory: ${call}: ${name}`);
  };
  const isOpen = (): boolean => {
    if (context.lost !== undefined) throw new Error(`the OpenCL device is lost: ${context.lost}`);
    return !context.isClosed;
  };
  return {
    write(bytes, offset = 0) {
      if (offset < 0 || offset + bytes.length > size) throw new RangeError(`${bytes.length} bytes at ${offset} of ${size}`);
      if (isOpen()) mind(binding.write(queue, address + offset, bytes));
    },
    read() {
      const bytes = new Uint8Array(isOpen() ? size : 0);
      mind(binding.read(queue, address, bytes));
      return bytes;
    },
  };
}

/** The address of zeroed memory; undefined after reporting CM6012. */
function takeOrReport(context: Context, size: number, what: string, diagnostics: Diagnostics): number | undefined {
  const isSize = Number.isInteger(size) && size >= 0 && size <= context.info.limits.maxBufferBytes;
  const address = isSize ? take(context, size) : undefined;
  if (address === undefined) diagnostics.report('CM6012', { bytes: size, what });
  return address;
}

/** What kernels may follow addresses to, and the end of it. */
const lifeOf = (context: Context, address: number) => ({
  seen: () => void context.addressed.add(address),
  give() {
    context.addressed.delete(address);
    give(context, address);
  },
});

/** A zeroed buffer; undefined after reporting CM6012. */
export function allocate(context: Context, size: number, diagnostics: Diagnostics): ClBuffer | undefined {
  const address = takeOrReport(context, size, 'a buffer', diagnostics);
  if (address === undefined) return undefined;
  return bufferAt({ context, address, size, copies: copies(context, address, size), ...lifeOf(context, address) });
}

/** Memory for a pool; undefined after reporting CM6012. */
export function reserve(context: Context, size: number, diagnostics: Diagnostics): Reservation | undefined {
  const address = takeOrReport(context, size, 'a pool', diagnostics);
  if (address === undefined) return undefined;
  return reservedAt({ context, address, size, ...lifeOf(context, address) }, (at, bytes) => copies(context, at, bytes));
}
