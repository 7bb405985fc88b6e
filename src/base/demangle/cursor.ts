/** The position in a mangled name, and what was read so far that the rest refers to. */
import type { Node } from './nodes.ts';

/** The name does not follow the grammar, or uses a part of it that is not supported. */
export class NotMangled extends Error {}

/** The rules that refer to each other. Each reads one construct at the cursor. */
export interface Grammar {
  encoding(at: Cursor): Node;
  name(at: Cursor, about: NameFacts): Node;
  type(at: Cursor): Node;
  templateArgs(at: Cursor): Node[];
  expression(at: Cursor): Node;
  unqualified(at: Cursor, scope: Node | undefined, about: NameFacts): Node;
}

/** What a name says about the function it names. */
export interface NameFacts {
  isTemplate: boolean;
  /** A constructor, destructor or conversion operator, whose name has no return type. */
  hasNoReturn: boolean;
  /** Qualifiers of a member function. */
  suffix: string;
}

export const newFacts = (): NameFacts => ({ isTemplate: false, hasNoReturn: false, suffix: '' });

/** The maximum depth of nested constructs. */
const maxDepth = 200;

export class Cursor {
  at = 0;
  readonly text: string;
  readonly grammar: Grammar;
  /** The substitution candidates, `S_`, `S0_`, … */
  substitutions: Node[] = [];
  private depth = 0;

  constructor(text: string, grammar: Grammar) {
    this.text = text;
    this.grammar = grammar;
  }

  get isAtEnd(): boolean {
    return this.at >= this.text.length;
  }

  peek(offset = 0): string {
    return this.text[this.at + offset] ?? '';
  }

  starts(word: string): boolean {
    return this.text.startsWith(word, this.at);
  }

  /** Consumes a word if it is next. */
  take(word: string): boolean {
    if (!this.starts(word)) return false;
    this.at += word.length;
    return true;
  }

  expect(word: string): void {
    if (!this.take(word)) this.fail();
  }

  fail(): never {
    throw new NotMangled();
  }

  /** Runs a rule one level deeper. */
  nested<T>(rule: () => T): T {
    if (++this.depth > maxDepth) this.fail();
    const result = rule();
    this.depth--;
    return result;
  }

  remember(node: Node): Node {
    this.substitutions.push(node);
    return node;
  }

  /** A decimal number; undefined if there is none. */
  number(): number | undefined {
    const digits = /^\d+/.exec(this.text.slice(this.at, this.at + 10))?.[0];
    if (digits === undefined) return undefined;
    this.at += digits.length;
    return Number(digits);
  }

  /** `_` is 0, `0_` is 1, …, with digits of a base. */
  sequence(base: 10 | 36): number {
    const digits = (base === 36 ? /^[0-9A-Z]*/ : /^\d*/).exec(this.text.slice(this.at, this.at + 8))![0];
    this.at += digits.length;
    this.expect('_');
    return digits === '' ? 0 : Number.parseInt(digits, base) + 1;
  }

  /** Reads nodes until `E`, which is consumed. */
  untilEnd(read: () => Node): Node[] {
    const found: Node[] = [];
    while (!this.take('E')) found.push(read());
    return found;
  }
}
