/** One instruction of the binary format, by the tables of `opcodes.ts`. Source: WebAssembly Core Specification 2.0, 5.4. */
import { bug } from '../../base/bug.ts';
import { type ByteReader, hexOf } from '../../base/bytes.ts';
import type { Immediate } from '../instruction.ts';
import { readSigned, readUnsigned } from '../leb.ts';
import { instructions, type ValueType, valueTypes } from '../opcodes.ts';

/** A decoded instruction: its name in the text format, and those of the immediates that it has. */
export interface ReadInstruction {
  /** The typed `select` is named `select`, too. */
  readonly name: string;
  /** Of an instruction with an index (a local, a function, a global, a depth) and of one on a lane: that number. */
  readonly index?: number;
  /** Of a memory access: the alignment in bytes and the constant offset; with an index where it accesses one lane. */
  readonly align?: number;
  readonly offset?: number;
  /** Of a constant of one number: its bits, unsigned. */
  readonly bits?: bigint;
  /** Of `v128.const` its 16 bytes, of `i8x16.shuffle` the numbers of bytes. */
  readonly bytes?: Uint8Array;
  /** Of `br_table`: its depths, the last one for other numbers. */
  readonly depths?: readonly number[];
  /** Of a structure the type of its result, if any; of a typed `select` its type. */
  readonly result?: ValueType;
}

const typeNames = new Map<number, ValueType>(Object.entries(valueTypes).map(([name, code]) => [code, name as ValueType]));

/** Reads a value type. */
export const readType = (reader: ByteReader): ValueType => {
  const code = reader.u8();
  return typeNames.get(code) ?? bug(`WebAssembly type ${code}`);
};

interface Row {
  readonly name: string;
  readonly immediate: Immediate;
  readonly rest: readonly number[];
}

/** Prefixed opcodes are numbered `prefix << 16 | number`. */
const keyOf = (prefix: number, number: number): number => prefix * 0x10000 + number;

/** Instructions of the tables by opcode. */
const byOpcode = new Map<number, Row>();
for (const [name, { code, immediate }] of instructions) {
  const [first = 0, ...others] = code;
  if (first < 0xfc) byOpcode.set(first, { name, immediate, rest: others });
  else {
    const end = others.findIndex((byte) => byte < 0x80) + 1;
    const number = others.slice(0, end).reduce((sum, byte, i) => sum | ((byte & 0x7f) << (7 * i)), 0);
    byOpcode.set(keyOf(first, number), { name, immediate, rest: others.slice(end) });
  }
}

const structure =
  (name: string) =>
  (reader: ByteReader): ReadInstruction => {
    if (reader.bytes[reader.offset] !== 0x40) return { name, result: readType(reader) };
    reader.u8();
    return { name };
  };

/** Instructions with an encoding of their own, which `code.ts` writes by methods of their own. */
const special = new Map<number, (reader: ByteReader) => ReadInstruction>([
  [0x02, structure('block')],
  [0x03, structure('loop')],
  [0x04, structure('if')],
  [0x05, () => ({ name: 'else' })],
  [0x0b, () => ({ name: 'end' })],
  [0x0e, (reader) => ({ name: 'br_table', depths: Array.from({ length: readUnsigned(reader) + 1 }, () => readUnsigned(reader)) })],
  [
    0x1c,
    (reader) => {
      if (readUnsigned(reader) !== 1) bug('a select of several values');
      return { name: 'select', result: readType(reader) };
    },
  ],
  [0x41, (reader) => ({ name: 'i32.const', bits: BigInt.asUintN(32, readSigned(reader)) })],
  [0x42, (reader) => ({ name: 'i64.const', bits: BigInt.asUintN(64, readSigned(reader)) })],
  [0x43, (reader) => ({ name: 'f32.const', bits: BigInt(reader.u32()) })],
  [0x44, (reader) => ({ name: 'f64.const', bits: reader.u64() })],
  [keyOf(0xfd, 12), (reader) => ({ name: 'v128.const', bytes: reader.take(16) })],
  [keyOf(0xfd, 13), (reader) => ({ name: 'i8x16.shuffle', bytes: reader.take(16) })],
]);

/** Reads one instruction. An encoding that this room does not write is a bug. */
export function readInstruction(reader: ByteReader): ReadInstruction {
  const first = reader.u8();
  const opcode = first < 0xfc ? first : keyOf(first, readUnsigned(reader));
  const read = special.get(opcode);
  if (read) return read(reader);
  const row =
    byOpcode.get(opcode) ?? bug(`no WebAssembly instruction has the opcode ${first < 0xfc ? opcode : `${first} ${opcode % 0x10000}`}`);
  const { name, immediate, rest } = row;
  if (rest.length > 0) {
    const found = reader.take(rest.length);
    if (rest.some((byte, i) => byte !== found[i])) bug(`${name} is followed by ${hexOf(found)}`);
  }
  switch (immediate) {
    case 'none':
      return { name };
    case 'index':
      return { name, index: readUnsigned(reader) };
    case 'lane':
      return { name, index: reader.u8() };
    case 'memory':
      return { name, align: 2 ** readUnsigned(reader), offset: readUnsigned(reader) };
    case 'memoryLane':
      return { name, align: 2 ** readUnsigned(reader), offset: readUnsigned(reader), index: reader.u8() };
  }
}
