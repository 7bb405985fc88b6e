/** The view of a template on one line of PTX: its tokens, by index in the line. */
import type { Code, Holes } from '../../base/catalogue/index.ts';
import type { Span } from '../../base/source.ts';
import type { Operand, Variable } from './ast.ts';
import type { Tokens } from './tokens.ts';

/**
 * Token `i` of the line is token `index[i]` of the text. The index skips modifiers of an opcode, which the grammar does not distinguish,
 * and the content of initializer and parameter lists. Their elements are parsed as lines of their own and stored in `elided` under the
 * opening token.
 */
export interface Cursor {
  readonly tokens: Tokens;
  index: Int32Array;
  count: number;
  readonly elided: Map<number, readonly (Operand | Variable)[]>;
  readonly report: <C extends Code>(code: C, holes: Holes<C>, span: Span) => void;
}

/** Builds a subtree from the tokens of a line. */
export type Make<T> = (c: Cursor) => T;

/** The text of a token. */
export function textOf(c: Cursor, token: number): string {
  const at = c.index[token]!;
  return c.tokens.text.slice(c.tokens.starts[at], c.tokens.ends[at]);
}

/** The text of a token without its first and last character, or without its first only. */
export function innerText(c: Cursor, token: number, fromEnd = 1): string {
  const at = c.index[token]!;
  return c.tokens.text.slice(c.tokens.starts[at]! + 1, c.tokens.ends[at]! - fromEnd);
}

/** The span from the start of one token to the end of another. */
export function spanOf(c: Cursor, first: number, last: number): Span {
  return { start: c.tokens.starts[c.index[first]!]!, end: c.tokens.ends[c.index[last]!]! };
}

const maxExact = 2n ** 64n - 1n;

/** The value of an integer token; reports CM1008. */
export function integerOf(c: Cursor, token: number): bigint {
  const text = textOf(c, token);
  const value = integerValue(text);
  if (value > maxExact) c.report('CM1008', { text }, spanOf(c, token, token));
  return value;
}

/** The value of an integer token as an exact number; reports CM1012 and CM1008. */
export function numberOf(c: Cursor, token: number): number {
  const text = textOf(c, token);
  if (text.length < 10 && text[0] !== '0' && !text.endsWith('U')) return Number(text);
  const value = Number(integerOf(c, token));
  if (value > Number.MAX_SAFE_INTEGER && value < 2 ** 64) c.report('CM1012', { text }, spanOf(c, token, token));
  return value;
}

/** The value of an integer literal: decimal, hexadecimal, octal or binary, with an optional `U`. */
function integerValue(text: string): bigint {
  const digits = text.endsWith('U') ? text.slice(0, -1) : text;
  return BigInt(/^0[0-7]/.test(digits) ? `0o${digits.slice(1)}` : digits);
}

/** A copy of the tokens of a line with twice the room. */
export function enlarged(index: Int32Array): Int32Array {
  const larger = new Int32Array(index.length * 2);
  larger.set(index);
  return larger;
}
