/** Launch lines: `//! cumetal: --grid 4 --block 256 …` in the comments of a PTX file, read like a command line. */
import type { Diagnostics } from '../base/diagnostic.ts';
import type { Span } from '../base/source.ts';

const opening = /^\s*\/\/!\s*cumetal:(.*)$/;

/** A word of a launch line, and its place in the file. */
export interface LaunchWord {
  readonly text: string;
  readonly span: Span;
}

/**
 * The words of all launch lines, in order; undefined if the text has none, or after reporting CM5042. `diagnostics` is a list about the
 * file.
 */
export function launchWords(text: string, diagnostics: Diagnostics): LaunchWord[] | undefined {
  const words: LaunchWord[] = [];
  let [found, start] = [false, 0];
  for (const [index, whole] of text.split('\n').entries()) {
    const line = whole.replace(/\r$/, '');
    const match = opening.exec(line);
    if (match) {
      found = true;
      const rest = line.length - match[1]!.length;
      const split = placedWords(match[1]!);
      if (typeof split === 'string') {
        const span = { start: start + rest, end: start + line.length };
        diagnostics.report('CM5042', { line: index + 1, why: split }, { span });
        return undefined;
      }
      for (const { text, at, length } of split) words.push({ text, span: { start: start + rest + at, end: start + rest + at + length } });
    }
    start += whole.length + 1;
  }
  return found ? words : undefined;
}

/** Splits a line into words as a shell does: single quotes, double quotes, backslashes. Returns a text that says what is wrong otherwise. */
export function splitWords(line: string): string[] | string {
  const words = placedWords(line);
  return typeof words === 'string' ? words : words.map(({ text }) => text);
}

function placedWords(line: string): (Word & { readonly at: number })[] | string {
  const words: (Word & { readonly at: number })[] = [];
  for (;;) {
    const last = words.at(-1);
    const from = last ? last.at + last.length : 0;
    const at = line.length - line.slice(from).trimStart().length;
    if (at >= line.length) return words;
    const word = readWord(line.slice(at));
    if (typeof word === 'string') return word;
    words.push({ ...word, at });
  }
}

interface Word {
  readonly text: string;
  /** Characters of the line. */
  readonly length: number;
}

/** Reads the word at the start of a text. */
function readWord(line: string): Word | string {
  let [text, at, quote] = ['', 0, ''];
  for (; at < line.length; at++) {
    const char = line[at]!;
    if (quote === '' && /\s/.test(char)) break;
    if (char === '\\' && quote !== "'") {
      at++;
      if (at === line.length) return 'a backslash ends the line';
      text += escaped(line[at]!, quote);
    } else if (char === quote) quote = '';
    else if (quote === '' && (char === "'" || char === '"')) quote = char;
    else text += char;
  }
  return quote === '' ? { text, length: at } : `the quote ${quote} is not closed`;
}

/** The characters of a backslash and the one behind it: in double quotes it escapes special characters only. */
const escaped = (char: string, quote: string): string => (quote === '"' && !/["\\$`]/.test(char) ? `\\${char}` : char);
