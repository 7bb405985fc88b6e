/** Tokens of the IR's text form. Comments run from `;` to the line end. */
import type { SourceFile, Span } from '../base/source.ts';

export type TokenKind = 'word' | 'value' | 'string' | 'number' | 'mark' | 'end' | 'wrong';

export interface Token extends Span {
  readonly kind: TokenKind;
  readonly text: string;
}

const shape =
  /(?<space>[\s]+|;[^\n]*)|(?<word>[A-Za-z_][\w.]*)|(?<value>%\d+)|(?<string>"(?:[^"\\\n]|\\.)*")|(?<number>0x[0-9a-fA-F]+|-?\d+)|(?<mark>[{}(),:=@])|(?<wrong>.)/gsu;

/** The tokens of a text; characters that start no token are `wrong`, and the last token is `end`. */
export function tokensOf(file: SourceFile): Token[] {
  const tokens: Token[] = [];
  for (const match of file.text.matchAll(shape)) {
    const kind = Object.entries(match.groups!).find(([, text]) => text !== undefined)![0];
    if (kind === 'space') continue;
    tokens.push({ kind: kind as TokenKind, text: match[0], start: match.index, end: match.index + match[0].length });
  }
  tokens.push({ kind: 'end', text: 'the end of the text', start: file.text.length, end: file.text.length });
  return tokens;
}
