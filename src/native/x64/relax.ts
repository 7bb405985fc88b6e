/**
 * Relaxation: jumps become short ones (a displacement of 8 bits) if their labels are near, and what aligns code is as long as its place then asks for.
 */
import type { Code } from './code.ts';
import { writeNops } from './nops.ts';

/** A jump or an alignment, whose length depends on its place. */
export interface Flexible {
  /** Where it starts in the code in which every jump is near and every alignment has no bytes. */
  readonly at: number;
  /** Bytes in that code. */
  readonly bytes: number;
  /** The label of a jump, or -1. */
  readonly label: number;
  /** Of a jump: the opcode of its short form; of an alignment, the bytes that the next instruction's offset is a multiple of. */
  readonly value: number;
}

/** Bytes of a short jump. */
const shortBytes = 2;

/** The place of a label: its offset in the code before relaxation, and how many flexible instructions are before it. */
export interface Place {
  readonly offset: number;
  readonly flexibles: number;
}

/**
 * How far code moves, as a number of bytes for each count of flexible instructions before it. Jumps start as short ones and are made near until all
 * reach their labels, so the loop ends.
 */
export function relax(flexibles: readonly Flexible[], placeOf: (label: number) => Place): Int32Array {
  const moved = new Int32Array(flexibles.length + 1);
  const isNear = new Uint8Array(flexibles.length);
  for (;;) {
    layOut(flexibles, isNear, moved);
    let isStable = true;
    for (let i = 0; i < flexibles.length; i++) {
      const { at, label } = flexibles[i]!;
      if (label < 0 || isNear[i]) continue;
      const to = placeOf(label);
      const distance = to.offset + moved[to.flexibles]! - (at + moved[i]! + shortBytes);
      if (distance >= -128 && distance <= 127) continue;
      isNear[i] = 1;
      isStable = false;
    }
    if (isStable) return moved;
  }
}

function layOut(flexibles: readonly Flexible[], isNear: Uint8Array, moved: Int32Array): void {
  for (let i = 0; i < flexibles.length; i++) {
    const { at, bytes, label, value } = flexibles[i]!;
    const start = at + moved[i]!;
    const length = label < 0 ? -start & (value - 1) : isNear[i] ? bytes : shortBytes;
    moved[i + 1] = start + length - (at + bytes);
  }
}

/** Writes the code anew, as `relax` has laid it out. Fixups move with their instructions. */
export function writeRelaxed(
  from: Code,
  to: Code,
  flexibles: readonly Flexible[],
  moved: Int32Array,
  placeOf: (label: number) => Place,
): void {
  to.reserve(from.size + moved[flexibles.length]!);
  let copied = 0;
  let nextFixup = 0;
  for (let i = 0; i <= flexibles.length; i++) {
    const flexible = flexibles[i];
    const end = flexible?.at ?? from.size;
    to.bytes.set(from.bytes.subarray(copied, end), to.size);
    to.size += end - copied;
    const shift = moved[i]!;
    for (; nextFixup < from.fixups.length && from.fixups[nextFixup]!.at < end; nextFixup++) {
      const fixup = from.fixups[nextFixup]!;
      to.fixups.push({ ...fixup, at: fixup.at + shift, end: fixup.end + shift });
    }
    if (flexible === undefined) return;
    writeFlexible(from, to, flexible, flexible.at + flexible.bytes + moved[i + 1]! - to.size, placeOf, moved);
    copied = end + flexible.bytes;
  }
}

function writeFlexible(
  from: Code,
  to: Code,
  { at, bytes, label, value }: Flexible,
  length: number,
  placeOf: (label: number) => Place,
  moved: Int32Array,
): void {
  if (label < 0) return writeNops(to, length);
  const target = placeOf(label);
  const distance = target.offset + moved[target.flexibles]! - (to.size + length);
  if (length === shortBytes) to.byte(value);
  else for (let i = at; i < at + bytes - 4; i++) to.byte(from.bytes[i]!);
  to.low(distance, length === shortBytes ? 1 : 4);
}
