/** The arena: one buffer of the GPU in which all memory of the device is, and which grows. An address is an offset in it; 0 is null. */
import { alignUp } from '../../base/bytes.ts';
import type { Connection } from './connection.ts';

export interface Arena {
  /** Zeroed memory; undefined if there is none left. */
  take(size: number): number | undefined;
  give(address: number): void;
  /** Most bytes of all memory. */
  readonly limit: number;
}

/** Addresses are multiples of it, as those of CUDA. */
const unit = 256;
/** Bytes of the first arena. */
const firstBytes = 1 << 20;

interface Hole {
  readonly start: number;
  readonly end: number;
}

/** An arena of a GPU that may have so many bytes. */
export function newArena(connection: Connection, limit: number): Arena {
  /** Free memory, by address. */
  let holes: Hole[] = [];
  /** By address: where the memory ends. */
  const taken = new Map<number, number>();
  let size = unit;
  const grow = (needed: number): boolean => {
    const bytes = Math.min(limit, Math.max(firstBytes, 2 * size, alignUp(needed, unit)));
    if (needed > bytes || connection.ask({ ask: 'arena', bytes })?.isGood !== true) return false;
    join({ start: size, end: bytes });
    size = bytes;
    return true;
  };
  const join = (hole: Hole): void => {
    const before = holes.find(({ end }) => end === hole.start);
    const after = holes.find(({ start }) => start === hole.end);
    const whole = { start: before?.start ?? hole.start, end: after?.end ?? hole.end };
    holes = [...holes.filter((each) => each !== before && each !== after), whole].sort((a, b) => a.start - b.start);
  };
  const find = (bytes: number): Hole | undefined => holes.find(({ start, end }) => end - start >= bytes);
  return {
    limit: limit - unit,
    take(bytes) {
      const wanted = alignUp(Math.max(1, bytes), unit);
      const last = holes.at(-1);
      const free = last?.end === size ? last.start : size;
      const hole = find(wanted) ?? (grow(free + wanted) ? find(wanted) : undefined);
      if (!hole) return undefined;
      const end = hole.start + wanted;
      holes = holes.flatMap((each) => (each === hole ? (end < hole.end ? [{ start: end, end: hole.end }] : []) : [each]));
      taken.set(hole.start, end);
      connection.send({ ask: 'clear', offset: hole.start, size: wanted });
      return hole.start;
    },
    give(address) {
      const end = taken.get(address);
      if (end === undefined) return;
      taken.delete(address);
      join({ start: address, end });
    },
  };
}
