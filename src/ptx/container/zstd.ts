/**
 * Unpacks Zstandard frames, the default of `fatbinary`. This decoder checks every length, distance and count of a possibly hostile file
 * before it does work for it, so that the cost is bounded by the size of input and output.
 * Source: RFC 8878, "Zstandard Compression and the application/zstd Media Type".
 */
import { BackwardBits, type FseTable, fseOfOne, type HuffmanTable, readFse, readHuffman, readHuffmanStream } from './entropy.ts';
import { copyMatch } from './lz4.ts';
import { malformed } from './malformed.ts';
import { type Code, codes } from './zstd-codes.ts';

const maxBlockBytes = 128 * 1024;

/** The state of a frame: input, output, and the tables that later blocks may reuse. */
interface Frame {
  readonly out: Uint8Array;
  /** The start of this frame's output; no match reaches before it. */
  readonly start: number;
  to: number;
  huffman: HuffmanTable | undefined;
  readonly tables: (FseTable | undefined)[];
  /** The last three distances. */
  readonly recent: [number, number, number];
}

/** Unpacks frames to `size` bytes; throws `OutOfBytes` for any other content. Checksums are skipped. */
export function unpackZstd(bytes: Uint8Array, size: number): Uint8Array {
  const out = new Uint8Array(size);
  let [from, to] = [0, 0];
  while (from < bytes.length) {
    const magic = u32(bytes, from);
    if (magic >>> 4 === 0x184d2a5) from += 8 + u32(bytes, from + 4);
    else if (magic === 0xfd2fb528) [from, to] = readFrame(bytes, from + 4, out, to);
    else malformed(from, 'the magic of a Zstandard frame is missing');
  }
  if (to !== size) malformed(from, `the Zstandard frames hold ${to} bytes, but the header has ${size}`);
  return out;
}

const u32 = (bytes: Uint8Array, at: number): number => number(bytes, at, 4) >>> 0;

/** A little-endian number of up to five bytes. */
function number(bytes: Uint8Array, at: number, count: number): number {
  if (at + count > bytes.length) malformed(at, 'the Zstandard frame ends early');
  let value = 0;
  for (let i = count - 1; i >= 0; i--) value = value * 256 + bytes[at + i]!;
  return value;
}

/** Reads a frame after its magic. Returns its end in the input and in the output. */
function readFrame(bytes: Uint8Array, at: number, out: Uint8Array, to: number): [from: number, to: number] {
  const { hasChecksum, next } = readFrameHeader(bytes, at);
  const frame: Frame = { out, start: to, to, huffman: undefined, tables: [undefined, undefined, undefined], recent: [1, 4, 8] };
  let from = next;
  for (let isLast = false; !isLast; ) {
    const head = number(bytes, from, 3);
    isLast = (head & 1) === 1;
    from = readBlock(bytes, from + 3, { kind: (head >> 1) & 3, size: head >> 3 }, frame);
  }
  if (hasChecksum) number(bytes, from, 4);
  return [from + (hasChecksum ? 4 : 0), frame.to];
}

/** The fields of the header that matter here. The sizes of window and content only matter to decoders without access to earlier output. */
function readFrameHeader(bytes: Uint8Array, at: number): { readonly hasChecksum: boolean; readonly next: number } {
  const flags = number(bytes, at, 1);
  if (flags & 8) malformed(at, 'a reserved bit of the Zstandard frame is set');
  const isSingle = (flags & 0x20) !== 0;
  const dictionaryAt = at + (isSingle ? 1 : 2);
  const dictionarySize = [0, 1, 2, 4][flags & 3]!;
  if (number(bytes, dictionaryAt, dictionarySize) !== 0) malformed(dictionaryAt, 'the Zstandard frame needs a dictionary');
  const contentSize = [isSingle ? 1 : 0, 2, 4, 8][flags >> 6]!;
  return { hasChecksum: (flags & 4) !== 0, next: dictionaryAt + dictionarySize + contentSize };
}

interface Block {
  readonly kind: number;
  readonly size: number;
}

