/** Buffers in memory that host and GPU share: reading and writing copy within it, and views need no copy. */
import type { Diagnostics } from '../../base/diagnostic.ts';
import type { Handle } from '../../ffi/index.ts';
import type { DeviceBuffer } from '../device.ts';
import type { Context, Memory } from './context.ts';

/** A buffer of a Metal device. */
export interface MetalBuffer extends DeviceBuffer {
  readonly context: Context;
  readonly handle: Handle;
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
      binding.release(handle);
    },
  };
}

/** A zeroed buffer; undefined after reporting CM6012. */
export function allocate(context: Context, size: number, diagnostics: Diagnostics): MetalBuffer | undefined {
  const isSize = Number.isInteger(size) && size >= 0 && size <= context.info.limits.maxBufferBytes;
  const memory = isSize ? takeMemory(context, size) : undefined;
  if (!memory) {
    diagnostics.report('CM6012', { bytes: size, what: 'a buffer' });
    return undefined;
  }
  const { handle } = memory;
  let isFree = false;
  return {
    context,
    handle,
    size,
    get isFree() {
      return isFree;
    },
    write: (bytes, offset = 0) => memory.view.set(bytes, offset),
    read: () => memory.view.slice(),
    view: () => memory.view,
    deviceAddress() {
      context.addressed.add(handle);
      return context.binding.address(handle);
    },
    free() {
      if (isFree) return;
      isFree = true;
      context.addressed.delete(handle);
      memory.give();
    },
  };
}
