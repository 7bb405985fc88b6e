/** Messages for an instruction without a row: misspelled, missing, superfluous or conflicting modifiers. */
import { closest } from '../../base/closest.ts';
import type { Diagnostics } from '../../base/diagnostic.ts';
import type { SourceFile } from '../../base/source.ts';
import { bitsOfType, isFloatType, registerTypes } from '../model/types.ts';
import { type Instruction, instructionName, modifierSpan } from '../syntax/ast.ts';
import { rowsByName } from '../table/index.ts';
import { type FormMismatch, isMatch, tryForm } from './match.ts';

/** The largest number of modifiers that a message lists. */
const maxListed = 12;

/** The remaining budget of spelling searches in a module: a damaged file has very many faults. */
export interface SearchBudget {
  left: number;
}

export const newSearchBudget = (): SearchBudget => ({ left: 200 });

/** A copy of a list with `count` words replaced at an index. */
const spliced = (list: readonly string[], at: number, count: number, ...words: string[]): string[] => [
  ...list.slice(0, at),
  ...words,
  ...list.slice(at + count),
];

const listOf = (words: readonly string[]): string =>
  `${words
    .slice(0, maxListed)
    .map((word) => `.${word}`)
    .join(' ')}${words.length > maxListed ? ' …' : ''}`;

/** Reports CM1102, an unknown opcode. */
export function reportOpcode(instruction: Instruction, file: SourceFile, diagnostics: Diagnostics): void {
  const { opcode } = instruction;
  const near = closest(opcode, rowsByName().keys());
  const help = isLabel(instruction, file) ? 'a label ends with `:`' : near === undefined ? undefined : `did you mean \`${near}\`?`;
  diagnostics.report('CM1102', { name: opcode }, { span: modifierSpan(file, instruction, -1), ...(help === undefined ? {} : { help }) });
}

/** Whether a word alone on its line is followed by an instruction, as a label would be. */
function isLabel({ modifiers, span, opcode, guard }: Instruction, { text }: SourceFile): boolean {
  return !guard && modifiers.length === 0 && /^[ \t\r]*\n\s*[a-z@]/.test(text.slice(span.start + opcode.length, span.end));
}

/** Reports CM1103 or CM1104: modifiers that no row has. */
export function reportModifiers(
  instruction: Instruction,
  mismatch: FormMismatch,
  file: SourceFile,
  searches: SearchBudget,
  diagnostics: Diagnostics,
): void {
  const { opcode, modifiers } = instruction;
  const { at, expected } = mismatch;
  const forms = rowsByName()
    .get(opcode)!
    .map((row) => row.syntax);
  const notes = forms.length <= 4 ? forms.map((form) => `form: ${form}`) : [];
  const name = instructionName(instruction);
  const word = modifiers[at];
  const isSearched = searches.left-- > 0;
  if (word === undefined) {
    const end = instruction.opcodeSpan.end;
    const what = `one of ${listOf(expected)} must follow`;
    diagnostics.report('CM1104', { instruction: name, what }, { span: { start: end - 1, end }, notes });
    return;
  }
  const near = nearModifier(word, expected);
  const isLikely = near !== undefined && isMatch(tryForm(opcode, spliced(modifiers, at, 1, near)));
  const missing = isLikely || !isSearched ? undefined : missingWord(opcode, modifiers, at);
  if (missing) {
    const what = `one of ${listOf(missing.words)} must precede \`.${modifiers[missing.before]}\``;
    diagnostics.report('CM1104', { instruction: name, what }, { span: modifierSpan(file, instruction, missing.before), notes });
    return;
  }
  const help = helpFor(instruction, mismatch, near, isLikely, isSearched);
  const span = modifierSpan(file, instruction, at);
  diagnostics.report('CM1103', { modifier: word, instruction: name }, { span, notes, ...(help === undefined ? {} : { help }) });
}

function helpFor(
  { opcode, modifiers }: Instruction,
  { at, expected, conflicting: apart }: FormMismatch,
  near: string | undefined,
  isMeant: boolean,
  isSearched: boolean,
): string | undefined {
  const conflictHelp = (words: readonly string[]): string => `${words.map((one) => `\`.${one}\``).join(' and ')} do not go together`;
  // A single conflicting modifier means that another one is missing.
  if (apart && apart.length > 1) return conflictHelp(apart);
  if (isMeant) return `did you mean \`.${near}\`?`;
  const superfluous = isSearched ? modifiers.filter((_, i) => isMatch(tryForm(opcode, spliced(modifiers, i, 1)))) : [];
  const [one] = superfluous;
  if (one !== undefined && superfluous.length === 1 && one !== modifiers[at]) return conflictHelp([one, modifiers[at]!]);
  if (superfluous.length === 2 && superfluous[0] !== superfluous[1]) return conflictHelp(superfluous);
  // Without its space the access would be a different one.
  if (one !== undefined && !spaces.has(one)) return `remove \`.${one}\``;
  if (near !== undefined) return `did you mean \`.${near}\`?`;
  return expected.length > 0 ? `expected here: ${listOf(expected)}` : undefined;
}

const spaces = new Set(['global', 'shared', 'local', 'const', 'param']);

/** The nearest modifier. Among types, one with the same bits, because types are rarely misspelled. */
function nearModifier(word: string, expected: readonly string[]): string | undefined {
  const isType = Object.hasOwn(registerTypes, word);
  const fits = (one: string): boolean => bitsOfType(one) === bitsOfType(word) && isFloatType(one) === isFloatType(word);
  return closest(word, isType ? expected.filter(fits) : expected);
}

/** A position, and the modifiers that make the instruction valid if one of them is inserted there. */
function missingWord(opcode: string, modifiers: readonly string[], at: number): { before: number; words: string[] } | undefined {
  for (let before = at; before >= 0; before--) {
    const upTo = tryForm(opcode, modifiers.slice(0, before));
    const expected = isMatch(upTo) || upTo.at < before ? [] : upTo.expected;
    const words = expected.filter((word) => isMatch(tryForm(opcode, spliced(modifiers, before, 0, word))));
    if (words.length > 0) return { before, words };
  }
  return undefined;
}
