/**
 * Records of a bitstream and their abbreviations, without the meaning of records.
 * Source: LLVM Bitcode File Format.
 */
import { type BitReader, OutOfBits } from '../../base/bits.ts';
import { decoded, Malformed } from '../malformed.ts';

export interface RawRecord {
  readonly kind: 'record';
  readonly code: number;
  readonly ops: readonly (number | bigint)[];
  readonly blob: Uint8Array | undefined;
  readonly bit: number;
}

/** A record in a buffer that the next record overwrites. Operands beyond 2^53 are rounded. */
export interface OpenRecord {
  code: number;
  /** The number of operands in `ops`. */
  count: number;
  ops: Float64Array;
  bit: number;
}

/** Operands from `from` up to `to` as text, one byte each. */
export function textOf({ ops, bit }: Pick<RawRecord, 'ops' | 'bit'>, from = 0, to = ops.length): string {
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

export interface Abbreviation {
  readonly encodings: readonly Encoding[];
  /** The common shape, which is decoded faster; undefined for other shapes. */
  readonly flat: Flat | undefined;
}

/** A literal code, fields with their widths in bits (negative for VBR), and possibly an array at the end. */
interface Flat {
  readonly code: number;
  readonly widths: Int8Array;
  readonly element: { readonly kind: 'fixed' | 'vbr'; readonly width: number } | undefined;
}

const kinds = { 1: 'fixed', 2: 'vbr', 3: 'array', 4: 'char6', 5: 'blob' } as const;

/** Reads the definition of an abbreviation, behind its id. */
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
  return { encodings: ops, flat: flattened(ops) };
}

/** Nearly all abbreviations have this shape. */
function flattened([first, ...fields]: readonly Encoding[]): Flat | undefined {
  const element = fields.at(-2)?.kind === 'array' ? fields.at(-1) : undefined;
  const scalars = element ? fields.slice(0, -2) : fields;
  const isPlain = (op: Encoding): op is NonNullable<Flat['element']> => (op.kind === 'fixed' || op.kind === 'vbr') && op.width <= 32;
  if (first?.kind !== 'literal' || !scalars.every(isPlain) || (element && !isPlain(element))) return undefined;
  const widths = Int8Array.from(scalars, ({ kind, width }) => (kind === 'fixed' ? width : -width));
  return { code: Number(first.value), widths, element };
}

/** An array is last, followed by its element, which takes bits: otherwise a few bytes could be an endless list. Nothing follows a blob. */
function hasShape(ops: readonly Encoding[]): boolean {
  const last = ops[ops.length - 1]?.kind;
  const array = ops.findIndex((op) => op.kind === 'array');
  const blob = ops.findIndex((op) => op.kind === 'blob');
  if (last === undefined || (blob >= 0 && blob !== ops.length - 1)) return false;
  return array < 0 || (array === ops.length - 2 && (last === 'fixed' || last === 'vbr' || last === 'char6'));
}

/** A field of width 0 is the literal 0. */
function sized(kind: 'fixed' | 'vbr', width: number, at: number, name: string): Encoding {
  if (width === 0) return { kind: 'literal', value: 0 };
  if (width > 64 || (kind === 'vbr' && (width < 2 || width > 32))) throw new Malformed(at, name, `a field of ${width} bits`);
  return { kind, width };
}

/** The number of operands of an unabbreviated record. */
function plainCount(bits: BitReader): number {
  const count = Number(bits.vbr(6));
  if (count * 6 > bits.length - bits.position) throw new OutOfBits(`a record of ${count} operands`);
  return count;
}

/** The number of elements of an array. */
function arrayCount(bits: BitReader, element: Encoding): number {
  const count = Number(bits.vbr(6));
  const width = 'width' in element ? element.width : 6;
  if (count * width > bits.length - bits.position) throw new OutOfBits(`an array of ${count} elements`);
  return count;
}

/** Reads an unabbreviated record, behind its id. */
export function readPlain(bits: BitReader, bit: number): RawRecord {
  const code = Number(bits.vbr(6));
  const count = plainCount(bits);
  const ops: (number | bigint)[] = new Array(count);
  for (let i = 0; i < count; i++) ops[i] = bits.vbr(6);
  return { kind: 'record', code, ops, blob: undefined, bit };
}

/** Reads an abbreviated record, behind its id. */
export function readAbbreviated(bits: BitReader, { encodings }: Abbreviation, bit: number, name: string): RawRecord {
  const ops: (number | bigint)[] = [];
  let code: number | bigint | undefined;
  let blob: Uint8Array | undefined;
  const take = (value: number | bigint): void => {
    if (code === undefined) code = value;
    else ops.push(value);
  };
  for (let i = 0; i < encodings.length; i++) {
    const op = encodings[i]!;
    if (op.kind === 'array') {
      const element = encodings[++i]!;
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

/** Like `readPlain`, into an existing record. */
export function openPlain(bits: BitReader, record: OpenRecord): void {
  record.code = Number(bits.vbr(6));
  record.count = plainCount(bits);
  reserve(record, record.count);
  bits.vbr6s(record.count, record.ops);
}

/** Like `readAbbreviated`, into an existing record; skips a blob. */
export function openAbbreviated(bits: BitReader, abbreviation: Abbreviation, record: OpenRecord, name: string): void {
  const { flat } = abbreviation;
  if (!flat) return copyInto(record, readAbbreviated(bits, abbreviation, record.bit, name));
  const { code, widths, element } = flat;
  record.code = code;
  record.count = widths.length;
  reserve(record, record.count);
  bits.fields(widths, record.ops);
  if (element) openArray(bits, element, record);
}

function openArray(bits: BitReader, element: NonNullable<Flat['element']>, record: OpenRecord): void {
  const from = record.count;
  record.count += arrayCount(bits, element);
  reserve(record, record.count);
  if (element.kind === 'vbr' && element.width === 6) return bits.vbr6s(record.count - from, record.ops, from);
  const { ops } = record;
  for (let i = from; i < record.count; i++) ops[i] = element.kind === 'fixed' ? bits.fixed(element.width) : Number(bits.vbr(element.width));
}

function copyInto(record: OpenRecord, { code, ops }: RawRecord): void {
  record.code = code;
  record.count = ops.length;
  reserve(record, record.count);
  for (let i = 0; i < record.count; i++) record.ops[i] = Number(ops[i]);
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
