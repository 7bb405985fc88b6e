/**
 * A pool of device memory: ranges that are reserved from the device, and buffers over places in them. It knows no streams: whoever gives memory
 * back decides when it can be used again. Contents are those that the memory has.
 */
import { alignUp } from '../../base/bytes.ts';
import { Diagnostics } from '../../base/diagnostic.ts';
import type { Device, PartBuffer, Reservation } from '../device.ts';
import { Places, pageOf } from './places.ts';
import { heldBytes, pageBytes } from './size-classes.ts';

/** How a pool reserves memory. */
export interface PoolOptions {
  /** Whether the host shall see the memory (`DeviceBuffer.view`), where a device has several kinds. */
  readonly isSeen?: boolean;
  /** Most bytes that are reserved, rounded up to pages of 256 KiB; 0 is no limit. */
  readonly maxBytes?: number;
  /** Fills free memory with `poison`, and looks for writes to it when it is used again. For finding faults: each costs a copy. */
  readonly hasPoison?: boolean;
}

/** Memory that a pool has given. */
export interface PoolBlock {
  /** Where it is; the same for memory that is given again. */
  readonly place: number;
  readonly size: number;
  readonly buffer: PartBuffer;
}

/** Bytes, but for `allocations`. */
export interface PoolStatistics {
  /** Bytes of the allocations that live. */
  readonly used: number;
  /** Those with what rounding adds: to slots of a size, or to pages of 256 KiB. */
  readonly held: number;
  /** Bytes that the pool has from the device. */
  readonly reserved: number;
  /** Most bytes used and reserved at a time, since the pool was made or the peaks were reset. */
  readonly usedPeak: number;
  readonly reservedPeak: number;
  readonly allocations: number;
  /** The part of free pages that is not in the longest run of them: 0 if all free memory is in one piece. */
  readonly fragmentation: number;
}

/** The byte of free memory in a pool that has poison. As a float of any type, words of it are negative and small. */
export const poison = 0xa5;

/** Bytes of the first range; each further one is a quarter of what is reserved, up to the largest. */
const [firstBytes, largestBytes] = [2 ** 21, 2 ** 25];

interface Range {
  /** The number of its first page. */
  readonly first: number;
  readonly pages: number;
  readonly memory: Reservation;
}

export class DevicePool {
  readonly #device: Device;
  readonly #options: PoolOptions;
  readonly #places = new Places();
  /** In order of their first pages. */
  readonly #ranges: Range[] = [];
  #usedPeak = 0;
  #reservedPeak = 0;

  constructor(device: Device, options: PoolOptions = {}) {
    this.#device = device;
    this.#options = options;
  }

  /** Bytes that the pool has from the device. */
  get reserved(): number {
    return this.#places.reserved;
  }

  /** Bytes of the allocations that live. */
  get used(): number {
    return this.#places.used;
  }

