/** Blocks and records on top of bits; lengths are patched here and nowhere else. */
import { BitWriter } from '../../base/bits.ts';
import { type Plan, planOf, type RecordRow, type Written } from '../fields.ts';
import { type BlockName, blocks, type FieldsOf, type RecordName } from '../records.ts';

export type Operand = number | bigint;

/** What is written for each kind of field of a record whose numbers are known. */
export interface StreamOperands {
  word: Operand;
  words: readonly Operand[];
  /** Each pair one behind the other. */
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
   * A record of the block that is open: unabbreviated, or where it has a blob with the abbreviation that this needs. Older writers
   * stop after `maxOperands`.
   */
  record<B extends BlockName, N extends RecordName<B>>(block: B, name: N, fields: RecordFields<B, N>, maxOperands?: number): void;
  /** Unabbreviated records of a tape, from a word up to another. */
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

export function streamWriter(): StreamWriter {
  const bits = new BitWriter();
  let width = topWidth;
  let nextAbbreviation: number = abbreviation.first;
  bits.fixed(0xdec04342, 32);

  const operands: Operand[] = [];
  const rowOf = (block: BlockName, name: string): RecordRow => (blocks[block].records as Record<string, RecordRow>)[name]!;

  const plain = (number: number, operands: readonly Operand[]): void => {
    bits.fixed(abbreviation.unabbreviated, width);
    bits.vbr(number, 6);
    bits.vbr(operands.length, 6);
    for (const operand of operands) bits.vbr(operand, 6);
  };
  const defineLiteral = (value: number): void => {
    bits.fixed(1, 1);
    bits.vbr(value, 8);
  };
  const defineField = (kind: number, size?: number): void => {
    bits.fixed(0, 1);
    bits.fixed(kind, 3);
    if (size !== undefined) bits.vbr(size, 5);
  };
  const blob = (number: number, operands: readonly Operand[], bytes: Uint8Array): void => {
    bits.fixed(abbreviation.define, width);
    bits.vbr(operands.length + 2, 5);
    defineLiteral(number);
    for (const _ of operands) defineField(encoding.vbr, 6);
    defineField(encoding.blob);
    bits.fixed(nextAbbreviation++, width);
    for (const operand of operands) bits.vbr(operand, 6);
    bits.vbr(bytes.length, 6);
    bits.blob(bytes);
  };

  return {
    block(name, body) {
      const outer = [width, nextAbbreviation] as const;
      const first = bits.position / 32;
      bits.fixed(abbreviation.enter, width);
      bits.vbr(blocks[name].id, 8);
      bits.vbr(blocks[name].width, 4);
      bits.align32();
      const lengthWord = bits.position / 32;
      bits.fixed(0, 32);
      width = blocks[name].width;
      nextAbbreviation = abbreviation.first;
      body();
      bits.fixed(abbreviation.end, width);
      bits.align32();
      bits.patch32(lengthWord * 32, bits.position / 32 - lengthWord - 1);
      [width, nextAbbreviation] = outer;
      return Math.floor(first);
    },
    record(block, name, fields, maxOperands) {
      const row = rowOf(block, name);
      const bytes = encodeFields(planOf(row), fields, operands);
      if (maxOperands !== undefined) operands.length = Math.min(operands.length, maxOperands);
      if (bytes) blob(row.code, operands, bytes);
      else plain(row.code, operands);
    },
    records: (words, from, to) => bits.records(words, from, to, abbreviation.unabbreviated, width),
    numberedRecord: plain,
    reserveRecord(block, name) {
      bits.fixed(abbreviation.define, width);
      bits.vbr(2, 5);
      defineLiteral(rowOf(block, name).code);
      defineField(encoding.fixed, 32);
      bits.fixed(nextAbbreviation++, width);
      const at = bits.position;
      bits.fixed(0, 32);
      return at;
    },
    patch: (position, value) => bits.patch32(position, value),
    finish: () => bits.finish(),
  };
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
