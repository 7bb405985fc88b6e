/** Allocation in every kind, and what host and device see of each other's memory. */
import { Diagnostics } from '../../base/diagnostic.ts';
import type { DeviceBuffer } from '../../device/index.ts';
import type { Allocation } from './allocations.ts';
import type { GraphBlock } from './graph-types.ts';
import { must, type Row, row } from './row.ts';
import { type CudaErrorName, type CudaState, fail } from './state.ts';

/** Memory for the host's side is aligned as CUDA aligns allocations. */
const hostAlignment = 256n;
/** Rows of two-dimensional allocations start at multiples of this. */
export const pitchAlignment = 512;

/** Allocates memory of the device; of one byte at least, so that every allocation has an address of its own. */
export function allocate(state: CudaState, bytes: number, more: Pick<Partial<Allocation>, 'host' | 'isVariable'> = {}): Allocation {
  const size = Math.max(1, bytes);
  const buffer = allocateBuffer(state, size);
  // Kernels may read its address from memory.
  const allocation: Allocation = { address: buffer.deviceAddress(), size, buffer, host: undefined, ...more };
  state.allocations.add(allocation);
  return allocation;
}

/** Memory of the device at a multiple of `alignment`, which the program cannot free by its address. */
export function allocateAligned(state: CudaState, size: number, alignment: number): Allocation {
  const buffer = allocateBuffer(state, size, alignment);
  const allocation: Allocation = { address: buffer.deviceAddress(), size, buffer, host: undefined, isVariable: true };
  state.allocations.add(allocation);
  return allocation;
}

function allocateBuffer(state: CudaState, bytes: number, alignment?: number): DeviceBuffer {
  const diagnostics = new Diagnostics();
  const take = (): DeviceBuffer | undefined => state.options.device.allocate(bytes, diagnostics, true, alignment);
  const buffer = take();
  if (buffer) return buffer;
  // What pools do not use is there for others.
  state.pools.trim();
  const later = take();
  if (later) return later;
  state.refusedBytes ??= bytes;
  fail('cudaErrorMemoryAllocation');
}

/** Memory of the program, aligned. Its pointer is what `free` takes. */
function allocateHost(state: CudaState, bytes: number): { readonly pointer: bigint; readonly start: bigint } {
  const start = BigInt.asUintN(64, state.exports.malloc(BigInt(bytes) + hostAlignment));
  if (start === 0n) fail('cudaErrorMemoryAllocation');
  return { start, pointer: (start + hostAlignment - 1n) & -hostAlignment };
}

/** Where the program has managed memory: pointers that the device knows, and the copy that the host reads and writes. */
const managedStarts = new WeakMap<Allocation, bigint>();

/** Pages of programs, and the most places that are tried for memory at one address for both. */
const [pageBytes, maxPlaces] = [4096, 64];

/** Managed memory at the address that the device has for it. */
function allocateShared(state: CudaState, bytes: number): Allocation {
  const size = Math.ceil(bytes / pageBytes) * pageBytes;
  const taken: DeviceBuffer[] = [];
  try {
    for (let tries = 0; tries < maxPlaces; tries++) {
      const buffer = allocateBuffer(state, size, pageBytes);
      const address = buffer.deviceAddress();
      if (state.exports.share!(address, size)) {
        const allocation: Allocation = { address, size, buffer, host: { pointer: address, kind: 'managed' } };
        state.allocations.add(allocation);
        return allocation;
      }
      taken.push(buffer);
    }
  } finally {
    for (const buffer of taken) buffer.free();
  }
  return fail('cudaErrorMemoryAllocation');
}

export function allocateManaged(state: CudaState, bytes: number): Allocation {
  if (state.exports.share) return allocateShared(state, bytes);
  const { pointer, start } = allocateHost(state, Math.max(1, bytes));
  state.memory.put(pointer, new Uint8Array(Math.max(1, bytes)));
  const allocation = allocate(state, bytes, { host: { pointer, kind: 'managed' } });
  managedStarts.set(allocation, start);
  return allocation;
}

interface Mapped {
  readonly allocation: Allocation;
  readonly offset: number;
}

/** The device's view of host memory that was allocated or registered for it. */
export const mapHostMemory = (state: CudaState, pointer: bigint): Mapped => mappedMemory(state, pointer) ?? fail('cudaErrorIllegalAddress');

