/** Launch lines: `//! cumetal: --grid 4 --block 256 …` in the comments of a PTX file, read like a command line. */
import type { Diagnostics } from '../base/diagnostic.ts';

const opening = /^\s*\/\/!\s*cumetal:(.*)$/;

/** The words of all launch lines, in order; undefined if the text has none, or after reporting CM5042. */
export function launchWords(text: string, diagnostics: Diagnostics): string[] | undefined {
  const words: string[] = [];
  let found = false;
  for (const [index, line] of text.split('\n').entries()) {
    const match = opening.exec(line.replace(/\r$/, ''));
    if (!match) continue;
    found = true;
    const split = splitWords(match[1]!);
    if (typeof split === 'string') {
      diagnostics.report('CM5042', { line: index + 1, why: split });
      return undefined;
    }
    words.push(...split);
  }
  return found ? words : undefined;
}

/** Splits a line into words as a shell does: single quotes, double quotes, backslashes. Returns a text that says what is wrong otherwise. */
export function splitWords(line: string): string[] | string {
  const words: string[] = [];
  let rest = line.trimStart();
  while (rest !== '') {
    const word = readWord(rest);
    if (typeof word === 'string') return word;
    words.push(word.text);
    rest = rest.slice(word.length).trimStart();
  }
  return words;
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
