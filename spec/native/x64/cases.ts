/** Random instructions of every form in the tables: registers, displacements and immediates at the edges of the encodings. */
import { evex, type Form, formsOf, mnemonics } from '../../../src/native/x64/forms.ts';
import { lockable } from '../../../src/native/x64/general-table.ts';
import { formFor } from '../../../src/native/x64/match.ts';
import { general, immediate, type MemoryOperand, mask, type Operand, vector } from '../../../src/native/x64/types.ts';
import type { Case } from './text.ts';

/** A number from 0 to below a limit. */
export type Below = (limit: number) => number;

const registers = [0, 1, 3, 4, 5, 7, 8, 12, 13, 15];
const vectors = [0, 4, 5, 7, 8, 12, 13, 15];
const newVectors = [16, 20, 23, 24, 31, 0, 5, 7, 8, 13, 15];
const bases = [0, 4, 5, 7, 8, 12, 13, 15];
const indexes = [0, 5, 7, 8, 12, 13, 15];

export function pick<T>(below: Below, list: readonly T[]): T {
  return list[below(list.length)]!;
}

function randomMemory(form: Form, below: Below): MemoryOperand {
  const { memoryBytes, factor } = form;
  const scales = [1, 2, 4, 8] as const;
  const isBroadcast = form.element > 0 && below(3) === 0;
  const step = isBroadcast ? form.element : factor;
  const displacement = pick(below, [
    0,
    0,
    8,
    -8,
    127,
    -128,
    128,
    127 * step,
    -128 * step,
    128 * step,
    3 * step + 1,
    64,
    2 ** 31 - 1,
    -4096,
  ]);
  const index =
    form.indexBytes > 0
      ? { index: pick(below, newVectors), isVectorIndex: true, scale: pick(below, scales) }
      : below(2) === 0
        ? {}
        : { index: pick(below, indexes), scale: pick(below, scales) };
  const base = below(12) === 0 ? {} : { base: pick(below, bases) };
  return {
    kind: 'memory',
    displacement,
    ...base,
    ...index,
    ...(memoryBytes ? { bytes: memoryBytes as 1 } : {}),
    ...(isBroadcast ? { isBroadcast } : {}),
  };
}

const inside = (value: number, form: Form) => Math.max(form.least, Math.min(form.largest, value));

function randomImmediate(form: Form, below: Below): bigint {
  if (form.immediateBytes === 8) return pick(below, [2n ** 40n + 5n, -(2n ** 50n), 2n ** 63n - 1n, 0x123456789abn]);
  // A byte of a vector instruction is written without a sign.
  const least = form.wrap === 0 && form.immediateBytes === 1 ? 0 : form.least;
  const value = inside(pick(below, [0, 1, 5, 31, 127, 128, 255, 2 ** 15 - 1, 2 ** 31 - 1, -1, -128, -129, -(2 ** 31)]), form);
  return BigInt(Math.max(least, value));
}

function randomOperand(form: Form, i: number, below: Below): Operand {
  const kind = form.kinds[i]!;
  const [, letter, digits] = /^([rvkmi])(\d*)$/.exec(kind)!;
  if (letter === 'm') return randomMemory(form, below);
  if (letter === 'i') return immediate(randomImmediate(form, below));
  if (letter === 'k') return mask(below(8));
  if (letter === 'v') return vector(pick(below, form.encoding === evex ? newVectors : vectors), Number(digits) as 16);
  const number = i === form.implied ? form.impliedNumber : pick(below, registers);
  return general(number, (Number(digits) / 8) as 1);
}

/** What LLVM's assembler takes for another instruction: an exchange with the accumulator is shorter, a jump to a number has no register. */
const isOddToLlvm = (mnemonic: string, operands: readonly Operand[]): boolean =>
  mnemonic === 'xchg'
    ? operands.some((operand) => operand.kind === 'general' && operand.number === 0)
    : /^(call|jmp)$/.test(mnemonic) && operands.some((one) => one.kind === 'memory' && one.base === undefined && one.index === undefined);

/** Whether a gather has its indexes where the result goes, which is not defined. */
const isOntoIndex = ([to, from]: readonly Operand[]): boolean =>
  from?.kind === 'memory' && from.isVectorIndex === true && to?.kind === 'vector' && from.index === to.number;

/** An instruction that the assembler encodes by this form; undefined if a few attempts find none. */
export function randomCase(mnemonic: string, form: Form, below: Below): Case | undefined {
  for (let attempt = 0; attempt < 40; attempt++) {
    const operands = form.kinds.map((_, i) => randomOperand(form, i, below));
    const under = form.isMaskable && (form.indexBytes > 0 || below(2) === 0) ? 1 + below(7) : 0;
    const isZeroing = under > 0 && form.indexBytes === 0 && operands[0]!.kind === 'vector' && below(2) === 0;
    if (isOddToLlvm(mnemonic, operands) || isOntoIndex(operands)) continue;
    try {
      if (formFor(mnemonic, operands, { avx512: true }, under > 0) === form) return { mnemonic, operands, under, isZeroing };
    } catch {
      // Another form is for such operands, or none is.
    }
  }
  return undefined;
}

/** Whether operands lead to a form: VEX is preferred, and these have nothing that only EVEX takes. */
export const isReachable = (mnemonic: string, form: Form): boolean =>
  /^vcvtt?s[sd]2si$/.test(mnemonic) ? form.encoding !== evex || form.memory < 0 : true;

/** Every form, with its mnemonic. */
export function* everyForm(): Generator<readonly [string, Form]> {
  for (const mnemonic of [...mnemonics(), ...lockable.map((name) => `lock ${name}`)]) {
    for (const forms of formsOf(mnemonic).values()) for (const form of forms) yield [mnemonic, form];
  }
}
