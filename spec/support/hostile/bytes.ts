/** Damage to bytes of any format: bits, bytes, words of four and eight bytes, pieces out of place, and ends that are missing. */
import { below, pick, type Random } from './ptx.ts';

/** Numbers that lengths, counts and offsets dislike. */
const unloved = [0, 1, 2, 7, 0x7f, 0xff, 0xffff, 0x10000, 0x7fffffff, 0x80000000, 0xfffffff0, 0xffffffff];

type Damage = (bytes: Uint8Array, next: Random) => Uint8Array;

/** A place, more often near the start, where headers are. */
const placeIn = (bytes: Uint8Array, next: Random): number => Math.floor((next() < 0.5 ? next() ** 4 : next()) * bytes.length);

function wordAt(bytes: Uint8Array, at: number, size: 4 | 8, next: Random): Uint8Array {
  if (bytes.length < size) return bytes;
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const place = Math.min(at & ~3, bytes.length - size);
  if (size === 4) view.setUint32(place, pick(next, unloved), true);
  else view.setBigUint64(place, next() < 0.5 ? BigInt(pick(next, unloved)) : 2n ** 64n - BigInt(pick(next, unloved)), true);
  return bytes;
}

const damages: readonly Damage[] = [
  (bytes, next) => {
    bytes[placeIn(bytes, next)]! ^= 1 << below(next, 8);
    return bytes;
  },
  (bytes, next) => {
    bytes[placeIn(bytes, next)] = pick(next, unloved);
    return bytes;
  },
  (bytes, next) => wordAt(bytes, placeIn(bytes, next), 4, next),
  (bytes, next) => wordAt(bytes, placeIn(bytes, next), 8, next),
  (bytes, next) => {
    const [from, to, size] = [placeIn(bytes, next), placeIn(bytes, next), below(next, 256)];
    return Uint8Array.from([
      ...bytes.subarray(0, to),
      ...bytes.subarray(from, from + size),
      ...bytes.subarray(to + (next() < 0.5 ? size : 0)),
    ]);
  },
  (bytes, next) => bytes.slice(0, below(next, bytes.length + 1)),
];

/** A copy with one to four damages. */
export function damagedBytes(bytes: Uint8Array, next: Random): Uint8Array {
  let made: Uint8Array = bytes.slice();
  for (let times = 1 + below(next, 4); times > 0 && made.length > 0; times--) made = pick(next, damages)(made, next);
  return made;
}
