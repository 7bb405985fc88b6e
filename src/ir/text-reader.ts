/** The reader of the IR's text form, with faults as CM3002. */
import type { Diagnostics } from '../base/diagnostic.ts';
import type { SourceFile, Span } from '../base/source.ts';
import type { Token, TokenKind } from './text-tokens.ts';
import { isScalar, isType, type ScalarType, type Type } from './types.ts';

/** Thrown by `fail` after its report; caught where reading can resume. */
const failed = Symbol('failed');

/** A place in the tokens of a text. */
export interface Reader {
  readonly file: SourceFile;
  readonly tokens: readonly Token[];
  at: number;
  readonly diagnostics: Diagnostics;
}

/** Runs a rule; after a fault, reading resumes at the next line. */
export function guarded<T>(r: Reader, rule: () => T): T | undefined {
  const before = r.at;
  try {
    return rule();
  } catch (error) {
    if (error !== failed) throw error;
    skipLine(r, before);
    return undefined;
  }
}

function skipLine(r: Reader, before: number): void {
  if (r.at === before) r.at++;
  const line = r.file.position(r.tokens[Math.min(r.at, r.tokens.length) - 1]!.start).line;
  while (peek(r).kind !== 'end' && r.file.position(peek(r).start).line === line) r.at++;
}

/** The token here; the last one forever. */
export const peek = (r: Reader): Token => r.tokens[Math.min(r.at, r.tokens.length - 1)]!;
/** Whether the next token is this mark. */
export const isAt = (r: Reader, mark: string): boolean => peek(r).kind === 'mark' && peek(r).text === mark;

/** The token here, and one step on. */
export function next(r: Reader): Token {
  const token = peek(r);
  r.at++;
  return token;
}

/** Adds CM3002 at a place. */
export function report(r: Reader, span: Span, why: string): void {
  r.diagnostics.report('CM3002', { why }, { span: { start: span.start, end: span.end } });
}

/** Reports at a token and aborts the line. */
export function fail(r: Reader, token: Token, why: string): never {
  report(r, token, why);
  throw failed;
}

/** Consumes a mark, which must be next. */
export function expect(r: Reader, mark: string): void {
  if (!isAt(r, mark)) fail(r, peek(r), `\`${mark}\` is wanted, not \`${peek(r).text}\``);
  r.at++;
}

/** The token here, which must be of a kind. */
export function expectKind(r: Reader, kind: TokenKind, what: string): Token {
  if (peek(r).kind !== kind) fail(r, peek(r), `${what} is wanted, not \`${peek(r).text}\``);
  return next(r);
}

/** Consumes a word, which must be next. */
export function expectWord(r: Reader, word: string): void {
  if (!takeWord(r, word)) fail(r, peek(r), `\`${word}\` is wanted, not \`${peek(r).text}\``);
}

/** Consumes a word where it is next; returns whether it was. */
export function takeWord(r: Reader, word: string): boolean {
  const token = peek(r);
  if (token.kind !== 'word' || token.text !== word) return false;
  r.at++;
  return true;
}

/** A word of a closed set. */
export function oneOf<const T extends string>(r: Reader, words: readonly T[]): T {
  const token = expectKind(r, 'word', `one of ${words.join(', ')}`);
  const word = words.find((w) => w === token.text);
  return word ?? fail(r, token, `one of ${words.join(', ')} is wanted, not \`${token.text}\``);
}

/** Items in parentheses, commas between them. */
export function list(r: Reader, item: () => void): void {
  expect(r, '(');
  for (let first = true; !isAt(r, ')'); first = false) {
    if (!first) expect(r, ',');
    item();
  }
  expect(r, ')');
}

/** A quoted text. */
export function string(r: Reader): string {
  const token = expectKind(r, 'string', 'a quoted name');
  try {
    return JSON.parse(token.text) as string;
  } catch {
    return fail(r, token, `${token.text} has an unknown escape`);
  }
}

/** A whole number. */
export function number(r: Reader): number {
  const token = expectKind(r, 'number', 'a number');
  const value = Number(token.text);
  return Number.isSafeInteger(value) ? value : fail(r, token, `${token.text} is too large`);
}

/** A word and the number that follows it. */
export function numberAfter(r: Reader, word: string): number {
  expectWord(r, word);
  return number(r);
}

/** Bytes as quoted pairs of hexadecimal digits. */
export function bytes(r: Reader): Uint8Array {
  const token = peek(r);
  const text = string(r);
  if (!/^(?:[0-9a-f]{2})*$/.test(text)) fail(r, token, 'initial bytes are pairs of hexadecimal digits');
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

/** A type by its spelling. */
export function type(r: Reader): Type {
  const token = expectKind(r, 'word', 'a type');
  return isType(token.text) ? token.text : fail(r, token, `there is no type ${token.text}`);
}

/** A scalar type by its spelling. */
export function scalar(r: Reader): ScalarType {
  const token = expectKind(r, 'word', 'a scalar type');
  return isScalar(token.text) ? token.text : fail(r, token, `there is no scalar type ${token.text}`);
}

/** A place in the source, `@start:end`, where one is next. */
export function location(r: Reader): Span | undefined {
  if (!isAt(r, '@')) return undefined;
  r.at++;
  const start = number(r);
  expect(r, ':');
  return { start, end: number(r) };
}
