/** What the rows of a text tell where its marks do not: which brace is missing, and where a line was meant to end. */
import { punctuation, tokenText } from './split.ts';
import { Kind, type Tokens } from './tokens.ts';

const openBrace = punctuation('{');
const closeBrace = punctuation('}');
const colon = punctuation(':');
const semicolon = punctuation(';');
const guard = punctuation('@');

/** Whether a token is the first of its row. */
function startsRow({ text, starts, ends }: Tokens, at: number): boolean {
  return at === 0 || text.slice(ends[at - 1], starts[at]).includes('\n');
}

/** The space that the row of a token starts with. */
function indentOf({ text, starts }: Tokens, at: number): string {
  const row = text.lastIndexOf('\n', starts[at]! - 1) + 1;
  return /[ \t]*/y.exec(text.slice(row, starts[at]))![0];
}

/** Whether a closing brace is the first of its row and stands further left than the row of the brace that it closes. */
export function isFurtherLeft(tokens: Tokens, close: number, open: number): boolean {
  const [of, to] = [indentOf(tokens, close), indentOf(tokens, open)];
  return startsRow(tokens, close) && of.length < to.length && to.startsWith(of);
}

/** Whether a token starts a row, as what a body or a module is made of may start; the end of the text does. */
export function startsStatement(tokens: Tokens, at: number): boolean {
  if (at >= tokens.count) return true;
  const kind = tokens.kinds[at]!;
  if (kind === closeBrace) return true;
  if (!startsRow(tokens, at)) return false;
  return kind === guard || kind === openBrace || kind === Kind.dotWord || isOpcode(tokens, at) || tokens.kinds[at + 1] === colon;
}

/** The token after an opcode that has a row for itself, where an instruction with modifiers starts there; -1 elsewhere. */
export function afterBareOpcode(tokens: Tokens, opcode: number): number {
  if (opcode < 0) return -1;
  const { kinds, starts, ends } = tokens;
  let next = opcode + 1;
  while (kinds[next] === Kind.dotWord) next++;
  const isInstruction = isOpcode(tokens, next) && kinds[next + 1] === Kind.dotWord && ends[next] === starts[next + 1];
  return isInstruction && startsRow(tokens, next) ? next : -1;
}

/** Whether what follows the end of a function can only be the rest of its body: an instruction or a label. */
export function resumesBody(tokens: Tokens, at: number): boolean {
  const { kinds, starts, ends } = tokens;
  if (kinds[at] === guard) return true;
  if (kinds[at] !== Kind.word) return false;
  if (kinds[at + 1] === colon) return true;
  // A directive without its dot is followed by a dotted word that does not touch it.
  const isFollowed = kinds[at + 1] === semicolon || kinds[at + 1] === Kind.word || ends[at] === starts[at + 1];
  return isOpcode(tokens, at) && isFollowed;
}

/** Whether a word may be an opcode: it starts with a small letter. */
const isOpcode = (tokens: Tokens, at: number): boolean => tokens.kinds[at] === Kind.word && /^[a-z]/.test(tokenText(tokens, at));
