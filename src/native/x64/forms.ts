/**
 * The forms of instructions: what the lines of the tables say, one for each combination of sizes and kinds of operands. They are read at the first use of
 * a mnemonic.
 */
import { bug } from '../../base/bug.ts';
import { floatTable } from './float-table.ts';
import { generalTable, lockable } from './general-table.ts';
import { integerTable } from './integer-table.ts';
import type { Operand } from './types.ts';

/** The encodings, by their prefixes. */
export const legacy = 0;
export const vex = 1;
export const evex = 2;

/** How an instruction is encoded with operands of certain kinds and sizes. Members that number an operand are -1 if the form lacks it. */
export interface Form {
  readonly encoding: number;
  /** The mandatory prefix, 0 for none. */
  readonly prefix: number;
  readonly isLocked: boolean;
  /** Whether the prefix 66 tells operands of 16 bits. */
  readonly isWord: boolean;
  /** 0 to 3: none, 0f, 0f38, 0f3a. */
  readonly map: number;
  readonly opcode: number;
  /** A byte in the place of ModRM, or -1. */
  readonly suffix: number;
  readonly w: number;
  /** The length of vectors as it is encoded: 0 to 2. */
  readonly length: number;
  /** The number in the field reg of ModRM if no operand has it, else -1. */
  readonly digit: number;
  readonly reg: number;
  readonly rm: number;
  readonly vvvv: number;
  /** The operand in the high half of the immediate byte. */
  readonly selector: number;
  /** The operand in the low bits of the opcode. */
  readonly low: number;
  /** The operand that the opcode implies, and the number of its register. */
  readonly implied: number;
  readonly impliedNumber: number;
  readonly immediate: number;
  readonly immediateBytes: number;
  /** The least and the largest immediate; numbers in the upper half of `wrap` stand for negative ones. */
  readonly least: number;
  readonly largest: number;
  readonly wrap: number;
  /** Bytes that are read or written in memory, 0 if the table does not say. */
  readonly memoryBytes: number;
  /** Whether nothing but the size of memory tells the form from another one. */
  needsMemoryBytes: boolean;
  /** Of EVEX: the factor of a displacement of 8 bits, and the bytes of an element that is broadcast (0: it cannot be). */
  readonly factor: number;
  readonly element: number;
  /** Whether the form is only for a second register above 7 where the first is not. */
  readonly isReverse: boolean;
  /** Whether the instruction can be under a mask. */
  readonly isMaskable: boolean;
  /** The index of the operand in memory, or -1. */
  readonly memory: number;
  /** Bytes of the vector of indexes of the operand in memory, 0 if there is none. Such an instruction is always under a mask. */
  readonly indexBytes: number;
  /** The kinds of the operands. */
  readonly kinds: readonly string[];
}

/** Numbers of kinds of operands, of 4 bits each; the first operand is in the lowest ones. */
const signatureOfKind: Readonly<Record<string, number>> = {
  r8: 1,
  r16: 2,
  r32: 3,
  r64: 4,
  v16: 5,
  v32: 6,
  v64: 7,
  k: 8,
  m: 9,
  i: 10,
};

const signatureOfOperand = (operand: Operand): number => {
  switch (operand.kind) {
    case 'general':
      return operand.bytes === 8 ? 4 : operand.bytes === 4 ? 3 : operand.bytes;
    case 'vector':
      return operand.bytes === 16 ? 5 : operand.bytes === 32 ? 6 : 7;
    case 'mask':
      return 8;
    case 'memory':
      return 9;
    default:
      return 10;
  }
};

/** The kinds of all operands, as one number. */
export function signatureOf(operands: readonly Operand[]): number {
  let signature = 0;
  for (let i = 0; i < operands.length; i++) signature |= signatureOfOperand(operands[i]!) << (4 * i);
  return signature;
}

const linesOf = new Map<string, string[]>();
for (const table of [generalTable, floatTable, integerTable]) {
  for (const line of table.split('\n')) {
    const name = line.slice(0, line.indexOf(' '));
    const lines = linesOf.get(name);
    if (lines) lines.push(line);
    else if (name) linesOf.set(name, [line]);
  }
}

/** Every mnemonic, without those that have the prefix `lock`. */
export const mnemonics = (): readonly string[] => [...linesOf.keys()];

const formsByName = new Map<string, ReadonlyMap<number, readonly Form[]>>();

/** The forms of a mnemonic by the signature of their operands, in the order of preference. */
export function formsOf(mnemonic: string): ReadonlyMap<number, readonly Form[]> {
  return formsByName.get(mnemonic) ?? readForms(mnemonic);
}

