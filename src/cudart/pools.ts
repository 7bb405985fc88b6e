/** Allocation in stream order, and pools. */
import { devices, MemoryPool } from '../api/index.ts';
import { allocated, type DevicePointer, freeAllocated } from './memory.ts';
import { answer, type cudaError_t, type cudaStream_t, currentDevice, currentOrdinal, type Ref, refuse, streamOf } from './state.ts';

/** A pool of memory. */
export type cudaMemPool_t = MemoryPool;

/** The attributes of a pool, with the numbers of CUDA. */
export const cudaMemPoolAttr = {
  cudaMemPoolReuseFollowEventDependencies: 1,
  cudaMemPoolReuseAllowOpportunistic: 2,
  cudaMemPoolReuseAllowInternalDependencies: 3,
  cudaMemPoolAttrReleaseThreshold: 4,
  cudaMemPoolAttrReservedMemCurrent: 5,
  cudaMemPoolAttrReservedMemHigh: 6,
  cudaMemPoolAttrUsedMemCurrent: 7,
  cudaMemPoolAttrUsedMemHigh: 8,
} as const;
/** An attribute of a pool. */
export type cudaMemPoolAttr = (typeof cudaMemPoolAttr)[keyof typeof cudaMemPoolAttr];

/** The properties of a pool; the other ones of CUDA have one value. */
export interface cudaMemPoolProps {
  /** Most bytes that it reserves, rounded up to 32 MiB as CUDA does; 0 is no limit. */
  readonly maxSize?: number;
}

/** What limits of pools are multiples of. Source: recorded on an NVIDIA H200. */
const limitUnit = 2 ** 25;

/** The pool that `cudaMallocAsync` takes from, where it is not the device's own. */
const chosen = new WeakMap<object, MemoryPool>();

/** The device of a pool: the one that is current when it is made or asked for. */
const ordinals = new WeakMap<MemoryPool, number>();
function ofCurrent(pool: MemoryPool): MemoryPool {
  if (!ordinals.has(pool)) ordinals.set(pool, currentOrdinal());
  return pool;
}

const poolInUse = (): MemoryPool => chosen.get(currentDevice()) ?? currentDevice().defaultPool;
const mustBePool = (pool: cudaMemPool_t): MemoryPool => (pool instanceof MemoryPool ? pool : refuse('cudaErrorInvalidValue'));

function assertCurrent(ordinal: number): void {
  if (ordinal !== currentOrdinal()) refuse('cudaErrorInvalidDevice');
}

/** Allocates memory in stream order from the pool of the device. Its contents are not defined. */
export const cudaMallocAsync = (pointer: Ref<DevicePointer>, bytes: number, stream?: cudaStream_t): cudaError_t =>
  answer(() => take(pointer, bytes, poolInUse(), stream));

/** Allocates memory in stream order from a pool. */
export const cudaMallocFromPoolAsync = (
  pointer: Ref<DevicePointer>,
  bytes: number,
  pool: cudaMemPool_t,
  stream?: cudaStream_t,
): cudaError_t => answer(() => take(pointer, bytes, mustBePool(pool), stream));

function take(pointer: Ref<DevicePointer>, bytes: number, pool: MemoryPool, stream: cudaStream_t): void {
  pointer.value = 0n;
  if (bytes === 0) return;
  const buffer = pool.allocate('u8', bytes, { stream: streamOf(stream) });
  pointer.value = buffer.address;
  allocated(currentDevice(), buffer, pool);
}

/** Frees memory in stream order: that of a pool; other memory is freed when the pending work has finished. Null is ignored. */
export const cudaFreeAsync = (pointer: DevicePointer, stream?: cudaStream_t): cudaError_t =>
  answer(() => {
    if (pointer === 0n) return;
    freeAllocated(currentDevice(), pointer, (buffer, pool) => (pool ? pool.free(buffer, { stream: streamOf(stream) }) : buffer.free()));
  });

/** Creates a pool. */
export const cudaMemPoolCreate = (pool: Ref<cudaMemPool_t>, { maxSize = 0 }: cudaMemPoolProps = {}): cudaError_t =>
  answer(() => {
    pool.value = ofCurrent(currentDevice().memoryPool({ maxBytes: Math.ceil(maxSize / limitUnit) * limitUnit }));
  });

/** Closes a pool, whose memory is freed with the last of its allocations. The device's own pool cannot be destroyed. */
export const cudaMemPoolDestroy = (pool: cudaMemPool_t): cudaError_t =>
  answer(() => {
    const device = currentDevice();
    if (mustBePool(pool) === device.defaultPool) refuse('cudaErrorInvalidValue');
    if (chosen.get(device) === pool) chosen.delete(device);
    pool.close();
  });

/** Stores the device's own pool in `pool`. */
export const cudaDeviceGetDefaultMemPool = (pool: Ref<cudaMemPool_t>, ordinal: number): cudaError_t =>
  answer(() => {
    assertCurrent(ordinal);
    pool.value = ofCurrent(currentDevice().defaultPool);
  });

/** Stores the pool that `cudaMallocAsync` takes from in `pool`. */
export const cudaDeviceGetMemPool = (pool: Ref<cudaMemPool_t>, ordinal: number): cudaError_t =>
  answer(() => {
    assertCurrent(ordinal);
    pool.value = ofCurrent(poolInUse());
  });

