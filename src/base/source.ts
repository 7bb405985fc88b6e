/** Source text and positions in it. Offsets are UTF-16 indices; lines and columns are computed only when a message is printed. */

/** A half-open range of offsets, `start <= end`. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A one-based line and column; columns count code points. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** Whether a surrogate pair starts at an offset. */
const isPair = (text: string, at: number): boolean => (text.codePointAt(at) ?? 0) > 0xffff;

/** A named text with line lookup. `path` is printed in messages; `-` is shown as `<stdin>`. */
export class SourceFile {
  /** The name in messages. */
  readonly path: string;
  /** The whole text. */
  readonly text: string;
  /** The text that this one was compiled from, which people know. */
  readonly origin: SourceFile | undefined;
  #lineStarts: number[] | undefined;
  #hasPairs: boolean | undefined;
  /** The last computed column. Positions are mostly asked for in order, and a file may be one long line. */
  #counted = { start: 0, at: 0, column: 1 };

  constructor(path: string, text: string, origin?: SourceFile) {
    this.path = path === '-' ? '<stdin>' : path;
    this.text = text;
    this.origin = origin;
  }

  /** What `console.log` and `util.inspect` show: the path and the size. The text of a module may have megabytes. */
  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return `SourceFile ${this.path} (${this.text.length} characters)`;
  }

  /** In JSON, the path: a diagnostic names its source and does not contain it. */
  toJSON(): { readonly path: string } {
    return { path: this.path };
  }

  /** Offsets of line starts; the first is 0. */
  get lineStarts(): readonly number[] {
    if (this.#lineStarts) return this.#lineStarts;
    const starts = [0];
    for (let at = this.text.indexOf('\n'); at >= 0; at = this.text.indexOf('\n', at + 1)) starts.push(at + 1);
    this.#lineStarts = starts;
    return starts;
  }

  /** Line and column of an offset. An offset past the end gives the end. */
  position(offset: number): Position {
    const at = Math.max(0, Math.min(offset, this.text.length));
    const starts = this.lineStarts;
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (starts[middle]! <= at) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: this.#columnOf(at, starts[low]!) };
  }

  #columnOf(at: number, start: number): number {
    // Most texts have no pairs, and a file may be one long line with a message at each word.
    this.#hasPairs ??= /[\ud800-\udbff]/.test(this.text);
    if (!this.#hasPairs) return at - start + 1;
    const from = this.#counted.start === start && this.#counted.at <= at ? this.#counted : { at: start, column: 1 };
    let { column } = from;
    for (let i = from.at; i < at; column++) i += isPair(this.text, i) && i + 1 < at ? 2 : 1;
    // The cache skips offsets inside a surrogate pair, because no character starts there.
    if (!isPair(this.text, at - 1)) this.#counted = { start, at, column };
    return column;
  }

  /** The text of a one-based line without its line terminator. */
  line(line: number): string {
    const start = this.lineStarts[line - 1] ?? this.text.length;
    const end = this.lineStarts[line] ?? this.text.length + 1;
    return this.text.slice(start, end - 1).replace(/\r$/, '');
  }
}
