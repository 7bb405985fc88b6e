/** The heap of a device, of which kernels allocate (`src/ir/services.ts`). It is made for the first launch that needs it, and keeps its size. */
import { heapSizeAt } from '../../../ir/index.ts';
import type { DeviceMemory } from '../memory.ts';

export interface Heap {
  readonly address: number;
  readonly bytes: number;
}

const heaps = new WeakMap<DeviceMemory, Heap>();

/** The heap; undefined if the device has no memory for it. */
export function heapOf(memory: DeviceMemory, wanted: number): Heap | undefined {
  const known = heaps.get(memory);
  if (known) return known;
  const bytes = Math.max(64, Math.floor(wanted / 16) * 16);
  const address = memory.take(bytes);
  if (address === undefined) return undefined;
  memory.view(address, 64).fill(0);
  new DataView(memory.memory.buffer).setBigUint64(address + heapSizeAt, BigInt(bytes), true);
  const heap = { address, bytes };
  heaps.set(memory, heap);
  return heap;
}
