/** Memory: allocation, release, lookup by address, reads and writes. */
import { Diagnostics } from '../base/diagnostic.ts';
import type { DeviceBuffer } from '../device/device.ts';
import { type Addressed, type Context, errorWith, type Memory, orThrow } from './context.ts';
import { addFree, unfinished } from './schedule.ts';

/** The state of a buffer. `device`: visible to kernels. `host`: visible to JavaScript. `unified`: visible to both. `staging`: like `host`, but copies read it when they execute. */
export type BufferState = 'host' | 'device' | 'unified' | 'staging';

/** The visibility of each state to kernels and to the host. */
export const visibility: Readonly<Record<BufferState, { readonly kernels: boolean; readonly host: boolean }>> = {
  host: { kernels: false, host: true },
  device: { kernels: true, host: false },
  unified: { kernels: true, host: true },
  staging: { kernels: false, host: true },
};

/** Allocates zeroed memory. Throws CM6012 if there is not enough, and CM5065 if the device does not support the state. */
export function allocateMemory(context: Context, bytes: number, state: BufferState): Memory {
  const base = { context, size: bytes, uses: 0, isFree: false };
  if (!visibility[state].kernels) return { ...base, low: undefined, host: hostBytes(bytes) };
  const low = allocateLow(context, bytes, state === 'unified');
  if (state === 'unified' && !low.view) {
    low.free();
    throw errorWith('CM5065', { name: context.low.info.name });
  }
  return { ...base, low, host: undefined };
}

/** Allocates device memory; if there is not enough, after pools have freed what they do not use. */
function allocateLow(context: Context, bytes: number, isSeen: boolean): DeviceBuffer {
  const first = context.pools.size > 0 ? context.low.allocate(bytes, new Diagnostics(), isSeen) : undefined;
  if (first) return first;
  for (const pool of context.pools) pool.trimForOthers();
  return orThrow((diagnostics) => context.low.allocate(bytes, diagnostics, isSeen));
}

/** Allocates host memory, or throws CM6012 as the devices do. */
function hostBytes(bytes: number): Uint8Array {
  if (Number.isInteger(bytes) && bytes >= 0) {
    try {
      return new Uint8Array(bytes);
    } catch {
      // Reported below.
    }
  }
  throw errorWith('CM6012', { bytes, what: 'a host buffer' });
}

/** Releases memory when all pending work has finished, because any kernel may access it by address. */
export function releaseMemory(memory: Memory, isOurs: boolean): void {
  if (memory.isFree) return;
  if (memory.release) return isOurs ? memory.release() : undefined;
  memory.isFree = true;
  const { context, low } = memory;
  forgetAddress(memory);
  if (low && isOurs) whenIdle(context, () => low.free());
}

/** Forgets the address of memory that is freed. */
export function forgetAddress(memory: Memory): void {
  const { context } = memory;
  const at = context.addressed.findIndex((each) => each.memory === memory);
  if (at >= 0) context.addressed.splice(at, 1);
}

/** Frees something of a device when all pending work has finished. Closing or resetting the device frees all of it. */
export function whenIdle(context: Context, free: () => void): void {
  if (context.isClosed) return;
  const { age } = context;
  const pending = unfinished(context.schedule);
  if (pending.length === 0) free();
  else addFree(context.schedule, () => void (context.isClosed || context.age !== age || free()), pending);
}

/** The device address of the memory. */
export function addressOf(memory: Memory): bigint {
  const { context, low } = memory;
  const address = low!.deviceAddress();
  if (context.addressed.some((each) => each.memory === memory)) return address;
  const at = firstAbove(context.addressed, address);
  context.addressed.splice(at, 0, { address, memory });
  return address;
}

/** The index of the first entry above an address. */
function firstAbove(list: readonly Addressed[], address: bigint): number {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (list[middle]!.address <= address) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** A location in memory. */
export interface Place {
  readonly memory: Memory;
  /** The byte offset. */
  readonly start: number;
}

/** The location of an address; undefined if it is not in any memory. */
export function placeAt({ addressed }: Context, address: bigint): Place | undefined {
  const found = addressed[firstAbove(addressed, address) - 1];
  const start = found && Number(address - found.address);
  return found && start! < Math.max(1, found.memory.size) ? { memory: found.memory, start: start! } : undefined;
}

/** Throws CM5063 if a range is not within the memory. */
export function assertWithin(size: number, start: number, count: number): void {
  const isWithin = Number.isInteger(start) && Number.isInteger(count) && start >= 0 && count >= 0 && start + count <= size;
  if (!isWithin) throw errorWith('CM5063', { start, count, size });
}

/** The current bytes: the memory itself or a copy, to be read immediately. */
export function bytesAt({ memory, start }: Place, count: number): Uint8Array {
  const all = memory.host ?? memory.low!.view?.() ?? memory.low!.read();
  return all.subarray(start, start + count);
}

/** Copies bytes between two places, without the host where their devices have a way. */
export function copyBytes(to: Place, from: Place, count: number): void {
  const [target, source] = [to.memory.low, from.memory.low];
  if (count > 0 && target && source && target.copyFrom?.(source, from.start, count, to.start)) return;
  putBytes(to, bytesAt(from, count));
}

/** Writes bytes, which may overlap the same memory. */
export function putBytes({ memory, start }: Place, bytes: Uint8Array): void {
  if (bytes.length === 0) return;
  if (memory.host) memory.host.set(bytes, start);
  else memory.low!.write(bytes, start);
}
