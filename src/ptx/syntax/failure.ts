/** Messages for a line that does not match: the position of the failure, the expected tokens and the actual one. */
import type { MatchResult } from 'ohm-js';
import { closest } from '../../base/closest.ts';
import type { Diagnostics } from '../../base/diagnostic.ts';
import type { Span } from '../../base/source.ts';
import type { Cursor } from './cursor.ts';
import { grammar } from './grammar.ts';
import { afterBareOpcode, startsStatement } from './layout.ts';
import type { LineRule } from './line.ts';
import { layoutOf, matchLine } from './shape.ts';
import { mayStartLine, opcodeOf, tokenText } from './split.ts';
import { Kind, type Tokens } from './tokens.ts';

/** The position of the failure (a token of the line, or its count if the line is too short), and the expectations there. */
interface FailurePoint {
  readonly token: number;
  readonly expected: readonly Expectation[];
}

interface Expectation {
  readonly text: string;
  /** True for words of the grammar, false for descriptions such as "a name". */
  readonly isLiteral: boolean;
}

/**
 * Reports CM1001 to CM1004 for a line that does not match its rule. If only the terminator is missing, returns the token that starts the
 * next line of text.
 */
export function reportFailure(c: Cursor, rule: LineRule, diagnostics: Diagnostics): number | undefined {
  const { tokens } = c;
  const next = rule === 'BodyLine' ? afterBareOpcode(tokens, opcodeOf(tokens, c.index[0]!)) : -1;
  if (next >= 0) return reportMissing(c, next, ';', '`;`', diagnostics);
  const { token, expected } = failurePointOf(c, rule);
  const at = token < c.count ? c.index[token]! : (c.index[c.count - 1] ?? -1) + 1;
  const span: Span = { start: tokens.starts[at]!, end: tokens.ends[at]! };
  const kind = at < tokens.count ? tokens.kinds[at]! : 0;
  const text = tokenText(tokens, at);
  if (kind === Kind.badNumber) return void diagnostics.report('CM1003', { text }, { span, ...numberHelp(text) });
  if (kind === Kind.badString) return void diagnostics.report('CM1004', {}, { span });
  const literals = expected.filter((e) => e.isLiteral).map((e) => e.text);
  const near = kind === Kind.dotWord ? closest(text, [...literals, ...hiddenWords(expected)]) : undefined;
  const help = near ? { help: `did you mean \`${near}\`?` } : missingDot(c, rule);
  if (token === 0 && kind === Kind.dotWord && isStatement(rule))
    return void diagnostics.report('CM1002', { name: text }, { span, ...help });
  const mark = near === undefined && isStatement(rule) && kind !== Kind.bad ? missingMark(c, at, literals) : undefined;
  if (mark !== undefined)
    return reportMissing(c, at, mark, listed(closingOf(expected).filter((e) => e.text !== ':' || mark === ':')), diagnostics);
  diagnostics.report(
    'CM1001',
    { expected: token === 0 ? startOf[rule] : listed(shownOf(expected)), found: foundAt(c, at) },
    { span, ...help },
  );
  return undefined;
}

/** A description of the token at which matching stopped. */
function foundAt({ tokens }: Cursor, at: number): string {
  const text = tokenText(tokens, at);
  return at >= tokens.count ? 'the end of the file' : `\`${text.length > 40 ? `${text.slice(0, 37)}...` : text}\``;
}

/** Reports a missing mark before a token. Returns the token if the line must end before it. */
function reportMissing(c: Cursor, at: number, mark: string, expected: string, diagnostics: Diagnostics): number | undefined {
  const { tokens } = c;
  const end = tokens.ends[at - 1]!;
  const more = at < tokens.count ? [{ span: { start: tokens.starts[at]!, end: tokens.ends[at]! }, text: 'not expected here' }] : [];
  diagnostics.report('CM1001', { expected, found: foundAt(c, at) }, { span: { start: end, end }, label: `add \`${mark}\` here`, more });
  return mark === ',' ? undefined : at;
}

/** Descriptions of the start of a line, instead of a list of every directive. */
export const startOf: Record<LineRule, string> = {
  ModuleLine: 'a directive, a function or a variable',
  BodyLine: 'an instruction, a label or a declaration',
  SectionLine: 'a label or data',
  Initializer: 'an initial value',
  Parameter: 'a parameter',
};

const isStatement = (rule: LineRule): boolean => rule !== 'Initializer' && rule !== 'Parameter';

function failurePointOf(c: Cursor, rule: LineRule): FailurePoint {
  const { text, starts, ends } = layoutOf(c);
  const match = matchLine(text, rule);
  const position = failed(match).getRightmostFailurePosition();
  let token = ends.findIndex((end) => position < end);
  if (token < 0) token = c.count;
  const inside = token < c.count && position > starts[token]!;
  // A keyword that is a prefix of the token, as in `.entryx`, stops Ohm inside the token. A sentinel in its place stops Ohm before it.
  const stoppedMatch = inside ? matchLine(`${text.slice(0, starts[token])}\u00a7`, rule) : match;
  return { token, expected: [...expectations(stoppedMatch), ...terminators(stoppedMatch, rule)] };
}

/** The tokens that may follow an element of a list, which is matched without them. */
const afterElement: Partial<Record<LineRule, readonly string[]>> = { Initializer: [',', '}'], Parameter: [',', ')'] };

/** Those tokens, if the element could end at the failure. */
function terminators(match: MatchResult, rule: LineRule): Expectation[] {
  const mayEnd = failed(match)
    .getRightmostFailures()
    .some((failure) => failure.toString() === 'end of input');
  return mayEnd ? (afterElement[rule] ?? []).map((text) => ({ text, isLiteral: true })) : [];
}

