/**
 * Shapes of lines. Lines that differ only in names and literal values have the same shape, and Ohm matches only the first of them: its
 * match becomes a template that builds the tree of all others. Tokens that the grammar treats specially are part of the shape, not holes:
 * the dotted words of directives and casts, `_`, and the two keywords of `.loc`. Opcodes and modifiers are holes.
 */
import type { MatchResult } from 'ohm-js';
import { type Cursor, type Make, textOf } from './cursor.ts';
import { grammar } from './grammar.ts';
import type { BuildLine, Line, LineRule } from './line.ts';
import { type GrowingStore, type Node, type NodeStore, type Places, storedNode, storeNode } from './nodes.ts';
import { commonShapes, storedNodes } from './shapes.generated.ts';
import { isInlineKeyword, opcodeOf, punctuation, tokenText } from './split.ts';
import { copyOf, templateOf } from './template.ts';
import { Kind, type Tokens } from './tokens.ts';

/** Templates by shape, for the lifetime of the program. The cache is cleared when a hostile input fills it. */
const templates = new Map<string, Make<Line>>();
const maxTemplates = 20_000;

const beforeFixed = new Set([punctuation('('), punctuation(']')]);

/** Builds from the template of the line's shape. */
export const buildByShape: BuildLine = (c, rule) => {
  const key = shapeOf(c, rule);
  const known = templates.get(key);
  if (known) return known(c);
  const node = seededNode(key) ?? matchLayout(sampleOf(c, rule), rule);
  if (!node) return undefined;
  if (templates.size >= maxTemplates) templates.clear();
  const template = templateFor(c, node);
  templates.set(key, template);
  return template(c);
};

/** Builds from a match of the line itself. */
export const buildByMatch: BuildLine = (c, rule) => {
  const node = matchLayout(layoutOf(c), rule);
  return node && templateFor(c, node)(c);
};

/** Builds from a match of the line's shape and adds its store index to `shapes`, for `shapes.generated.ts`. */
export const buildAndCollect =
  (shapes: Map<string, number>, store: GrowingStore): BuildLine =>
  (c, rule) => {
    const node = matchLayout(sampleOf(c, rule), rule);
    if (node) shapes.set(shapeOf(c, rule), storeNode(node, 0, store));
    return node && templateFor(c, node)(c);
  };

const templateFor = (c: Cursor, node: Node): Make<Line> => templateOf(node, (token) => textOf(c, token));

let store: NodeStore | undefined;

/** The stored match of a common shape, from `shapes.generated.ts`. */
function seededNode(key: string): Node | undefined {
  const text = commonShapes[key.length] ?? '';
  const at = text.indexOf(`\n${key}\t`);
  if (at < 0) return undefined;
  const start = at + key.length + 2;
  store ??= JSON.parse(storedNodes) as NodeStore;
  return storedNode(Number(text.slice(start, text.indexOf('\n', start))), 0, store);
}

/** The text of a line for matching, and the start and end of each token in it. */
export interface Layout {
  readonly text: string;
  readonly starts: readonly number[];
  readonly ends: readonly number[];
}

/** Whether other tokens than modifiers are left out behind a token of a line, as before the terminator that a statement takes from the next one. */
function isCutBehind({ tokens, index }: Cursor, i: number): boolean {
  for (let token = index[i]! + 1; token < index[i + 1]!; token++) if (tokens.kinds[token] !== Kind.dotWord) return true;
  return false;
}

/** A line as written, without the content of initializer lists. */
export function layoutOf(cursor: Cursor): Layout {
  const { tokens, index, count, elided } = cursor;
  const starts: number[] = [];
  const ends: number[] = [];
  let text = '';
  for (let first = 0; first < count; ) {
    let last = first;
    while (last + 1 < count && !elided.has(index[last]!) && !isCutBehind(cursor, last)) last++;
    const shift = text.length - tokens.starts[index[first]!]!;
    for (let i = first; i <= last; i++) {
      starts.push(tokens.starts[index[i]!]! + shift);
      ends.push(tokens.ends[index[i]!]! + shift);
    }
    text += tokens.text.slice(tokens.starts[index[first]!], tokens.ends[index[last]!]);
    first = last + 1;
  }
  return { text, starts, ends };
}

