/** Blocks and records on top of bits; lengths are patched here and nowhere else. */
import { BitWriter } from '../base/bits.ts';
import type { BlockName } from './records.ts';
import { blocks } from './records.ts';

export type Operand = number | bigint;

type RecordName<B extends BlockName> = keyof (typeof blocks)[B]['records'];

/** Writes the bitstream of one module. */
export interface StreamWriter {
  /** Writes a block around what `body` writes; gives the word at which it starts. */
  block(name: BlockName, body: () => void): number;
  /** An unabbreviated record of the block that is open. */
  record<B extends BlockName>(block: B, name: RecordName<B>, operands: readonly Operand[]): void;
  /** An operand of the record that `end` will write: instructions are many, and lists of their operands take long. */
  put(operand: number): void;
  /** An unabbreviated record of the operands that were put. */
  end(record: { readonly code: number }): void;
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
/** In front of the operands of a record that waits: that it starts, its code, and how many they are. */
const headFields = 3;
const recordStart = -1;
/** Operands that wait before they are written together. */
const mostWaiting = 4096;

export function streamWriter(): StreamWriter {
  const bits = new BitWriter();
  let width = topWidth;
  let nextAbbreviation: number = abbreviation.first;
  bits.fixed(0xdec04342, 32);

  const code = <B extends BlockName>(block: B, name: RecordName<B>): number =>
    (blocks[block].records as Record<string, { code: number }>)[name as string]!.code;

  // Records that wait, and behind them, from `start` on, the one that operands are put into.
  let waiting = new Float64Array(mostWaiting + headFields);
  let start = 0;
  let filled = headFields;
  const flush = (): void => {
    bits.records(start, waiting, abbreviation.unabbreviated, width);
    start = 0;
    filled = headFields;
  };
  const plain = (number: number, operands: readonly Operand[]): void => {
    flush();
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
      flush();
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
      flush();
      bits.fixed(abbreviation.end, width);
      bits.align32();
      bits.patch32(lengthWord * 32, bits.position / 32 - lengthWord - 1);
      [width, nextAbbreviation] = outer;
      return Math.floor(first);
    },
    record: (block, name, operands) => plain(code(block, name), operands),
    put(operand) {
      if (filled >= waiting.length) waiting = larger(waiting);
      waiting[filled++] = operand;
    },
    end({ code: number }) {
      waiting[start] = recordStart;
      waiting[start + 1] = number;
      waiting[start + 2] = filled - start - headFields;
      start = filled;
      filled += headFields;
      if (start >= mostWaiting) flush();
    },
    debugRecord: plain,
    blob(block, name, operands, bytes) {
      flush();
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
      flush();
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

function larger(list: Float64Array): Float64Array<ArrayBuffer> {
  const made = new Float64Array(list.length * 2);
  made.set(list);
  return made;
}
