/** Pools of the allocator in stream order: what is allocated from each, and its settings. Memory itself is that of every allocation. */

export interface Pool {
  /** Bytes by address. */
  readonly allocated: Map<bigint, number>;
  used: number;
  usedMost: number;
  /** Settings by the number of the attribute. */
  readonly settings: Map<number, bigint>;
}

const newPool = (): Pool => ({ allocated: new Map(), used: 0, usedMost: 0, settings: new Map() });

export class Pools {
  readonly #pools = new Map<bigint, Pool>();
  /** The pool of the device and the one that `cudaMallocAsync` takes from; undefined before they are asked for. */
  #default: bigint | undefined;
  #current: bigint | undefined;

  /** A pool by its handle. */
  get(handle: bigint): Pool | undefined {
    return this.#pools.get(handle);
  }

  add(handle: bigint): void {
    this.#pools.set(handle, newPool());
  }

  /** Removes a pool; false if it is none, or the device's own. */
  remove(handle: bigint): boolean {
    if (handle === this.#default) return false;
    if (handle === this.#current) this.#current = this.#default;
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

  noteAllocation(pool: Pool, address: bigint, bytes: number): void {
    pool.allocated.set(address, bytes);
    pool.used += bytes;
    pool.usedMost = Math.max(pool.usedMost, pool.used);
  }

  noteFree(address: bigint): void {
    for (const pool of this.#pools.values()) {
      const bytes = pool.allocated.get(address);
      if (bytes === undefined) continue;
      pool.allocated.delete(address);
      pool.used -= bytes;
    }
  }

  clear(): void {
    this.#pools.clear();
    this.#default = undefined;
    this.#current = undefined;
  }
}