/** The shortest line of a shape, which matches faster than the line as written. */
function sampleOf(c: Cursor, rule: LineRule): Layout {
  const opcode = rule === 'BodyLine' ? opcodeOf(c.tokens, c.index[0]!) - c.index[0]! : -1;
  const starts: number[] = [];
  const ends: number[] = [];
  let text = '';
  for (let i = 0; i < c.count; i++) {
    const mark = markOf(c, i, opcode);
    // A space between all tokens keeps them separate; no rule depends on it.
    text += i > 0 ? ' ' : '';
    starts.push(text.length);
    text += sampleTokens[mark] ?? tokenText(c.tokens, c.index[i]!);
    ends.push(text.length);
    // The newline keeps an unterminated string from being closed by a later quotation mark.
    if (c.tokens.kinds[c.index[i]!] === Kind.badString) text += '\n';
  }
  return { text, starts, ends };
}

/** Ohm's match of a text as a line. */
export const matchLine = (text: string, rule: LineRule): MatchResult => grammar().match(text, rule);

function matchLayout({ text, starts, ends }: Layout, rule: LineRule): Node | undefined {
  const match = matchLine(text, rule);
  return match.succeeded() ? copyOf(match, { byStart: numbered(starts), byEnd: numbered(ends) }) : undefined;
}

const numbered = (offsets: readonly number[]): Places['byStart'] => new Map(offsets.map((offset, i) => [offset, i]));

const rulePrefix: Record<LineRule, string> = { ModuleLine: 'M', BodyLine: 'B', SectionLine: 'S', Initializer: 'I', Parameter: 'P' };
const literal = '\x06';
const dotted = '\x07';
const opcodeMark = '\x08';
const holeMarks: Record<number, string> = {
  [Kind.word]: '\x01',
  [Kind.integer]: '\x02',
  [Kind.decimalFloat]: '\x03',
  [Kind.hexFloat]: '\x04',
  [Kind.string]: '\x05',
};
const marks: string[] = Array.from({ length: 256 }, (_, kind) => holeMarks[kind] ?? (kind < 128 ? String.fromCharCode(kind) : literal));

/** A sample token for each hole. A word starts with a capital, so that it is not parsed as an opcode. */
const sampleTokens: Record<string, string> = {
  '\x01': 'A',
  '\x02': '1',
  '\x03': '1.0',
  '\x04': '0f00000000',
  '\x05': '""',
  [dotted]: '.a',
  [opcodeMark]: 'a',
};

/** The key of a shape: equal for two lines exactly if the same template builds both. */
function shapeOf(c: Cursor, rule: LineRule): string {
  const opcode = rule === 'BodyLine' ? opcodeOf(c.tokens, c.index[0]!) - c.index[0]! : -1;
  let key = rulePrefix[rule];
  const { kinds } = c.tokens;
  for (let i = 0; i < c.count; i++) {
    const kind = kinds[c.index[i]!]!;
    // Punctuation, half of all tokens, is its own mark.
    const mark = kind < Kind.word ? marks[kind]! : markOf(c, i, opcode);
    key += mark === literal ? literal + tokenText(c.tokens, c.index[i]!) : mark;
  }
  return key;
}

/** The mark of a token: the character of a punctuation mark, the mark of a hole, or `literal`. */
function markOf({ tokens, index }: Cursor, i: number, opcode: number): string {
  const at = index[i]!;
  const kind = tokens.kinds[at]!;
  if (kind === Kind.word) {
    if (i === opcode) return opcodeMark;
    return isKeyword(tokens, at) ? literal : marks[kind]!;
  }
  // The modifiers of an instruction and elements such as `.x` are holes; the words of a cast or an address are not.
  return kind === Kind.dotWord && opcode >= 0 && !beforeFixed.has(tokens.kinds[at - 1]!) ? dotted : marks[kind]!;
}

/** Whether the grammar treats a word as a keyword. */
function isKeyword(tokens: Tokens, at: number): boolean {
  const { text, starts, ends } = tokens;
  return (ends[at]! - starts[at]! === 1 && text[starts[at]!] === '_') || isInlineKeyword(tokens, at);
}