/** Returns the end of the block. */
function readBlock(bytes: Uint8Array, at: number, { kind, size }: Block, frame: Frame): number {
  const end = at + (kind === 1 ? 1 : size);
  if (end > bytes.length) malformed(at, 'a Zstandard block runs past the frame');
  if (size > maxBlockBytes) malformed(at, `a Zstandard block of ${size} bytes, where ${maxBlockBytes} is the largest`);
  if (kind === 0) append(frame, bytes.subarray(at, end));
  else if (kind === 1) frame.out.fill(bytes[at]!, frame.to, grow(frame, size));
  else if (kind === 2) readCompressed(bytes.subarray(at, end), frame);
  else malformed(at, 'a Zstandard block of the reserved kind');
  return end;
}

/** Reserves output. Returns the new end. */
function grow(frame: Frame, count: number): number {
  if (frame.to + count > frame.out.length) malformed(0, `the Zstandard frame holds more than ${frame.out.length} bytes`);
  frame.to += count;
  return frame.to;
}

function append(frame: Frame, bytes: Uint8Array): void {
  const at = frame.to;
  grow(frame, bytes.length);
  frame.out.set(bytes, at);
}

function readCompressed(block: Uint8Array, frame: Frame): void {
  const from = frame.to;
  const { literals, next } = readLiterals(block, frame);
  const { count, at } = readSequenceCount(block, next);
  const used = count === 0 ? 0 : readSequences(block, at, count, literals, frame);
  if (count === 0 && at !== block.length) malformed(at, 'bytes after the end of a Zstandard block');
  append(frame, literals.subarray(used));
  if (frame.to - from > maxBlockBytes) malformed(0, 'a Zstandard block holds too much');
}

interface Literals {
  readonly literals: Uint8Array;
  readonly next: number;
}

/** The literals of a block: raw, one repeated byte, or Huffman-coded with a new or the previous tree. */
function readLiterals(block: Uint8Array, frame: Frame): Literals {
  const head = number(block, 0, 1);
  const [kind, format] = [head & 3, (head >> 2) & 3];
  if (kind >= 2) return readCodedLiterals(block, kind === 2, format, frame);
  const headSize = [1, 2, 1, 3][format]!;
  const size = number(block, 0, headSize) >> (headSize === 1 ? 3 : 4);
  checkLiterals(size, frame);
  const next = headSize + (kind === 0 ? size : 1);
  if (next > block.length) malformed(0, 'the literals of a Zstandard block end early');
  return { literals: kind === 0 ? block.subarray(headSize, next) : new Uint8Array(size).fill(block[headSize]!), next };
}

/** All literals are copied to the output, so that its size bounds their number. */
function checkLiterals(size: number, frame: Frame): void {
  if (size > maxBlockBytes || size > frame.out.length - frame.to) malformed(0, `${size} literals in a Zstandard block are too many`);
}

function readCodedLiterals(block: Uint8Array, hasTree: boolean, format: number, frame: Frame): Literals {
  const headSize = [3, 3, 4, 5][format]!;
  const width = [10, 10, 14, 18][format]!;
  const head = Math.floor(number(block, 0, headSize) / 16);
  const size = head % 2 ** width;
  const next = headSize + Math.floor(head / 2 ** width);
  checkLiterals(size, frame);
  if (next > block.length) malformed(0, 'the literals of a Zstandard block end early');
  const body = block.subarray(0, next);
  let at = headSize;
  if (hasTree) {
    const tree = readHuffman(body, at);
    frame.huffman = tree.table;
    at = tree.next;
  }
  const table = frame.huffman ?? malformed(0, 'a Zstandard block refers to a Huffman tree before the first');
  const literals = new Uint8Array(size);
  if (format === 0) readHuffmanStream(body.subarray(at), table, literals);
  else readFourStreams(body.subarray(at), table, literals);
  return { literals, next };
}

/** Four streams of a quarter of the output each, after a table of the sizes of the first three. */
function readFourStreams(bytes: Uint8Array, table: HuffmanTable, out: Uint8Array): void {
  const quarter = (out.length + 3) >> 2;
  if (quarter * 3 > out.length) malformed(0, 'too few Zstandard literals for four streams');
  let at = 6;
  for (let i = 0; i < 4; i++) {
    const end = i < 3 ? at + number(bytes, i * 2, 2) : bytes.length;
    if (end > bytes.length) malformed(0, 'the literals of a Zstandard block end early');
    readHuffmanStream(bytes.subarray(at, end), table, out.subarray(i * quarter, i < 3 ? (i + 1) * quarter : out.length));
    at = end;
  }
}

