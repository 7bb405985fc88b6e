/**
 * Allocation in stream order. Work is done when its call returns, so that every stream has reached what is freed. Source: CUDA Runtime API,
 * "Stream Ordered Memory Allocator"; errors and attributes as recorded on an NVIDIA H200.
 */
import { alignUp } from '../../base/bytes.ts';
import { Diagnostics } from '../../base/diagnostic.ts';
import { limitBytes } from '../../device/pool/index.ts';
import { free } from './device-memory.ts';
import { inContext, same } from './driver-row.ts';
import { captureAllocation, captureFree } from './graph-memory.ts';
import { type Pool, releaseThreshold } from './pool-list.ts';
import { must, type Row, row } from './row.ts';
import { type CudaState, fail } from './state.ts';
import { assertStream } from './work.ts';

const attributes = { reservedCurrent: 5, reservedMost: 6, usedCurrent: 7, usedMost: 8 } as const;

const poolOf = ({ pools }: CudaState, handle: bigint): Pool => pools.get(handle) ?? fail('cudaErrorInvalidValue');
const handleOf = (state: CudaState): bigint => state.pools.current(() => state.newHandle());

/** Memory has its address when the call returns, also in a capture, which makes an allocation of its graph. */
function allocateFrom(state: CudaState, to: bigint, bytes: number, handle: bigint, stream: bigint): void {
  const pool = poolOf(state, handle);
  assertStream(state, stream);
  must(state.memory.putU64(to, 0));
  if (bytes === 0) return;
  if (state.captures.has(stream)) {
    must(state.memory.putU64(to, captureAllocation(state, stream, bytes)));
    return;
  }
  const block = pool.memory.take(bytes, new Diagnostics());
  if (!block) {
    state.refusedBytes ??= bytes;
    fail('cudaErrorMemoryAllocation');
  }
  const { buffer, size } = block!;
  buffer.begin();
  const address = buffer.deviceAddress();
  state.allocations.add({ address, size, buffer, host: undefined });
  state.pools.noteAllocation(pool, address, block!);
  must(state.memory.putU64(to, address));
}

/** The value of an attribute: settings are numbers of 32 bits, sizes of 64. */
function attributeOf({ memory, settings }: Pool, attribute: number): { readonly value: bigint; readonly isSize: boolean } {
  if (attribute >= 1 && attribute < releaseThreshold) return { value: settings.get(attribute) ?? 1n, isSize: false };
  if (attribute === releaseThreshold) return { value: settings.get(attribute) ?? 0n, isSize: true };
  const { reserved, reservedPeak, used, usedPeak } = memory.statistics;
  if (attribute === attributes.reservedCurrent) return { value: BigInt(reserved), isSize: true };
  if (attribute === attributes.reservedMost) return { value: BigInt(reservedPeak), isSize: true };
  if (attribute === attributes.usedCurrent) return { value: BigInt(used), isSize: true };
  if (attribute === attributes.usedMost) return { value: BigInt(usedPeak), isSize: true };
  return fail('cudaErrorInvalidValue');
}

function setAttribute(state: CudaState, handle: bigint, attribute: number, from: bigint): void {
  const pool = poolOf(state, handle);
  const { isSize } = attributeOf(pool, attribute);
  const given = (isSize ? state.memory.u64(from) : state.memory.u32(from)) ?? fail('cudaErrorInvalidValue');
  const value = BigInt(given);
  // What is said of reuse is a permission, which needs not be used.
  if (attribute < releaseThreshold) pool.settings.set(attribute, value === 0n ? 0n : 1n);
  else if (attribute === releaseThreshold) pool.settings.set(attribute, value);
  // The most can be set back to what is used now.
  else if (attribute === attributes.reservedMost && value === 0n) pool.memory.resetPeak('reserved');
  else if (attribute === attributes.usedMost && value === 0n) pool.memory.resetPeak('used');
  else fail('cudaErrorInvalidValue');
}

function assertDevice(device: number): void {
  if (device !== 0) fail('cudaErrorInvalidDevice');
}

/** Where fields of `cudaMemPoolProps` are; reserved bytes are behind them. */
const offsets = { handles: 4n, place: 8n, device: 12n, maxSize: 24n, reserved: 34n } as const;
const reservedBytes = 54;

/** Pinned memory of the device for this process; other kinds that CUDA has are not supported. */
function createPool(state: CudaState, to: bigint, properties: bigint): void {
  const { memory } = state;
  const [type, place] = [memory.u32(properties), memory.u32(properties + offsets.place)];
  const reserved = memory.slice(properties + offsets.reserved, reservedBytes);
  if (type === 0 || type === undefined || place === 0 || reserved?.some((byte) => byte !== 0) !== false) fail('cudaErrorInvalidValue');
  if (type !== 1 || place !== 1 || memory.u32(properties + offsets.handles) !== 0) fail('cudaErrorNotSupported');
  if (memory.u32(properties + offsets.device) !== 0) fail('cudaErrorInvalidValue');
  const handle = state.newHandle();
  state.pools.add(handle, alignUp(Number(memory.u64(properties + offsets.maxSize) ?? 0n), limitBytes));
  must(memory.putU64(to, handle));
}

