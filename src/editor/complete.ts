/** What is possible at an offset: opcodes, the modifiers that a form allows next, and names. */
import type { Span } from '../base/source.ts';
import { isMatch, namesIn, rowsByName, type Scope, specialRegisters, tryForm } from '../ptx/index.ts';
import type { PtxDocument } from './document.ts';
import { namesOf } from './names.ts';

/** A word that can be inserted in place of `Completions.span`. */
export interface Completion {
  readonly word: string;
  readonly kind: 'opcode' | 'modifier' | 'name' | 'special register';
  readonly doc?: string;
}

/** The words, and the part of one that is there already. */
export interface Completions {
  readonly span: Span;
  readonly list: readonly Completion[];
}

const none: readonly Completion[] = [];
/** A statement up to the cursor: a guard, an opcode with modifiers, operands. */
const statement = /^\s*(?:@!?[\w$%]+\s+)?([a-z][a-z0-9]*)?((?:\.[\w:]*)*)([\s\S]*)$/;

/** The words that are possible at an offset in the body of a function. */
export function completionsAt(document: PtxDocument, offset: number): Completions {
  const { text } = document;
  const place = document.isUnread ? undefined : document.placeAt(offset);
  const focus = place ? undefined : document.focusAt(offset);
  const word = /[\w$%]*$/.exec(text.slice(Math.max(0, offset - 200), offset))![0];
  const span = { start: offset - word.length, end: offset };
  const head = place ? place.open : focus?.fn.nameSpan.end;
  if (head === undefined || isInComment(text, offset)) return { span, list: none };
  const start = Math.max(...[';', '{', '}', ':'].map((mark) => lastBefore(text, mark, offset)), head) + 1;
  const [, opcode = '', modifiers = '', rest = ''] = statement.exec(text.slice(start, offset)) ?? [];
  if (rest === '' && modifiers !== '') return { span, list: modifiersAfter(opcode, modifiers.split('.').slice(1, -1)) };
  if (rest === '') return { span, list: opcodes() };
  const { fn, module } = (focus ?? document.focusAt(offset)) || {};
  if (!fn || !module) return { span, list: none };
  const { flat, scope } = namesOf(fn, module);
  const inner = flat.filter((item) => item.kind === 'instruction' && item.instruction.span.start <= offset).at(-1);
  return { span, list: names(inner?.kind === 'instruction' ? inner.scope : scope) };
}

/** The last mark before an offset; `::` is no mark. */
function lastBefore(text: string, mark: string, offset: number): number {
  let at = text.lastIndexOf(mark, offset - 1);
  while (mark === ':' && at > 0 && (text[at - 1] === ':' || text[at + 1] === ':')) at = text.lastIndexOf(mark, at - 2);
  return at;
}

const isInComment = (text: string, offset: number): boolean => text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset).includes('//');

let opcodeList: readonly Completion[] | undefined;
function opcodes(): readonly Completion[] {
  opcodeList ??= [...rowsByName()].map(([word, rows]) => ({ word, kind: 'opcode', doc: rows[0]!.doc }));
  return opcodeList;
}

/** A word that no form has, so that the search says what it expects in its place. */
const noModifier = '?';

function modifiersAfter(opcode: string, modifiers: readonly string[]): Completion[] {
  const found = tryForm(opcode, [...modifiers, noModifier]);
  const expected = isMatch(found) || found.at < modifiers.length ? [] : found.expected;
  return [...new Set(expected)].map((word) => ({ word: word.replace(/^\./, ''), kind: 'modifier' }));
}

function names(scope: Scope): Completion[] {
  const own = [...new Set(namesIn(scope))].slice(0, 500).map((word): Completion => ({ word, kind: 'name' }));
  return [...own, ...[...specialRegisters.values()].map(({ name, doc }): Completion => ({ word: name, kind: 'special register', doc }))];
}
