/**
 * Fused multiply-adds, `a * b + c` with one rounding. The result is in the register of one operand; of the others one may be in memory. Form 231 overwrites
 * the addend, the other two a factor: of 213 the addend may be memory, of 132 the other factor.
 */
import type { Register } from '../../machine/types.ts';
import type { Inst, Value } from '../../ssa/types.ts';
import { type Operand, vector } from '../../x64/types.ts';
import type { Rule, Selection } from '../types.ts';
import { suffixOf } from './float.ts';
import {
  addressUses,
  constantRegister,
  custom,
  isPattern,
  isRegister,
  lastSourceOf,
  memoryOperand,
  ownedBy,
  patternOfValue,
  resultOf,
  type Source,
  sourceOf,
  type Width,
  widthOf,
} from './steps.ts';
import { tiedOf } from './ternary.ts';

/** An operand without a negation that only this instruction uses. */
function withoutSign(s: Selection, inst: Inst, value: Value): { value: Value; isNegated: boolean } {
  const inner = ownedBy(s, value);
  return inner && inner.op === `${inst.op.split('.')[0]}.neg` ? { value: inner.args[0]!, isNegated: true } : { value, isNegated: false };
}

interface Negatable {
  readonly value: Value;
  readonly isNegated: boolean;
}

/** `a * b + c` with one rounding; the result of lanes of `bytes`, or of one lane if `suffix` says so. */
function multiplyAddTo(s: Selection, inst: Inst, to: Register, suffix: string, bytes: Width, operandOf: (value: Value) => Value): void {
  const [a, b, c] = inst.args.map((arg): Negatable => {
    const { value, isNegated } = withoutSign(s, inst, arg);
    return { value: operandOf(value), isNegated };
  }) as [Negatable, Negatable, Negatable];
  const family = `vf${a.isNegated !== b.isNegated ? 'n' : ''}m${c.isNegated ? 'sub' : 'add'}`;
  addFused(
    s,
    to,
    (form) => `${family}${form}${suffix}`,
    bytes,
    [a, b, c].map((each) => each.value),
  );
}

export const multiplyAdd: Rule = (s, inst) =>
  multiplyAddTo(s, inst, resultOf(s, inst), suffixOf(inst.op), widthOf(s, inst.result!), (value) => value);

/** The lowest lane of a multiply-add of splats, which is one of scalars: what modules write for scalars. */
export function scalarMultiplyAdd(s: Selection, inst: Inst): boolean {
  const vectors = inst.lane === 0 ? ownedBy(s, inst.args[0]!) : undefined;
  if (!vectors?.op.endsWith('.relaxed_madd')) return false;
  const scalarOf = (value: Value): Value => {
    const splat = s.definition(value);
    return splat?.op.endsWith('.splat') ? splat.args[0]! : value;
  };
  multiplyAddTo(s, vectors, resultOf(s, inst), suffixOf(vectors.op).replace('p', 's'), 16, scalarOf);
  return true;
}

/** The order in which the operand is overwritten that dies: loops add up in the addend. */
const choices = [2, 0, 1];

/** The operands as sources, of which one may be no register: a constant, the addend if it is one, else a load. */
function sourcesOf(s: Selection, values: readonly Value[], mnemonic: string): Source[] {
  const constant = choices.find((index) => patternOfValue(s, values[index]!));
  const sources: Source[] = [];
  for (const [index, value] of values.entries()) {
    const isFirst = constant === undefined && sources.every(isRegister);
    const source = isFirst ? lastSourceOf(s, value, mnemonic) : sourceOf(s, value);
    sources.push(isPattern(source) && index !== constant ? constantRegister(s, widthOf(s, value), source) : source);
  }
  return sources;
}

/** Adds a multiply-add; `mnemonic` names the instruction of a form. */
function addFused(s: Selection, to: Register, mnemonic: (form: string) => string, bytes: Width, values: readonly Value[]): void {
  const sources = sourcesOf(s, values, mnemonic('231'));
  const inPlace = sources.findIndex((source) => !isRegister(source));
  const registers = sources.filter(isRegister);
  /** The number of an operand among the registers. */
  const numberOf = (index: number): number => (inPlace < 0 || index < inPlace ? index : index - 1);
  const places = choices.filter((index) => index !== inPlace);
  const tied = places.map(numberOf);
  const uses = [...registers, ...sources.flatMap(addressUses)];
  // A factor may be in memory in any case.
  const inMemory = inPlace < 0 && new Set(registers).size === 3 ? { inMemory: 1 } : {};
  custom(s, { def: to, uses, tied: tied[0]!, tiedChoices: tied.slice(1), ...inMemory }, (out, at, operand) => {
    const chosen = places[tied.indexOf(tiedOf(at, tied, inMemory.inMemory))]!;
    const emit = (form: string, order: readonly number[]): void => {
      const name = mnemonic(form);
      const read = order.map((index): Operand => {
        const source = sources[index]!;
        return isRegister(source) ? operand(numberOf(index), bytes) : memoryOperand(out, name, source, bytes, at, registers.length);
      });
      out.emit(name, vector(at.def, bytes), ...read);
    };
    const isMemory = (index: number): boolean => index === inPlace || (at.slot !== undefined && numberOf(index) === inMemory.inMemory);
    if (chosen === 2) return emit('231', isMemory(0) ? [1, 0] : [0, 1]);
    const other = 1 - chosen;
    if (isMemory(other)) emit('132', [2, other]);
    else emit('213', [other, 2]);
  });
}
