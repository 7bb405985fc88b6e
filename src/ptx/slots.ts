/** What the slots of a row want in one form of it: types, vectors, and the plain registers that most operands are. */
import type { Operand } from './ast.ts';
import type { FormMatch } from './match.ts';
import type { MatchedOperand, OperandSlot, PtxType } from './row.ts';
import { lookUp, type Scope } from './scope.ts';
import { specialRegisters } from './sregs.ts';
import { agrees, wideType } from './types.ts';

/** What a slot wants in a form. */
export interface Wanted {
  readonly slot: OperandSlot;
  readonly type: PtxType;
  /** Whether one register of the type is all that it can want. */
  readonly isPlain: boolean;
}

/** By the slots of a form, which are one list for all instructions of that form. */
const wantedOf = new WeakMap<readonly OperandSlot[], readonly Wanted[]>();

/** In the order of the slots. */
export function wantedBy(slots: readonly OperandSlot[], form: FormMatch): readonly Wanted[] {
  const known = wantedOf.get(slots);
  if (known) return known;
  const wanted = slots.map((slot) => {
    const type = typeOfSlot(slot, form);
    const isOther = slot.isAddress || slot.isList || slot.constant !== undefined || type === 'label' || type === 'targets';
    return { slot, type, isPlain: !isOther && !slot.needsSecond && !needsVector(form, slot) };
  });
  wantedOf.set(slots, wanted);
  return wanted;
}

/** A register of the right type, which most operands are, without the ways round for all others. */
export function asPlainRegister(node: Operand, { slot, type, isPlain }: Wanted, scope: Scope): MatchedOperand | undefined {
  if (!isPlain || node.kind !== 'name' || specialRegisters.has(node.name)) return undefined;
  const symbol = lookUp(scope, node.name);
  if (symbol?.kind !== 'register' || !agrees(symbol.register.declared, type, slot.isRelaxed)) return undefined;
  return { slot, node, type, lanes: undefined };
}

/** The type that a slot has in a form. */
export function typeOfSlot({ type }: OperandSlot, { modifiers }: FormMatch): PtxType {
  const name = modifierOf(type);
  if (name === undefined) return type as PtxType;
  const word = String(modifiers[name]);
  return (type[0] === 'w' ? wideType(word) : word) as PtxType;
}

/** The modifier that `.type` and `wide .type` name; nothing for a type. */
const modifierOf = (type: string): string | undefined =>
  type[0] === '.' ? type.slice(1) : type.startsWith('wide .') ? type.slice(6) : undefined;

/** Elements of the brace vector that a form wants in a slot; nothing where it wants none. */
export function lanesOfSlot({ lanes = '.vec' }: OperandSlot, { modifiers }: FormMatch): number | undefined {
  if (typeof lanes === 'number') return lanes;
  if (typeof lanes === 'function') return lanes(modifiers);
  const [, name = '', less] = /^\.(\w+)(-2)?$/.exec(lanes) ?? [];
  const word = modifiers[name];
  return word === undefined ? undefined : Number(/\d+/.exec(String(word))?.[0] ?? 1) - (less === undefined ? 0 : 2);
}

/** Whether an operand of a slot must be a brace vector. */
export const needsVector = (form: FormMatch, slot: OperandSlot): boolean =>
  slot.vector === 'elements' && lanesOfSlot(slot, form) !== undefined;
