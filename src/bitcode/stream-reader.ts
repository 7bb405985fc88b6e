/**
 * A bitstream as a tree of blocks and records, abbreviations resolved. Knows nothing of what records mean. Every length is held
 * against the bits that are left, so that damaged data ends in `Malformed` and never in a long loop.
 * Source: LLVM Bitcode File Format.
 */
import { BitReader, OutOfBits } from '../base/bits.ts';
import { blockName, blocks } from './records.ts';

/** Raised inside this room and caught at its border, where it becomes CM4002. */
export class Malformed extends Error {
  readonly bit: number;
  readonly block: string;
  constructor(bit: number, block: string, why: string) {
    super(why);
    this.bit = bit;
    this.block = block;
  }
}

export interface RawRecord {
  readonly kind: 'record';
  readonly code: number;
  readonly ops: readonly (number | bigint)[];
  readonly blob: Uint8Array | undefined;
  readonly bit: number;
}

export interface RawBlock {
  readonly kind: 'block';
  readonly id: number;
  readonly items: readonly (RawRecord | RawBlock)[];
  /** The same apart, which readers want. */
  readonly records: readonly RawRecord[];
  readonly blocks: readonly RawBlock[];
  readonly bit: number;
}

/** The blocks of a number inside a block. */
export const childBlocks = (block: RawBlock, id: number): RawBlock[] => block.blocks.filter((inner) => inner.id === id);
/** The records of a block, those of inner blocks left out. */
export const records = (block: RawBlock): readonly RawRecord[] => block.records;

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** UTF-8 as text. What is no UTF-8 is refused: it could not be written again as it was. */
export function decoded(bytes: Uint8Array, bit: number, block: string): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw new Malformed(bit, block, 'a text that is no UTF-8');
  }
}

/** Operands from `from` on, up to `to`, as text, one byte each. */
export function textOf({ ops, bit }: RawRecord, from = 0, to = ops.length): string {
  const bytes = new Uint8Array(Math.max(0, to - from));
  for (let i = from; i < to; i++) {
    if (!(ops[i]! <= 0xff)) throw new Malformed(bit, 'a text', `a character ${ops[i]}`);
    bytes[i - from] = Number(ops[i]);
  }
  return decoded(bytes, bit, 'a text');
}

type Encoding =
  | { readonly kind: 'literal'; readonly value: number | bigint }
  | { readonly kind: 'fixed' | 'vbr'; readonly width: number }
  | { readonly kind: 'array' | 'char6' | 'blob' };
type Abbreviation = readonly Encoding[];

const maximumDepth = 16;
const kinds = { 1: 'fixed', 2: 'vbr', 3: 'array', 4: 'char6', 5: 'blob' } as const;

/** The blocks of raw bitcode that starts with its magic. */
export function readStream(bytes: Uint8Array): RawBlock[] {
  const bits = new BitReader(bytes);
  const known = new Map<number, Abbreviation[]>();
  const reader: Reader = { bits, known, block: 'the stream' };
  try {
    if (bits.fixed(32) !== 0xdec04342) throw new Malformed(0, reader.block, 'the magic is not `BC` C0 DE');
    const found: RawBlock[] = [];
    while (!bits.atEnd) {
      const bit = bits.position;
      if (bits.fixed(2) !== 1) throw new Malformed(bit, reader.block, 'something other than a block at the top');
      found.push(readBlock(reader, bit, 0));
    }
    return found;
  } catch (error) {
    if (error instanceof OutOfBits) throw new Malformed(bits.position, reader.block, error.message);
    throw error;
  }
}

interface Reader {
  readonly bits: BitReader;
  /** Abbreviations that BLOCKINFO defines, by block. */
  readonly known: Map<number, Abbreviation[]>;
  /** The block that is being read, for messages. */
  block: string;
}

/** A block behind its entry code. */
function readBlock(reader: Reader, bit: number, depth: number): RawBlock {
  const { bits } = reader;
  const id = Number(bits.vbr(8));
  const width = Number(bits.vbr(4));
  bits.align32();
  const words = bits.fixed(32);
  const name = blockName(id);
  reader.block = name;
  if (width < 2 || width > 32) throw new Malformed(bit, name, `abbreviation ids of ${width} bits`);
  if (depth > maximumDepth) throw new Malformed(bit, name, 'blocks nested too deep');
  if (bits.position + words * 32 > bits.length) throw new Malformed(bit, name, `a block of ${words} words goes past the end`);
  const end = bits.position + words * 32;
  const items: (RawRecord | RawBlock)[] = [];
  const plain: RawRecord[] = [];
  const inner: RawBlock[] = [];
  const own: Abbreviation[] = [...(reader.known.get(id) ?? [])];
  let infoFor = -1;
  for (;;) {
    if (bits.position > end) throw new Malformed(bits.position, name, 'the block runs past its length');
    const at = bits.position;
    const code = bits.fixed(width);
    if (code === 0) break;
    if (code === 1) {
      const block = readBlock(reader, at, depth + 1);
      items.push(block);
      inner.push(block);
      reader.block = name;
    } else if (code === 2) {
      const abbreviation = readAbbreviation(bits, name);
      if (id === blocks.blockinfo.id) reader.known.set(infoFor, [...(reader.known.get(infoFor) ?? []), abbreviation]);
      else own.push(abbreviation);
    } else {
      const record = code === 3 ? readPlain(bits, at) : readAbbreviated(bits, own[code - 4] ?? noAbbreviation(at, name, code), at, name);
      if (id === blocks.blockinfo.id && record.code === blocks.blockinfo.records.setBid.code) infoFor = Number(record.ops[0] ?? -1);
      items.push(record);
      plain.push(record);
    }
  }
  bits.align32();
  if (bits.position !== end) throw new Malformed(bit, name, `the block is ${words} words long and ends elsewhere`);
  return { kind: 'block', id, items, records: plain, blocks: inner, bit };
}

