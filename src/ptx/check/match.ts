/**
 * Selects the row of an instruction by its opcode and modifiers, and by the number of operands if several rows have the same modifiers. A
 * modifier is valid only at its position in a syntax line. If no row matches, the result has the position of the longest partial match and
 * the modifiers expected there.
 */

import { type AnyModifiers, type OperandSlot, type Row, refusalOf } from '../model/row.ts';
import type { Instruction } from '../syntax/ast.ts';
import { compiledRowsOf, rowsByName } from '../table/index.ts';
import { inOrderOf } from './modifier-order.ts';

/** A row of the table and the modifiers that an instruction gives it. */
export interface FormMatch {
  readonly row: Row;
  readonly modifiers: AnyModifiers;
}

/**
 * The longest partial match: the index of the first modifier that does not match (or their count if more are needed), and the modifiers
 * expected there.
 */
export interface FormMismatch {
  readonly at: number;
  readonly expected: readonly string[];
  /** Modifiers that are valid individually but not together. */
  readonly conflicting?: readonly string[];
}

type Modifiers = Record<string, string | true>;

type Found = FormMatch | FormMismatch;

const formCache = new Map<string, Found>();
/** The last result for a list of modifiers: the parser shares one list among instructions with equal text. */
const lastFor = new WeakMap<readonly string[], { readonly opcode: string; readonly count: number | undefined; readonly found: Found }>();

/** The form of an opcode with modifiers, preferably one that accepts `count` operands. Undefined for an opcode without rows. */
export function matchForm(opcode: string, modifiers: readonly string[], count?: number): FormMatch | FormMismatch | undefined {
  const last = lastFor.get(modifiers);
  if (last && last.opcode === opcode && last.count === count) return last.found;
  const key = `${opcode}.${modifiers.join('.')} ${count}`;
  const found = formCache.get(key) ?? matchOpcode(opcode, modifiers, count);
  if (!found) return undefined;
  formCache.set(key, found);
  lastFor.set(modifiers, { opcode, count, found });
  return found;
}

/** The form of an opcode with rows, without caching: for modifiers that are not in the source. */
export const tryForm = (opcode: string, modifiers: readonly string[]): FormMatch | FormMismatch =>
  matchAnyOrder(rowsByName().get(opcode) ?? [], modifiers, undefined);

/** Compiled rows come first, then all rows. */
function matchOpcode(opcode: string, modifiers: readonly string[], count: number | undefined): Found | undefined {
  const compiled = matchRows(compiledRowsOf(opcode), modifiers, count);
  if (isMatch(compiled) && (count === undefined || slotsOf(compiled, count))) return compiled;
  const rows = rowsByName().get(opcode);
  return rows && matchAnyOrder(rows, modifiers, count);
}

function matchAnyOrder(rows: readonly Row[], modifiers: readonly string[], count: number | undefined): Found {
  const inOrder = matchRows(rows, modifiers, count);
  return isMatch(inOrder) || inOrder.conflicting ? inOrder : (matchReordered(rows, modifiers, count) ?? inOrder);
}

/**
 * The form of an instruction whose brace vectors or addresses a form does not accept: that of another row with the same modifiers (`wgmma` has a
 * matrix in registers or behind a descriptor, `tcgen05` in tensor memory or behind one).
 */
export function withVectors(form: FormMatch, { opcode, modifiers, operands }: Instruction): FormMatch {
  const accepts = (row: Row): boolean =>
    operands.every(({ kind }, i) => {
      const slot = row.operands[i];
      return (kind !== 'vector' || slot?.vector !== undefined) && (kind !== 'address' || slot === undefined || slot.isAddress);
    });
  if (accepts(form.row)) return form;
  const head = form.row.syntax.split(' ')[0];
  const others = compiledRowsOf(opcode).filter((row) => row.syntax.split(' ')[0] === head && accepts(row));
  const found = others.length > 0 ? matchRows(others, modifiers, operands.length) : undefined;
  return found && isMatch(found) ? found : form;
}

/** Whether a form was found. */
export const isMatch = (result: FormMatch | FormMismatch): result is FormMatch => 'row' in result;

const slotsByCount = new WeakMap<FormMatch, Map<number, readonly OperandSlot[] | undefined>>();

/** The slots of `count` operands of a form; undefined if the form does not accept that many. */
export function slotsOf(form: FormMatch, count: number): readonly OperandSlot[] | undefined {
  const byCount = slotsByCount.get(form) ?? new Map<number, readonly OperandSlot[] | undefined>();
  if (byCount.has(count)) return byCount.get(count);
  const slots = findSlots(form, count);
  slotsByCount.set(form, byCount.set(count, slots));
  return slots;
}

function findSlots(form: FormMatch, count: number): readonly OperandSlot[] | undefined {
  const slots = slotsWith(form);
  let left = count - slots.filter(isRequired).length;
  const taken = slots.filter((slot) => isRequired(slot) || left-- > 0);
  return taken.length === count ? taken : undefined;
}