function readSequenceCount(block: Uint8Array, at: number): { readonly count: number; readonly at: number } {
  const first = number(block, at, 1);
  if (first < 128) return { count: first, at: at + 1 };
  if (first < 255) return { count: ((first - 128) << 8) + number(block, at + 1, 1), at: at + 2 };
  return { count: number(block, at + 1, 2) + 0x7f00, at: at + 3 };
}

/** The table of a code: the default, one symbol, a new table, or that of the previous block. */
function readTable(block: Uint8Array, at: number, mode: number, index: number, { tables }: Frame): { table: FseTable; next: number } {
  const code = codes()[index]!;
  if (mode === 0) return { table: code.defaultTable(), next: at };
  if (mode === 2) return readFse(block, at, code.maxLog, code.extra.length - 1);
  if (mode === 3) return { table: tables[index] ?? malformed(at, 'a Zstandard block refers to a table before the first'), next: at };
  const symbol = number(block, at, 1);
  if (symbol >= code.extra.length) malformed(at, `symbol ${symbol} of a Zstandard table is out of range`);
  return { table: fseOfOne(symbol), next: at + 1 };
}

/** Executes the sequences of a block. Returns the number of literals consumed. */
function readSequences(block: Uint8Array, at: number, count: number, literals: Uint8Array, frame: Frame): number {
  const modes = number(block, at++, 1);
  if (modes & 3) malformed(at, 'reserved bits of a Zstandard block are set');
  for (let i = 0; i < 3; i++) {
    const { table, next } = readTable(block, at, (modes >> (6 - 2 * i)) & 3, i, frame);
    frame.tables[i] = table;
    at = next;
  }
  return runSequences(new BackwardBits(block.subarray(at)), count, literals, frame);
}

/** The state of one of the three codes. */
interface Cursor {
  readonly code: Code;
  readonly table: FseTable;
  state: number;
}

/** The value of the current symbol. */
function valueAt({ code, table, state }: Cursor, bits: BackwardBits): number {
  const symbol = table.symbols[state]!;
  const extra = code.extra[symbol]!;
  const high = extra > 16 ? bits.read(extra - 16) * 0x10000 : 0;
  return code.bases[symbol]! + high + bits.read(Math.min(extra, 16));
}

function step(cursor: Cursor, bits: BackwardBits): void {
  cursor.state = cursor.table.bases[cursor.state]! + bits.read(cursor.table.bits[cursor.state]!);
}

/** Each sequence is some literals, then a match of at least three bytes, so that the size of the output bounds the work. */
function runSequences(bits: BackwardBits, count: number, literals: Uint8Array, frame: Frame): number {
  const cursors = codes().map((code, i): Cursor => ({ code, table: frame.tables[i]!, state: bits.read(frame.tables[i]!.log) }));
  const [length, distance, match] = cursors as [Cursor, Cursor, Cursor];
  let used = 0;
  for (let left = count; left > 0; left--) {
    const value = valueAt(distance, bits);
    const matchLength = valueAt(match, bits);
    const literalLength = valueAt(length, bits);
    if (left > 1) for (const cursor of [length, match, distance]) step(cursor, bits);
    if (bits.left < 0 || used + literalLength > literals.length) malformed(0, 'the sequences of a Zstandard block end early');
    append(frame, literals.subarray(used, used + literalLength));
    used += literalLength;
    const back = distanceOf(value, literalLength, frame.recent);
    if (back <= 0 || back > frame.to - frame.start) malformed(0, 'a Zstandard match reaches before the start of its frame');
    frame.to = copyMatch(frame.out, frame.to, back, matchLength);
  }
  if (bits.left !== 0) malformed(0, 'bits are left after the sequences of a Zstandard block');
  return used;
}

/** Values up to 3 select a recent distance, or the most recent one minus one byte. Without literals the selection is shifted by one. */
function distanceOf(value: number, literalLength: number, recent: [number, number, number]): number {
  const place = value - 1 + (literalLength === 0 ? 1 : 0);
  if (value <= 3 && place === 0) return recent[0];
  const back = value > 3 ? value - 3 : place === 3 ? recent[0] - 1 : recent[place]!;
  if (value > 3 || place > 1) recent[2] = recent[1];
  recent[1] = recent[0];
  recent[0] = back;
  return back;
}
