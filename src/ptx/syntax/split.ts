/**
 * Splits the tokens into lines, the units that the grammar matches. A line ends with its semicolon, its colon (labels) or the brace that
 * opens a body or a section. A directive without a terminator ends before the first token that cannot continue it. Every token belongs to
 * exactly one line, except braces of scopes, which are between lines.
 */
import { Kind, type Tokens } from './tokens.ts';

/** The construct that contains a line. */
export type Level = 'module' | 'body' | 'section';

export const punctuation = (character: string): number => character.charCodeAt(0);

const openBrace = punctuation('{');
const closeBrace = punctuation('}');
const semicolon = punctuation(';');
const colon = punctuation(':');
const guard = punctuation('@');
const negation = punctuation('!');
const comma = punctuation(',');
const equals = punctuation('=');
const openParenthesis = punctuation('(');
const closeParenthesis = punctuation(')');

/** The change in nesting depth by token kind. */
export const depths = new Int8Array(256);
for (const c of '([{?') depths[punctuation(c)] = 1;
for (const c of ')]}') depths[punctuation(c)] = -1;
/** Whether a token kind is a sign before an operand. */
export const prefixes = new Uint8Array(256);
for (const c of '!~+-') prefixes[punctuation(c)] = 1;

const bareDirectives = new Set(['.version', '.target', '.address_size', '.file', '.loc']);

/** The text of a token. */
export const tokenText = (tokens: Tokens, at: number): string => tokens.text.slice(tokens.starts[at], tokens.ends[at]);

/** The token after the line that starts at `at`; always beyond `at`, unless `at` is a `}`. */
export function lineEnd(tokens: Tokens, at: number, level: Level): number {
  const { kinds } = tokens;
  if (level !== 'module' && kinds[at] === Kind.word && kinds[at + 1] === colon) return at + 2;
  if (level === 'section') return bareEnd(tokens, at);
  if (kinds[at] === Kind.dotWord && bareDirectives.has(tokenText(tokens, at))) return bareEnd(tokens, at);
  return level === 'module' ? itemEnd(tokens, at) : statementEnd(tokens, at);
}

/** Whether the line at `at` is the head of a function. */
export function startsFunction(tokens: Tokens, at: number): boolean {
  const isKind = (token: number): boolean => tokens.kinds[token] === Kind.dotWord && /^\.(entry|func)$/.test(tokenText(tokens, token));
  return tokens.kinds[at] === Kind.dotWord && (isKind(at) || isKind(at + 1));
}

/** The opcode of the instruction that starts at `at`, or -1 if no instruction can start there. */
export function opcodeOf({ kinds, text, starts }: Tokens, at: number): number {
  const token = kinds[at] !== guard ? at : kinds[at + 1] === negation ? at + 3 : at + 2;
  if (kinds[token] !== Kind.word || kinds[token + 1] === colon) return -1;
  const first = text.charCodeAt(starts[token]!);
  return first >= 97 && first <= 122 ? token : -1;
}

/** The token that closes the bracket at `at`, or `end`; only brackets of the same kind count. */
export function closing({ kinds }: Tokens, at: number, end: number): number {
  const open = kinds[at]!;
  const close = open === openBrace ? closeBrace : closeParenthesis;
  let depth = 0;
  for (let i = at; i < end; i++) {
    if (kinds[i] === open) depth++;
    else if (kinds[i] === close && --depth === 0) return i;
  }
  return end;
}

const parameterSpaces = new Set(['.param', '.reg']);

/** The rule for the elements of the list that opens at `at`, if they are lines of their own. */
export function listAt(tokens: Tokens, at: number, lineStart: number): 'Initializer' | 'Parameter' | undefined {
  const { kinds } = tokens;
  if (at === lineStart) return undefined;
  if (kinds[at] === openBrace) return kinds[at - 1] === equals ? 'Initializer' : undefined;
  if (kinds[at] !== openParenthesis || kinds[at + 1] !== Kind.dotWord) return undefined;
  return parameterSpaces.has(tokenText(tokens, at + 1)) ? 'Parameter' : undefined;
}

const linkages = new Set(['.extern', '.visible', '.weak', '.common']);
const itemStarts = new Set([
  ...linkages,
  ...['.entry', '.func', '.reg', '.sreg', '.const', '.global', '.local', '.param', '.shared', '.tex', '.pragma', '.alias', '.section'],
]);