/** The minimum and maximum number of operands of a form. */
export function operandCounts(form: FormMatch): { readonly least: number; readonly most: number } {
  const slots = slotsWith(form);
  return { least: slots.filter(isRequired).length, most: slots.length };
}

const slotsWith = ({ row, modifiers }: FormMatch): readonly OperandSlot[] =>
  row.operands.filter(({ onlyWith }) => onlyWith === undefined || modifiers[onlyWith] !== undefined);

/** Whether the operand is required, given the slots of the form. */
const isRequired = ({ isOptional, onlyWith }: OperandSlot): boolean => !isOptional || onlyWith !== undefined;

/** The form of modifiers in an order other than the manual's; undefined if no row has all of them. */
function matchReordered(
  rows: readonly Row[],
  modifiers: readonly string[],
  count: number | undefined,
): FormMatch | FormMismatch | undefined {
  for (const row of rows) {
    const order = inOrderOf(row, modifiers);
    const inOrder = order && matchRows(rows, order, count);
    if (inOrder && isMatch(inOrder)) return inOrder;
    if (inOrder?.conflicting) return { ...inOrder, at: Math.max(...inOrder.conflicting.map((word) => modifiers.indexOf(word))) };
  }
  return undefined;
}

function matchRows(rows: readonly Row[], modifiers: readonly string[], count: number | undefined): FormMatch | FormMismatch {
  const trace: Trace = { at: 0, expected: new Set() };
  let found: FormMismatch | undefined;
  let other: FormMatch | undefined;
  for (const row of rows) {
    const matched = matchSlots(row, modifiers, 0, 0, trace);
    if (!matched) continue;
    const apart = excluded(row, matched);
    // An excluded combination is illegal PTX, even if a broader refused row accepts it.
    if (!apart) {
      const form = found && refusalOf(row) ? found : { row, modifiers: matched };
      if (count === undefined || !isMatch(form) || slotsOf(form, count)) return form;
      other ??= form;
      continue;
    }
    found ??= { at: Math.max(...apart.map((word) => modifiers.indexOf(word))), expected: [], conflicting: apart };
  }
  return other ?? found ?? { at: trace.at, expected: [...trace.expected] };
}

/**
 * The form as modules for architectures before sm_20 mean it. Their f32 arithmetic has no subnormals: `.ftz` is added if the row allows it.
 * Source: PTX ISA 9.0, 9.7.3 ("Subnormal numbers" of each instruction); an H200 does the same with such modules.
 */
export function withFlush(form: FormMatch): FormMatch {
  const { row, modifiers } = form;
  // A conversion to or from f64 keeps subnormals.
  if (row.name === 'cvt' && row.slots.some(({ name, isLiteral }) => (isLiteral ? name : modifiers[name]) === 'f64')) return form;
  if (modifiers.ftz || !row.slots.some(({ name, isOptional }) => name === 'ftz' && isOptional)) return form;
  const withModifier = { ...modifiers, ftz: true as const };
  return excluded(row, withModifier) ? form : { row, modifiers: withModifier };
}

/** The modifiers that a row excludes in combination, if all of them are present. */
function excluded({ excludes, slots }: Row, modifiers: AnyModifiers): string[] | undefined {
  const wordOf = (name: string): string | undefined => (modifiers[name] === true ? name : modifiers[name]);
  const entry = excludes.find((each) => Object.entries(each).every(([name, words]) => words.includes(wordOf(name) ?? '')));
  return entry && slots.flatMap(({ name }) => (Object.hasOwn(entry, name) ? (wordOf(name) ?? []) : []));
}

/** The longest partial match of any row. */
interface Trace {
  at: number;
  expected: Set<string>;
}

/** Matches the slots of a row against modifiers, from one index each. An optional slot is tried first. */
function matchSlots(row: Row, modifiers: readonly string[], slotAt: number, at: number, trace: Trace): Modifiers | undefined {
  const slot = row.slots[slotAt];
  const word = modifiers[at];
  if (!slot) {
    if (word === undefined) return {};
    expect(trace, at, []);
    return undefined;
  }
  if (word !== undefined && slot.words.includes(word)) {
    const rest = matchSlots(row, modifiers, slotAt + 1, at + 1, trace);
    if (rest) return { ...rest, [slot.name]: slot.isLiteral ? true : word };
  } else expect(trace, at, slot.words);
  return slot.isOptional ? matchSlots(row, modifiers, slotAt + 1, at, trace) : undefined;
}

function expect(trace: Trace, at: number, words: readonly string[]): void {
  if (at < trace.at) return;
  if (at > trace.at) trace.expected.clear();
  trace.at = at;
  for (const word of words) trace.expected.add(word);
}
