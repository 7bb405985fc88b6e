/** Damage to metal libraries and to modules: of bytes, and of single operands of records in a stream that stays well formed. */
import { BitWriter } from '../../src/base/bits.ts';
import type { RawRecord } from '../../src/bitcode/read/record-reader.ts';
import { type RawBlock, readStream } from '../../src/bitcode/read/stream-reader.ts';

type Random = () => number;

const below = (random: Random, n: number): number => Math.floor(random() * n);
const pick = <T>(random: Random, list: readonly T[]): T => list[below(random, list.length)]!;
/** Numbers that lengths, counts and ids dislike. */
const unloved = [0, 1, 2, 7, 0x7f, 0xff, 0xffff, 0x10000, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff];

type Change = (bytes: Uint8Array, random: Random) => Uint8Array;

/** Duplicates or removes a range of bytes. */
function spliced(bytes: Uint8Array, random: Random): Uint8Array {
  const [from, to] = [below(random, bytes.length), below(random, bytes.length)];
  const size = below(random, 64);
  const piece = random() < 0.5 ? bytes.subarray(from, from + size) : new Uint8Array();
  const gone = random() < 0.5 ? size : 0;
  const rest = bytes.subarray(to + gone);
  const made = new Uint8Array(to + piece.length + rest.length);
  made.set(bytes.subarray(0, to));
  made.set(piece, to);
  made.set(rest, to + piece.length);
  return made;
}

const changes: readonly Change[] = [
  (bytes, random) => {
    bytes[below(random, bytes.length)]! ^= 1 << below(random, 8);
    return bytes;
  },
  (bytes, random) => {
    bytes[below(random, bytes.length)] = pick(random, unloved);
    return bytes;
  },
  (bytes, random) => {
    const at = below(random, Math.max(1, bytes.length - 4));
    if (bytes.length >= 4) new DataView(bytes.buffer).setUint32(at, pick(random, unloved), true);
    return bytes;
  },
  spliced,
  (bytes, random) => bytes.slice(0, below(random, bytes.length + 1)),
];

/** A damaged copy of a library. In nine of ten copies the header has the new size, so that reading continues. */
export function mutatedLibrary(bytes: Uint8Array, random: Random): Uint8Array {
  let made = bytes.slice();
  for (let left = 1 + below(random, 3); left > 0 && made.length > 0; left--) made = pick(random, changes)(made, random).slice();
  if (made.length >= 24 && random() < 0.9) new DataView(made.buffer).setBigUint64(16, BigInt(made.length), true);
  return made;
}

/** A damaged copy of raw bitcode: bytes changed, or operands, records and blocks of its stream. */
export function mutatedModule(bytes: Uint8Array, random: Random): Uint8Array {
  if (random() < 0.25) return pick(random, changes)(bytes.slice(), random);
  const blocks = structuredClone(readStream(bytes)) as Tree[];
  for (let left = 1 + below(random, 3); left > 0; left--) mutateTree(pick(random, blocks), random);
  return encoded(blocks);
}

/** A block with mutable items. */
export type Tree = Omit<RawBlock, 'items'> & { items: (Item | Tree)[] };
export type Item = Omit<RawRecord, 'ops' | 'code' | 'blob'> & { ops: (number | bigint)[]; code: number; blob: Uint8Array | undefined };

/** Changes one thing somewhere inside a block. */
function mutateTree(block: Tree, random: Random): void {
  if (block.items.length === 0) return;
  const at = below(random, block.items.length);
  const item = block.items[at]!;
  if (item.kind === 'block' && random() < 0.9) return mutateTree(item, random);
  const kind = random();
  if (kind < 0.06) block.items.splice(at, 1);
  else if (kind < 0.12) block.items.splice(below(random, block.items.length), 0, structuredClone(item));
  else if (item.kind === 'record') mutateRecord(item, random);
}

function mutateRecord(record: Item, random: Random): void {
  const { ops, blob } = record;
  const kind = random();
  if (blob && blob.length > 0 && kind < 0.5) blob[below(random, blob.length)]! ^= 1 << below(random, 8);
  else if (ops.length === 0 || kind < 0.05) record.code = below(random, 60);
  else if (kind < 0.15) ops.splice(below(random, ops.length), 1);
  else if (kind < 0.2) ops.push(below(random, 8));
  else {
    const at = below(random, ops.length);
    const small = BigInt(ops[at]!) + BigInt(below(random, 5) - 2);
    ops[at] = random() < 0.7 && small >= 0n ? small : random() < 0.95 ? pick(random, unloved) : 2n ** 64n - 1n;
  }
}

/** A stream of these blocks, without abbreviations but for blobs. */
export function encoded(blocks: readonly Tree[]): Uint8Array {
  const bits = new BitWriter();
  bits.fixed(0xdec04342, 32);
  for (const block of blocks) writeBlock(bits, block, 2);
  return bits.finish();
}

const innerWidth = 4;

function writeBlock(bits: BitWriter, { id, items }: Tree, width: number): void {
  bits.fixed(1, width);
  bits.vbr(id, 8);
  bits.vbr(innerWidth, 4);
  bits.align32();
  const at = bits.position;
  bits.fixed(0, 32);
  let next = 4;
  for (const item of items) {
    if (item.kind === 'block') writeBlock(bits, item, innerWidth);
    // Abbreviation numbers are of four bits.
    else if (item.blob && next < 16) writeBlob(bits, item, next++);
    else writeRecord(bits, item);
  }
  bits.fixed(0, innerWidth);
  bits.align32();
  bits.patch32(at, (bits.position - at) / 32 - 1);
}

function writeRecord(bits: BitWriter, { code, ops }: Item): void {
  bits.fixed(3, innerWidth);
  bits.vbr(code, 6);
  bits.vbr(ops.length, 6);
  for (const op of ops) bits.vbr(op, 6);
}

function writeBlob(bits: BitWriter, { code, ops, blob }: Item, number: number): void {
  bits.fixed(2, innerWidth);
  bits.vbr(ops.length + 2, 5);
  bits.fixed(1, 1);
  bits.vbr(code, 8);
  for (const _ of ops) {
    bits.fixed(0, 1);
    bits.fixed(2, 3);
    bits.vbr(6, 5);
  }
  bits.fixed(0, 1);
  bits.fixed(5, 3);
  bits.fixed(number, innerWidth);
  for (const op of ops) bits.vbr(op, 6);
  bits.vbr(blob!.length, 6);
  bits.blob(blob!);
}
