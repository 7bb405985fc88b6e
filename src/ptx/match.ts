/**
 * Which row an instruction is a form of, by its opcode and modifiers. A word may only stand where a syntax line has it; where
 * none fits, the answer says how far the nearest row went and what could have stood there.
 */
import type { AnyModifiers, Row } from './row.ts';
import { rowsByName } from './table/index.ts';

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

const known = new Map<string, FormMatch | FormMismatch>();

/** The form of an opcode with modifiers; nothing for an opcode without rows. */
export function matchForm(opcode: string, modifiers: readonly string[]): FormMatch | FormMismatch | undefined {
  const rows = rowsByName.get(opcode);
  if (!rows) return undefined;
  const key = `${opcode}.${modifiers.join('.')}`;
  const found = known.get(key);
  if (found) return found;
  const made = matchRows(rows, modifiers);
  known.set(key, made);
  return made;
}

export const isMatch = (result: FormMatch | FormMismatch): result is FormMatch => 'row' in result;

function matchRows(rows: readonly Row[], modifiers: readonly string[]): FormMatch | FormMismatch {
  const trace: Trace = { at: 0, expected: new Set() };
  let found: FormMismatch | undefined;
  for (const row of rows) {
    const matched = matchSlots(row, modifiers, 0, 0, trace);
    if (!matched) continue;
    const apart = excluded(row, matched);
    // What a row excludes is illegal; rows that refuse more broadly do not make it legal.
    if (!apart) return found && isRefused(row) ? found : { row, modifiers: matched };
    found ??= { at: Math.max(...apart.map((word) => modifiers.indexOf(word))), expected: [], apart };
  }
  return found ?? { at: trace.at, expected: [...trace.expected] };
}

const isRefused = ({ status }: Row): boolean => typeof status === 'object' && 'refused' in status;

/** The words that a row does not take together, where all of them are there. */
function excluded({ excludes, slots }: Row, modifiers: AnyModifiers): string[] | undefined {
  const wordOf = (name: string): string | undefined => (modifiers[name] === true ? name : modifiers[name]);
  const entry = excludes.find((each) => Object.entries(each).every(([name, words]) => words.includes(wordOf(name) ?? '')));
  return entry && slots.filter(({ name }) => Object.hasOwn(entry, name)).map(({ name }) => wordOf(name)!);
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
