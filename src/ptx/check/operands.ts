/** Checks operands against the slots of a row: count, kind, register types and constants. */
import type { Diagnostics } from '../../base/diagnostic.ts';
import type { Span } from '../../base/source.ts';
import type { MatchedOperand, OperandSlot, PtxType } from '../model/row.ts';
import { alternativeTo, isUnsupportedSpecialRegister, specialRegisters } from '../model/special-registers.ts';
import type { Register } from '../model/types.ts';
import { bitsOfType, isCompatible, isFloatType, kindOfType, registerTypes } from '../model/types.ts';
import { type Instruction, instructionName, type Operand, type Variable } from '../syntax/ast.ts';
import { constantValue, integerConstant } from '../syntax/constant.ts';
import { partsOf, selectedPart } from '../syntax/operand-parts.ts';
import { printOperand } from '../syntax/print.ts';
import { spaceOf, wrongAccess, wrongBase } from './address.ts';
import { immediateBits } from './immediate.ts';
import { type FormMatch, operandCounts, slotsOf } from './match.ts';
import { lookUp, mayBeDeclared, type Named, type Scope } from './scope.ts';
import { expectationsOf, expectedParts, holdsAddress, lanesOf, lanesOfSlot, matchPlain, needsVector, typeOfSlot } from './slots.ts';
import { conversionHelp, familyOf, forUndeclared, typeDeclared } from './suggest.ts';

/** The operand that discards a result. */
export const sink = '_';

interface Place {
  readonly instruction: Instruction;
  readonly form: FormMatch;
  readonly scope: Scope;
  readonly diagnostics: Diagnostics;
}

/** The operands with their slots and types; undefined after reporting CM1101 or CM1105 to CM1108. */
export function checkOperands(
  instruction: Instruction,
  form: FormMatch,
  scope: Scope,
  diagnostics: Diagnostics,
): MatchedOperand[] | undefined {
  const place: Place = { instruction, form, scope, diagnostics };
  const operandList = instruction.operands.length;
  const slots = slotsOf(form, operandList);
  if (!slots) {
    const { least: min, most: max } = operandCounts(form);
    const wanted = `${min === max ? min : `${min} to ${max}`} operand${max === 1 ? '' : 's'}`;
    const help = `form: ${form.row.syntax}`;
    diagnostics.report(
      'CM1105',
      { form: instructionName(instruction), wanted, given: `${operandList} ${operandList === 1 ? 'is' : 'are'}` },
      { span: instruction.span, help },
    );
    return undefined;
  }
  const wanted = expectationsOf(slots, form);
  const matched: MatchedOperand[] = [];
  for (let i = 0; i < operandList; i++) {
    const node = instruction.operands[i]!;
    const operand = matchPlain(node, wanted[i]!, scope) ?? checkOperand(place, slots[i]!, node);
    if (operand) matched.push(operand);
  }
  return matched.length === operandList ? matched : undefined;
}

function checkOperand(place: Place, slot: OperandSlot, node: Operand): MatchedOperand | undefined {
  const selected = slot.parts && selectedPart(slot.parts, node);
  if (selected) {
    const whole = checkOperand(place, slot, selected.node);
    return whole && { ...whole, part: selected.part };
  }
  const type = typeOfSlot(slot, place.form);
  const whole = { slot, node, type, lanes: undefined };
  if (slot.isAddress) {
    const inBrackets = checkAddress(place, slot, node);
    return inBrackets && (inBrackets.length > 0 ? { ...whole, inBrackets } : whole);
  }
  // The elements of a list depend on the callee: `calls.ts` checks them.
  if (slot.isList) return node.kind === 'list' ? whole : mismatch(place, node, 'a list in parentheses', kindWords(node));
  if (type === 'label' || type === 'targets') return checkLabel(place, node, type === 'targets') ? whole : undefined;
  if (slot.second !== undefined && node.kind === 'pair') {
    const second = typeOfSlot({ ...slot, type: slot.secondType }, place.form);
    const first =
      slot.vector === undefined
        ? checkDestination(place, slot, node.first, type) && whole
        : checkOperand(place, { ...slot, second: undefined }, node.first);
    const isValid = checkDestination(place, slot, node.second, second);
    return first && isValid ? { ...whole, type: first.type, lanes: first.lanes } : undefined;
  }
  if (slot.needsSecond) return mismatch(place, node, 'a pair', kindWords(node));
  const only = onlyElement(place, slot, node, type);
  if (only) return checkOperand(place, slot, only);
  const lanes = lanesOf(node, place.scope);
  if (type === 'b128' && lanes === undefined) return checkWhole(place, slot, node);
  if (slot.vector === undefined || (lanes === undefined && !needsVector(place.form, slot))) {
    return (slot.isDestination ? checkDestination : checkSource)(place, slot, node, type) ? whole : undefined;
  }
  return checkVector(place, slot, node, type, lanes);
}

