/** The texts of refused forms: operands of the manual's kinds and numbers, independent of the table. */
import { inOrderOf } from '../../src/ptx/check/modifier-order.ts';
import type { OperandSlot, Row } from '../../src/ptx/model/row.ts';

/** Registers of every type under names that `registerOf` uses. */
export const declarations = ['pred', 'b16', 'b32', 'b64', 'b128', 'f32', 'f64']
  .map((type) => `.reg .${type} %${type}_<160>;`)
  .concat('.param .b32 arg; .param .b32 res;', '.reg .b32 d, b; proto: .callprototype (.param .b32 _) _ (.param .b32 _);')
  .concat('protog: .callprototype _ (.param .b32 _); protoh: .callprototype _ ();')
  .join(' ');

type Words = Readonly<Record<string, string | undefined>>;

/** Modifiers by slot: an optional slot takes the next word if it has it. */
function wordsBySlot({ slots }: Row, words: readonly string[]): Words {
  const left = [...words];
  return Object.fromEntries(slots.map((slot) => [slot.name, slot.words.includes(left[0] ?? '') ? left.shift() : undefined]));
}

const wide: Readonly<Record<string, string>> = {
  pred: 'pred',
  f32: 'f32',
  f64: 'f64',
  b128: 'b128',
  label: 'label',
  b16: 'b16',
  f16: 'b16',
  bf16: 'b16',
};

/** The register type of an operand type; of a fragment, halves are in pairs. */
function registerType(type: string, isFragment: boolean): string {
  if (isFragment && (type === 'f16' || type === 'bf16')) return 'b32';
  return wide[type] ?? (/64$/.test(type) ? 'b64' : 'b32');
}

const registers = (type: string, count: number, from = 0): string =>
  `{${Array.from({ length: count }, (_, i) => `%${type}_${from + i}`).join(', ')}}`;

/** Bits of an element of a matrix. */
function elementBits(type: string): number {
  const own: Record<string, number> = { b1: 1, s4: 4, u4: 4, tf32: 32, bf16: 16, e4m3: 8, e5m2: 8, e3m2: 8, e2m3: 8, e2m1: 8 };
  return own[type] ?? Number(/\d+$/.exec(type)?.[0]);
}

/** How many registers each thread holds of a matrix: its bits shared among the threads. Source: PTX ISA 9.0, 9.7.14.4, 9.7.14.5, 9.7.15.5. */
function fragment(row: Row, name: string, words: readonly string[]): number {
  const text = words.join('.');
  const [, m = 0, n = 0, k = 0] = (/m(\d+)n(\d+)k(\d+)/.exec(text) ?? []).map(Number);
  const threads = row.name === 'wgmma' ? 128 : 32;
  const types = words.slice(words.findIndex((word) => /^m\d+n/.test(word)) + 1).filter((word) => /^([bsu]|b?f|tf|e\dm)\d+$/.test(word));
  const role = row.name === 'wmma' && words[0] !== 'mma' && !/popc/.test(text) ? (words[0] === 'store' ? 'd' : words[1]!) : name;
  const isSparse = /(^|\.)sp(\.|::)/.test(text);
  const isHalf = types.some((type) => type === 'f16');
  if (row.name === 'wmma' && (role === 'a' || role === 'b') && (types.length === 2 || types.join() === 'f16')) return 8;
  const rows = role === 'b' ? k : m;
  const columns = role === 'a' ? k / (isSparse ? 2 : 1) : n;
  const position = row.name === 'wgmma' ? { d: 0, a: 1, b: 2 } : { d: 0, a: 1, b: 2, c: 3 };
  const single = types.length === 1;
  const type = single ? types[0]! : (types[(position as Record<string, number>)[role] ?? 0] ?? 'f16');
  const bits =
    types.length === 2 && row.name === 'wmma' && (role === 'c' || role === 'd')
      ? elementBits(types[role === 'c' ? 1 : 0]!)
      : elementBits(type);
  const size = /e2m1/.test(text) && /mxf4/.test(text) && (role === 'a' || role === 'b') ? 4 : bits;
  const copies = /m8n8k4/.test(text) && row.name === 'mma' && isHalf ? 4 : 1;
  const registerBits = type === 'f64' ? 64 : 32;
  return Math.max(1, (rows * columns * size * copies) / threads / registerBits);
}

/** Coordinates of a texel. Source: PTX ISA 9.0, 9.7.10.3 and 9.7.11.1. */
function coordinates(shape: string, type: string): string {
  const count = { '1d': 1, '2d': 2 }[shape];
  if (count !== undefined) return count === 1 ? `{%${type}_1}` : registers(type, 2, 1);
  if (shape === 'a1d') return `{%b32_9, %${type}_1}`;
  const first = /^a/.test(shape) ? '%b32_9' : `%${type}_0`;
  return `{${first}, %${type}_1, %${type}_2, %${type}_3}`;
}

