/** The expectations of a row's slots in one form: types, vectors, and a fast path for plain operands. */

import type { MatchedOperand, OperandSlot, PtxType } from '../model/row.ts';
import { specialRegisters } from '../model/special-registers.ts';
import type { Register } from '../model/types.ts';
import { bitsOfType, isCompatible, isFloatType, kindOfType, registerTypes, wideType } from '../model/types.ts';
import type { Operand } from '../syntax/ast.ts';
import type { FormMatch } from './match.ts';
import { lookUp, type Scope } from './scope.ts';

/** The expectation of a slot in a form. */
export interface SlotExpectation {
  readonly slot: OperandSlot;
  readonly type: PtxType;
  /** Whether only a single register of the type matches. */
  readonly isPlain: boolean;
  /** Whether an address with one register matches. */
  readonly isAddress: boolean;
  /** The kind of literals that are valid for the type, whatever their value. */
  readonly literal: 'integer' | 'f32' | undefined;
  /** The register type that last matched, as a cache. */
  lastType: string;
}

/** Keyed by the slots of a form, which all instructions of that form share. */
const expectationCache = new WeakMap<readonly OperandSlot[], readonly SlotExpectation[]>();

/** In the order of the slots. */
export function expectationsOf(slots: readonly OperandSlot[], form: FormMatch): readonly SlotExpectation[] {
  const known = expectationCache.get(slots);
  if (known) return known;
  const wanted = slots.map((slot) => expectationOf(slot, form));
  expectationCache.set(slots, wanted);
  return wanted;
}

function expectationOf(slot: OperandSlot, form: FormMatch): SlotExpectation {
  const type = typeOfSlot(slot, form);
  const isOther = slot.isAddress || slot.isList || slot.constant !== undefined || type === 'label' || type === 'targets';
  const isPlain = !isOther && !slot.needsSecond && !needsVector(form, slot);
  const literal = isPlain && !slot.isDestination ? literalOf(type) : undefined;
  return { slot, type, isPlain, isAddress: slot.isAddress && slot.inBrackets.length === 0, literal, lastType: type };
}

const literalOf = (type: PtxType): SlotExpectation['literal'] =>
  type === 'f32' ? 'f32' : registerTypes[type]?.startsWith('i') ? 'integer' : undefined;

/** Fast path for most operands: a register of the right type, a literal, or an address in a register. */
export function matchPlain(node: Operand, wanted: SlotExpectation, scope: Scope): MatchedOperand | undefined {
  const { slot, type } = wanted;
  if (node.kind === 'name') return matchPlainRegister(node, wanted, scope);
  if (node.kind === 'integer')
    return wanted.literal === 'integer' ? { slot, node, type, lanes: undefined, register: undefined } : undefined;
  if (node.kind === 'float')
    return wanted.literal === 'f32' && node.format === 'f32' ? { slot, node, type, lanes: undefined, register: undefined } : undefined;
  if (!wanted.isAddress || node.kind !== 'address' || node.base.kind !== 'name' || node.rest.length > 0 || node.isUnified) return undefined;
  const symbol = lookUp(scope, node.base.name);
  if (symbol?.kind !== 'register' || !holdsAddress(symbol.register)) return undefined;
  return { slot, node, type, lanes: undefined, register: symbol.register };
}

function matchPlainRegister(node: Operand & { kind: 'name' }, wanted: SlotExpectation, scope: Scope): MatchedOperand | undefined {
  const { slot, type } = wanted;
  if (!wanted.isPlain || specialRegisters.has(node.name)) return undefined;
  const symbol = lookUp(scope, node.name);
  if (symbol?.kind !== 'register') return undefined;
  const { register } = symbol;
  if (register.declared !== wanted.lastType) {
    if (!isCompatible(register.declared, type, slot.isRelaxed)) return undefined;
    wanted.lastType = register.declared;
  }
  return { slot, node, type, lanes: undefined, register };
}

/** Whether a register can hold the base of an address. */
export const holdsAddress = ({ declared }: Register): boolean => !isFloatType(declared) && bitsOfType(declared) >= 32;

/** The type that a slot has in a form. */
export function typeOfSlot({ type }: OperandSlot, { modifiers }: FormMatch): PtxType {
  const name = modifierOf(type);
  if (name === undefined) return type as PtxType;
  const word = String(modifiers[name]);
  return (type[0] === 'w' ? wideType(word) : word) as PtxType;
}

/** The modifier that `.type` or `wide .type` names; undefined for a type. */
const modifierOf = (type: string): string | undefined =>
  type[0] === '.' ? type.slice(1) : type.startsWith('wide .') ? type.slice(6) : undefined;

/** The number of elements of the brace vector that a form expects in a slot; undefined if it expects none. */
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

/** The number of elements of a brace vector or of a register declared as a vector. */
export function lanesOf(node: Operand, scope: Scope): number | undefined {
  if (node.kind === 'vector') return node.elements.length;
  const symbol = node.kind === 'name' ? lookUp(scope, node.name) : undefined;
  return symbol?.kind === 'vector' && !symbol.isWhole ? symbol.lanes.length : undefined;
}

/** `mov.b64 {lo, hi}` splits bits into two or four parts of at least 8 bits. */
export function expectedParts(type: PtxType, lanes: number | undefined): number | undefined {
  if (kindOfType(type) !== 'b' || lanes === undefined) return undefined;
  return (lanes === 2 || (lanes === 4 && type !== 'b128')) && bitsOfType(type) / lanes >= 8 ? lanes : 2;
}
