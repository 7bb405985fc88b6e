/**
 * Source text and places in it. Offsets are UTF-16 indices into the text, as JavaScript counts them;
 * lines and columns are worked out only when a message is printed.
 */

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

/** A named text with line look-up. `path` is what messages print, `-` becoming `<stdin>`. */
export class SourceFile {
  readonly path: string;
  readonly text: string;
  #lineStarts: number[] | undefined;

  constructor(path: string, text: string) {
    this.path = path === '-' ? '<stdin>' : path;
    this.text = text;
  }

  /** Offsets at which lines start; the first is 0. */
  get lineStarts(): readonly number[] {
    if (this.#lineStarts) return this.#lineStarts;
    const starts = [0];
    for (let at = this.text.indexOf('\n'); at >= 0; at = this.text.indexOf('\n', at + 1)) starts.push(at + 1);
    this.#lineStarts = starts;
    return starts;
  }

  /** Line and column of an offset; offsets past the end give the end. */
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
    const column = [...this.text.slice(starts[low]!, at)].length + 1;
    return { line: low + 1, column };
  }

  /** The text of a one-based line without its line end. */
  line(line: number): string {
    const start = this.lineStarts[line - 1] ?? this.text.length;
    const end = this.lineStarts[line] ?? this.text.length + 1;
    return this.text.slice(start, end - 1).replace(/\r$/, '');
  }
}