function readForms(mnemonic: string): ReadonlyMap<number, readonly Form[]> {
  const isLocked = mnemonic.startsWith('lock ');
  const name = isLocked ? mnemonic.slice(5) : mnemonic;
  const lines = linesOf.get(name);
  if (!lines || (isLocked && !lockable.includes(name))) return bug(`x64: no instruction '${mnemonic}'`);
  const forms = new Map<number, Form[]>();
  for (const line of lines) {
    for (const form of formsOfLine(line.split(' '), isLocked)) {
      if (isLocked && form.memory !== 0) continue;
      const signature = form.kinds.reduce((sum, kind, i) => sum | (signatureOfKind[kind]! << (4 * i)), 0);
      const others = forms.get(signature) ?? [];
      const differing = form.memory < 0 ? [] : others.filter((other) => other.memoryBytes !== form.memoryBytes);
      for (const other of differing) other.needsMemoryBytes = true;
      form.needsMemoryBytes = differing.length > 0;
      forms.set(signature, [...others, form]);
    }
  }
  formsByName.set(mnemonic, forms);
  return forms;
}

const mapsByName: Readonly<Record<string, number>> = { '0f': 1, '0f38': 2, '0f3a': 3 };

/** What all forms of a line share, from its columns: name, roles, opcode and so on. */
interface Line {
  readonly roles: string;
  readonly prefix: number;
  readonly map: number;
  readonly opcode: number;
  readonly suffix: number;
  readonly digit: number;
  readonly operands: readonly string[];
  readonly isReverse: boolean;
  readonly isUnmasked: boolean;
}

/** Members that a size or a length decides. */
interface Size {
  readonly encoding: number;
  readonly isLocked: boolean;
  readonly w: number;
  readonly length: number;
  /** Bytes of `v`, or of `r`. */
  readonly bytes: number;
  readonly memoryBytes: number;
  readonly element: number;
  readonly factor: number;
}

const formsOfLine = (columns: readonly string[], isLocked: boolean): Form[] =>
  columns.length < 6 ? legacyForms(columns, isLocked) : vectorForms(columns);

function legacyForms([, roles, place, sizes, operands]: readonly string[], isLocked: boolean): Form[] {
  const [code, digit] = place!.split('/');
  const parts = code!.split('.');
  const bytes = parts.pop()!;
  const map = mapsByName[parts.at(-1)!] ?? 0;
  if (map > 0) parts.pop();
  const line: Line = {
    roles: roles!,
    prefix: parts.length > 0 ? Number.parseInt(parts[0]!, 16) : 0,
    map,
    opcode: Number.parseInt(bytes.slice(0, 2), 16),
    suffix: bytes.length > 2 ? Number.parseInt(bytes.slice(2), 16) : -1,
    digit: digit === undefined ? -1 : Number(digit),
    operands: operands === '-' ? [] : operands!.split(','),
    isReverse: false,
    isUnmasked: true,
  };
  return [...sizes!].flatMap((letter) => {
    const size = letter === '-' ? 0 : Number(letter);
    return variants(line, {
      encoding: legacy,
      isLocked,
      w: size === 8 ? 1 : 0,
      length: 0,
      bytes: size,
      memoryBytes: size,
      element: 0,
      factor: 1,
    });
  });
}

function vectorForms([, roles, prefix, map, place, w, lengths, operands, memory, note]: readonly string[]): Form[] {
  const [opcode, digit] = place!.split('/');
  const line: Line = {
    roles: roles!,
    prefix: prefix === 'np' ? 0 : Number.parseInt(prefix!, 16),
    map: mapsByName[map!]!,
    opcode: Number.parseInt(opcode!, 16),
    suffix: -1,
    digit: digit === undefined ? -1 : Number(digit),
    operands: operands === '-' ? [] : operands!.split(','),
    isReverse: note === 'reverse',
    isUnmasked: note === 'unmasked',
  };
  const bits = w === 'r' ? ['r', '-'] : w!.split('/');
  return [vex, evex].flatMap((encoding, i) =>
    bits[i] === '-'
      ? []
      : [...lengths!].flatMap((letter) => {
          const length = Math.max(0, 'xyz'.indexOf(letter));
          const bytes = letter === '4' || letter === '8' ? Number(letter) : 16 << length;
          if (encoding === vex && length > 1) return [];
          const bit = bits[i] === 'r' ? Number(bytes === 8) : Number(bits[i]);
          return variants(line, { encoding, isLocked: false, w: bit, length, bytes, ...memoryOf(memory!, bytes, encoding) });
        }),
  );
}

