/** Describes an address: the buffer or variable that contains it, or its distance from the nearest one. */
import type { Bounds } from './sites.ts';

export interface Region {
  /** The name in messages: `` `x` (argument 0, 4096 bytes)``. */
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

/** An address in hexadecimal. */
export const hex = (address: bigint): string => `0x${BigInt.asUintN(64, address).toString(16)}`;

/** Describes an address relative to a region. */
export function placeIn({ name, start, bytes: size }: Region, address: bigint): string {
  const offset = BigInt.asIntN(64, address) - BigInt(start);
  if (offset < 0n) return `${bytes(Number(-offset))} before the start of ${name}`;
  if (offset < BigInt(size)) return `byte ${offset} of ${name}`;
  const behind = Number(offset) - size;
  return behind === 0 ? `at the end of ${name}` : `${bytes(behind)} behind the end of ${name}`;
}

const contains = ({ start, bytes: size }: Region, address: bigint): boolean =>
  address >= BigInt(start) && address < BigInt(start) + BigInt(Math.max(size, 1));

/** The region that contains an address. */
export const regionAt = ({ regions }: Places, address: bigint): Region | undefined => regions.find((region) => contains(region, address));

/** Describes an address relative to the region that contains it, or to the nearest one. */
export function placeOf(places: Places, address: bigint): string {
  const inside = regionAt(places, address);
  if (inside) return placeIn(inside, address);
  const distance = ({ start, bytes: size }: Region): bigint =>
    address < BigInt(start) ? BigInt(start) - address : address - BigInt(start + size);
  const [nearest] = [...places.regions].sort((a, b) => (distance(a) < distance(b) ? -1 : 1));
  return nearest && distance(nearest) < 65536n ? placeIn(nearest, address) : 'far from every buffer';
}

/** The bytes at an address as a hexadecimal number. */
export function bytesAt(memory: WebAssembly.Memory, address: bigint, count: number): string {
  const at = Number(address);
  if (at + count > memory.buffer.byteLength) return 'nothing';
  return `0x${[...new Uint8Array(memory.buffer, at, count)]
    .reverse()
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('')}`;
}