/**
 * The element of `{x}` where a register may be: `ptxas` takes it for `x` in `ld`, `ldu` and `st` without a vector modifier, and in `mov` of bits.
 * Triton writes every access so.
 */
function onlyElement({ form }: Place, slot: OperandSlot, node: Operand, type: PtxType): Operand | undefined {
  if (node.kind !== 'vector' || node.elements.length !== 1) return undefined;
  const isWhole = slot.vector === 'elements' ? lanesOfSlot(slot, form) === undefined : slot.vector === 'parts' && kindOfType(type) === 'b';
  return isWhole ? node.elements[0] : undefined;
}

/** A register of 128 bits, which is its halves. */
function checkWhole({ scope, ...place }: Place, slot: OperandSlot, node: Operand): MatchedOperand | undefined {
  const symbol = node.kind === 'name' ? lookUp(scope, node.name) : undefined;
  if (symbol?.kind === 'vector' && symbol.isWhole) return { slot, node, type: 'b64', lanes: symbol.lanes.length };
  return mismatch({ scope, ...place }, node, 'a register of type .b128', kindWords(node));
}

function checkVector(place: Place, slot: OperandSlot, node: Operand, type: PtxType, lanes: number | undefined): MatchedOperand | undefined {
  const wanted = expectedLanes(place, slot, type, lanes);
  if (wanted === undefined) return mismatch(place, node, `a register of type .${type}`, 'a vector');
  // All axes of a special register.
  if (node.kind === 'name' && isUnsupportedSpecialRegister(node.name)) {
    reportUndeclared(node.name, node.span, place.scope, place.diagnostics);
    return undefined;
  }
  if (lanes !== wanted) return mismatch(place, node, `a vector of ${wanted}`, lanes === undefined ? 'no vector' : `a vector of ${lanes}`);
  const element = slot.vector === 'parts' ? (`b${bitsOfType(type) / lanes}` as PtxType) : type;
  const symbol = node.kind === 'name' ? lookUp(place.scope, node.name) : undefined;
  // The lanes of a vector register have one type.
  if (symbol?.kind === 'vector')
    return hasType(place, slot, node, symbol.lanes[0]!.declared, element) ? { slot, node, type: element, lanes } : undefined;
  const nodes = node.kind === 'vector' ? node.elements : [];
  const check = slot.isDestination ? checkDestination : checkSource;
  const isFine = nodes.every((each) => check(place, slot, each, element));
  return isFine ? { slot, node, type: element, lanes } : undefined;
}

function expectedLanes({ form }: Place, slot: OperandSlot, type: PtxType, lanes: number | undefined): number | undefined {
  if (slot.vector === 'parts') return expectedParts(type, lanes);
  // With `some`, the row does not determine the count.
  return slot.vector === 'some' ? lanes : lanesOfSlot(slot, form);
}

function checkDestination(place: Place, slot: OperandSlot, node: Operand, type: PtxType): boolean {
  const mayDiscard = slot.sink !== undefined || slot.second !== undefined || slot.vector !== undefined;
  if (node.kind === 'name' && node.name === sink && mayDiscard) return true;
  const register = slot.sink === 'must' ? mismatch(place, node, 'the sink `_`', kindWords(node)) : registerOf(place, node);
  if (register === undefined) return false;
  return hasType(place, slot, node, register.declared, type);
}

/** The register of an operand; undefined after a report. */
function registerOf(place: Place, node: Operand): Register | undefined {
  if (node.kind === 'name') return registerAt(node.name, node.span, place.scope, place.diagnostics);
  if (node.kind === 'element') {
    const lane = laneOf(node, place.scope);
    if (lane) return lane;
    if (specialRegisters.has(printOperand(node))) mismatch(place, node, 'a register', 'a special register, which cannot be written');
    else undeclared(place, printOperand(node), node.span);
    return undefined;
  }
  mismatch(place, node, 'a register', kindWords(node));
  return undefined;
}