interface Failure {
  isFluffy(): boolean;
  type: 'description' | 'string' | 'code';
  toString(): string;
}

/** The fields of a failed match that ohm-js 17 omits from its types. */
interface FailedMatch {
  getRightmostFailurePosition(): number;
  getRightmostFailures(): Failure[];
}

const failed = (match: MatchResult): FailedMatch => match as unknown as FailedMatch;

function expectations(match: MatchResult): Expectation[] {
  const failures = failed(match).getRightmostFailures();
  const seen = new Map<string, Expectation>();
  for (const failure of failures) {
    if (failure.type === 'code') continue;
    const isLiteral = failure.type === 'string';
    const text = isLiteral ? (JSON.parse(failure.toString()) as string) : failure.toString();
    if (text !== 'end of input' && !text.startsWith('not ')) seen.set(text, { text, isLiteral });
  }
  return [...seen.values()];
}

/** Descriptions are listed before words of the grammar. */
const rank = ({ text, isLiteral }: Expectation): number => (isLiteral ? 1 : text === 'an operator' ? 2 : 0);

/** At most five expectations, in one sentence. If an operand may end here, only its terminators are listed. */
function listed(shown: readonly Expectation[]): string {
  const maxExpectations = 5;
  const kept = [...shown].sort((a, b) => rank(a) - rank(b) || (a.text < b.text ? -1 : 1)).slice(0, maxExpectations);
  const words = kept.map(({ text, isLiteral }) => (isLiteral ? `\`${text}\`` : text)).sort();
  if (shown.length > maxExpectations) return `${words.join(', ')} or one of ${shown.length - maxExpectations} more`;
  if (words.length < 2) return words[0] ?? 'the end of the line';
  return `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}

/** The marks that may end an operand. */
const closingOf = (expected: readonly Expectation[]): readonly Expectation[] =>
  expected.filter((e) => e.isLiteral && ';:,]})'.includes(e.text));

const operand: Expectation = { text: 'an operand', isLiteral: false };

/** The expectations to show: terminators, the start of an operand, or a missing type, if any of them applies. */
function shownOf(expected: readonly Expectation[]): readonly Expectation[] {
  const isDescribed = (...texts: string[]): boolean => texts.every((text) => expected.some((e) => !e.isLiteral && e.text === text));
  const closing = closingOf(expected);
  if (isDescribed('a name', 'an integer')) return [operand, ...closing];
  if (isDescribed('a type')) return expected.filter((e) => e.text === 'a type');
  return closing.some((e) => e.text === ',' || e.text === ';') ? closing : expected;
}

/** The mark that is missing before a token: a terminator, if another line could start with the token. */
function missingMark({ tokens }: Cursor, at: number, literals: readonly string[]): string | undefined {
  if (at === 0) return undefined;
  if (startsStatement(tokens, at)) return [';', ':'].find((each) => literals.includes(each));
  return literals.includes(',') && startsOperand(tokens, at) ? ',' : undefined;
}

const operandStarts = new Set<number>([Kind.integer, Kind.decimalFloat, Kind.hexFloat, ...[...'[{'].map((each) => each.charCodeAt(0))]);

/** Whether a token can only start an operand or a parameter. */
function startsOperand(tokens: Tokens, at: number): boolean {
  const text = tokenText(tokens, at);
  return (
    operandStarts.has(tokens.kinds[at]!) || text === '.param' || (tokens.kinds[at] === Kind.word && text.length > 1 && text[0] === '%')
  );
}

/** Help for a directive without its dot. */
function missingDot(c: Cursor, rule: LineRule): { help?: string } {
  const word = `.${tokenText(c.tokens, c.index[0]!)}`;
  const isDirective = isStatement(rule) && c.tokens.kinds[c.index[0]!] === Kind.word && c.count > 1 && mayStartLine(word);
  return isDirective ? { help: `did you mean \`${word}\`?` } : {};
}

/** Help for a malformed number. */
function numberHelp(text: string): { help?: string } {
  const [, exact, digits = ''] = /^0([fFdD])([0-9a-fA-F]*)$/.exec(text) ?? [];
  const expectedDigits = exact === undefined ? 0 : exact.toLowerCase() === 'f' ? 8 : 16;
  if (exact !== undefined && digits.length !== expectedDigits)
    return { help: `\`0${exact}\` needs ${expectedDigits} hexadecimal digits, but has ${digits.length}` };
  const [, float, suffix] = /^(\d+\.\d*|\.\d+|\d+)([fFlL]|ul|ull|u|ll)$/.exec(text) ?? [];
  if (float === undefined || suffix === undefined) return /^0\d+$/.test(text) ? { help: 'a number that starts with `0` is octal' } : {};
  if (suffix === 'u' && !float.includes('.')) return { help: `did you mean \`${float}U\`?` };
  return { help: `numbers have no suffix \`${suffix}\`: did you mean \`${float}\`?` };
}

/** The words behind a description: the types, for "a type". */
function hiddenWords(expected: readonly Expectation[]): string[] {
  return expected.some((e) => e.text === 'a type') ? literalsOf('type') : [];
}

interface Expression {
  readonly obj?: unknown;
  readonly terms?: readonly Expression[];
  readonly factors?: readonly Expression[];
  readonly args?: readonly Expression[];
}

/** The literals of a rule of the grammar. */
function literalsOf(rule: string): string[] {
  const words: string[] = [];
  const visit = (e: Expression): void => {
    if (typeof e.obj === 'string') words.push(e.obj);
    for (const part of [...(e.terms ?? []), ...(e.factors ?? []), ...(e.args ?? [])]) visit(part);
  };
  visit((grammar() as unknown as { rules: Record<string, { body: Expression }> }).rules[rule]!.body);
  return words;
}
