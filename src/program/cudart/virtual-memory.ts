/**
 * Addresses and memory apart: ranges of addresses that a program reserves, and memory that it maps to them. Source: CUDA Driver API, "Virtual
 * Memory Management". The device has memory for a whole range from its reservation on, so that a range is as large as free memory at most, memory
 * can be mapped at one place at a time, and an access to a part without a mapping is not found.
 */
import { allocateAligned, bytesOfBuffer } from './device-memory.ts';
import { inContext } from './driver-row.ts';
import { must, type Row } from './row.ts';
import { type CudaState, fail } from './state.ts';
import type { Mapping, Memory, Range } from './virtual-ranges.ts';

/** Sizes and addresses are multiples of this. */
const granularity = 2 ** 21;

/** The range that has all of some addresses. */
function rangeOf({ virtual }: CudaState, address: bigint, size: number): Range {
  for (const range of virtual.ranges.values()) {
    const { address: start, size: most } = range.allocation;
    if (address >= start && address + BigInt(size) <= start + BigInt(most)) return range;
  }
  return fail('cudaErrorInvalidValue');
}

const memoryOf = ({ virtual }: CudaState, handle: bigint): Memory => virtual.memories.get(handle) ?? fail('cudaErrorInvalidValue');

const isWhole = (size: number): boolean => size > 0 && size % granularity === 0;
const propertyBytes = 32;

/** The properties at a pointer: pinned memory of the device, for this process. */
function propertiesAt({ memory }: CudaState, at: bigint): Uint8Array {
  const bytes = memory.slice(at, propertyBytes)?.slice() ?? fail('cudaErrorInvalidValue');
  const [type, handles, place, device] = new Uint32Array(bytes.buffer, 0, 4);
  if (type !== 1) fail('cudaErrorInvalidValue');
  if (handles !== 0) fail('cudaErrorNotSupported');
  if (place !== 1 || device !== 0) fail('cudaErrorInvalidDevice');
  return bytes;
}

function reserve(state: CudaState, to: bigint, size: number, alignment: number): void {
  if (!isWhole(size) || (alignment & (alignment - 1)) !== 0) fail('cudaErrorInvalidValue');
  const allocation = allocateAligned(state, size, Math.max(granularity, alignment));
  state.virtual.ranges.set(allocation.address, { allocation, mappings: [] });
  must(state.memory.putU64(to, allocation.address));
}

function giveBack(state: CudaState, address: bigint, size: number): void {
  const range = state.virtual.ranges.get(address);
  if (range?.allocation.size !== size || range.mappings.length > 0) fail('cudaErrorInvalidValue');
  state.virtual.ranges.delete(address);
  state.allocations.remove(range!.allocation);
  range!.allocation.buffer.free();
}

function create(state: CudaState, to: bigint, size: number, properties: bigint): void {
  if (!isWhole(size)) fail('cudaErrorInvalidValue');
  const memory: Memory = {
    handle: state.newHandle(),
    size,
    properties: propertiesAt(state, properties),
    references: 1,
    mapping: undefined,
    contents: undefined,
  };
  must(state.memory.putU64(to, memory.handle));
  state.virtual.memories.set(memory.handle, memory);
}

/** Memory lives while a handle or a mapping names it. */
function drop({ virtual }: CudaState, memory: Memory): void {
  if (memory.references === 0 && !memory.mapping) virtual.memories.delete(memory.handle);
}

function map(state: CudaState, address: bigint, size: number, offset: number, handle: bigint): void {
  const memory = memoryOf(state, handle);
  const { allocation, mappings } = rangeOf(state, address, size);
  const at = Number(address - allocation.address);
  const isTaken = mappings.some((other) => at < other.offset + other.memory.size && other.offset < at + size);
  if (offset !== 0 || size !== memory.size || at % granularity !== 0 || isTaken || memory.references === 0) fail('cudaErrorInvalidValue');
  if (memory.mapping) fail('cudaErrorNotSupported');
  const mapping = { offset: at, memory, access: 0 };
  mappings.push(mapping);
  memory.mapping = mapping;
  if (memory.contents) allocation.buffer.write(memory.contents, at);
  memory.contents = undefined;
}

