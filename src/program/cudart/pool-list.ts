/** Pools of the allocator in stream order: their memory, what is allocated from each, and their settings. */
import type { Device } from '../../device/index.ts';
import { DevicePool, type PoolBlock } from '../../device/pool/index.ts';

export interface Pool {
  readonly memory: DevicePool;
  /** By address. */
  readonly allocated: Map<bigint, PoolBlock>;
  /** Settings by the number of the attribute. */
  readonly settings: Map<number, bigint>;
}

/** The number of the attribute of the release threshold. Source: `cudaMemPoolAttr`. */
export const releaseThreshold = 4;

export class Pools {
  readonly #device: Device;
  readonly #observe: (pool: DevicePool) => void;
  readonly #pools = new Map<bigint, Pool>();
  /** By address of an allocation, also of pools that are destroyed. */
  readonly #owners = new Map<bigint, Pool>();
  /** The pool of the device and the one that `cudaMallocAsync` takes from; undefined before they are asked for. */
  #default: bigint | undefined;
  #current: bigint | undefined;

  constructor(device: Device, observe: (pool: DevicePool) => void) {
    this.#device = device;
    this.#observe = observe;
  }

  /** A pool by its handle. */
  get(handle: bigint): Pool | undefined {
    return this.#pools.get(handle);
  }

  /** Adds a pool that reserves some bytes at most; 0 is no limit. */
  add(handle: bigint, maxBytes = 0): void {
    const memory = new DevicePool(this.#device, { isSeen: true, maxBytes });
    this.#observe(memory);
    this.#pools.set(handle, { memory, allocated: new Map(), settings: new Map() });
  }

  /** Removes a pool, whose memory is freed with its last allocation; false if it is none, or the device's own. */
  remove(handle: bigint): boolean {
    if (handle === this.#default) return false;
    if (handle === this.#current) this.#current = this.#default;
    this.#pools.get(handle)?.memory.trimTo(0);
    return this.#pools.delete(handle);
  }

  /** The device's own pool. */
  ofDevice(newHandle: () => bigint): bigint {
    if (this.#default === undefined) {
      this.#default = newHandle();
      this.add(this.#default);
    }
    return this.#default;
  }

  /** The pool in use. */
  current(newHandle: () => bigint): bigint {
    return this.#current ?? this.ofDevice(newHandle);
  }

  choose(handle: bigint): void {
    this.#current = handle;
  }

  noteAllocation(pool: Pool, address: bigint, block: PoolBlock): void {
    pool.allocated.set(address, block);
    this.#owners.set(address, pool);
  }

  /** Frees an allocation of a pool; false if it is none. */
  free(address: bigint): boolean {
    const pool = this.#owners.get(address);
    if (!pool) return false;
    this.#owners.delete(address);
    pool.memory.give(pool.allocated.get(address)!);
    pool.allocated.delete(address);
    if (pool.allocated.size === 0 && ![...this.#pools.values()].includes(pool)) pool.memory.trimTo(0);
    return true;
  }

  /** Frees what is reserved above the thresholds, as a synchronization does. */
  release(): void {
    for (const { memory, settings } of this.#pools.values()) memory.releaseTo(Number(settings.get(releaseThreshold) ?? 0n));
  }

  /** Bytes that pools have from the device and no allocation has. */
  get idle(): number {
    return [...this.#pools.values()].reduce((sum, { memory }) => sum + memory.reserved - memory.used, 0);
  }

  /** Frees all memory that no allocation has. */
  trim(): void {
    for (const { memory } of this.#pools.values()) memory.trimTo(0);
  }

  /** Forgets all pools, with what was allocated from them. */
  clear(): void {
    for (const [address, { memory, allocated }] of this.#owners) {
      memory.give(allocated.get(address)!);
      memory.trimTo(0);
    }
    this.trim();
    this.#owners.clear();
    this.#pools.clear();
    this.#default = undefined;
    this.#current = undefined;
  }
}
