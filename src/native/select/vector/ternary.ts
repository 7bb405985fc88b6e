/** Any function of the bits of three vectors as one instruction of AVX-512. */
import type { Places, Register } from '../../machine/types.ts';
import { immediate, type Operand, vector } from '../../x64/types.ts';
import type { Selection } from '../types.ts';
import { addressUses, constantRegister, custom, isPattern, isRegister, memoryOperand, type Source, stepTo, type Width } from './steps.ts';

/** The truth tables of the first, second and third operand of `vpternlogd`. */
export const inputs = [0xf0, 0xcc, 0xaa] as const;

/** Functions of two operands that have an instruction, which reads nothing else. */
const twoOperand: ReadonlyMap<number, readonly [mnemonic: string, isSwapped?: true]> = new Map([
  [0x88, ['vpandd']],
  [0xee, ['vpord']],
  [0x66, ['vpxord']],
  [0x22, ['vpandnd']],
  [0x44, ['vpandnd', true]],
]);

/** `vpternlogd` of one to three sources; fewer than three leave out the first operands, on which the table then does not depend. */
export function addTernary(s: Selection, to: Register, bytes: Width, sources: readonly Source[], table: number): void {
  if (sources.length === 3) return addThree(s, to, bytes, sources, table);
  const plainForm = sources.length === 2 ? twoOperand.get(table) : undefined;
  // Memory can only be the last operand.
  const isPossible = plainForm?.[1] === undefined || isRegister(sources[1]!) || isPattern(sources[1]!);
  if (plainForm && isPossible) return stepTo(s, to, plainForm[0], bytes, plainForm[1] ? [sources[1]!, sources[0]!] : sources);
  const last = sources.at(-1)!;
  const middle = sources.length === 2 && isPattern(sources[0]!) ? constantRegister(s, bytes, sources[0]) : sources[0]!;
  const registers = [...new Set([middle, last])].filter(isRegister);
  const uses = [...registers, ...addressUses(last)];
  custom(s, { def: to, uses, ...(isRegister(last) && uses.length === 2 ? { inMemory: 1 } : {}) }, (out, places, operand) => {
    const { def, uses: at } = places;
    const read = isRegister(last)
      ? operand(registers.length - 1, bytes)
      : memoryOperand(out, 'vpternlogd', last, bytes, places, registers.length);
    out.emit('vpternlogd', vector(def, bytes), vector(registers.length > 0 ? at[0]! : def, bytes), read, immediate(table));
  });
}

/** The number in `uses` of the operand in whose register the result is, which the allocator chose; it is not the one that is in its stack slot. */
export const tiedOf = ({ uses, def, slot }: Places, choices: readonly number[], inMemory: number | undefined): number =>
  choices.find((index) => uses[index] === def && !(slot && index === inMemory))!;

/** A table where two of the three operands changed places. */
function swapped(table: number, i: number, k: number): number {
  let result = 0;
  for (let from = 0; from < 8; from++) {
    const [a, b] = [(from >> (2 - i)) & 1, (from >> (2 - k)) & 1];
    const to = (from & ~((4 >> i) | (4 >> k))) | (b * (4 >> i)) | (a * (4 >> k));
    result |= ((table >> from) & 1) << to;
  }
  return result;
}

/** The result is in the register of any operand that dies, which then is the first one. */
function addThree(s: Selection, to: Register, bytes: Width, sources: readonly Source[], table: number): void {
  const last = sources[2]!;
  const registers = sources
    .map((source, i) => (isPattern(source) && i < 2 ? constantRegister(s, bytes, source) : source))
    .filter(isRegister);
  const choices = registers.map((_, i) => i);
  const uses = [...registers, ...addressUses(last)];
  const inMemory = isRegister(last) ? { inMemory: 2 } : {};
  custom(s, { def: to, uses, tied: 0, tiedChoices: choices.slice(1), ...inMemory }, (out, places, operand) => {
    const operands: Operand[] = registers.map((_, i) => operand(i, bytes));
    if (!isRegister(last)) operands.push(memoryOperand(out, 'vpternlogd', last, bytes, places, 2));
    const chosen = tiedOf(places, choices, 2);
    [operands[0], operands[chosen]] = [operands[chosen]!, operands[0]!];
    out.emit('vpternlogd', ...operands, immediate(chosen === 0 ? table : swapped(table, 0, chosen)));
  });
}
