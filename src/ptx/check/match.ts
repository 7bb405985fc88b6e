/**
 * Which row an instruction is a form of, by its opcode and modifiers, and by the number of its operands where rows share words.
 * A word may only stand where a syntax line has it; where none fits, the answer says how far the nearest row went and what
 * could have stood there.
 */

import { type AnyModifiers, type OperandSlot, type Row, refusalOf } from '../model/row.ts';
import { ownRowsOf, rowsByName } from '../table/index.ts';
import { inOrderOf } from './modifier-order.ts';

export interface FormMatch {
  readonly row: Row;
  readonly modifiers: AnyModifiers;
}

/** Where no row fits: the index of the first modifier that does not (their count, where more were needed), and what could stand there. */
export interface FormMismatch {
  readonly at: number;
  readonly expected: readonly string[];
  /** Words of which each may stand where it does, but not with the others. */
  readonly apart?: readonly string[];
}

type Modifiers = Record<string, string | true>;

type Found = FormMatch | FormMismatch;

const known = new Map<string, Found>();
/** The last answer for a list of modifiers: the parser gives instructions that are written alike one list. */
const lastFor = new WeakMap<readonly string[], { readonly opcode: string; readonly count: number | undefined; readonly found: Found }>();

/** The form of an opcode with modifiers, with so many operands where any form has as many; nothing for an opcode without rows. */
export function matchForm(opcode: string, modifiers: readonly string[], count?: number): FormMatch | FormMismatch | undefined {
  const last = lastFor.get(modifiers);
  if (last && last.opcode === opcode && last.count === count) return last.found;
  const key = `${opcode}.${modifiers.join('.')} ${count}`;
  const found = known.get(key) ?? matchOpcode(opcode, modifiers, count);
  if (!found) return undefined;
  known.set(key, found);
  lastFor.set(modifiers, { opcode, count, found });
  return found;
}

/** The form of an opcode that has rows, for words that nobody wrote: nothing is kept. */
export const tryForm = (opcode: string, modifiers: readonly string[]): FormMatch | FormMismatch =>
  matchAnyOrder(rowsByName().get(opcode) ?? [], modifiers, undefined);

/** Among the rows that are compiled, which come first, then among all. */
function matchOpcode(opcode: string, modifiers: readonly string[], count: number | undefined): Found | undefined {
  const own = matchRows(ownRowsOf(opcode), modifiers, count);
  if (isMatch(own) && (count === undefined || slotsOf(own, count))) return own;
  const rows = rowsByName().get(opcode);
  return rows && matchAnyOrder(rows, modifiers, count);
}

function matchAnyOrder(rows: readonly Row[], modifiers: readonly string[], count: number | undefined): Found {
  const inOrder = matchRows(rows, modifiers, count);
  return isMatch(inOrder) || inOrder.apart ? inOrder : (matchReordered(rows, modifiers, count) ?? inOrder);
}

export const isMatch = (result: FormMatch | FormMismatch): result is FormMatch => 'row' in result;

const slotsByCount = new WeakMap<FormMatch, Map<number, readonly OperandSlot[] | undefined>>();

/** The slots that so many operands of a form stand in, or nothing where it does not take as many. */
export function slotsOf(form: FormMatch, count: number): readonly OperandSlot[] | undefined {
  const byCount = slotsByCount.get(form) ?? new Map<number, readonly OperandSlot[] | undefined>();
  if (byCount.has(count)) return byCount.get(count);
  const slots = findSlots(form, count);
  slotsByCount.set(form, byCount.set(count, slots));
  return slots;
}

function findSlots(form: FormMatch, count: number): readonly OperandSlot[] | undefined {
  const slots = slotsWith(form);
  let left = count - slots.filter(isWritten).length;
  const taken = slots.filter((slot) => isWritten(slot) || left-- > 0);
  return taken.length === count ? taken : undefined;
}

/** How many operands a form takes, at least and at most. */
export function operandCounts(form: FormMatch): { readonly least: number; readonly most: number } {
  const slots = slotsWith(form);
  return { least: slots.filter(isWritten).length, most: slots.length };
}

const slotsWith = ({ row, modifiers }: FormMatch): readonly OperandSlot[] =>
  row.operands.filter(({ onlyWith }) => onlyWith === undefined || modifiers[onlyWith] !== undefined);

/** Whether it cannot be left out, among the slots that a form has. */
const isWritten = ({ isOptional, onlyWith }: OperandSlot): boolean => !isOptional || onlyWith !== undefined;

/** The form of modifiers in another order than the manual's; nothing where no row has them all. */
function matchReordered(
  rows: readonly Row[],
  modifiers: readonly string[],
  count: number | undefined,
): FormMatch | FormMismatch | undefined {
  for (const row of rows) {
    const order = inOrderOf(row, modifiers);
    const made = order && matchRows(rows, order, count);
    if (made && isMatch(made)) return made;
    if (made?.apart) return { ...made, at: Math.max(...made.apart.map((word) => modifiers.indexOf(word))) };
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
    // What a row excludes is illegal; rows that refuse more broadly do not make it legal.
    if (!apart) {
      const form = found && refusalOf(row) ? found : { row, modifiers: matched };
      if (count === undefined || !isMatch(form) || slotsOf(form, count)) return form;
      other ??= form;
      continue;
    }
    found ??= { at: Math.max(...apart.map((word) => modifiers.indexOf(word))), expected: [], apart };
  }
  return other ?? found ?? { at: trace.at, expected: [...trace.expected] };
}

/**
 * The form as modules for architectures before sm_20 mean it, where singles have no subnormals: with `.ftz` wherever that may stand.
 * Source: PTX ISA 9.0, 9.7.3 ("Subnormal numbers" of each instruction); an H200 does the same with such modules.
 */
export function flushing(form: FormMatch): FormMatch {
  const { row, modifiers } = form;
  // What becomes a double, or was one, keeps its subnormals.
  if (row.name === 'cvt' && row.slots.some(({ name, isLiteral }) => (isLiteral ? name : modifiers[name]) === 'f64')) return form;
  if (modifiers.ftz || !row.slots.some(({ name, isOptional }) => name === 'ftz' && isOptional)) return form;
  const flushed = { ...modifiers, ftz: true as const };
  return excluded(row, flushed) ? form : { row, modifiers: flushed };
}

/** The words that a row does not take together, where all of them are there. */
function excluded({ excludes, slots }: Row, modifiers: AnyModifiers): string[] | undefined {
  const wordOf = (name: string): string | undefined => (modifiers[name] === true ? name : modifiers[name]);
  const entry = excludes.find((each) => Object.entries(each).every(([name, words]) => words.includes(wordOf(name) ?? '')));
  return entry && slots.flatMap(({ name }) => (Object.hasOwn(entry, name) ? (wordOf(name) ?? []) : []));
}

/** The farthest place any row came to. */
interface Trace {
  at: number;
  expected: Set<string>;
}

/** The slots of a row from one on, against the modifiers from one on; an optional slot is tried first. */
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
