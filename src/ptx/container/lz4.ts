/**
 * Unpacks LZ4 blocks of `fatbinary -compress-mode=speed`: one bare block without a frame. The sizes are in the image's header.
 * Source: LZ4, "LZ4 Block Format Description".
 */
import { malformed } from './malformed.ts';

const minMatchLength = 4;

/** Unpacks a block to `size` bytes; throws `OutOfBytes` for any other content. */
export function unpackLz4(block: Uint8Array, size: number): Uint8Array {
  const out = new Uint8Array(size);
  let from = 0;
  let to = 0;
  for (;;) {
    const token = block[from] ?? malformed(from, 'the LZ4 block ends early');
    const literals = lengthAt(block, from + 1, token >> 4);
    from = literals.next + literals.length;
    if (from > block.length) malformed(literals.next, `${literals.length} LZ4 literals run past the block`);
    if (to + literals.length > size) malformed(literals.next, `the LZ4 block holds more than ${size} bytes`);
    out.set(block.subarray(literals.next, from), to);
    to += literals.length;
    // Only the last sequence has no match.
    if (from === block.length) break;
    const distance = block[from]! | ((block[from + 1] ?? malformed(from, 'the LZ4 block ends early')) << 8);
    if (distance === 0 || distance > to) malformed(from, `an LZ4 match ${distance} bytes back, with ${to} bytes written`);
    const match = lengthAt(block, from + 2, token & 15);
    from = match.next;
    to = copyMatch(out, to, distance, match.length + minMatchLength);
  }
  if (to !== size) malformed(from, `the LZ4 block holds ${to} bytes, but its header has ${size}`);
  return out;
}

/** A 4-bit length, continued in further bytes while all ones. */
function lengthAt(block: Uint8Array, at: number, nibble: number): { readonly length: number; readonly next: number } {
  if (nibble < 15) return { length: nibble, next: at };
  let length = nibble;
  for (;;) {
    const more = block[at++] ?? malformed(at - 1, 'the LZ4 block ends early');
    length += more;
    if (more < 255) return { length, next: at };
  }
}

/** Copies `length` bytes from `distance` bytes back; the ranges may overlap. Returns the new end. */
export function copyMatch(out: Uint8Array, to: number, distance: number, length: number): number {
  const end = to + length;
  if (end > out.length) malformed(to, `a match of ${length} bytes runs past the ${out.length} bytes of the header`);
  if (distance >= length) out.copyWithin(to, to - distance, to - distance + length);
  else for (let at = to; at < end; at++) out[at] = out[at - distance]!;
  return end;
}
