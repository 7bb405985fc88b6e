/** Error recovery from the layout of the text: missing braces and intended ends of lines. */
import { punctuation, tokenText } from './split.ts';
import { Kind, type Tokens } from './tokens.ts';

const openBrace = punctuation('{');
const closeBrace = punctuation('}');
const colon = punctuation(':');
const semicolon = punctuation(';');
const guard = punctuation('@');

/** Whether a token is the first on its line of text. */
function startsRow({ text, starts, ends }: Tokens, at: number): boolean {
  return at === 0 || text.slice(ends[at - 1], starts[at]).includes('\n');
}

/** The indentation of a token's line of text. */
function indentOf({ text, starts }: Tokens, at: number): string {
  const row = text.lastIndexOf('\n', starts[at]! - 1) + 1;
  return /[ \t]*/y.exec(text.slice(row, starts[at]))![0];
}

/** Whether a closing brace is the first on its line of text and is indented less than the line of its opening brace. */
export function isLessIndented(tokens: Tokens, close: number, open: number): boolean {
  const [of, to] = [indentOf(tokens, close), indentOf(tokens, open)];
  return startsRow(tokens, close) && of.length < to.length && to.startsWith(of);
}

/** Whether a token starts a line of text and may start a statement or an item; true for the end of the text. */
export function startsStatement(tokens: Tokens, at: number): boolean {
  if (at >= tokens.count) return true;
  const kind = tokens.kinds[at]!;
  if (kind === closeBrace) return true;
  if (!startsRow(tokens, at)) return false;
  return kind === guard || kind === openBrace || kind === Kind.dotWord || isOpcode(tokens, at) || tokens.kinds[at + 1] === colon;
}

/** The token after an opcode that is alone on its line of text, if an instruction with modifiers starts there; else -1. */
export function afterBareOpcode(tokens: Tokens, opcode: number): number {
  if (opcode < 0) return -1;
  const { kinds, starts, ends } = tokens;
  let next = opcode + 1;
  while (kinds[next] === Kind.dotWord) next++;
  const isInstruction = isOpcode(tokens, next) && kinds[next + 1] === Kind.dotWord && ends[next] === starts[next + 1];
  return isInstruction && startsRow(tokens, next) ? next : -1;
}

/** Whether the tokens after the end of a function can only continue its body: an instruction or a label. */
export function resumesBody(tokens: Tokens, at: number): boolean {
  const { kinds, starts, ends } = tokens;
  if (kinds[at] === guard) return true;
  if (kinds[at] !== Kind.word) return false;
  if (kinds[at + 1] === colon) return true;
  // A directive without its dot is followed by a separate dotted word.
  const isFollowed = kinds[at + 1] === semicolon || kinds[at + 1] === Kind.word || ends[at] === starts[at + 1];
  return isOpcode(tokens, at) && isFollowed;
}

/** Whether a word may be an opcode: it starts with a lowercase letter. */
const isOpcode = (tokens: Tokens, at: number): boolean => tokens.kinds[at] === Kind.word && /^[a-z]/.test(tokenText(tokens, at));
