/** The position in LLVM text: words, names, numbers and strings. */

/** The text cannot be read from a position on. */
export class Unreadable extends Error {
  readonly at: number;

  constructor(at: number, why: string) {
    super(why);
    this.at = at;
  }
}

export class TextReader {
  at: number;
  readonly text: string;

  constructor(text: string, at = 0) {
    this.text = text;
    this.at = at;
  }

  fail(why: string): never {
    throw new Unreadable(this.at, why);
  }

  /** Skips blanks, line ends and comments. */
  skip(): void {
    const blank = /(?:\s|;[^\n]*)*/y;
    blank.lastIndex = this.at;
    this.at += blank.exec(this.text)![0].length;
  }

  /** Consumes what matches a sticky pattern; undefined if nothing does. */
  match(pattern: RegExp): RegExpExecArray | undefined {
    this.skip();
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text) ?? undefined;
    if (found) this.at += found[0].length;
    return found;
  }

  peek(): string {
    this.skip();
    return this.text[this.at] ?? '';
  }

  /** Consumes a punctuation mark if it is next. */
  take(mark: string): boolean {
    this.skip();
    if (!this.text.startsWith(mark, this.at)) return false;
    this.at += mark.length;
    return true;
  }

  expect(mark: string): void {
    if (!this.take(mark)) this.fail(`expected \`${mark}\`, found ${this.found()}`);
  }

  /** Consumes a word if it is next, and not the start of a longer one. */
  takeWord(word: string): boolean {
    const before = this.at;
    const found = this.match(/[a-z_][\w.]*/iy)?.[0];
    if (found === word) return true;
    this.at = before;
    return false;
  }

  /** The next word, which is consumed. */
  word(): string {
    return this.match(/[a-z_][\w.]*/iy)?.[0] ?? this.fail(`expected a word, found ${this.found()}`);
  }

  /** The next word, which stays. */
  peekWord(): string {
    const before = this.at;
    const found = this.match(/[a-z_][\w.]*/iy)?.[0] ?? '';
    this.at = before;
    return found;
  }

  number(): number {
    return Number(this.match(/\d+/y)?.[0] ?? this.fail(`expected a number, found ${this.found()}`));
  }

  /** A name behind its sigil: bare or in quotes. */
  name(sigil: '%' | '@' | '!'): string {
    this.expect(sigil);
    if (this.text[this.at] === '"') return this.quoted();
    return this.match(/[-\w$.]+/y)?.[0] ?? this.fail(`expected a name, found ${this.found()}`);
  }

  /** A string in quotes as text. */
  quoted(): string {
    return new TextDecoder().decode(this.quotedBytes());
  }

  /** The bytes of a string in quotes; `\XX` is a byte, `\\` a backslash. */
  quotedBytes(): Uint8Array {
    const body = this.match(/"([^"\n]*)"/y)?.[1] ?? this.fail(`expected a string, found ${this.found()}`);
    const bytes: number[] = [];
    const pieces = body.match(/\\\\|\\[0-9a-fA-F]{2}|[^\\]+|\\/g) ?? [];
    for (const piece of pieces) {
      if (piece === '\\\\' || piece === '\\') bytes.push(0x5c);
      else if (piece.startsWith('\\')) bytes.push(Number.parseInt(piece.slice(1), 16));
      else bytes.push(...new TextEncoder().encode(piece));
    }
    return Uint8Array.from(bytes);
  }

  /** Items separated by commas up to a closing mark, which is consumed. */
  list<T>(close: string, read: () => T): T[] {
    const items: T[] = [];
    if (this.take(close)) return items;
    for (;;) {
      items.push(read());
      if (this.take(close)) return items;
      this.expect(',');
    }
  }

  private found(): string {
    this.skip();
    const rest = /[-\w.$%@!"]+|./y;
    rest.lastIndex = this.at;
    const token = rest.exec(this.text)?.[0];
    return token === undefined ? 'the end of the text' : `\`${token.slice(0, 40)}\``;
  }
}
