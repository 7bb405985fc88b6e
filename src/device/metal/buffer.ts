/** Buffers: memory that host and GPU share, so that reading and writing are copies within it, and a view needs none. */
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

/** The buffer as one of the device. */
export const metalBuffer = (context: Context, buffer: DeviceBuffer): MetalBuffer | undefined =>
  isMetalBuffer(buffer) && buffer.context === context ? buffer : undefined;

/** Takes memory, which holds zeros; nothing where the device has none. */
export function takeMemory({ binding, device, owned }: Context, bytes: number): Memory | undefined {
  // Metal has no buffers of nothing.
  const handle = binding.buffer(device, Math.max(16, bytes));
  if (!handle) return undefined;
  owned.add(handle);
  const view = binding.view(handle, 0, bytes);
  view.fill(0);
  return {
    handle,
    view,
    give() {
      if (owned.delete(handle)) binding.release(handle);
    },
  };
}

/** A buffer of zeros; nothing after reporting CM6012. */
export function allocate(context: Context, size: number, diagnostics: Diagnostics): MetalBuffer | undefined {
  const isSize = Number.isInteger(size) && size >= 0 && size <= context.info.limits.maxBufferBytes;
  const memory = isSize ? takeMemory(context, size) : undefined;
  if (!memory) {
    diagnostics.report('CM6012', { bytes: size, what: 'a buffer' });
    return undefined;
  }
  const { handle, view } = memory;
  let isFree = false;
  return {
    context,
    handle,
    size,
    get isFree() {
      return isFree;
    },
    write: (bytes, offset = 0) => view.set(bytes, offset),
    read: () => view.slice(),
    view: () => view,
    deviceAddress() {
      context.addressed.add(handle);
      return context.binding.address(handle);
    },
    free() {
      isFree = true;
      context.addressed.delete(handle);
      memory.give();
    },
  };
}