/** Whether a dotted word starts lines. */
export const mayStartLine = (word: string): boolean => itemStarts.has(word) || bareDirectives.has(word);

/**
 * A declaration or a function head: the first `{` without a preceding `=` opens a body. For error recovery, a line ends before a linkage,
 * and a line with an unknown first word ends before a dotted word that starts a line of text. The head of a function ends before the next
 * item, because the semicolon of a declaration is optional.
 */
function itemEnd(tokens: Tokens, at: number): number {
  const { kinds, count } = tokens;
  let [braces, parentheses, lastWord, isFunction] = [0, 0, '', false];
  const isKnown = kinds[at] !== Kind.dotWord || itemStarts.has(tokenText(tokens, at));
  for (let i = at; i < count; i++) {
    const kind = kinds[i]!;
    if (kind === Kind.dotWord) {
      lastWord = tokenText(tokens, i);
      if (i > at && braces + parentheses === 0) {
        if (linkages.has(lastWord) || (!isKnown && !isFunction && startsRow(tokens, i))) return i;
        if (isFunction && afterHead.has(lastWord)) return i;
      }
      isFunction ||= lastWord === '.entry' || lastWord === '.func';
    } else if (kind === semicolon) {
      // The semicolon of a pragma does not end the head around it.
      if (!isFunction || lastWord !== '.pragma') return i + 1;
      lastWord = '';
    } else if (kind === openBrace) {
      if (braces === 0 && kinds[i - 1] !== equals) return i + 1;
      braces++;
    } else if (kind === closeBrace && braces-- === 0) return i;
    else if (kind === openParenthesis) parentheses++;
    else if (kind === closeParenthesis) parentheses--;
  }
  return count;
}

/** Words that can occur neither in the head of a function nor between head and body. */
const afterHead = new Set([...itemStarts, ...bareDirectives].filter((word) => word !== '.pragma'));

const startsRow = ({ text, ends, starts }: Tokens, at: number): boolean => text.slice(ends[at - 1], starts[at]).includes('\n');

/**
 * A statement of a body. Without a semicolon it ends before the `}` of its scope, before the `{` of a nested scope, or after an
 * unterminated string.
 */
function statementEnd({ kinds, count }: Tokens, at: number): number {
  let braces = 0;
  let scope = -1;
  for (let i = at; i < count; i++) {
    const kind = kinds[i]!;
    if (kind === semicolon || kind === Kind.badString) return braces > 0 && scope > at ? scope : i + 1;
    if (kind === openBrace) {
      if (braces++ === 0) scope = i > at && opensOperand(kinds[i - 1]!) ? -1 : i;
    } else if (kind === closeBrace && braces-- === 0) return i;
  }
  return braces > 0 && scope > at ? scope : count;
}

const beforeOperand = new Set([comma, equals, Kind.dotWord as number, punctuation('|'), punctuation('('), punctuation('[')]);
const opensOperand = (kindBefore: number): boolean => beforeOperand.has(kindBefore);

const continuing = new Set<number>([
  ...[...',+-()*/~&|^<>%'].map(punctuation),
  Kind.integer,
  Kind.decimalFloat,
  Kind.hexFloat,
  Kind.string,
  Kind.operator,
  Kind.badNumber,
  Kind.badString,
]);
const beforeWord = new Set<number>([...[...',+-(*/~&|^<>%'].map(punctuation), Kind.operator]);

/** A directive without terminator. Its operands are numbers, strings, and words after the directive, a comma or an operator. */
function bareEnd(tokens: Tokens, at: number): number {
  const { kinds, count } = tokens;
  const isLoc = tokenText(tokens, at) === '.loc';
  let i = at + 1;
  for (; i < count; i++) {
    const kind = kinds[i]!;
    if (continuing.has(kind)) continue;
    if (kind !== Kind.word && kind !== Kind.dotWord) break;
    const mayFollow = i === at + 1 || beforeWord.has(kinds[i - 1]!) || (isLoc && isInlineKeyword(tokens, i - 1));
    if (!mayFollow || (kind === Kind.dotWord && i === at + 1 && bareDirectives.has(tokenText(tokens, i)))) break;
  }
  return i;
}

/** Whether a token is one of the two keywords of `.loc` and a word or number follows. */
export function isInlineKeyword({ text, starts, ends }: Tokens, at: number): boolean {
  const length = ends[at]! - starts[at]!;
  return (length === 13 && text.startsWith('function_name', starts[at])) || (length === 10 && text.startsWith('inlined_at', starts[at]));
}
