/** How forms of data movement are written, with registers of the types that the assembler wants. */

import type { FormMatch } from '../../src/ptx/check/match.ts';
import { inOrderOf } from '../../src/ptx/check/modifier-order.ts';
import { lanesOfSlot, typeOfSlot } from '../../src/ptx/check/slots.ts';
import type { AnyModifiers, OperandSlot, Row } from '../../src/ptx/model/row.ts';

/** Registers of every type under names that `registerOf` uses. */
export const declarations = ['pred', 'b8', 'b16', 'b32', 'b64', 'b128', 'f32', 'f64']
  .map((type) => `.reg .${type} %${type}_<20>;`)
  .concat('.param .b64 argument;')
  .join(' ');

/** Modifiers by slot: an optional slot takes the next word if it has it. */
function modifiersOf(row: Row, words: readonly string[]): AnyModifiers {
  const left = [...(inOrderOf(row, words) ?? words)];
  const found = row.slots.map((slot) => [slot.name, slot.words.includes(left[0] ?? '') ? left.shift()! : undefined] as const);
  return Object.fromEntries(found.filter((each): each is readonly [string, string] => each[1] !== undefined));
}

const packed: Readonly<Record<string, string>> = { u16x2: 'b32', s16x2: 'b32', f16x2: 'b32', bf16x2: 'b32', f16: 'b16', bf16: 'b16' };

/** The register type for an operand type. */
function registerType(type: string): string {
  if (type === 'pred' || type === 'f32' || type === 'f64') return type;
  if (packed[type]) return packed[type];
  const small = /^e\dm\d(x[24])?$/.exec(type);
  if (small) return { x2: 'b16', x4: 'b32' }[small[1] ?? ''] ?? 'b8';
  return `b${Math.max(16, Number(/\d+$/.exec(type)?.[0]))}`;
}

/** Registers of 8 bits are for the few instructions that want just those. */
const registerOf = (row: Row, type: string, index: number): string => {
  const isExact = row.name === 'cvt' || row.syntax.startsWith('st.async');
  const register = isExact && /^[bsu]8$/.test(type) ? 'b8' : registerType(type);
  return `%${register}_${index}`;
};

const vector = (row: Row, type: string, count: number, from: number): string =>
  `{${Array.from({ length: count }, (_, i) => registerOf(row, type, from + i)).join(', ')}}`;

/** An operand that suits a slot. */
function operandText(form: FormMatch, slot: OperandSlot, index: number): string {
  const { row, modifiers } = form;
  if (slot.isAddress) {
    // The address of a kernel parameter may be taken, that of a call argument may not.
    const parameter = row.name === 'prefetch' ? 'entry' : 'argument';
    const base = Object.values(modifiers).some((word) => /^param/.test(String(word))) ? parameter : '%b64_9';
    return `[${[base, ...slot.inBrackets.map((each) => operandText(form, each, index))].join(', ')}]`;
  }
  if (slot.constant) return String(slot.constant[0]);
  const type = typeOfSlot(slot, form);
  const lanes = slot.vector === 'elements' ? lanesOfSlot(slot, form) : undefined;
  if (lanes !== undefined) return vector(row, type, lanes, 1);
  const first = registerOf(row, type, index);
  return slot.needsSecond ? `${first}|${registerOf(row, typeOfSlot({ ...slot, type: slot.secondType }, form), index + 10)}` : first;
}

/** Other forms of an operand: parts in braces, or a pair. */
function otherText(form: FormMatch, slot: OperandSlot, index: number): string | undefined {
  if (slot.vector === 'parts') return vector(form.row, 'b64', 2, 1);
  if (slot.second === undefined || slot.needsSecond) return undefined;
  return `${operandText(form, slot, index)}|${registerOf(form.row, typeOfSlot({ ...slot, type: slot.secondType }, form), 8)}`;
}

/** Instructions of a row with these modifiers: with the fewest and the most operands, and with operands of other kinds. */
export function refusedTexts(row: Row, words: readonly string[]): string[] {
  const form: FormMatch = { row, modifiers: modifiersOf(row, words) };
  const slots = row.operands.filter(({ onlyWith }) => onlyWith === undefined || form.modifiers[onlyWith] !== undefined);
  const text = (chosen: readonly OperandSlot[], other?: OperandSlot): string => {
    const operands = chosen.map((slot, i) => (slot === other ? otherText(form, slot, i) : operandText(form, slot, i)));
    return `${[row.name, ...words].join('.')} ${operands.join(', ')};`.replace(' ;', ';');
  };
  const others = slots.filter((slot, i) => otherText(form, slot, i) !== undefined);
  const few = slots.filter(({ isOptional, onlyWith }) => !isOptional || onlyWith !== undefined);
  return [...new Set([text(few), text(slots), ...others.map((slot) => text(few, slot))])];
}
