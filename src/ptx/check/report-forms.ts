/** Words for an instruction that has no row: what is misspelt, missing, too many, or does not go together. */
import { closest } from '../../base/closest.ts';
import type { Diagnostics } from '../../base/diagnostic.ts';
import type { SourceFile } from '../../base/source.ts';
import { bitsOfType, isFloatType, registerTypes } from '../model/types.ts';
import { type Instruction, instructionName, modifierSpan } from '../syntax/ast.ts';
import { rowsByName } from '../table/index.ts';
import { type FormMismatch, isMatch, tryForm } from './match.ts';

/** Words that every sentence about modifiers lists at most. */
const listed = 12;

/** How many instructions of a module may still be compared with others for what was meant: a damaged file has very many. */
export interface Searches {
  left: number;
}

export const newSearches = (): Searches => ({ left: 200 });

/** A list with words taken out at a place, and others put in. */
const spliced = (list: readonly string[], at: number, count: number, ...words: string[]): string[] => [
  ...list.slice(0, at),
  ...words,
  ...list.slice(at + count),
];

const listOf = (words: readonly string[]): string =>
  `${words
    .slice(0, listed)
    .map((word) => `.${word}`)
    .join(' ')}${words.length > listed ? ' …' : ''}`;

/** Reports CM1102, an opcode that is none. */
export function reportOpcode(instruction: Instruction, file: SourceFile, diagnostics: Diagnostics): void {
  const { opcode } = instruction;
  const near = closest(opcode, rowsByName().keys());
  const help = isLabel(instruction, file) ? 'a label ends with `:`' : near === undefined ? undefined : `did you mean \`${near}\`?`;
  diagnostics.report('CM1102', { name: opcode }, { span: modifierSpan(file, instruction, -1), ...(help === undefined ? {} : { help }) });
}

/** A word on a row of its own, which an instruction follows. */
function isLabel({ modifiers, span, opcode, guard }: Instruction, { text }: SourceFile): boolean {
  return !guard && modifiers.length === 0 && /^[ \t\r]*\n\s*[a-z@]/.test(text.slice(span.start + opcode.length, span.end));
}

/** Reports CM1103 or CM1104: modifiers of which no row is made. */
export function reportModifiers(
  instruction: Instruction,
  mismatch: FormMismatch,
  file: SourceFile,
  searches: Searches,
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
  const isMeant = near !== undefined && isMatch(tryForm(opcode, spliced(modifiers, at, 1, near)));
  const missing = isMeant || !isSearched ? undefined : missingWord(opcode, modifiers, at);
  if (missing) {
    const what = `one of ${listOf(missing.words)} must stand before \`.${modifiers[missing.before]}\``;
    diagnostics.report('CM1104', { instruction: name, what }, { span: modifierSpan(file, instruction, missing.before), notes });
    return;
  }
  const help = helpFor(instruction, mismatch, near, isMeant, isSearched);
  const span = modifierSpan(file, instruction, at);
  diagnostics.report('CM1103', { modifier: word, instruction: name }, { span, notes, ...(help === undefined ? {} : { help }) });
}

function helpFor(
  { opcode, modifiers }: Instruction,
  { at, expected, apart }: FormMismatch,
  near: string | undefined,
  isMeant: boolean,
  isSearched: boolean,
): string | undefined {
  const opposed = (words: readonly string[]): string => `${words.map((one) => `\`.${one}\``).join(' and ')} do not go together`;
  // One word alone is apart from what is missing.
  if (apart && apart.length > 1) return opposed(apart);
  if (isMeant) return `did you mean \`.${near}\`?`;
  const spare = isSearched ? modifiers.filter((_, i) => isMatch(tryForm(opcode, spliced(modifiers, i, 1)))) : [];
  const [one] = spare;
  if (one !== undefined && spare.length === 1 && one !== modifiers[at]) return opposed([one, modifiers[at]!]);
  if (spare.length === 2 && spare[0] !== spare[1]) return opposed(spare);
  // Without its space an access is another one.
  if (one !== undefined && !spaces.has(one)) return `leave out \`.${one}\``;
  if (near !== undefined) return `did you mean \`.${near}\`?`;
  return expected.length > 0 ? `what can stand here: ${listOf(expected)}` : undefined;
}

const spaces = new Set(['global', 'shared', 'local', 'const', 'param']);

/** The nearest word; of types, one that holds the same bits, for a type is seldom misspelt as another. */
function nearModifier(word: string, expected: readonly string[]): string | undefined {
  const isType = registerTypes[word] !== undefined;
  const fits = (one: string): boolean => bitsOfType(one) === bitsOfType(word) && isFloatType(one) === isFloatType(word);
  return closest(word, isType ? expected.filter(fits) : expected);
}

/** A place, and the words of which one makes an instruction when it stands there. */
function missingWord(opcode: string, modifiers: readonly string[], at: number): { before: number; words: string[] } | undefined {
  for (let before = at; before >= 0; before--) {
    const upTo = tryForm(opcode, modifiers.slice(0, before));
    const expected = isMatch(upTo) || upTo.at < before ? [] : upTo.expected;
    const words = expected.filter((word) => isMatch(tryForm(opcode, spliced(modifiers, before, 0, word))));
    if (words.length > 0) return { before, words };
  }
  return undefined;
}