/** The one access that there is: the device to its own memory. */
const [device, readAndWrite] = [1, 3];
const placeBytes = 8n;

function setAccess(state: CudaState, pool: bigint, list: bigint, count: number): void {
  poolOf(state, pool);
  for (let i = 0; i < count; i++) {
    const at = list + BigInt(12 * i);
    const [place, id, access] = [at, at + 4n, at + placeBytes].map((each) => state.memory.u32(each) ?? fail('cudaErrorInvalidValue'));
    if (place !== device) fail('cudaErrorNotSupported');
    if (id !== 0 || access === 0) fail('cudaErrorInvalidDevice');
    if (access !== readAndWrite) fail('cudaErrorNotSupported');
  }
}

export const pools: Readonly<Record<string, Row>> = {
  cudaMallocAsync: row(['pointer', 'size', 'pointer'], (state, to, bytes, stream) => {
    allocateFrom(state, to, bytes, handleOf(state), stream);
  }),
  cudaMallocFromPoolAsync: row(['pointer', 'size', 'pointer', 'pointer'], allocateFrom),
  cudaFreeAsync: row(['pointer', 'pointer'], (state, pointer, stream) => {
    assertStream(state, stream);
    if (state.captures.has(stream)) captureFree(state, stream, pointer);
    else free(state, pointer);
  }),
  cudaDeviceGetDefaultMemPool: row(['pointer', 'int'], (state, to, ordinal) => {
    assertDevice(ordinal);
    must(
      state.memory.putU64(
        to,
        state.pools.ofDevice(() => state.newHandle()),
      ),
    );
  }),
  cudaDeviceGetMemPool: row(['pointer', 'int'], (state, to, ordinal) => {
    assertDevice(ordinal);
    must(state.memory.putU64(to, handleOf(state)));
  }),
  cudaDeviceSetMemPool: row(['int', 'pointer'], (state, ordinal, pool) => {
    assertDevice(ordinal);
    poolOf(state, pool);
    state.pools.choose(pool);
  }),
  cudaMemPoolCreate: row(['pointer', 'pointer'], createPool),
  cudaMemPoolDestroy: row(['pointer'], (state, pool) => {
    poolOf(state, pool);
    if (!state.pools.remove(pool)) fail('cudaErrorInvalidValue');
  }),
  cudaMemPoolTrimTo: row(['pointer', 'size'], (state, pool, bytes) => poolOf(state, pool).memory.trimTo(bytes)),
  cudaMemPoolSetAccess: row(['pointer', 'pointer', 'size'], setAccess),
  cudaMemPoolGetAccess: row(['pointer', 'pointer', 'pointer'], (state, to, pool, place) => {
    poolOf(state, pool);
    if (state.memory.u32(place) !== device || state.memory.u32(place + 4n) !== 0) fail('cudaErrorInvalidValue');
    must(state.memory.putU32(to, readAndWrite));
  }),
  cudaMemPoolSetAttribute: row(['pointer', 'int', 'pointer'], setAttribute),
  cudaMemPoolGetAttribute: row(['pointer', 'int', 'pointer'], (state, handle, attribute, to) => {
    const { value, isSize } = attributeOf(poolOf(state, handle), attribute);
    must(isSize ? state.memory.putU64(to, value) : state.memory.putU32(to, Number(value)));
  }),
};

/** The names of the driver. */
const driverNames: Readonly<Record<string, keyof typeof pools>> = {
  cuMemAllocAsync: 'cudaMallocAsync',
  cuMemAllocFromPoolAsync: 'cudaMallocFromPoolAsync',
  cuMemFreeAsync: 'cudaFreeAsync',
  cuDeviceGetDefaultMemPool: 'cudaDeviceGetDefaultMemPool',
  cuDeviceSetMemPool: 'cudaDeviceSetMemPool',
  cuMemPoolCreate: 'cudaMemPoolCreate',
  cuMemPoolDestroy: 'cudaMemPoolDestroy',
  cuMemPoolTrimTo: 'cudaMemPoolTrimTo',
  cuMemPoolSetAccess: 'cudaMemPoolSetAccess',
  cuMemPoolGetAccess: 'cudaMemPoolGetAccess',
  cuMemPoolSetAttribute: 'cudaMemPoolSetAttribute',
  cuMemPoolGetAttribute: 'cudaMemPoolGetAttribute',
};

export const driverPools: Readonly<Record<string, Row>> = {
  ...Object.fromEntries(Object.entries(driverNames).map(([name, runtime]) => [name, same(pools[runtime]!)])),
  // Another number than that of the runtime. Source: recorded on an NVIDIA H200.
  cuDeviceGetMemPool: inContext(['pointer', 'int'], (state, to, ordinal) => {
    if (ordinal !== 0) fail('cudaErrorInvalidValue');
    must(state.memory.putU64(to, handleOf(state)));
  }),
};
