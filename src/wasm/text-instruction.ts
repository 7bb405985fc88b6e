/** One instruction from the binary format to a line of the text format, by the tables of `opcodes.ts`. */
import { bug } from '../base/bug.ts';
import { type ByteReader, hexOf } from '../base/bytes.ts';
import type { Instruction } from './instruction.ts';
import { readSigned, readUnsigned } from './leb.ts';
import { instructions, type ValueType } from './opcodes.ts';

export interface InstructionText {
  readonly text: string;
  /** Whether the lines that follow are one level deeper. */
  readonly opens?: boolean;
  /** Whether this line and those that follow are one level less deep. */
  readonly closes?: boolean;
}

interface Reading {
  readonly reader: ByteReader;
  readonly readType: (reader: ByteReader) => ValueType;
}

/** Instructions of the table by opcode: a byte, or a prefix and a number in the notation `prefix number`. */
const byOpcode = new Map<
  string,
  { readonly name: string; readonly immediate: Instruction['immediate']; readonly rest: readonly number[] }
>();
for (const [name, { code, immediate }] of instructions) {
  const [first = 0, ...others] = code;
  if (first < 0xfc) byOpcode.set(`${first}`, { name, immediate, rest: others });
  else {
    const end = others.findIndex((byte) => byte < 0x80) + 1;
    const number = others.slice(0, end).reduce((sum, byte, i) => sum | ((byte & 0x7f) << (7 * i)), 0);
    byOpcode.set(`${first} ${number}`, { name, immediate, rest: others.slice(end) });
  }
}

/** Instructions with an encoding of their own, which `code.ts` writes by methods of their own. */
const special: Record<string, (reading: Reading) => InstructionText> = {
  '2': (reading) => ({ text: `block${blockType(reading)}`, opens: true }),
  '3': (reading) => ({ text: `loop${blockType(reading)}`, opens: true }),
  '4': (reading) => ({ text: `if${blockType(reading)}`, opens: true }),
  '5': () => ({ text: 'else', opens: true, closes: true }),
  '11': () => ({ text: 'end', closes: true }),
  '14': ({ reader }) => {
    const depths = Array.from({ length: readUnsigned(reader) + 1 }, () => readUnsigned(reader));
    return { text: `br_table ${depths.join(' ')}` };
  },
  '28': ({ reader, readType }) => {
    const types = Array.from({ length: readUnsigned(reader) }, () => readType(reader));
    return { text: `select (result ${types.join(' ')})` };
  },
  '65': ({ reader }) => ({ text: `i32.const ${readSigned(reader)}` }),
  '66': ({ reader }) => ({ text: `i64.const ${readSigned(reader)}` }),
  '67': ({ reader }) => ({ text: `f32.const ${floatText(BigInt(reader.u32()), 8, 23)}` }),
  '68': ({ reader }) => ({ text: `f64.const ${floatText(reader.u64(), 11, 52)}` }),
  '253 12': ({ reader }) => ({
    text: `v128.const i32x4 ${Array.from({ length: 4 }, () => `0x${reader.u32().toString(16).padStart(8, '0')}`).join(' ')}`,
  }),
  '253 13': ({ reader }) => ({ text: `i8x16.shuffle ${Array.from(reader.take(16)).join(' ')}` }),
};

/** Reads one instruction. `nameOf` is the text of an index: of a local, a function, a global or a label. */
export function readInstruction(
  reader: ByteReader,
  readType: Reading['readType'],
  nameOf: (index: number, instruction: string) => string,
): InstructionText {
  const first = reader.u8();
  const opcode = first < 0xfc ? `${first}` : `${first} ${readUnsigned(reader)}`;
  const read = special[opcode];
  if (read) return read({ reader, readType });
  const row = byOpcode.get(opcode) ?? bug(`no WebAssembly instruction has the opcode ${opcode}`);
  const { name, immediate, rest } = row;
  const found = reader.take(rest.length);
  if (rest.some((byte, i) => byte !== found[i])) bug(`${name} is followed by ${hexOf(found)}`);
  switch (immediate) {
    case 'none':
      return { text: name };
    case 'index':
      return { text: `${name} ${nameOf(readUnsigned(reader), name)}` };
    case 'lane':
      return { text: `${name} ${reader.u8()}` };
    case 'memory':
      return { text: `${name}${accessText(reader)}` };
    case 'memoryLane':
      return { text: `${name}${accessText(reader)} ${reader.u8()}` };
  }
}

/** The type of a structure: none, or one result. */
function blockType({ reader, readType }: Reading): string {
  if (reader.bytes[reader.offset] !== 0x40) return ` (result ${readType(reader)})`;
  reader.u8();
  return '';
}

/** Offset and alignment of an access, both in bytes. */
function accessText(reader: ByteReader): string {
  const align = 2 ** readUnsigned(reader);
  const offset = readUnsigned(reader);
  return `${offset > 0 ? ` offset=${offset}` : ''} align=${align}`;
}

/** A float by its bits, exactly: a decimal number that rounds to it, `inf`, or a NaN with its payload. Source: Core Specification, 6.3.2. */
function floatText(bits: bigint, exponentBits: number, fractionBits: number): string {
  const fraction = bits & ((1n << BigInt(fractionBits)) - 1n);
  const isSpecial = (bits >> BigInt(fractionBits)) % (1n << BigInt(exponentBits)) === (1n << BigInt(exponentBits)) - 1n;
  const sign = bits >> BigInt(exponentBits + fractionBits) ? '-' : '';
  if (isSpecial) return sign + (fraction === 0n ? 'inf' : `nan:0x${fraction.toString(16)}`);
  const view = new DataView(new ArrayBuffer(8));
  view.setBigUint64(0, exponentBits === 8 ? bits << 32n : bits);
  const value = exponentBits === 8 ? view.getFloat32(0) : view.getFloat64(0);
  return sign + String(Math.abs(value));
}