/** What the column of memory says for vectors of so many bytes. */
function memoryOf(memory: string, bytes: number, encoding: number): { memoryBytes: number; element: number; factor: number } {
  const part = { fm: 1, hm: 2, qm: 4, om: 8, f32: 1, f64: 1, h32: 2 }[memory];
  const memoryBytes =
    part !== undefined
      ? bytes / part
      : memory === 'dup'
        ? bytes === 16
          ? 8
          : bytes
        : memory.startsWith('n')
          ? Number(memory.slice(1))
          : bytes;
  const element = encoding === evex ? ({ f32: 4, h32: 4, f64: 8 }[memory] ?? 0) : 0;
  const factor = memory.startsWith('e') ? Number(memory.slice(1)) : memoryBytes;
  return { memoryBytes, element, factor: encoding === evex ? factor : 1 };
}

/** A form for every choice between a register and memory. */
function variants(line: Line, size: Size): Form[] {
  const at = line.operands.findIndex((operand) => /^(r|v|h|q|o|x|y|k)m\d*$/.test(operand));
  if (at < 0) return [makeForm(line, line.operands, size)];
  const operand = line.operands[at]!;
  const withOperand = (other: string) => line.operands.map((old, i) => (i === at ? other : old));
  return [
    makeForm(line, withOperand(operand.replace('m', '')), size),
    ...(line.isReverse ? [] : [makeForm(line, withOperand(operand.replace(/^.m/, 'm')), size)]),
  ];
}

const parts: Readonly<Record<string, number>> = { v: 1, h: 2, q: 4, o: 8 };

/** The kind of an operand, of those in `signatureOfKind`. */
function kindOf(operand: string, bytes: number): string {
  if (parts[operand]) return `v${Math.max(16, bytes / parts[operand]!)}`;
  if (operand === 'x') return 'v16';
  if (operand === 'y') return 'v32';
  if (operand === 'r' || operand === 'a') return `r${8 * bytes}`;
  if (operand === 'cl') return 'r8';
  if (/^r\d/.test(operand) || operand === 'k') return operand;
  return operand.startsWith('m') ? 'm' : 'i';
}

/** Bytes of an immediate, and its range: `[bytes, least, largest, wrap]`. */
function rangeOf(operand: string, bytes: number): readonly [number, number, number, number] {
  const wrap = 2 ** (8 * Math.min(8, bytes || 8));
  if (operand === 'ib') return [1, -128, 127, wrap];
  if (operand === 'iz') return [Math.min(bytes, 4), Math.max(-(2 ** 31), -wrap / 2), Math.min(2 ** 31, wrap / 2) - 1, wrap];
  if (operand === 'iq') return [8, -(2 ** 63), 2 ** 63, 0];
  if (operand === 'u32') return [4, 0, 2 ** 32 - 1, 0];
  if (operand === 'one') return [0, 1, 1, 0];
  return [1, -128, 255, 0];
}

function makeForm(line: Line, operands: readonly string[], size: Size): Form {
  const place = (role: string) => line.roles.indexOf(role);
  const kinds = operands.map((operand) => kindOf(operand, size.bytes));
  const immediate = operands.findIndex((_, i) => kinds[i] === 'i');
  const [immediateBytes, least, largest, wrap] = immediate < 0 ? [0, 0, 0, 0] : rangeOf(operands[immediate]!, size.bytes);
  const memory = kinds.indexOf('m');
  const stated = memory < 0 ? 0 : Number(/^m(\d+)$/.exec(operands[memory]!)?.[1] ?? 0) / 8;
  const implied = operands.findIndex((operand) => operand === 'a' || operand === 'cl');
  return {
    encoding: size.encoding,
    prefix: line.prefix,
    isLocked: size.isLocked,
    isWord: size.encoding === legacy && size.bytes === 2,
    map: line.map,
    opcode: line.opcode,
    suffix: line.suffix,
    w: size.w,
    length: size.length,
    digit: line.digit,
    reg: place('R'),
    rm: place('M'),
    vvvv: place('V'),
    selector: place('S'),
    low: place('O'),
    implied,
    impliedNumber: operands[implied] === 'cl' ? 1 : 0,
    immediate,
    immediateBytes,
    least,
    largest,
    wrap,
    memoryBytes: size.encoding === legacy && stated ? stated : size.memoryBytes,
    needsMemoryBytes: false,
    factor: size.factor,
    element: size.element,
    isReverse: line.isReverse,
    isMaskable: size.encoding === evex && !line.isUnmasked && !kinds[0]!.startsWith('r'),
    memory,
    indexBytes: memory < 0 ? 0 : operands[memory] === 'mv' ? size.bytes : operands[memory] === 'mh' ? Math.max(16, size.bytes / 2) : 0,
    kinds,
  };
}