/** Makes `cudaMallocAsync` take from a pool. */
export const cudaDeviceSetMemPool = (ordinal: number, pool: cudaMemPool_t): cudaError_t =>
  answer(() => {
    assertCurrent(ordinal);
    chosen.set(currentDevice(), mustBePool(pool));
  });

/** Frees reserved memory without an allocation while at least so many bytes stay reserved. */
export const cudaMemPoolTrimTo = (pool: cudaMemPool_t, minBytesToKeep: number): cudaError_t =>
  answer(() => mustBePool(pool).trim(minBytesToKeep));

/** The kinds of places of memory, with the numbers of CUDA. */
export const cudaMemLocationType = { cudaMemLocationTypeInvalid: 0, cudaMemLocationTypeDevice: 1, cudaMemLocationTypeHost: 2 } as const;
/** What a place may do with memory, with the numbers of CUDA. */
export const cudaMemAccessFlags = {
  cudaMemAccessFlagsProtNone: 0,
  cudaMemAccessFlagsProtRead: 1,
  cudaMemAccessFlagsProtReadWrite: 3,
} as const;

/** A place of memory: a device by its ordinal. */
export interface cudaMemLocation {
  readonly type: number;
  readonly id: number;
}
/** What a place may do with memory. */
export interface cudaMemAccessDesc {
  readonly location: cudaMemLocation;
  readonly flags: number;
}

/** Whether a place is a device; other places have no access to memory of a pool. */
const isDevice = ({ type }: cudaMemLocation): boolean => type === cudaMemLocationType.cudaMemLocationTypeDevice;
/**
 * Sets what devices may do with memory of a pool. There is one access: a device reads and writes its own memory, which is so from the start. Others are refused
 * with the errors that an H200 has: `cudaErrorInvalidDevice` for other devices and for taking a device's own access, `cudaErrorNotSupported` for places that
 * are no device and for reading alone.
 */
export const cudaMemPoolSetAccess = (pool: cudaMemPool_t, descList: readonly cudaMemAccessDesc[], count = descList.length): cudaError_t =>
  answer(() => {
    const own = ordinals.get(mustBePool(pool));
    for (let i = 0; i < count; i++) {
      const { location, flags } = descList[i] ?? refuse('cudaErrorInvalidValue');
      if (!isDevice(location)) refuse('cudaErrorNotSupported');
      if (location.id !== own || flags === cudaMemAccessFlags.cudaMemAccessFlagsProtNone) refuse('cudaErrorInvalidDevice');
      if (flags !== cudaMemAccessFlags.cudaMemAccessFlagsProtReadWrite) refuse('cudaErrorNotSupported');
    }
  });

/** Stores what a device may do with memory of a pool in `flags`: its own one reads and writes, another one has no access. */
export const cudaMemPoolGetAccess = (flags: Ref<number>, pool: cudaMemPool_t, location: cudaMemLocation): cudaError_t =>
  answer(() => {
    const own = ordinals.get(mustBePool(pool));
    if (!isDevice(location) || devices()[location.id] === undefined) refuse('cudaErrorInvalidValue');
    const { cudaMemAccessFlagsProtNone, cudaMemAccessFlagsProtReadWrite } = cudaMemAccessFlags;
    flags.value = location.id === own ? cudaMemAccessFlagsProtReadWrite : cudaMemAccessFlagsProtNone;
  });

/** What programs have set of how memory may be used again, by attribute: permissions, of which a pool needs none. */
const reuse = new WeakMap<MemoryPool, Readonly<Record<number, number>>>();
const reuseOf = (pool: MemoryPool): Readonly<Record<number, number>> => reuse.get(pool) ?? { 1: 1, 2: 1, 3: 1 };

/** Stores an attribute in `value`. */
export const cudaMemPoolGetAttribute = (pool: cudaMemPool_t, attribute: cudaMemPoolAttr, value: Ref<number>): cudaError_t =>
  answer(() => {
    const { statistics, releaseThreshold } = mustBePool(pool);
    const { reserved, reservedPeak, used, usedPeak } = statistics;
    const values: Readonly<Record<number, number>> = {
      ...reuseOf(pool),
      4: releaseThreshold,
      5: reserved,
      6: reservedPeak,
      7: used,
      8: usedPeak,
    };
    value.value = values[attribute] ?? refuse('cudaErrorInvalidValue');
  });

/** Sets the release threshold, or with 0 a high mark to what is now. What is said of reuse is kept, and changes no result. */
export const cudaMemPoolSetAttribute = (pool: cudaMemPool_t, attribute: cudaMemPoolAttr, value: number): cudaError_t =>
  answer(() => {
    const of = mustBePool(pool);
    if (attribute === cudaMemPoolAttr.cudaMemPoolAttrReleaseThreshold) of.releaseThreshold = value;
    else if (attribute === cudaMemPoolAttr.cudaMemPoolAttrReservedMemHigh && value === 0) of.resetPeak('reserved');
    else if (attribute === cudaMemPoolAttr.cudaMemPoolAttrUsedMemHigh && value === 0) of.resetPeak('used');
    else if (attribute in reuseOf(of)) reuse.set(of, { ...reuseOf(of), [attribute]: value === 0 ? 0 : 1 });
    else refuse('cudaErrorInvalidValue');
  });