/** Registers that tensor memory is read into. Source: PTX ISA 9.0, 9.7.16.8. */
function tensorRegisters(by: Words): number {
  const each = { '16x128b': 2, '16x256b': 4 }[by.shape ?? ''] ?? 1;
  return each * Number((by.num ?? 'x1').slice(1));
}

function some(row: Row, slot: OperandSlot, type: string, by: Words, words: readonly string[]): string {
  const own = registerType(type, true);
  if (row.name === 'tcgen05')
    return slot.name === 'o' ? registers('b32', by.group === 'cta_group::2' ? 8 : 4) : registers(own, tensorRegisters(by));
  const geometry = by.geom;
  if (geometry === undefined) {
    if (slot.name === 's' || slot.name === 't') return '{%b32_1}';
    return registers(own, fragment(row, slot.name, words), 0);
  }
  if (slot.name === 'e') return /3d/.test(geometry) ? registers('b32', 4, 20) : registers('b32', 2, 20);
  const isGradient = slot.name === 'x' || slot.name === 'y';
  if (isGradient) return /1d/.test(geometry) ? `{%${own}_1}` : /2d/.test(geometry) ? registers(own, 2, 1) : registers(own, 4, 1);
  return coordinates(geometry, own);
}

/** Plain numbers, if the assembler demands them. */
const constants: Readonly<Record<string, string>> = {
  'wgmma x': '1',
  'wgmma y': '1',
  'wgmma u': '0',
  'wgmma v': '0',
  'wgmma f': '0',
  'wgmma a': '1',
  'mma f': '0',
  'fence b': '128',
  'setmaxnreg a': '64',
  'pmevent a': '1',
  'tcgen05 z': '1',
  'alloca b': '16',
};

function operandText(row: Row, slot: OperandSlot, index: number, by: Words, words: readonly string[], isFull = false): string {
  const { name } = slot;
  const type = String(slot.type).startsWith('.') ? (by[slot.type.slice(1)] ?? 'b32') : slot.type;
  if (name === '_') return '_';
  if (slot.isList) return name === 'd' ? '(res)' : '(arg)';
  const own = registerType(type, false);
  if (slot.isAddress) {
    const inside = slot.inBrackets.filter((each) => isFull || !each.isOptional).map((each) => operandText(row, each, index + 9, by, words));
    return `[${[`%${own}_9`, ...inside].join(', ')}]`;
  }
  const constant = constants[`${row.name} ${name}`];
  if (constant !== undefined && slot.vector === undefined && own === 'b32') return constant;
  if (row.name === 'tcgen05' && (by.shape === undefined || row.syntax.includes('16x32bx2')) && own === 'b32' && slot.type === 's32')
    return '1';
  if (type === 'label') return 'L';
  if (slot.vector === 'some') return some(row, slot, type, by, words);
  if (slot.vector === 'elements') {
    const lanes = typeof slot.lanes === 'number' ? slot.lanes : by.vec === undefined ? undefined : Number(by.vec.slice(1));
    if (lanes !== undefined) return registers(slot.lanes === undefined ? own : 'b16', lanes, 1);
  }
  const first = `%${own}_${index}`;
  return slot.needsSecond ? `${first}|%${registerType(String(slot.secondType), false)}_8` : first;
}

/** The calls of the manual's lines through a pointer. */
const calls: Readonly<Record<string, string>> = {
  '(d), f, (a), t': '(res), %b64_1, (arg), proto',
  'f, (a), t': '%b64_1, (arg), protog',
  'f, t': '%b64_1, protoh',
};

/** Whether an operand that may be left out may also be written: offsets are for images without seams, depths for planes and cubes. */
function isFor({ name }: OperandSlot, row: Row, { geom, dtype, ctype, kind }: Words): boolean {
  if (row.name === 'tcgen05' && name === 'z') return kind !== 'kind::f8f6f4';
  if (geom === undefined) return true;
  if (name === 'e') return !/cube|ms/.test(geom);
  return /2d|cube/.test(geom) && !/ms/.test(geom) && dtype === 'f32' && ctype === 'f32';
}

/** An instruction of a row with these words: without the operands that may be left out, and with each. */
export function refusedText(row: Row, words: readonly string[]): string[] {
  const by = wordsBySlot(row, inOrderOf(row, words) ?? words);
  const head = [row.name, ...words].join('.');
  if (row.name === 'call') return [`${head} ${calls[row.syntax.slice(row.syntax.indexOf(' ') + 1)]};`];
  const text = (slots: readonly OperandSlot[], isFull = false): string =>
    `${head} ${slots.map((slot, i) => operandText(row, slot, i + 1, by, words, isFull)).join(', ')};`.replace(' ;', ';');
  const least = row.operands.filter(({ isOptional, onlyWith }) => (onlyWith === undefined ? !isOptional : by[onlyWith] !== undefined));
  const free = row.operands.filter((slot) => slot.isOptional && slot.onlyWith === undefined && isFor(slot, row, by));
  return [text(least), text(least, true), ...free.map((one) => text(row.operands.filter((slot) => slot === one || least.includes(slot))))];
}
