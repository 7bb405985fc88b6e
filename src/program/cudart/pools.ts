/** Allocation in stream order. Source: CUDA Runtime API, "Stream Ordered Memory Allocator". */
import { allocate, free } from './device-memory.ts';
import { captureAllocation, captureFree } from './graph-memory.ts';
import type { Pool } from './pool-list.ts';
import { must, type Row, row } from './row.ts';
import { type CudaState, fail } from './state.ts';
import { assertStream } from './work.ts';

const attributes = { releaseThreshold: 4, reservedCurrent: 5, reservedMost: 6, usedCurrent: 7, usedMost: 8 } as const;

const poolOf = ({ pools }: CudaState, handle: bigint): Pool => pools.get(handle) ?? fail('cudaErrorInvalidValue');
const handleOf = (state: CudaState): bigint => state.pools.current(() => state.newHandle());

/** Memory has its address when the call returns, also in a capture, which makes an allocation of its graph. */
function allocateFrom(state: CudaState, to: bigint, bytes: number, handle: bigint, stream: bigint): void {
  const pool = poolOf(state, handle);
  assertStream(state, stream);
  if (bytes === 0) {
    must(state.memory.putU64(to, 0));
    return;
  }
  if (state.captures.has(stream)) {
    must(state.memory.putU64(to, captureAllocation(state, stream, bytes)));
    return;
  }
  const { address } = allocate(state, bytes);
  must(state.memory.putU64(to, address));
  state.pools.noteAllocation(pool, address, bytes);
}

/** The value of an attribute: settings are numbers of 32 bits, sizes of 64. */
function attributeOf(pool: Pool, attribute: number): { readonly value: bigint; readonly isSize: boolean } {
  if (attribute >= 1 && attribute <= 3) return { value: pool.settings.get(attribute) ?? 1n, isSize: false };
  if (attribute === attributes.releaseThreshold) return { value: pool.settings.get(attribute) ?? 0n, isSize: true };
  // What is free is released at once, so that as much is reserved as is used.
  if (attribute === attributes.reservedCurrent || attribute === attributes.usedCurrent) return { value: BigInt(pool.used), isSize: true };
  if (attribute === attributes.reservedMost || attribute === attributes.usedMost) return { value: BigInt(pool.usedMost), isSize: true };
  return fail('cudaErrorInvalidValue');
}

function setAttribute(state: CudaState, handle: bigint, attribute: number, from: bigint): void {
  const pool = poolOf(state, handle);
  const { isSize } = attributeOf(pool, attribute);
  const value = isSize ? state.memory.u64(from) : state.memory.u32(from);
  if (value === undefined) fail('cudaErrorInvalidValue');
  if (attribute <= attributes.releaseThreshold) pool.settings.set(attribute, BigInt(value!));
  // The most can be set back to what is used now.
  else if ((attribute === attributes.reservedMost || attribute === attributes.usedMost) && BigInt(value!) === 0n) pool.usedMost = pool.used;
  else fail('cudaErrorInvalidValue');
}

function assertDevice(device: number): void {
  if (device !== 0) fail('cudaErrorInvalidDevice');
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
  cudaDeviceGetDefaultMemPool: row(['pointer', 'int'], (state, to, device) => {
    assertDevice(device);
    must(
      state.memory.putU64(
        to,
        state.pools.ofDevice(() => state.newHandle()),
      ),
    );
  }),
  cudaDeviceGetMemPool: row(['pointer', 'int'], (state, to, device) => {
    assertDevice(device);
    must(state.memory.putU64(to, handleOf(state)));
  }),
  cudaDeviceSetMemPool: row(['int', 'pointer'], (state, device, pool) => {
    assertDevice(device);
    poolOf(state, pool);
    state.pools.choose(pool);
  }),
  cudaMemPoolCreate: row(['pointer', 'pointer'], (state, to, properties) => {
    // Memory for other processes cannot be had.
    if (state.memory.u32(properties) !== 1) fail('cudaErrorInvalidValue');
    if (state.memory.u32(properties + 4n) !== 0) fail('cudaErrorNotSupported');
    const handle = state.newHandle();
    state.pools.add(handle);
    must(state.memory.putU64(to, handle));
  }),
  cudaMemPoolDestroy: row(['pointer'], (state, pool) => {
    poolOf(state, pool);
    if (!state.pools.remove(pool)) fail('cudaErrorInvalidValue');
  }),
  cudaMemPoolTrimTo: row(['pointer', 'size'], (state, pool) => void poolOf(state, pool)),
  cudaMemPoolSetAccess: row(['pointer', 'pointer', 'size'], (state, pool) => void poolOf(state, pool)),
  cudaMemPoolSetAttribute: row(['pointer', 'int', 'pointer'], setAttribute),
  cudaMemPoolGetAttribute: row(['pointer', 'int', 'pointer'], (state, handle, attribute, to) => {
    const { value, isSize } = attributeOf(poolOf(state, handle), attribute);
    must(isSize ? state.memory.putU64(to, value) : state.memory.putU32(to, Number(value)));
  }),
};
