/** What the slots of a row want in one form of it: types, vectors, and the plain operands that most are. */

import type { MatchedOperand, OperandSlot, PtxType } from '../model/row.ts';
import { specialRegisters } from '../model/special-registers.ts';
import type { Register } from '../model/types.ts';
import { agrees, bitsOfType, isFloatType, registerTypes, wideType } from '../model/types.ts';
import type { Operand } from '../syntax/ast.ts';
import type { FormMatch } from './match.ts';
import { lookUp, type Scope } from './scope.ts';

/** What a slot wants in a form. */
export interface Wanted {
  readonly slot: OperandSlot;
  readonly type: PtxType;
  /** Whether one register of the type is all that it can want. */
  readonly isPlain: boolean;
  /** Whether an address of one register is what it wants. */
  readonly isAddress: boolean;
  /** The literals of the type that stand for a value of it, whatever they are. */
  readonly literal: 'integer' | 'f32' | undefined;
  /** The type of registers that was last found to agree with it. */
  held: string;
}

/** By the slots of a form, which are one list for all instructions of that form. */
const wantedOf = new WeakMap<readonly OperandSlot[], readonly Wanted[]>();

/** In the order of the slots. */
export function wantedBy(slots: readonly OperandSlot[], form: FormMatch): readonly Wanted[] {
  const known = wantedOf.get(slots);
  if (known) return known;
  const wanted = slots.map((slot) => wantedIn(slot, form));
  wantedOf.set(slots, wanted);
  return wanted;
}

function wantedIn(slot: OperandSlot, form: FormMatch): Wanted {
  const type = typeOfSlot(slot, form);
  const isOther = slot.isAddress || slot.isList || slot.constant !== undefined || type === 'label' || type === 'targets';
  const isPlain = !isOther && !slot.needsSecond && !needsVector(form, slot);
  const literal = isPlain && !slot.isDestination ? literalOf(type) : undefined;
  return { slot, type, isPlain, isAddress: slot.isAddress && slot.inBrackets.length === 0, literal, held: type };
}

const literalOf = (type: PtxType): Wanted['literal'] =>
  type === 'f32' ? 'f32' : registerTypes[type]?.startsWith('i') ? 'integer' : undefined;

/** A register of the right type, a literal or the address in a register, which most operands are, without the ways round for all others. */
export function asPlain(node: Operand, wanted: Wanted, scope: Scope): MatchedOperand | undefined {
  const { slot, type } = wanted;
  if (node.kind === 'name') return asPlainRegister(node, wanted, scope);
  if (node.kind === 'integer')
    return wanted.literal === 'integer' ? { slot, node, type, lanes: undefined, register: undefined } : undefined;
  if (node.kind === 'float')
    return wanted.literal === 'f32' && node.format === 'f32' ? { slot, node, type, lanes: undefined, register: undefined } : undefined;
  if (!wanted.isAddress || node.kind !== 'address' || node.base.kind !== 'name' || node.rest.length > 0 || node.isUnified) return undefined;
  const symbol = lookUp(scope, node.base.name);
  if (symbol?.kind !== 'register' || !holdsAddress(symbol.register)) return undefined;
  return { slot, node, type, lanes: undefined, register: symbol.register };
}

function asPlainRegister(node: Operand & { kind: 'name' }, wanted: Wanted, scope: Scope): MatchedOperand | undefined {
  const { slot, type } = wanted;
  if (!wanted.isPlain || specialRegisters.has(node.name)) return undefined;
  const symbol = lookUp(scope, node.name);
  if (symbol?.kind !== 'register') return undefined;
  const { register } = symbol;
  if (register.declared !== wanted.held) {
    if (!agrees(register.declared, type, slot.isRelaxed)) return undefined;
    wanted.held = register.declared;
  }
  return { slot, node, type, lanes: undefined, register };
}

/** Whether a register can be the base of an address. */
export const holdsAddress = ({ declared }: Register): boolean => !isFloatType(declared) && bitsOfType(declared) >= 32;

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
