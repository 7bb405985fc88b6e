/** Buffers in the arena, which the host reads and writes by copies of whole words. */
import { alignUp } from '../../base/bytes.ts';
import type { Diagnostics } from '../../base/diagnostic.ts';
import { bufferAt, reservedAt } from '../address-buffer.ts';
import type { DeviceBuffer, Reservation } from '../device.ts';
import { type Context, type GpuBuffer, needOpen } from './context.ts';

const isGpuBuffer = (buffer: DeviceBuffer): buffer is GpuBuffer => 'context' in buffer && 'address' in buffer;

/** The buffer, if it belongs to the device. */
export const gpuBuffer = (context: Context, buffer: DeviceBuffer): GpuBuffer | undefined =>
  isGpuBuffer(buffer) && buffer.context === context ? buffer : undefined;

/** Bytes of the arena. */
export function readBytes(context: Context, address: number, size: number): Uint8Array {
  if (size === 0) return new Uint8Array(0);
  const start = address & ~3;
  const into = new SharedArrayBuffer(alignUp(address + size, 4) - start);
  const answer = context.connection.ask({ ask: 'read', offset: start, into });
  if (!answer?.isGood) {
    const why = answer?.why ?? 'it does not answer';
    if (answer?.isLost) context.lost = why;
    throw new Error(`WebGPU does not copy memory: ${why}`);
  }
  return new Uint8Array(into).slice(address - start, address - start + size);
}

/** Writes bytes of the arena; words that are written in part are read before. */
export function writeBytes(context: Context, address: number, bytes: Uint8Array): void {
  if (bytes.length === 0) return;
  const start = address & ~3;
  const end = alignUp(address + bytes.length, 4);
  if (start === address && end === address + bytes.length) {
    context.connection.send({ ask: 'write', offset: start, bytes: bytes.slice() });
    return;
  }
  const whole = new Uint8Array(end - start);
  whole.set(readBytes(context, start, 4));
  whole.set(readBytes(context, end - 4, 4), end - 4 - start);
  whole.set(bytes, address - start);
  context.connection.send({ ask: 'write', offset: start, bytes: whole });
}

/** Copies between the host and a range of memory. */
export const copies = (context: Context, address: number, size: number): Pick<DeviceBuffer, 'write' | 'read'> => ({
  write(bytes, offset = 0) {
    if (offset < 0 || offset + bytes.length > size) throw new RangeError(`${bytes.length} bytes at ${offset} of ${size}`);
    if (needOpen(context)) writeBytes(context, address + offset, bytes);
  },
  read: () => (needOpen(context) ? readBytes(context, address, size) : new Uint8Array(0)),
});

/** The address of zeroed memory; undefined after reporting CM6012. */
function takeOrReport(context: Context, size: number, what: string, diagnostics: Diagnostics): number | undefined {
  const isSize = Number.isInteger(size) && size >= 0 && size <= context.info.limits.maxBufferBytes;
  const address = isSize && context.lost === undefined && !context.isClosed ? context.arena.take(size) : undefined;
  if (address === undefined) diagnostics.report('CM6012', { bytes: size, what });
  return address;
}

/** A zeroed buffer; undefined after reporting CM6012. */
export function allocate(context: Context, size: number, diagnostics: Diagnostics): GpuBuffer | undefined {
  const address = takeOrReport(context, size, 'a buffer', diagnostics);
  if (address === undefined) return undefined;
  return bufferAt({ context, address, size, copies: copies(context, address, size), give: () => context.arena.give(address) });
}

/** Memory for a pool; undefined after reporting CM6012. */
export function reserve(context: Context, size: number, diagnostics: Diagnostics): Reservation | undefined {
  const address = takeOrReport(context, size, 'a pool', diagnostics);
  if (address === undefined) return undefined;
  return reservedAt({ context, address, size, give: () => context.arena.give(address) }, (at, bytes) => copies(context, at, bytes));
}
