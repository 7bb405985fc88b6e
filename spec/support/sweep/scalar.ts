/** Kernels of one scalar instruction of the sweep. */

import { typeOfSlot } from '../../../src/ptx/check/slots.ts';
import type { OperandSlot } from '../../../src/ptx/model/row.ts';
import { bitsOfType, kindOfType } from '../../../src/ptx/model/types.ts';
import { type Architecture, type Code, leave, registerFor, take } from './kernel.ts';
import type { Worded } from './words.ts';

interface Register {
  readonly name: string;
  readonly type: string;
  readonly width: number;
}

/** Registers that may be wider than their type, to test truncation and extension. */
function registerOf(slot: OperandSlot, type: string, name = slot.name): Register {
  const isInteger = kindOfType(type) !== 'f' && type !== 'pred';
  return { name, type, width: isInteger ? (slot.isRelaxed ? 64 : bitsOfType(type)) : Number(registerFor(type).slice(1)) };
}

const declare = ({ name, type, width }: Register): string => `.reg .${type === 'pred' ? 'pred' : `b${width}`} ${name};`;

/** The text of a constant, by the number of earlier forms. */
const constantIn = ([least, most]: readonly [number, number], at: number): number => least + ((at * 91 + 22) % (most - least + 1));

/** The carry comes from a preceding addition and is read by a following one. */
const hasCarry = ({ row }: Worded): boolean => /^(add|sub|mad)c$/.test(row.name) || row.slots.some(({ name }) => name === 'cc');

/** The kernel of a form; `at` is its number among those of its row, by which constants and negations are chosen. */
export function scalarCode(form: Worded, at: number): Code {
  const slots = form.row.operands.filter(({ isOptional }) => !isOptional);
  const sources = slots.filter(({ isDestination, constant }) => !isDestination && !constant);
  const registers = sources.map((slot) => registerOf(slot, typeOfSlot(slot, form)));
  const results = slots.filter(({ isDestination }) => isDestination).flatMap((slot) => resultsOf(slot, form));
  const operands = slots.map((slot) => {
    if (slot.constant) return constantIn(slot.constant, at);
    const isNegated = slot.isNegatable && at % 2 === 1;
    return `${isNegated ? '!' : ''}${slot.name}${hasSecond(slot, form) ? `|${slot.second}` : ''}`;
  });
  const carry = hasCarry(form);
  const [before, behind] = carry ? [['add.cc.u32 %k, %t, 0xfffffe00;'], ['addc.u32 %k, 0, 0;', ...leave('%k', 'b32', 3)]] : [[], []];
  return {
    declared: [...registers, ...results].map(declare),
    lines: [
      ...registers.flatMap(({ name, type, width }, place) => take(name, type, place, width)),
      ...before,
      `${form.opcode} ${operands.join(', ')};`,
      ...results.flatMap(({ name, type, width }, i) => leave(name, type, i, width)),
      ...behind,
    ],
    architecture: architectureFor(form),
  };
}

/** A second result is requested wherever the assembler allows it; scalar halves have none, in spite of the manual. */
const hasSecond = (slot: OperandSlot, form: Worded): boolean =>
  slot.second !== undefined && (slot.needsSecond || !/^b?f16$/.test(String(form.modifiers.type)));

/** The last kind of module that may have the form. */
const architectureFor = ({ row: { withdrawn } }: Worded): Architecture =>
  withdrawn === undefined ? 'sm_90' : withdrawn.sm > 60 ? 'sm_60' : 'sm_10';

function resultsOf(slot: OperandSlot, form: Worded): Register[] {
  const first = registerOf(slot, typeOfSlot(slot, form));
  if (slot.second === undefined || !hasSecond(slot, form)) return [first];
  return [first, registerOf(slot, typeOfSlot({ ...slot, type: slot.secondType }, form), slot.second)];
}

/** `mov` packs registers into one and unpacks them. */
export function packingCode(type: string, parts: number): Code {
  const part = `b${bitsOfType(type) / parts}`;
  const names = ['w', 'x', 'y', 'z'].slice(0, parts);
  const list = `{${names.join(', ')}}`;
  return {
    declared: [`.reg .${type} whole; .reg .${part} ${names.join(', ')};`],
    lines: [
      ...take('whole', type, 0),
      `mov.${type} ${list}, whole;`,
      ...names.map((name, i) => `st.global.${part} [%out+${(i * bitsOfType(part)) / 8}], ${name};`),
      ...names.flatMap((name, i) => take(name, part, i)),
      `mov.${type} whole, ${list};`,
      ...leave('whole', type, 2),
    ],
  };
}
