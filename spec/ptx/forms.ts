/** Every way to write the forms of the table: instructions with registers of the right types, for specs. */

import type { FormMatch } from '../../src/ptx/check/match.ts';
import { isMatch, matchForm } from '../../src/ptx/check/match.ts';
import { lanesOfSlot, typeOfSlot } from '../../src/ptx/check/slots.ts';
import type { AnyCase, ModifierSlot, OperandSlot, Row } from '../../src/ptx/model/row.ts';
import { bitsOfType } from '../../src/ptx/model/types.ts';

/** More combinations of words than this are sampled: every pair of two slots, all other slots being plain. */
const most = 1500;

const choices = (slot: ModifierSlot): readonly (string | undefined)[] => (slot.isOptional ? [undefined, ...slot.words] : slot.words);

/** The modifiers of a row, each combination once (see `most`); `excluded`: the combinations that `excludes` removes. */
export function wordsOf(row: Row, which: 'legal' | 'excluded' = 'legal'): string[][] {
  const sets = row.slots.map(choices);
  const count = sets.reduce((product, set) => product * set.length, 1);
  const picked = count <= most ? product(sets) : pairs(sets);
  const texts = new Set(picked.map((words) => words.filter((word) => word !== undefined).join('.')));
  return [...texts].map((text) => (text === '' ? [] : text.split('.'))).filter((words) => isTaken(row, words) === (which === 'legal'));
}

const isTaken = ({ name }: Row, words: readonly string[]): boolean => 'row' in (matchForm(name, words) ?? {});

type Words = readonly (string | undefined)[];

const product = (sets: readonly Words[]): Words[] =>
  sets.reduce<Words[]>((made, set) => made.flatMap((words) => set.map((word) => [...words, word])), [[]]);

function pairs(sets: readonly Words[]): Words[] {
  const plain = sets.map((set) => set[0]);
  const out: Words[] = [];
  for (let i = 0; i < sets.length; i++)
    for (let j = i + 1; j < sets.length; j++)
      for (const a of sets[i]!)
        for (const b of sets[j]!) {
          const words = [...plain];
          words[i] = a;
          words[j] = b;
          out.push(words);
        }
  return out;
}

/** The operands that a case of a row gives. Rows may share words, and then the number of operands says which row is meant. */
export const givenOperands = ({ operands }: Row, one: AnyCase): OperandSlot[] =>
  operands.filter(({ isOptional, name }) => !isOptional || one[name] !== undefined);

/** The form that a case is of; nothing where the table has no such form. */
export function formOfCase(row: Row, one: AnyCase): FormMatch | undefined {
  const [opcode = '', ...modifiers] = one.form.split('.');
  const found = matchForm(opcode, modifiers, givenOperands(row, one).length);
  return found && isMatch(found) ? found : undefined;
}

/** Registers of every type under names that `operandText` uses, and a variable that carries an argument. */
export const declarations = ['pred', 'b8', 'b16', 'b32', 'b64', 'b128', 'f32', 'f64']
  .map((type) => `.reg .${type} %${type}_<9>;`)
  .concat('.param .align 16 .b8 cell[32]; .param .b32 arg; .param .b32 res; list: .branchtargets L, L;')
  .concat(
    'protof: .callprototype (.param .b32 _) _ (.param .b32 _); protog: .callprototype _ (.param .b32 _); protoh: .callprototype _ ();',
  )
  .join(' ');

/** Functions with and without parameters and results. */
export const functions = '.func (.param .b32 r) f (.param .b32 p);\n.func g (.param .b32 p);\n.func h ();\n';

/** The calls of the manual's lines, of a function that is known or through a register. */
export const directCalls: Readonly<Record<string, string>> = {
  '(d), f, (a)': '(res), f, (arg)',
  'f, (a)': 'g, (arg)',
  f: 'h',
  '(d), f, (a), t': '(res), %b64_1, (arg), protof',
  'f, (a), t': '%b64_1, (arg), protog',
  'f, t': '%b64_1, protoh',
};

/** If an operand accepts no wider registers, 8 bits need an 8-bit register. */
function registerOf(type: string, index: number, isRelaxed = true): string {
  if (!isRelaxed && bitsOfType(type) === 8) return `%b8_${index}`;
  if (type === 'pred' || type === 'f32' || type === 'f64') return `%${type}_${index}`;
  return `%b${Math.max(16, bitsOfType(type))}_${index}`;
}

const registers = (type: string, count: number, from: number, isRelaxed: boolean): string =>
  `{${Array.from({ length: count }, (_, i) => registerOf(type, from + i, isRelaxed)).join(', ')}}`;

/** An operand that suits a slot; `entry` is the parameter of the kernel, `L` a label. */
function operandText(slot: OperandSlot, index: number, form: FormMatch): string {
  const type = typeOfSlot(slot, form);
  if (slot.sink === 'must') return '_';
  // Addresses in tensor memory have 32 bits.
  if (slot.isAddress && form.row.name === 'tcgen05' && type === 'b32') return '[%b32_8]';
  if (slot.isAddress) return addressText(form);
  if (type === 'label' || type === 'targets') return type === 'label' ? 'L' : 'list';
  const lanes = slot.vector === 'elements' ? lanesOfSlot(slot, form) : undefined;
  if (lanes !== undefined) return registers(type, lanes, 1, slot.isRelaxed);
  if (slot.constant) return String(slot.constant[0]);
  // The number of a barrier, of which 0 is the one that all have, and of its threads.
  if (form.row.control === 'barrier' && /^[ab]$/.test(slot.name)) return '0';
  const register = registerOf(type, index, slot.isRelaxed);
  if (!slot.needsSecond) return register;
  // No other name reaches this number.
  return `${register}|${registerOf(typeOfSlot({ ...slot, type: slot.secondType }, form), 8)}`;
}

/** Parameters of entries are only read. */
function addressText({ row, modifiers }: FormMatch): string {
  const space = String(modifiers.space);
  if (!space.startsWith('param')) return '[%b64_8]';
  return row.name === 'st' || space === 'param::func' ? '[cell]' : '[entry]';
}

/** Modifiers by slot: an optional slot takes the next word if it has it. */
function modifiersOf({ slots }: Row, words: readonly string[]): Record<string, string | true> {
  const left = [...words];
  const found = slots.map((slot) => [slot.name, slot.words.includes(left[0] ?? '') ? left.shift()! : undefined] as const);
  return Object.fromEntries(found.filter((each): each is readonly [string, string] => each[1] !== undefined));
}

/** An instruction of a row with these words. */
export function instructionText(row: Row, words: readonly string[]): string {
  const form = { row, modifiers: modifiersOf(row, words) };
  if (row.name === 'call') return `${[row.name, ...words].join('.')} ${directCalls[row.syntax.slice(row.syntax.indexOf(' ') + 1)]};`;
  const isWritten = ({ isOptional, onlyWith }: OperandSlot): boolean =>
    !isOptional || (onlyWith !== undefined && form.modifiers[onlyWith] !== undefined);
  const operands = row.operands.filter(isWritten).map((slot, i) => operandText(slot, i, form));
  return `${[row.name, ...words].join('.')} ${operands.join(', ')};`.replace(' ;', ';');
}