function noAbbreviation(at: number, name: string, code: number): never {
  throw new Malformed(at, name, `abbreviation ${code} is not defined`);
}

function readAbbreviation(bits: BitReader, name: string): Abbreviation {
  const at = bits.position;
  const count = Number(bits.vbr(5));
  const ops: Encoding[] = [];
  while (ops.length < count) {
    if (bits.fixed(1) === 1) {
      ops.push({ kind: 'literal', value: bits.vbr(8) });
      continue;
    }
    const kind = kinds[bits.fixed(3) as keyof typeof kinds];
    if (!kind) throw new Malformed(at, name, 'an abbreviation with an unknown encoding');
    if (kind === 'fixed' || kind === 'vbr') ops.push(sized(kind, Number(bits.vbr(5)), at, name));
    else ops.push({ kind });
  }
  if (!hasShape(ops)) throw new Malformed(at, name, 'an abbreviation of impossible shape');
  return ops;
}

/** An array comes last, with its element behind it, which takes bits: a few bytes would else be a list without end. Nothing follows a blob. */
function hasShape(ops: Abbreviation): boolean {
  const last = ops[ops.length - 1]?.kind;
  const array = ops.findIndex((op) => op.kind === 'array');
  const blob = ops.findIndex((op) => op.kind === 'blob');
  if (last === undefined || (blob >= 0 && blob !== ops.length - 1)) return false;
  return array < 0 || (array === ops.length - 2 && (last === 'fixed' || last === 'vbr' || last === 'char6'));
}

/** A field of no width is the literal 0. */
function sized(kind: 'fixed' | 'vbr', width: number, at: number, name: string): Encoding {
  if (width === 0) return { kind: 'literal', value: 0 };
  if (width > 64 || (kind === 'vbr' && (width < 2 || width > 32))) throw new Malformed(at, name, `a field of ${width} bits`);
  return { kind, width };
}

function readPlain(bits: BitReader, bit: number): RawRecord {
  const code = Number(bits.vbr(6));
  const count = Number(bits.vbr(6));
  if (count * 6 > bits.length - bits.position) throw new OutOfBits(`a record of ${count} operands`);
  const ops: (number | bigint)[] = new Array(count);
  for (let i = 0; i < count; i++) ops[i] = bits.vbr(6);
  return { kind: 'record', code, ops, blob: undefined, bit };
}

function readAbbreviated(bits: BitReader, abbreviation: Abbreviation, bit: number, name: string): RawRecord {
  const ops: (number | bigint)[] = [];
  let code: number | bigint | undefined;
  let blob: Uint8Array | undefined;
  const take = (value: number | bigint): void => {
    if (code === undefined) code = value;
    else ops.push(value);
  };
  for (let i = 0; i < abbreviation.length; i++) {
    const op = abbreviation[i]!;
    if (op.kind === 'array') {
      const count = Number(bits.vbr(6));
      if (count > bits.length - bits.position) throw new OutOfBits(`an array of ${count} elements`);
      const element = abbreviation[++i]!;
      for (let n = 0; n < count; n++) take(readScalar(bits, element, bit, name));
    } else if (op.kind === 'blob') blob = bits.blob(Number(bits.vbr(6)));
    else take(readScalar(bits, op, bit, name));
  }
  if (code === undefined) throw new Malformed(bit, name, 'a record without code');
  return { kind: 'record', code: Number(code), ops, blob, bit };
}

function readScalar(bits: BitReader, encoding: Encoding, bit: number, name: string): number | bigint {
  switch (encoding.kind) {
    case 'literal':
      return encoding.value;
    case 'fixed':
      return encoding.width <= 32 ? bits.fixed(encoding.width) : wide(bits, encoding.width);
    case 'vbr':
      return bits.vbr(encoding.width);
    case 'char6':
      return bits.char6();
    default:
      throw new Malformed(bit, name, 'an array of arrays or blobs');
  }
}

const wide = (bits: BitReader, width: number): bigint => BigInt(bits.fixed(32)) | (BigInt(bits.fixed(width - 32)) << 32n);
