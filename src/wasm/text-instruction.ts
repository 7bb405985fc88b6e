/** A decoded instruction as a line of the text format. Source: WebAssembly Core Specification 2.0, 6.5. */
import type { ReadInstruction } from './read/index.ts';

export interface InstructionText {
  readonly text: string;
  /** Whether the lines that follow are one level deeper. */
  readonly opens?: boolean;
  /** Whether this line and those that follow are one level less deep. */
  readonly closes?: boolean;
}

/** Instructions whose text is not their name with an index, an access or a lane. */
const special: Record<string, (instruction: ReadInstruction) => InstructionText> = {
  block: ({ name, result }) => ({ text: name + resultText(result), opens: true }),
  loop: ({ name, result }) => ({ text: name + resultText(result), opens: true }),
  if: ({ name, result }) => ({ text: name + resultText(result), opens: true }),
  else: ({ name }) => ({ text: name, opens: true, closes: true }),
  end: ({ name }) => ({ text: name, closes: true }),
  br_table: ({ name, depths }) => ({ text: `${name} ${depths!.join(' ')}` }),
  select: ({ name, result }) => ({ text: name + resultText(result) }),
  'i32.const': ({ name, bits }) => ({ text: `${name} ${BigInt.asIntN(32, bits!)}` }),
  'i64.const': ({ name, bits }) => ({ text: `${name} ${BigInt.asIntN(64, bits!)}` }),
  'f32.const': ({ name, bits }) => ({ text: `${name} ${floatText(bits!, 8, 23)}` }),
  'f64.const': ({ name, bits }) => ({ text: `${name} ${floatText(bits!, 11, 52)}` }),
  'v128.const': ({ name, bytes }) => ({ text: `${name} i32x4 ${wordsOf(bytes!).join(' ')}` }),
  'i8x16.shuffle': ({ name, bytes }) => ({ text: `${name} ${Array.from(bytes!).join(' ')}` }),
};

/** The text of an instruction. `nameOf` is the text of an index: of a local, a function, a global or a label. */
export function instructionText(instruction: ReadInstruction, nameOf: (index: number, instruction: string) => string): InstructionText {
  const { name, index, offset } = instruction;
  const write = special[name];
  if (write) return write(instruction);
  if (offset !== undefined) return { text: `${name}${accessText(instruction)}${index === undefined ? '' : ` ${index}`}` };
  return { text: index === undefined ? name : `${name} ${nameOf(index, name)}` };
}

const resultText = (result: ReadInstruction['result']): string => (result === undefined ? '' : ` (result ${result})`);

/** The words of 32 bits of a vector. */
const wordsOf = (bytes: Uint8Array): string[] => {
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  return Array.from(
    { length: 4 },
    (_, i) =>
      `0x${view
        .getUint32(4 * i, true)
        .toString(16)
        .padStart(8, '0')}`,
  );
};

/** Offset and alignment of an access, both in bytes. */
const accessText = ({ align, offset }: ReadInstruction): string => `${offset! > 0 ? ` offset=${offset}` : ''} align=${align}`;

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
