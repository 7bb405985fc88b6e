/** Launch lines: `//! cumetal: --grid 4 --block 256 …` in the comments of a PTX file, read as if typed. */
import type { Diagnostics } from '../base/diagnostic.ts';

const opening = /^\s*\/\/!\s*cumetal:(.*)$/;

/** The words of every launch line, in order; nothing where the text has none, or after reporting CM5042. */
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

/** Splits a line into words as a shell would: single quotes, double quotes, backslashes; or says what is wrong. */
export function splitWords(line: string): string[] | string {
  const words: string[] = [];
  let word: string | undefined;
  let quote = '';
  for (let i = 0; i < line.length; i++) {
    const char = line[i]!;
    if (char === '\\' && quote !== "'") {
      if (i + 1 === line.length) return 'a backslash ends the line';
      // Between double quotes a backslash only escapes what is special there, as in a shell.
      const keep = quote === '"' && !/["\\$`]/.test(line[i + 1]!) ? '\\' : '';
      word = (word ?? '') + keep + line[++i]!;
    } else if (quote !== '' ? char === quote : char === "'" || char === '"') {
      quote = quote === '' ? char : '';
      word ??= '';
    } else if (quote === '' && /\s/.test(char)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else {
      word = (word ?? '') + char;
    }
  }
  if (quote !== '') return `the quote ${quote} is not closed`;
  if (word !== undefined) words.push(word);
  return words;
}