/** `%v.x` of a register declared as a vector. */
export function laneOf(node: Operand & { kind: 'element' }, scope: Scope): Register | undefined {
  const symbol = lookUp(scope, node.name);
  const index = ['x', 'y', 'z', 'w'].indexOf(node.element === 'r' ? 'x' : node.element);
  return symbol?.kind === 'vector' && !symbol.isWhole ? symbol.lanes[index] : undefined;
}

/** A register by name; undefined after reporting CM1101 or CM1106. */
export function registerAt(name: string, span: Span, scope: Scope, diagnostics: Diagnostics): Register | undefined {
  const symbol = lookUp(scope, name);
  if (symbol?.kind === 'register') return symbol.register;
  if (!symbol) reportUndeclared(name, span, scope, diagnostics);
  else diagnostics.report('CM1106', { operand: name, wanted: 'a register', given: symbolWords(symbol) }, { span });
  return undefined;
}

/** Reports an undeclared name once in a function: CM1101, or CM2002 for an unsupported special register. */
export function reportUndeclared(name: string, span: Span, scope: Scope, diagnostics: Diagnostics): void {
  if (isUnsupportedSpecialRegister(name) || specialRegisters.has(name)) {
    const help = alternativeTo(name);
    diagnostics.report('CM2002', { name }, { span, ...(help === undefined ? {} : { help }) });
    return;
  }
  const family = familyOf(name, scope);
  if (mayBeDeclared(scope, name) || scope.missing.reported.has(family)) return;
  scope.missing.reported.add(family);
  diagnostics.report('CM1101', { name }, { span, ...forUndeclared(name, scope) });
}

/** Checks the names of an instruction that is refused regardless of its operands. Reports CM1101. */
export function checkNames({ operands }: Instruction, scope: Scope, diagnostics: Diagnostics): void {
  const work = [...operands];
  for (let node = work.pop(); node; node = work.pop()) {
    work.push(...partsOf(node));
    if (node.kind !== 'name' || node.name === sink || isConstantName(node.name) || lookUp(scope, node.name)) continue;
    const isSpecial = specialRegisters.has(node.name) || isUnsupportedSpecialRegister(node.name);
    if (!isSpecial) reportUndeclared(node.name, node.span, scope, diagnostics);
  }
}

const undeclared = (place: Place, name: string, span: Span): void => reportUndeclared(name, span, place.scope, place.diagnostics);

function checkSource(place: Place, slot: OperandSlot, node: Operand, type: PtxType): boolean {
  if (slot.constant) return checkConstant(place, slot.constant, node);
  if (node.kind === 'not') {
    if (type === 'pred' && node.operand.kind === 'name') return checkSource(place, slot, node.operand, type);
    mismatch(place, node, `a value of type .${type}`, 'a negated predicate');
    return false;
  }
  if (node.kind === 'name' || node.kind === 'element') {
    const special = specialRegisters.get(printOperand(node));
    if (special) return (special.wasNarrow && isNarrow(type)) || hasType(place, slot, node, special.type, type);
    if (node.kind === 'element' || !isConstantName(node.name)) return checkNamed(place, slot, node, type);
  }
  if (isSymbolic(node, place.scope)) return checkSymbolic(place, node, type);
  const held = registerTypes[type];
  if (held !== undefined && acceptsConstant(node, type) && immediateBits(node, held) !== undefined) return true;
  const summed = registerInSum(node, place.scope);
  if (summed) {
    if (!hasType(place, slot, node, summed.declared, type)) return false;
    if (!isFloatType(type) && !isFloatType(summed.declared)) return true;
    place.diagnostics.report('CM2049', { operand: printOperand(node), why: 'a sum with a register of a float' }, { span: node.span });
    return false;
  }
  mismatch(
    place,
    node,
    isFloatType(type) ? `a register or a float constant (.${type})` : `a register or a constant (.${type})`,
    kindWords(node),
  );
  return false;
}

function checkConstant(place: Place, [min, max]: readonly [number, number], node: Operand): boolean {
  const value = integerConstant(node);
  if (value !== undefined && value >= min && value <= max) return true;
  mismatch(place, node, `a constant from ${min} to ${max}`, value === undefined ? kindWords(node) : 'outside');
  return false;
}

const isNarrow = (type: PtxType): boolean => bitsOfType(type) === 16 && !isFloatType(type);

