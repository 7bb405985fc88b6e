/** Blocks and records on top of bits; lengths are patched here and nowhere else. */
import { BitWriter } from '../../base/bits.ts';
import type { BlockName } from '../records.ts';
import { blocks } from '../records.ts';

export type Operand = number | bigint;

type RecordName<B extends BlockName> = keyof (typeof blocks)[B]['records'];

/** Writes the bitstream of one module. */
export interface StreamWriter {
  /** Writes a block around what `body` writes; gives the word at which it starts. */
  block(name: BlockName, body: () => void): number;
  /** An unabbreviated record of the block that is open. */
  record<B extends BlockName>(block: B, name: RecordName<B>, operands: readonly Operand[]): void;
  /** Unabbreviated records of a tape, from a word up to another. */
  records(words: Int32Array, from: number, to: number): void;
  /** An unabbreviated record of the metadata block, by the number of a row of `debug-info.ts`. */
  debugRecord(code: number, operands: readonly Operand[]): void;
  /** A record whose last operand is a blob, with the abbreviation it needs. */
  blob<B extends BlockName>(block: B, name: RecordName<B>, operands: readonly number[], bytes: Uint8Array): void;
  /** A record of one 32-bit field, zero until it is patched; gives the place of the field in bits. */
  laterRecord<B extends BlockName>(block: B, name: RecordName<B>): number;
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

  const code = <B extends BlockName>(block: B, name: RecordName<B>): number =>
    (blocks[block].records as Record<string, { code: number }>)[name as string]!.code;

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
    record: (block, name, operands) => plain(code(block, name), operands),
    records: (words, from, to) => bits.records(words, from, to, abbreviation.unabbreviated, width),
    debugRecord: plain,
    blob(block, name, operands, bytes) {
      bits.fixed(abbreviation.define, width);
      bits.vbr(operands.length + 2, 5);
      defineLiteral(code(block, name));
      for (const _ of operands) defineField(encoding.vbr, 6);
      defineField(encoding.blob);
      bits.fixed(nextAbbreviation++, width);
      for (const operand of operands) bits.vbr(operand, 6);
      bits.vbr(bytes.length, 6);
      bits.blob(bytes);
    },
    laterRecord(block, name) {
      bits.fixed(abbreviation.define, width);
      bits.vbr(2, 5);
      defineLiteral(code(block, name));
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
