/** Indented lines of text. */

export interface Lines {
  /** Adds a line at the current depth. */
  add(text: string): void;
  /** Adds lines one level deeper. */
  indent(write: () => void): void;
  /** The lines that a function adds, which are not added here. */
  capture(write: () => void): string[];
  /** Adds lines as `capture` gave them. */
  append(lines: readonly string[]): void;
  text(): string;
}

/** Lines of a text, none at first. */
export function newLines(): Lines {
  let list: string[] = [];
  let depth = 0;
  return {
    add: (text) => void list.push(text === '' ? '' : '  '.repeat(depth) + text),
    indent(write) {
      depth++;
      write();
      depth--;
    },
    capture(write) {
      const outer = list;
      list = [];
      write();
      const found = list;
      list = outer;
      return found;
    },
    append: (lines) => {
      for (const line of lines) list.push(line);
    },
    text: () => `${list.join('\n')}\n`,
  };
}
