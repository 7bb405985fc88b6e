/** Memory: taken and given back, found by addresses, read and written by whoever is at the turn. */
import { type Addressed, type Context, errorWith, type Memory, must } from './context.ts';
import { addFree, ends } from './schedule.ts';

/** Where a buffer lives. `device`: kernels see it. `host`: JavaScript sees it. `unified`: both do. `staging`: as `host`, and copies read it when their turn comes. */
export type BufferState = 'host' | 'device' | 'unified' | 'staging';

/** Whether kernels see memory in a state, and whether the host does. */
export const sight: Readonly<Record<BufferState, { readonly kernels: boolean; readonly host: boolean }>> = {
  host: { kernels: false, host: true },
  device: { kernels: true, host: false },
  unified: { kernels: true, host: true },
  staging: { kernels: false, host: true },
};

/** Takes memory, which holds zeros. Throws CM6012 where there is none, and CM5065 where there is none in that state. */
export function takeMemory(context: Context, bytes: number, state: BufferState): Memory {
  const base = { context, size: bytes, uses: 0, isFree: false };
  if (!sight[state].kernels) return { ...base, low: undefined, host: hostBytes(bytes) };
  const low = must((diagnostics) => context.low.allocate(bytes, diagnostics, state === 'unified'));
  if (state === 'unified' && !low.view) {
    low.free();
    throw errorWith('CM5065', { name: context.low.info.name });
  }
  return { ...base, low, host: undefined };
}

/** As the devices refuse what they cannot give, so does the host. */
function hostBytes(bytes: number): Uint8Array {
  if (Number.isInteger(bytes) && bytes >= 0) {
    try {
      return new Uint8Array(bytes);
    } catch {
      // Told below.
    }
  }
  throw errorWith('CM6012', { bytes, what: 'a buffer of the host' });
}

/** Gives memory back when everything that was handed over before has ended: kernels may reach it by addresses that nobody knows of. */
export function giveBack(memory: Memory, isOurs: boolean): void {
  if (memory.isFree) return;
  memory.isFree = true;
  const { context, low } = memory;
  context.addressed = context.addressed.filter((each) => each.memory !== memory);
  // The memory of a device that was closed or reset is gone with it.
  if (!low || !isOurs || context.isClosed) return;
  const pending = ends(context.schedule);
  if (pending.length === 0) low.free();
  else addFree(context.schedule, () => void (context.isClosed || low.free()), pending);
}

/** Where kernels see the memory. */
export function addressOf(memory: Memory): bigint {
  const { context, low } = memory;
  const address = low!.deviceAddress();
  if (context.addressed.some((each) => each.memory === memory)) return address;
  const at = firstAbove(context.addressed, address);
  context.addressed.splice(at, 0, { address, memory });
  return address;
}

/** Index of the first entry above an address. */
function firstAbove(list: readonly Addressed[], address: bigint): number {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (list[middle]!.address <= address) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** A place in memory. */
export interface Place {
  readonly memory: Memory;
  /** Byte. */
  readonly start: number;
}

/** The memory that an address is in; nothing for one of nothing, or behind the last byte. */
export function placeAt({ addressed }: Context, address: bigint): Place | undefined {
  const found = addressed[firstAbove(addressed, address) - 1];
  const start = found && Number(address - found.address);
  return found && start! < Math.max(1, found.memory.size) ? { memory: found.memory, start: start! } : undefined;
}

/** Throws CM5063 where bytes are not within the memory. */
export function mustHold(size: number, start: number, count: number): void {
  const isWithin = Number.isInteger(start) && Number.isInteger(count) && start >= 0 && count >= 0 && start + count <= size;
  if (!isWithin) throw errorWith('CM5063', { start, count, size });
}

/** Bytes as they are now: the memory itself or a copy of it, to be read at once. */
export function bytesAt({ memory, start }: Place, count: number): Uint8Array {
  const all = memory.host ?? memory.low!.view?.() ?? memory.low!.read();
  return all.subarray(start, start + count);
}

/** Writes bytes, which may be of the same memory. */
export function putBytes({ memory, start }: Place, bytes: Uint8Array): void {
  if (bytes.length === 0) return;
  if (memory.host) memory.host.set(bytes, start);
  else memory.low!.write(bytes, start);
}
