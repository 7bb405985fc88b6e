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
  constantRegister,
  custom,
  isPattern,
  ownedBy,
  type Pattern,
  patternOperand,
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
  const sources = [a, b, c].map((each) => sourceOf(s, each.value)) as [Source, Source, Source];
  addFused(s, to, (form) => `${family}${form}${suffix}`, bytes, sources);
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

/** Adds a multiply-add; `mnemonic` names the instruction of a form. */
function addFused(
  s: Selection,
  to: Register,
  mnemonic: (form: string) => string,
  bytes: Width,
  sources: readonly [Source, Source, Source],
): void {
  // One constant is read from memory, the addend if it is one; others have registers, which die here.
  const inPlace = choices.find((index) => isPattern(sources[index]!));
  const constant = inPlace === undefined ? undefined : (sources[inPlace] as Pattern);
  const uses = sources.map((source, i) => (i === inPlace ? undefined : isPattern(source) ? constantRegister(s, bytes, source) : source));
  const registers = uses.filter((each) => each !== undefined);
  /** The number of an operand among the registers. */
  const numberOf = (index: number): number => (registers.length === 3 || index < inPlace! ? index : index - 1);
  const tied = choices.filter((index) => index !== inPlace).map(numberOf);
  // A factor may be in memory in any case.
  const inMemory = constant || new Set(registers).size < 3 ? {} : { inMemory: 1 };
  custom(s, { def: to, uses: registers, tied: tied[0]!, tiedChoices: tied.slice(1), ...inMemory }, (out, places, operand) => {
    const operands = sources.map((_, i) => (i === inPlace ? undefined : operand(numberOf(i), bytes))) as (Operand | undefined)[];
    const chosen = choices.filter((index) => index !== inPlace)[tied.indexOf(tiedOf(places, tied, 1))]!;
    const emit = (form: string, order: readonly number[]): void => {
      const name = mnemonic(form);
      const read = order.map((index) => operands[index] ?? patternOperand(out, name, constant!, bytes));
      out.emit(name, vector(places.def, bytes), ...read);
    };
    const isMemory = (index: number): boolean => operands[index]?.kind !== 'vector';
    if (chosen === 2) return emit('231', isMemory(0) ? [1, 0] : [0, 1]);
    const other = 1 - chosen;
    if (isMemory(other)) emit('132', [2, other]);
    else emit('213', [other, 2]);
  });
}