/** The same; undefined for other memory. */
export function mappedMemory(state: CudaState, pointer: bigint): Mapped | undefined {
  const known = state.allocations.mapping(pointer);
  if (known) return { allocation: known, offset: Number(pointer - known.host!.pointer) };
  for (const [start, { bytes }] of state.pinned)
    if (pointer >= start && pointer < start + BigInt(Math.max(1, bytes))) {
      const allocation = allocate(state, bytes, { host: { pointer: start, kind: 'mapped' } });
      return { allocation, offset: Number(pointer - start) };
    }
  return undefined;
}

/** Gives the device what the host has written to memory of both. */
export function syncToDevice(state: CudaState): void {
  for (const { buffer, host, size } of state.allocations.shared()) {
    const place = buffer.place?.(0, size);
    const bytes = place ? undefined : state.memory.slice(host!.pointer, size);
    if (place) state.memory.read(host!.pointer, place);
    else if (bytes) buffer.write(bytes);
  }
}

/** Gives the host what the device has written to memory of both. */
export function syncToHost(state: CudaState): void {
  for (const { buffer, host } of state.allocations.shared()) state.memory.put(host!.pointer, bytesOfBuffer(buffer));
}

/** The bytes of a buffer to be read at once. */
export const bytesOfBuffer = (buffer: Allocation['buffer']): Uint8Array => buffer.view?.() ?? buffer.read();

/** Where the program has managed memory at an address of the device. */
export function managedPointer(state: CudaState, address: bigint, bytes: number): bigint | undefined {
  const found = state.allocations.find(address);
  if (found?.allocation.host === undefined || found.offset + bytes > found.allocation.size) return undefined;
  return found.allocation.host.pointer + BigInt(found.offset);
}

export function free(state: CudaState, pointer: bigint): void {
  if (pointer === 0n) return;
  const block = state.graphMemory.at(pointer);
  if (block) {
    if (!block.isLive) fail('cudaErrorInvalidValue');
    releaseBlock(state, block);
    return;
  }
  const found = state.allocations.find(pointer);
  if (found?.offset !== 0 || found.allocation.host?.kind === 'mapped' || found.allocation.isVariable) fail('cudaErrorInvalidValue');
  if (state.pools.free(pointer)) state.allocations.remove(found!.allocation);
  else release(state, found!.allocation);
}

/** Frees memory of a graph. Its address stays that of the graphs that name it. */
export function releaseBlock(state: CudaState, block: GraphBlock): void {
  block.isLive = false;
  if (block.owners.size > 0) return;
  state.graphMemory.remove(block);
  release(state, state.allocations.find(block.address)!.allocation);
}

function release(state: CudaState, allocation: Allocation): void {
  state.allocations.remove(allocation);
  allocation.buffer.free();
  const start = managedStarts.get(allocation);
  if (start !== undefined) state.exports.free(start);
  else if (allocation.host?.kind === 'managed') state.exports.unshare?.(allocation.address, allocation.size);
}

/** Pointers that `cudaFreeHost` gives to `free`. */
const pinnedStarts = new WeakMap<CudaState, Map<bigint, bigint>>();

/** Portable, mapped, write-combined. Source: `cudaHostAlloc`. */
const knownPinnedFlags = 7;

export function allocatePinned(state: CudaState, to: bigint, bytes: number, flags: number): void {
  if ((flags & ~knownPinnedFlags) !== 0) fail('cudaErrorInvalidValue');
  const { pointer, start } = allocateHost(state, Math.max(1, bytes));
  state.memory.put(pointer, new Uint8Array(bytes));
  state.pinned.set(pointer, { bytes, flags });
  const starts = pinnedStarts.get(state) ?? new Map<bigint, bigint>();
  pinnedStarts.set(state, starts.set(pointer, start));
  must(state.memory.putU64(to, pointer));
}

/** Memory of the host that begins at a pointer is that of the host alone again; `error` is that of a pointer at which none begins. */
function unpin(state: CudaState, pointer: bigint, error: CudaErrorName): void {
  if (!state.pinned.delete(pointer)) fail(error);
  const mapped = state.allocations.mapping(pointer);
  if (mapped) release(state, mapped);
}

const malloc = row(['pointer', 'size'], (state, to, bytes) =>
  must(state.memory.putU64(to, bytes === 0 ? 0n : allocate(state, bytes).address)),
);

/** What a pointer is of. Source: `cudaMemoryType`. */
const memoryTypes = { unregistered: 0, host: 1, device: 2, managed: 3 } as const;

