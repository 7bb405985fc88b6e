/** Blocks and records on top of bits; the lengths of blocks are patched here. */
import { BitWriter } from '../../base/bits.ts';
import { type Plan, planOf, type RecordRow, type Written } from '../fields.ts';
import { type BlockName, blocks, type FieldsOf, type RecordName } from '../records.ts';

export type Operand = number | bigint;

/** The values of each kind of field, for records outside of function bodies. */
export interface StreamOperands {
  word: Operand;
  words: readonly Operand[];
  /** All pairs flattened. */
  pairs: readonly Operand[];
  text: string;
  blob: Uint8Array;
}

/** The fields of a record by their names. */
export type RecordFields<B extends BlockName, N extends RecordName<B>> = Written<FieldsOf<B, N>, StreamOperands>;

/** Writes the bitstream of one module. */
export interface StreamWriter {
  /** Writes a block around what `body` writes; returns the word at which it starts. */
  block(name: BlockName, body: () => void): number;
  /**
   * A record of the open block: unabbreviated, or with an abbreviation if it has a blob. Readers of older LLVMs know no operands
   * beyond `maxOperands`.
   */
  record<B extends BlockName, N extends RecordName<B>>(block: B, name: N, fields: RecordFields<B, N>, maxOperands?: number): void;
  /** A range of the words of a tape, as unabbreviated records. */
  records(words: Int32Array, from: number, to: number): void;
  /** An unabbreviated record by its number, for rows of `debug-info.ts`. */
  numberedRecord(code: number, operands: readonly Operand[]): void;
  /** A record whose only field has 32 bits, zero until it is patched; returns the position of the field in bits. */
  reserveRecord<B extends BlockName>(block: B, name: RecordName<B>): number;
  patch(position: number, value: number): void;
  finish(): Uint8Array;
}

const abbreviation = { end: 0, enter: 1, define: 2, unabbreviated: 3, first: 4 } as const;
/** Encodings of abbreviation operands. */
const encoding = { fixed: 1, vbr: 2, array: 3, char6: 4, blob: 5 } as const;
const topWidth = 2;

/** The bits of a stream, and what the open block knows. */
interface Stream {
  readonly bits: BitWriter;
  /** Width of abbreviation ids, bits. */
  width: number;
  nextAbbreviation: number;
}

const rowOf = (block: BlockName, name: string): RecordRow => (blocks[block].records as Record<string, RecordRow>)[name]!;

export function streamWriter(): StreamWriter {
  const bits = new BitWriter();
  const stream: Stream = { bits, width: topWidth, nextAbbreviation: abbreviation.first };
  const operands: Operand[] = [];
  bits.fixed(0xdec04342, 32);
  return {
    block: (name, body) => writeBlock(stream, blocks[name], body),
    record(block, name, fields, maxOperands) {
      const row = rowOf(block, name);
      const bytes = encodeFields(planOf(row), fields, operands);
      if (maxOperands !== undefined) operands.length = Math.min(operands.length, maxOperands);
      if (bytes) writeBlob(stream, row.code, operands, bytes);
      else writePlain(stream, row.code, operands);
    },
    records: (words, from, to) => bits.records(words, from, to, abbreviation.unabbreviated, stream.width),
    numberedRecord: (code, list) => writePlain(stream, code, list),
    reserveRecord: (block, name) => reserveWord(stream, rowOf(block, name).code),
    patch: (position, value) => bits.patch32(position, value),
    finish: () => bits.finish(),
  };
}

/** Writes a block; returns the word at which it starts. */
function writeBlock(stream: Stream, { id, width }: { readonly id: number; readonly width: number }, body: () => void): number {
  const { bits, width: outerWidth, nextAbbreviation: outerNext } = stream;
  const first = bits.position / 32;
  bits.fixed(abbreviation.enter, outerWidth);
  bits.vbr(id, 8);
  bits.vbr(width, 4);
  bits.align32();
  const lengthWord = bits.position / 32;
  bits.fixed(0, 32);
  stream.width = width;
  stream.nextAbbreviation = abbreviation.first;
  body();
  bits.fixed(abbreviation.end, width);
  bits.align32();
  bits.patch32(lengthWord * 32, bits.position / 32 - lengthWord - 1);
  stream.width = outerWidth;
  stream.nextAbbreviation = outerNext;
  return Math.floor(first);
}

function writePlain({ bits, width }: Stream, code: number, operands: readonly Operand[]): void {
  bits.fixed(abbreviation.unabbreviated, width);
  bits.vbr(code, 6);
  bits.vbr(operands.length, 6);
  for (const operand of operands) bits.vbr(operand, 6);
}

/** Begins the definition of an abbreviation for a record: its literal code, then `fields` definitions. */
function defineAbbreviation({ bits, width }: Stream, code: number, fields: number): void {
  bits.fixed(abbreviation.define, width);
  bits.vbr(fields + 1, 5);
  bits.fixed(1, 1);
  bits.vbr(code, 8);
}

function defineField(bits: BitWriter, kind: number, size?: number): void {
  bits.fixed(0, 1);
  bits.fixed(kind, 3);
  if (size !== undefined) bits.vbr(size, 5);
}

function writeBlob(stream: Stream, code: number, operands: readonly Operand[], bytes: Uint8Array): void {
  const { bits, width } = stream;
  defineAbbreviation(stream, code, operands.length + 1);
  for (const _ of operands) defineField(bits, encoding.vbr, 6);
  defineField(bits, encoding.blob);
  bits.fixed(stream.nextAbbreviation++, width);
  for (const operand of operands) bits.vbr(operand, 6);
  bits.vbr(bytes.length, 6);
  bits.blob(bytes);
}

/** Writes a record of one 32-bit zero; returns its position in bits. */
function reserveWord(stream: Stream, code: number): number {
  const { bits, width } = stream;
  defineAbbreviation(stream, code, 1);
  defineField(bits, encoding.fixed, 32);
  bits.fixed(stream.nextAbbreviation++, width);
  const at = bits.position;
  bits.fixed(0, 32);
  return at;
}

const encoder = new TextEncoder();

/** Puts the operands of a record into a list, in the order of its row; returns its blob. */
function encodeFields({ fields }: Plan, values: object, operands: Operand[]): Uint8Array | undefined {
  const given = values as Readonly<Record<string, Operand | readonly Operand[] | string | Uint8Array | undefined>>;
  let bytes: Uint8Array | undefined;
  operands.length = 0;
  for (let i = 0; i < fields.length; i++) {
    const value = given[fields[i]!.name];
    if (typeof value === 'number' || typeof value === 'bigint') operands.push(value);
    else if (typeof value === 'string') for (const byte of encoder.encode(value)) operands.push(byte);
    else if (value instanceof Uint8Array) bytes = value;
    else if (value) for (const each of value) operands.push(each);
  }
  return bytes;
}
