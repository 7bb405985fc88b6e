/** Instructions in Intel's syntax, as LLVM reads and writes them: operands to text, and text to operands. */
import type { Form } from '../../../src/native/x64/forms.ts';
import type { GeneralOperand, MemoryOperand, Operand } from '../../../src/native/x64/types.ts';
import { general, immediate, mask, vector } from '../../../src/native/x64/types.ts';

/** An instruction, with a mask where there is one. */
export interface Case {
  readonly mnemonic: string;
  readonly operands: readonly Operand[];
  readonly under: number;
  readonly isZeroing: boolean;
}

const names = ['ax', 'cx', 'dx', 'bx', 'sp', 'bp', 'si', 'di'];
const nameOf = ({ number, bytes }: Pick<GeneralOperand, 'number' | 'bytes'>): string => {
  if (number > 7) return `r${number}${{ 1: 'b', 2: 'w', 4: 'd', 8: '' }[bytes]}`;
  if (bytes === 1) return number < 4 ? `${names[number]![0]}l` : `${names[number]}l`;
  return { 2: '', 4: 'e', 8: 'r' }[bytes] + names[number]!;
};
const generals = new Map<string, GeneralOperand>();
for (const bytes of [1, 2, 4, 8] as const) {
  for (let number = 0; number < 16; number++) generals.set(nameOf({ number, bytes }), general(number, bytes));
}

const sizes: Readonly<Record<number, string>> = {
  1: 'byte',
  2: 'word',
  4: 'dword',
  8: 'qword',
  16: 'xmmword',
  32: 'ymmword',
  64: 'zmmword',
};
const vectorLetters: Readonly<Record<number, string>> = { 16: 'x', 32: 'y', 64: 'z' };

function textOfMemory(operand: MemoryOperand, form: Form): string {
  const { base, index, displacement, scale = 1, isBroadcast, isVectorIndex } = operand;
  const parts = base === undefined ? [] : [nameOf({ number: base, bytes: 8 })];
  if (index !== undefined)
    parts.push(`${scale}*${isVectorIndex ? `${vectorLetters[form.indexBytes]}mm${index}` : nameOf({ number: index, bytes: 8 })}`);
  const sum = parts.join(' + ');
  const inside = sum ? `[${sum}${displacement < 0 ? ' - ' : ' + '}${Math.abs(displacement)}]` : `[${displacement}]`;
  if (isBroadcast) return `${sizes[form.element]} ptr ${inside}{1to${form.memoryBytes / form.element}}`;
  const size = sizes[form.memoryBytes];
  return size ? `${size} ptr ${inside}` : inside;
}

function textOfOperand(operand: Operand, form: Form): string {
  switch (operand.kind) {
    case 'general':
      return nameOf(operand);
    case 'vector':
      return `${vectorLetters[operand.bytes]}mm${operand.number}`;
    case 'mask':
      return `k${operand.number}`;
    case 'memory':
      return textOfMemory(operand, form);
    default:
      return String(operand.value);
  }
}

/** The text of an instruction, whose form says the bytes of memory. */
export function textOf({ mnemonic, operands, under, isZeroing }: Case, form: Form): string {
  const texts = operands.map((operand) => textOfOperand(operand, form));
  if (under > 0) texts[0] += ` {k${under}}${isZeroing ? ' {z}' : ''}`;
  // The assembler moves a number without a sign to all 64 bits by a move of 32 bits, as LLVM's code generator does and its assembler does not.
  if (mnemonic === 'mov' && form.kinds[0] === 'r64' && form.immediateBytes === 4 && form.w === 0) {
    texts[0] = nameOf({ number: (operands[0] as GeneralOperand).number, bytes: 4 });
  }
  return `${mnemonic} ${texts.join(', ')}`.trim();
}

function memoryOf(text: string): MemoryOperand {
  const [, size, inside, elements] = /^(?:(\w+) ptr )?\[(.*)\](?:\{1to(\d+)\})?$/.exec(text)!;
  let operand: MemoryOperand = { kind: 'memory', displacement: 0 };
  for (const [, sign, scale, name] of inside!.matchAll(/([+-]?) ?(?:(\d)\*)?(\w+)/g)) {
    const register = generals.get(name!)?.number;
    const [, vectorIndex] = /^[xyz]mm(\d+)$/.exec(name!) ?? [];
    if (vectorIndex !== undefined) operand = { ...operand, index: Number(vectorIndex), isVectorIndex: true, scale: Number(scale) as 1 };
    else if (register === undefined) operand = { ...operand, displacement: Number(`${sign}${name}`) };
    else if (scale) operand = { ...operand, index: register, scale: Number(scale) as 1 };
    else operand = { ...operand, base: register };
  }
  const bytes = Number(Object.keys(sizes).find((one) => sizes[Number(one)] === size)) * Number(elements ?? 1);
  if (bytes) operand = { ...operand, bytes: bytes as 1 };
  return elements ? { ...operand, isBroadcast: true } : operand;
}

function operandOf(text: string): Operand {
  const register = generals.get(text);
  if (register) return register;
  const wide = /^([xyz])mm(\d+)$/.exec(text);
  if (wide) return vector(Number(wide[2]), ({ x: 16, y: 32, z: 64 } as const)[wide[1] as 'x']);
  if (/^k\d$/.test(text)) return mask(Number(text[1]));
  return text.endsWith(']') || text.endsWith('}') ? memoryOf(text) : immediate(BigInt(text));
}

/** The instruction that a text is. */
export function caseOf(text: string): Case {
  const [, mnemonic, rest] = /^((?:lock )?\S+) ?(.*)$/.exec(text)!;
  const texts = rest === '' ? [] : rest!.split(', ');
  const masked = /^(.*) \{k(\d)\}( \{z\})?$/.exec(texts[0] ?? '');
  if (masked) texts[0] = masked[1]!;
  return { mnemonic: mnemonic!, operands: texts.map(operandOf), under: Number(masked?.[2] ?? 0), isZeroing: masked?.[3] !== undefined };
}