function pointerAttributes(state: CudaState, to: bigint, pointer: bigint): void {
  const found = state.allocations.find(pointer);
  const isPinned = [...state.pinned].some(([start, { bytes }]) => pointer >= start && pointer < start + BigInt(bytes));
  const deviceType = found?.allocation.host?.kind === 'managed' ? memoryTypes.managed : memoryTypes.device;
  const type = found ? deviceType : isPinned ? memoryTypes.host : memoryTypes.unregistered;
  must(state.memory.putU32(to, type) && state.memory.putU32(to + 4n, 0));
  must(state.memory.putU64(to + 8n, type === memoryTypes.unregistered ? 0n : pointer));
  must(state.memory.putU64(to + 16n, type === memoryTypes.device ? 0n : pointer));
}

/** Bytes of memory that the device says it has. */
export const totalBytes = ({ options }: CudaState): number => Number(options.device.info.properties?.totalGlobalMem ?? 2 ** 32);

export const deviceMemory: Readonly<Record<string, Row>> = {
  cudaMalloc: malloc,
  cudaMallocManaged: row(['pointer', 'size', 'uint'], (state, to, bytes) => {
    if (bytes === 0) fail('cudaErrorInvalidValue');
    must(state.memory.putU64(to, allocateManaged(state, bytes).address));
  }),
  cudaMallocPitch: row(['pointer', 'pointer', 'size', 'size'], (state, to, pitchTo, width, height) => {
    const pitch = Math.ceil(width / pitchAlignment) * pitchAlignment;
    must(state.memory.putU64(pitchTo, pitch) && state.memory.putU64(to, allocate(state, pitch * height).address));
  }),
  cudaFree: row(['pointer'], free),
  cudaMallocHost: row(['pointer', 'size'], (state, to, bytes) => allocatePinned(state, to, bytes, 0)),
  cudaHostAlloc: row(['pointer', 'size', 'uint'], allocatePinned),
  cudaFreeHost: row(['pointer'], (state, pointer) => {
    if (pointer === 0n) return;
    const start = pinnedStarts.get(state)?.get(pointer);
    unpin(state, pointer, 'cudaErrorInvalidValue');
    if (start === undefined) fail('cudaErrorInvalidValue');
    state.exports.free(start!);
  }),
  cudaHostRegister: row(['pointer', 'size', 'uint'], (state, pointer, bytes, flags) => {
    if (!state.memory.has(pointer, bytes)) fail('cudaErrorInvalidValue');
    const end = pointer + BigInt(bytes);
    for (const [start, known] of state.pinned)
      if (pointer < start + BigInt(known.bytes) && start < end) fail('cudaErrorHostMemoryAlreadyRegistered');
    state.pinned.set(pointer, { bytes, flags });
  }),
  cudaHostUnregister: row(['pointer'], (state, pointer) => unpin(state, pointer, 'cudaErrorHostMemoryNotRegistered')),
  cudaHostGetDevicePointer: row(['pointer', 'pointer', 'uint'], (state, to, pointer) => {
    const { allocation, offset } = mapHostMemory(state, pointer);
    must(state.memory.putU64(to, allocation.address + BigInt(offset)));
  }),
  cudaHostGetFlags: row(['pointer', 'pointer'], (state, to, pointer) => {
    must(state.memory.putU32(to, (state.pinned.get(pointer) ?? fail('cudaErrorInvalidValue')).flags));
  }),
  cudaMemGetInfo: row(['pointer', 'pointer'], (state, freeTo, totalTo) => {
    const total = totalBytes(state);
    must(
      state.memory.putU64(freeTo, Math.max(0, total - state.allocations.bytes - state.pools.idle)) && state.memory.putU64(totalTo, total),
    );
  }),
  cudaPointerGetAttributes: row(['pointer', 'pointer'], pointerAttributes),
  // Hints: managed memory is copied at launches whatever is said of it.
  cudaMemAdvise: row(['pointer', 'size', 'int', 'int'], () => undefined),
  cudaMemPrefetchAsync: row(['pointer', 'size', 'int', 'pointer'], (state, pointer) => {
    if (!state.memory.isOwn(pointer) && !state.allocations.find(pointer)) fail('cudaErrorInvalidValue');
  }),
  cudaStreamAttachMemAsync: row(['pointer', 'pointer', 'size', 'uint'], () => undefined),
};
