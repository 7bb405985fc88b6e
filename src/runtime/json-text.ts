/**
 * JSON with places: a reader that keeps the span of each value and key, so that a message can point at it. It accepts what `JSON.parse`
 * accepts, except for objects that repeat a key and values nested too deeply.
 * Source: RFC 8259, "The JavaScript Object Notation (JSON) Data Interchange Format".
 */
import type { Span } from '../base/source.ts';

/** A value and its place. */
export interface JsonNode {
  readonly span: Span;
  readonly value: string | number | boolean | null | readonly JsonNode[] | ReadonlyMap<string, JsonMember>;
}

/** An entry of an object. */
export interface JsonMember {
  readonly keySpan: Span;
  readonly node: JsonNode;
}

/** Why a text is not JSON, and where. */
export interface JsonFault {
  readonly why: string;
  readonly at: number;
}

/** The maximum nesting; recursion has to end before the stack does. */
const maxDepth = 64;

/** Reads a text; a leading byte order mark is skipped. */
export function readJson(text: string): JsonNode | JsonFault {
  const reader = new Reader(text);
  try {
    return reader.document();
  } catch (error) {
    if (error instanceof Fault) return { why: error.message, at: error.at };
    throw error;
  }
}

/** Whether a text could not be read. */
export const isJsonFault = (read: JsonNode | JsonFault): read is JsonFault => 'why' in read;

/** Ends the reading; it never leaves this file. */
class Fault extends Error {
  readonly at: number;
  constructor(why: string, at: number) {
    super(why);
    this.at = at;
  }
}

const words = new Map<string, boolean | null>([
  ['true', true],
  ['false', false],
  ['null', null],
]);

class Reader {
  readonly #text: string;
  #at: number;

  constructor(text: string) {
    this.#text = text;
    this.#at = text.startsWith('\ufeff') ? 1 : 0;
  }

  document(): JsonNode {
    const node = this.#value(0);
    this.#skipSpace();
    if (this.#at < this.#text.length) throw this.#fault('expected the end of the file');
    return node;
  }

  #value(depth: number): JsonNode {
    this.#skipSpace();
    const start = this.#at;
    if (depth > maxDepth) throw this.#fault(`values are nested more than ${maxDepth} deep`);
    const char = this.#text[start];
    const value =
      char === '{' ? this.#object(depth) : char === '[' ? this.#list(depth) : char === '"' ? this.#string() : this.#numberOrWord();
    return { span: { start, end: this.#at }, value };
  }

  #object(depth: number): ReadonlyMap<string, JsonMember> {
    const members = new Map<string, JsonMember>();
    this.#elements('}', () => {
      const start = this.#at;
      if (this.#text[start] !== '"') throw this.#fault('expected a key in double quotes');
      const key = this.#string();
      const keySpan = { start, end: this.#at };
      if (members.has(key)) throw new Fault(`the key ${JSON.stringify(key)} is repeated`, start);
      this.#skipSpace();
      if (this.#text[this.#at] !== ':') throw this.#fault('expected `:`');
      this.#at++;
      members.set(key, { keySpan, node: this.#value(depth + 1) });
    });
    return members;
  }

  #list(depth: number): readonly JsonNode[] {
    const items: JsonNode[] = [];
    this.#elements(']', () => void items.push(this.#value(depth + 1)));
    return items;
  }

  /** Reads elements, separated by commas, up to the closing bracket. */
  #elements(close: string, readOne: () => void): void {
    this.#at++;
    this.#skipSpace();
    if (this.#text[this.#at] === close) {
      this.#at++;
      return;
    }
    for (;;) {
      this.#skipSpace();
      readOne();
      this.#skipSpace();
      const char = this.#text[this.#at];
      if (char !== ',' && char !== close) throw this.#fault(`expected \`,\` or \`${close}\``);
      this.#at++;
      if (char === close) return;
    }
  }

  #string(): string {
    const text = this.#text;
    let end = this.#at + 1;
    while (end < text.length && text[end] !== '"') end += text[end] === '\\' ? 2 : 1;
    if (end >= text.length) throw this.#fault('a string is not closed');
    const found = text.slice(this.#at, end + 1);
    try {
      // The engine's own reader decides about escapes and control characters.
      const value: unknown = JSON.parse(found);
      this.#at += found.length;
      return value as string;
    } catch {
      throw this.#fault('a string has a control character or an unknown escape');
    }
  }

  #numberOrWord(): number | boolean | null {
    const pattern = /[-+.\w]+/y;
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0] ?? '';
    const word = words.get(found);
    const isNumber = /^-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?$/.test(found);
    if (word === undefined && !isNumber) throw this.#fault('expected a value');
    this.#at += found.length;
    return isNumber ? Number(found) : word!;
  }

  #skipSpace(): void {
    while (' \t\n\r'.includes(this.#text[this.#at] ?? 'x')) this.#at++;
  }

  #fault(why: string): Fault {
    return new Fault(this.#at >= this.#text.length ? `${why}, found the end of the file` : why, this.#at);
  }
}