/** The mappings that make up some addresses, without a gap. */
function mappingsOf(state: CudaState, address: bigint, size: number): { readonly range: Range; readonly found: readonly Mapping[] } {
  const range = rangeOf(state, address, size);
  const at = Number(address - range.allocation.address);
  const found = range.mappings.filter(({ offset, memory }) => offset >= at && offset + memory.size <= at + size);
  if (found.reduce((sum, { memory }) => sum + memory.size, 0) !== size) fail('cudaErrorInvalidValue');
  return { range, found };
}

function unmap(state: CudaState, address: bigint, size: number): void {
  const { range, found } = mappingsOf(state, address, size);
  for (const mapping of found) {
    const { memory, offset } = mapping;
    range.mappings.splice(range.mappings.indexOf(mapping), 1);
    memory.mapping = undefined;
    if (memory.references > 0) memory.contents = bytesOfBuffer(range.allocation.buffer).slice(offset, offset + memory.size);
    drop(state, memory);
  }
}

/** Source: `CUmemAccessDesc`: where, and how. */
function setAccess(state: CudaState, address: bigint, size: number, list: bigint, count: number): void {
  const { found } = mappingsOf(state, address, size);
  for (let i = 0; i < count; i++) {
    const [place, device, access] = [0n, 4n, 8n].map((offset) => state.memory.u32(list + BigInt(12 * i) + offset)) as [
      number,
      number,
      number,
    ];
    if (place !== 1 || device !== 0) fail('cudaErrorInvalidDevice');
    if (access !== 0 && access !== 1 && access !== 3) fail('cudaErrorInvalidValue');
    for (const mapping of found) mapping.access = access;
  }
}

/** The mapping that an address is in. */
function mappingAt(state: CudaState, address: bigint): Mapping {
  const { allocation, mappings } = rangeOf(state, address, 1);
  const at = Number(address - allocation.address);
  return mappings.find(({ offset, memory }) => at >= offset && at < offset + memory.size) ?? fail('cudaErrorInvalidValue');
}

export const virtualMemory: Readonly<Record<string, Row>> = {
  cuMemGetAllocationGranularity: inContext(['pointer', 'pointer', 'int'], (state, to, properties) => {
    propertiesAt(state, properties);
    must(state.memory.putU64(to, granularity));
  }),
  // A wanted address is a hint.
  cuMemAddressReserve: inContext(['pointer', 'size', 'size', 'pointer', 'long'], reserve),
  cuMemAddressFree: inContext(['pointer', 'size'], giveBack),
  cuMemCreate: inContext(['pointer', 'size', 'pointer', 'long'], create),
  cuMemRelease: inContext(['pointer'], (state, handle) => {
    const memory = memoryOf(state, handle);
    if (memory.references === 0) fail('cudaErrorInvalidValue');
    memory.references--;
    drop(state, memory);
  }),
  cuMemRetainAllocationHandle: inContext(['pointer', 'pointer'], (state, to, address) => {
    const { memory } = mappingAt(state, address);
    memory.references++;
    must(state.memory.putU64(to, memory.handle));
  }),
  cuMemGetAllocationPropertiesFromHandle: inContext(['pointer', 'pointer'], (state, to, handle) => {
    must(state.memory.put(to, memoryOf(state, handle).properties));
  }),
  cuMemMap: inContext(['pointer', 'size', 'size', 'pointer', 'long'], map),
  cuMemUnmap: inContext(['pointer', 'size'], unmap),
  cuMemSetAccess: inContext(['pointer', 'size', 'pointer', 'size'], setAccess),
  cuMemGetAccess: inContext(['pointer', 'pointer', 'pointer'], (state, to, _place, address) => {
    must(state.memory.putU64(to, mappingAt(state, address).access));
  }),
};