/** `%r + 1` as a value: ptxas accepts it, although the manual does not have it. The sum is modulo the width, as an NVIDIA H200 computes it. */
function registerInSum(node: Operand, scope: Scope): Register | undefined {
  if (node.kind !== 'binary' || node.operator !== '+' || node.left.kind !== 'name') return undefined;
  const symbol = lookUp(scope, node.left.name);
  return symbol?.kind === 'register' && integerConstant(node.right) !== undefined ? symbol.register : undefined;
}

/**
 * Float constants are valid for floats, and for bit types of exactly their width: `0f3F800000` for `.b32`, `1.0` for `.b64`. Source: ptxas
 * 13.0.
 */
function acceptsConstant(node: Operand, type: PtxType): boolean {
  if (isFloatType(type) || constantValue(node)?.type !== 'f64') return true;
  return kindOfType(type) === 'b' && bitsOfType(type) === (node.kind === 'float' && node.format === 'f32' ? 32 : 64);
}

const isConstantName = (name: string): boolean => name === 'WARP_SZ';

function checkNamed(place: Place, slot: OperandSlot, node: Operand & { kind: 'name' | 'element' }, type: PtxType): boolean {
  const symbol = node.kind === 'name' ? lookUp(place.scope, node.name) : undefined;
  if (symbol && isMemory(symbol) && place.form.row.takesAddresses) return checkSymbolic(place, node, type);
  // The number of the function is determined during lowering.
  if (symbol?.kind === 'function' && place.form.row.name === 'mov' && bitsOfType(type) === 64) return true;
  const register = registerOf(place, node);
  return register !== undefined && hasType(place, slot, node, register.declared, type);
}

const isMemory = (symbol: Named): boolean => symbol.kind === 'variable' || symbol.kind === 'param';

/** `table+8`, `table[2]`: the address of a variable plus a constant. */
function isSymbolic(node: Operand, scope: Scope): boolean {
  const base = node.kind === 'binary' ? node.left : node;
  const name = base.kind === 'name' || base.kind === 'index' ? base.name : undefined;
  const symbol = name === undefined ? undefined : lookUp(scope, name);
  return symbol !== undefined && isMemory(symbol);
}

function checkSymbolic(place: Place, node: Operand, type: PtxType): boolean {
  const isAddress = place.form.row.takesAddresses && bitsOfType(type) >= 32 && !isFloatType(type);
  const offset = node.kind === 'binary' ? node.operator === '+' && integerConstant(node.right) !== undefined : true;
  if (isAddress && offset) return true;
  mismatch(place, node, `a register or a constant (.${type})`, 'the address of a variable');
  return false;
}

const noOperands: readonly MatchedOperand[] = [];

/** The operands that follow an address in its brackets; undefined after reporting. */
function checkAddress(place: Place, slot: OperandSlot, node: Operand): readonly MatchedOperand[] | undefined {
  if (node.kind !== 'address') {
    const symbol = node.kind === 'name' ? lookUp(place.scope, node.name) : undefined;
    const operand = printOperand(node);
    const help = symbol && (isMemory(symbol) || symbol.kind === 'register') ? { help: `did you mean \`[${operand}]\`?` } : {};
    const holes = { operand, wanted: 'an address in brackets', given: symbol ? symbolWords(symbol) : kindWords(node) };
    place.diagnostics.report('CM1106', holes, { span: node.span, ...help });
    return undefined;
  }
  const { rest } = node;
  const { inBrackets } = slot;
  if (node.isUnified && !mayBeUnified(place)) return mismatch(place, node, 'an address without `.unified`', 'one with it');
  if (inBrackets.length !== rest.length)
    return mismatch(place, node, `${inBrackets.length + 1} operands in the brackets`, `${rest.length + 1}`);
  if (rest.length === 0) return checkAddressBase(place, slot, node) ? noOperands : undefined;
  const matched = rest.map((each, i) => checkOperand(place, inBrackets[i]!, each));
  const isValid = matched.every((each) => each !== undefined) && checkAddressBase(place, slot, node);
  return isValid ? (matched as MatchedOperand[]) : undefined;
}

function checkAddressBase(place: Place, slot: OperandSlot, { base }: Operand & { kind: 'address' }): boolean {
  if (base.kind === 'name' || base.kind === 'index') {
    const symbol = lookUp(place.scope, base.name);
    if (symbol) return base.kind === 'index' || checkBase(place, slot, base, symbol);
    undeclared(place, base.name, base.span);
    return false;
  }
  const fault = wrongBase(base, slot.space ?? spaceOf(place.form));
  return fault === undefined || mismatch(place, base, fault.wanted, fault.given) !== undefined;
}

