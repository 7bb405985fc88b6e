/** Buffers in memory that host and GPU share: reading and writing copy within it, and views need no copy. */
import type { Diagnostics } from '../../base/diagnostic.ts';
import type { Handle } from '../../ffi/index.ts';
import type { DeviceBuffer, Reservation } from '../device.ts';
import type { Context, Memory } from './context.ts';

/** A buffer of a Metal device. */
export interface MetalBuffer extends DeviceBuffer {
  readonly context: Context;
  readonly handle: Handle;
  /** The byte of the memory behind `handle` where it starts. */
  readonly start: number;
  readonly isFree: boolean;
  view(): Uint8Array;
  deviceAddress(): bigint;
}

const isMetalBuffer = (buffer: DeviceBuffer): buffer is MetalBuffer => 'context' in buffer && 'handle' in buffer;

/** The buffer, if it belongs to the device. */
export const metalBuffer = (context: Context, buffer: DeviceBuffer): MetalBuffer | undefined =>
  isMetalBuffer(buffer) && buffer.context === context ? buffer : undefined;

/** The view of freed memory: accessing that memory would end the process. */
const nothing = new Uint8Array(0);

/** Allocates zeroed memory; undefined if the device has none left. */
export function takeMemory(context: Context, bytes: number): Memory | undefined {
  const { binding, device, owned } = context;
  // Metal has no empty buffers.
  const handle = binding.buffer(device, Math.max(16, bytes));
  if (!handle) return undefined;
  owned.add(handle);
  context.memory.set(handle, { bytes });
  const view = binding.view(handle, 0, bytes);
  view.fill(0);
  let isGiven = false;
  // Another buffer may have the same handle by then.
  const isGone = (): boolean => isGiven || context.isClosed;
  return {
    handle,
    get view() {
      return isGone() ? nothing : view;
    },
    give() {
      if (isGone()) return;
      isGiven = true;
      owned.delete(handle);
      context.memory.delete(handle);
      binding.release(handle);
    },
  };
}

/** The memory at an address that a kernel passed on, with the offset in it; undefined where the device has none. */
export function memoryAt({ binding, memory }: Context, address: bigint): { readonly handle: Handle; readonly offset: number } | undefined {
  for (const [handle, { bytes }] of memory) {
    const offset = address - binding.address(handle);
    if (offset >= 0n && offset < BigInt(Math.max(1, bytes))) return { handle, offset: Number(offset) };
  }
  return undefined;
}

/** A zeroed buffer; undefined after reporting CM6012. */
export function allocate(context: Context, size: number, diagnostics: Diagnostics): MetalBuffer | undefined {
  const isSize = Number.isInteger(size) && size >= 0 && size <= context.info.limits.maxBufferBytes;
  const memory = isSize ? takeMemory(context, size) : undefined;
  if (!memory) {
    diagnostics.report('CM6012', { bytes: size, what: 'a buffer' });
    return undefined;
  }
  return bufferOver(context, memory, { start: 0, size }, () => giveBack(context, memory));
}

function giveBack({ addressed }: Context, memory: Memory): void {
  addressed.delete(memory.handle);
  memory.give();
}

/** Memory for a pool; undefined after reporting CM6012. */
export function reserve(context: Context, size: number, diagnostics: Diagnostics): Reservation | undefined {
  const isSize = Number.isInteger(size) && size >= 0 && size <= context.info.limits.maxBufferBytes;
  const memory = isSize ? takeMemory(context, size) : undefined;
  if (!memory) {
    diagnostics.report('CM6012', { bytes: size, what: 'a pool' });
    return undefined;
  }
  return {
    size,
    part: (start, bytes) =>
      Object.assign(
        bufferOver(context, memory, { start, size: bytes }, () => undefined),
        { begin: () => undefined },
      ),
    free: () => giveBack(context, memory),
  };
}

interface Range {
  readonly start: number;
  readonly size: number;
}

/** A buffer over a range of memory. */
function bufferOver(context: Context, memory: Memory, { start, size }: Range, give: () => void): MetalBuffer {
  const { handle } = memory;
  let isFree = false;
  const view = (): Uint8Array => (isFree ? nothing : memory.view.subarray(start, start + size));
  return {
    context,
    handle,
    start,
    size,
    get isFree() {
      return isFree;
    },
    write: (bytes, offset = 0) => view().set(bytes, offset),
    read: () => view().slice(),
    view,
    deviceAddress() {
      context.addressed.add(handle);
      return context.binding.address(handle) + BigInt(start);
    },
    free() {
      if (isFree) return;
      isFree = true;
      give();
    },
  };
}
