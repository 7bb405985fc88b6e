/** Where an address is, in words: in which buffer or variable, or how far from one. */
import type { Bounds } from './sites.ts';

export interface Region {
  /** As a sentence names it: `` `x` (argument 0, 4096 bytes)``. */
  readonly name: string;
  readonly start: number;
  readonly bytes: number;
  readonly isFree: boolean;
}

export interface Places {
  readonly regions: readonly Region[];
  ofBounds(bounds: Bounds): Region | undefined;
}

const bytes = (count: number): string => `${count} byte${count === 1 ? '' : 's'}`;

/** An address as programs see it: of shared and local memory its offset in what it belongs to is told besides. */
export const hex = (address: bigint): string => `0x${BigInt.asUintN(64, address).toString(16)}`;

/** Where an address is in a region, or outside of it. */
export function placeIn({ name, start, bytes: size }: Region, address: bigint): string {
  const offset = BigInt.asIntN(64, address) - BigInt(start);
  if (offset < 0n) return `${bytes(Number(-offset))} before the start of ${name}`;
  if (offset < BigInt(size)) return `byte ${offset} of ${name}`;
  const behind = Number(offset) - size;
  return behind === 0 ? `at the end of ${name}` : `${bytes(behind)} behind the end of ${name}`;
}

const contains = ({ start, bytes: size }: Region, address: bigint): boolean =>
  address >= BigInt(start) && address < BigInt(start) + BigInt(Math.max(size, 1));

/** The region that an address is in. */
export const regionAt = ({ regions }: Places, address: bigint): Region | undefined => regions.find((region) => contains(region, address));

/** Where an address is that belongs to no region in particular: the one that it is in, or the nearest. */
export function placeOf(places: Places, address: bigint): string {
  const inside = regionAt(places, address);
  if (inside) return placeIn(inside, address);
  const distance = ({ start, bytes: size }: Region): bigint =>
    address < BigInt(start) ? BigInt(start) - address : address - BigInt(start + size);
  const [nearest] = [...places.regions].sort((a, b) => (distance(a) < distance(b) ? -1 : 1));
  return nearest && distance(nearest) < 65536n ? placeIn(nearest, address) : 'far from every buffer';
}

/** What memory holds at an address, as a number. */
export function bytesAt(memory: WebAssembly.Memory, address: bigint, count: number): string {
  const at = Number(address);
  if (at + count > memory.buffer.byteLength) return 'nothing';
  return `0x${[...new Uint8Array(memory.buffer, at, count)]
    .reverse()
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('')}`;
}