/** Source: ptxas 13.0, which accepts the word for global and generic loads. */
const mayBeUnified = ({ form, instruction }: Place): boolean =>
  instruction.opcode !== 'st' && [undefined, 'global'].includes(spaceOf(form));

function checkBase(place: Place, slot: OperandSlot, node: Operand, symbol: Named): boolean {
  const access = symbol.kind === 'param' ? wrongAccess(place.instruction.opcode, symbol) : undefined;
  if (access) return mismatch(place, node, access.wanted, access.given) !== undefined;
  if (symbol.kind === 'variable' || symbol.kind === 'param') return checkSpace(place, slot, node, symbol.variable);
  if (symbol.kind !== 'register') return mismatch(place, node, 'a register or a variable', symbolWords(symbol)) !== undefined;
  if (holdsAddress(symbol.register)) return true;
  mismatch(place, node, 'an address', `a .${symbol.register.declared} register`);
  return false;
}

/** A variable is accessed through its own space, or through the generic space if it has a generic address. Source: ptxas 13.0. */
function checkSpace({ form, instruction, diagnostics }: Place, slot: OperandSlot, node: Operand, { name, space }: Variable): boolean {
  const wanted = slot.space ?? spaceOf(form);
  if (wanted === undefined && !form.row.slots.some((slot) => slot.name === 'space')) return true;
  if (wanted === space || (wanted === undefined && space !== 'const' && space !== 'param')) return true;
  const access = wanted === undefined ? 'generic' : `\`.${wanted}\``;
  diagnostics.report('CM1118', { name, space, access, instruction: instructionName(instruction) }, { span: node.span });
  return false;
}

function checkLabel(place: Place, node: Operand, isOfList: boolean): boolean {
  const wanted = isOfList ? 'the label of `.branchtargets`' : 'a label';
  const symbol = node.kind === 'name' ? lookUp(place.scope, node.name) : undefined;
  if (node.kind !== 'name') mismatch(place, node, wanted, kindWords(node));
  else if (!symbol) undeclared(place, node.name, node.span);
  else if (symbol.kind === 'label' && symbol.label.list?.name === (isOfList ? 'branchtargets' : undefined)) return true;
  else mismatch(place, node, wanted, symbolWords(symbol));
  return false;
}

function hasType(place: Place, slot: OperandSlot, node: Operand, have: string, want: PtxType): boolean {
  if (isCompatible(have, want, slot.isRelaxed)) return true;
  const form = `operand \`${slot.name}\` of \`${instructionName(place.instruction)}\``;
  const symbol = node.kind === 'name' || node.kind === 'element' ? lookUp(place.scope, node.name) : undefined;
  const register = symbol?.kind === 'register' ? symbol.register : symbol?.kind === 'vector' ? symbol.lanes[0] : undefined;
  const where = { span: node.span, ...typeDeclared(register), ...(slot.isDestination ? {} : conversionHelp(have, want)) };
  place.diagnostics.report('CM1107', { operand: printOperand(node), have, want, form }, where);
  return false;
}

function mismatch(place: Place, node: Operand, wanted: string, given: string): undefined {
  place.diagnostics.report('CM1106', { operand: printOperand(node), wanted, given }, { span: node.span });
  return undefined;
}

const kinds: Partial<Record<Operand['kind'], string>> = {
  address: 'an address',
  vector: 'a vector',
  pair: 'a pair',
  list: 'a list',
  float: 'a float constant',
  integer: 'an integer constant',
  not: 'a negated predicate',
};
const kindWords = (node: Operand): string => kinds[node.kind] ?? 'something else';

/** A description of the symbol. */
export function symbolWords(symbol: Named): string {
  switch (symbol.kind) {
    case 'register':
      return `a .${symbol.register.declared} register`;
    case 'vector':
      return 'a vector register';
    case 'opaque':
      return `of type .${symbol.variable.type}, which is not supported`;
    case 'variable':
      return `a variable in .${symbol.variable.space} memory`;
    case 'param':
      return 'a parameter';
    case 'label':
      return symbol.label.list === undefined ? 'a label' : `the label of \`.${symbol.label.list.name}\``;
    case 'function':
      return 'a function';
  }
}