  /** What is in the pool. */
  get statistics(): PoolStatistics {
    const { used, held, reserved, allocations, free, longestFree } = this.#places.counts;
    const [usedPeak, reservedPeak] = [this.#usedPeak, this.#reservedPeak];
    return { used, held, reserved, usedPeak, reservedPeak, allocations, fragmentation: free === 0 ? 0 : 1 - longestFree / free };
  }

  /** Memory for some bytes; undefined after reporting CM6012. The buffer does not live before its `begin`. */
  take(bytes: number, diagnostics: Diagnostics): PoolBlock | undefined {
    const isSize = Number.isSafeInteger(bytes) && bytes >= 0;
    const isThere = (): boolean => isSize && this.#reserve(bytes);
    const place = (isSize ? this.#places.take(bytes) : undefined) ?? (isThere() ? this.#places.take(bytes) : undefined);
    if (place === undefined) {
      diagnostics.report('CM6012', { bytes, what: 'an allocation of a pool' });
      return undefined;
    }
    this.#usedPeak = Math.max(this.#usedPeak, this.#places.used);
    return { place, size: bytes, buffer: this.#bufferAt(place, bytes) };
  }

  /** Another buffer over the memory of a block that its user has freed: for bytes that `heldBytes` gives the same room. */
  again({ place }: PoolBlock, bytes: number): PoolBlock {
    this.#places.change(place, bytes);
    return { place, size: bytes, buffer: this.#bufferAt(place, bytes) };
  }

  /** Gives memory back, whose buffer must not be used afterwards; false if it is none that the pool has given. */
  give({ place, buffer }: PoolBlock): boolean {
    if (this.#places.bytesAt(place) < 0) return false;
    buffer.free();
    this.#places.give(place);
    return true;
  }

  /** Fills the memory of a block whose user is done with it, if the pool has poison; with `isWhole` also the rest of its slot or pages. */
  spoil({ place, size }: PoolBlock, isWhole = false): void {
    if (!this.#options.hasPoison) return;
    const bytes = isWhole ? heldBytes(size) : size;
    this.#bufferAt(place, bytes).write(new Uint8Array(bytes).fill(poison));
  }

  /**
   * The first byte of a block that was written while it was free, or that an allocation beside it has written behind its end; undefined if there
   * is none, or the pool has no poison. Before the first use of the block.
   */
  spoiledAt({ place, size }: PoolBlock): number | undefined {
    if (!this.#options.hasPoison) return undefined;
    const all = this.#bufferAt(place, heldBytes(size)).read();
    const at = all.findIndex((byte) => byte !== poison);
    return at < 0 ? undefined : at;
  }

  /** Frees ranges without an allocation as long as at least some bytes stay reserved. */
  trimTo(bytes: number): void {
    this.#trim((size) => this.reserved - size >= bytes);
  }

  /** Frees ranges without an allocation until at most some bytes are reserved. */
  releaseTo(bytes: number): void {
    this.#trim(() => this.reserved > bytes);
  }

  #trim(isGoing: (size: number) => boolean): void {
    for (const range of [...this.#ranges].reverse()) {
      const { first, pages, memory } = range;
      if (!this.#places.isIdle(first, pages) || !isGoing(memory.size)) continue;
      this.#places.remove(first, pages);
      this.#ranges.splice(this.#ranges.indexOf(range), 1);
      memory.free();
    }
  }

  /** Sets the most bytes used or reserved to what is now. */
  resetPeak(which: 'used' | 'reserved'): void {
    if (which === 'used') this.#usedPeak = this.#places.used;
    else this.#reservedPeak = this.#places.reserved;
  }

  #bufferAt(place: number, bytes: number): PartBuffer {
    const { first, memory } = this.#rangeOf(pageOf(place));
    return memory.part(place - first * pageBytes, bytes);
  }

  #rangeOf(page: number): Range {
    const ranges = this.#ranges;
    let [low, high] = [0, ranges.length];
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if (ranges[middle]!.first <= page) low = middle;
      else high = middle;
    }
    return ranges[low]!;
  }

  /** Reserves a range that some bytes fit in: more than that, if the device has it. */
  #reserve(bytes: number): boolean {
    const least = alignUp(Math.max(1, bytes), pageBytes);
    const { maxBytes = 0 } = this.#options;
    const room = maxBytes === 0 ? Number.POSITIVE_INFINITY : alignUp(maxBytes, pageBytes) - this.#places.reserved;
    const wanted = Math.min(largestBytes, Math.max(firstBytes, alignUp(this.#places.reserved / 4, pageBytes)));
    return [...new Set([Math.max(least, Math.min(wanted, room)), least])].some((size) => size <= room && this.#add(size));
  }

  #add(size: number): boolean {
    const memory = this.#device.reserve?.(size, new Diagnostics(), this.#options.isSeen);
    if (!memory) return false;
    const range: Range = { first: this.#places.add(size / pageBytes), pages: size / pageBytes, memory };
    this.#ranges.push(range);
    this.#ranges.sort((a, b) => a.first - b.first);
    if (this.#options.hasPoison) memory.part(0, size).write(new Uint8Array(size).fill(poison));
    this.#reservedPeak = Math.max(this.#reservedPeak, this.#places.reserved);
    return true;
  }
}
