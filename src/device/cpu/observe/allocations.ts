/** The allocations of a device, with the bytes of them that are written. After the first sanitized launch, freed ones are kept for a while. */
import type { DeviceMemory } from '../memory.ts';

export interface Allocation {
  readonly address: number;
  readonly size: number;
  /** A noun phrase for messages. */
  readonly what: string;
  isFree: boolean;
  /** Whether it is a part of reserved memory, which is released as a whole. */
  readonly isPart: boolean;
  /** The written bytes: all, none, or a bit for each byte. */
  written: 'all' | 'none' | Uint8Array;
}

export interface Allocations {
  /** Live allocations, and freed ones whose memory is kept. */
  readonly list: ReadonlySet<Allocation>;
  add(address: number, size: number, what: string, written: 'all' | 'none'): Allocation;
  /** Adds one that was made elsewhere: a part of reserved memory. */
  begin(allocation: Allocation): void;
  free(allocation: Allocation): void;
  /** Forgets freed parts that are kept in a range, which is used anew. */
  forgetParts(address: number, size: number): void;
  /** Records bytes that the host writes. */
  write(allocation: Allocation, offset: number, bytes: number): void;
  /** Keeps freed memory from now on, so that accesses to it are found. */
  keepFreed(): void;
  /** Marks everything as written, for a launch without sanitizer. */
  writeAll(): void;
}

/** Most bytes of freed memory that are kept. */
const maxKeptBytes = 2 ** 28;

/** No allocations. */
export function newAllocations(memory: DeviceMemory): Allocations {
  const list = new Set<Allocation>();
  let kept: Allocation[] = [];
  const partly = new Set<Allocation>();
  let keeps = false;
  const forget = (allocation: Allocation): void => {
    list.delete(allocation);
    if (!allocation.isPart) memory.give(allocation.address);
  };
  const begin = (allocation: Allocation): void => {
    allocation.isFree = false;
    list.add(allocation);
    if (allocation.written !== 'all') partly.add(allocation);
  };
  return {
    list,
    add(address, size, what, written) {
      const allocation: Allocation = { address, size, what, isFree: false, isPart: false, written };
      begin(allocation);
      return allocation;
    },
    begin,
    free(allocation) {
      if (allocation.isFree) return;
      allocation.isFree = true;
      partly.delete(allocation);
      if (!keeps) return forget(allocation);
      kept.push(allocation);
      while (kept.reduce((sum, { size }) => sum + size, 0) > maxKeptBytes) forget(kept.shift()!);
    },
    forgetParts(address, size) {
      if (kept.length === 0) return;
      const isIn = (each: Allocation): boolean => each.isPart && each.address < address + size && address < each.address + each.size;
      for (const each of kept.filter(isIn)) list.delete(each);
      kept = kept.filter((each) => !isIn(each));
    },
    write(allocation, offset, bytes) {
      if (allocation.written === 'all' || bytes === 0) return;
      if (offset === 0 && bytes >= allocation.size) allocation.written = 'all';
      else {
        if (allocation.written === 'none') allocation.written = new Uint8Array(Math.ceil(allocation.size / 8));
        setBits(allocation.written, offset, bytes);
      }
      if (allocation.written === 'all') partly.delete(allocation);
    },
    keepFreed() {
      keeps = true;
    },
    writeAll() {
      for (const allocation of partly) allocation.written = 'all';
      partly.clear();
    },
  };
}

/** Sets `count` bits from one on. */
export function setBits(map: Uint8Array, from: number, count: number): void {
  const end = from + count;
  let at = from;
  for (; at < end && at % 8 !== 0; at++) map[at >> 3]! |= 1 << (at & 7);
  const whole = (end - at) >> 3;
  if (whole > 0) map.fill(0xff, at / 8, at / 8 + whole);
  for (at += whole * 8; at < end; at++) map[Math.floor(at / 8)]! |= 1 << (at % 8);
}
