/**
 * Records of a bitstream and the abbreviations that shorten them. Knows nothing of what records mean.
 * Source: LLVM Bitcode File Format.
 */
import { type BitReader, OutOfBits } from '../base/bits.ts';
import { decoded, Malformed } from './malformed.ts';

export interface RawRecord {
  readonly kind: 'record';
  readonly code: number;
  readonly ops: readonly (number | bigint)[];
  readonly blob: Uint8Array | undefined;
  readonly bit: number;
}

/** A record whose operands are overwritten by those of the next. Operands beyond 2^53 are the nearest numbers that there are. */
export interface OpenRecord {
  code: number;
  /** How many of `ops` are the record's. */
  count: number;
  ops: Float64Array;
  bit: number;
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
export type Abbreviation = readonly Encoding[];

const kinds = { 1: 'fixed', 2: 'vbr', 3: 'array', 4: 'char6', 5: 'blob' } as const;

/** The definition of an abbreviation, behind its id. */
export function readAbbreviation(bits: BitReader, name: string): Abbreviation {
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

/** How many operands an unabbreviated record has. */
function plainCount(bits: BitReader): number {
  const count = Number(bits.vbr(6));
  if (count * 6 > bits.length - bits.position) throw new OutOfBits(`a record of ${count} operands`);
  return count;
}

/** How many elements an array has. */
function arrayCount(bits: BitReader, element: Encoding): number {
  const count = Number(bits.vbr(6));
  const width = 'width' in element ? element.width : 6;
  if (count * width > bits.length - bits.position) throw new OutOfBits(`an array of ${count} elements`);
  return count;
}

/** An unabbreviated record, behind its id. */
export function readPlain(bits: BitReader, bit: number): RawRecord {
  const code = Number(bits.vbr(6));
  const count = plainCount(bits);
  const ops: (number | bigint)[] = new Array(count);
  for (let i = 0; i < count; i++) ops[i] = bits.vbr(6);
  return { kind: 'record', code, ops, blob: undefined, bit };
}

/** A record with an abbreviation, behind its id. */
export function readAbbreviated(bits: BitReader, abbreviation: Abbreviation, bit: number, name: string): RawRecord {
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
      const element = abbreviation[++i]!;
      const count = arrayCount(bits, element);
      for (let n = 0; n < count; n++) take(readScalar(bits, element, bit, name));
    } else if (op.kind === 'blob') blob = bits.blob(Number(bits.vbr(6)));
    else take(readScalar(bits, op, bit, name));
  }
  if (code === undefined) throw new Malformed(bit, name, 'a record without code');
  return { kind: 'record', code: Number(code), ops, blob, bit };
}

function reserve(record: OpenRecord, count: number): void {
  if (count <= record.ops.length) return;
  const larger = new Float64Array(count);
  larger.set(record.ops);
  record.ops = larger;
}

/** The same as `readPlain`, into a record that is there. */
export function openPlain(bits: BitReader, record: OpenRecord): void {
  record.code = Number(bits.vbr(6));
  record.count = plainCount(bits);
  reserve(record, record.count);
  bits.vbr6s(record.count, record.ops);
}

/** The same as `readAbbreviated`, into a record that is there. A blob is passed over. */
export function openAbbreviated(bits: BitReader, abbreviation: Abbreviation, record: OpenRecord, name: string): void {
  const { bit } = record;
  let count = 0;
  reserve(record, abbreviation.length);
  // The first value is the code, which is moved out of the way below.
  for (let i = 0; i < abbreviation.length; i++) {
    const op = abbreviation[i]!;
    if (op.kind === 'array') {
      const element = abbreviation[++i]!;
      const elements = arrayCount(bits, element);
      reserve(record, count + elements);
      if (element.kind === 'vbr' && element.width === 6) bits.vbr6s(elements, record.ops, count);
      else for (let n = 0; n < elements; n++) record.ops[count + n] = Number(readScalar(bits, element, bit, name));
      count += elements;
    } else if (op.kind === 'blob') bits.blob(Number(bits.vbr(6)));
    else record.ops[count++] = Number(readScalar(bits, op, bit, name));
  }
  if (count === 0) throw new Malformed(bit, name, 'a record without code');
  record.code = record.ops[0]!;
  record.count = count - 1;
  record.ops.copyWithin(0, 1, count);
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
