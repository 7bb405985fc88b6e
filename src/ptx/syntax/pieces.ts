/**
 * A module in pieces: the tree without the bodies of entries, and each body when it is asked for. The trees of all bodies are most of the memory
 * of a large module.
 */
import type { Diagnostics } from '../../base/diagnostic.ts';
import type { SourceFile } from '../../base/source.ts';
import type { Module, PtxFunction, Statement } from './ast.ts';
import type { Counts } from './limits.ts';
import { parseTokens } from './parse.ts';
import { closing, punctuation, tokenText } from './split.ts';
import { Kind, type Tokens, tokenize } from './tokens.ts';

/** A module whose entries have no statements until they are read. */
export interface Pieces {
  readonly module: Module;
  readonly entries: readonly PtxFunction[];
  /** Adds the statements of an entry, which is in `entries`, to its body, which is empty. */
  readonly read: (entry: PtxFunction) => void;
}

/** The tokens of a body's braces. */
interface Braces {
  readonly open: number;
  readonly close: number;
}

const openBrace = punctuation('{');
const closeBrace = punctuation('}');
const semicolon = punctuation(';');

/**
 * Parses a module in pieces, whose spans are those of `parse`. Undefined for one in which a function that is no entry has a body, because entries share
 * it, and for one whose braces do not match. What is reported, now or by `read`, is not all that `parse` reports: such a module is to be parsed whole.
 */
export function parsePieces(file: SourceFile, diagnostics: Diagnostics): Pieces | undefined {
  const tokens = tokenize(file.text);
  const bodies = tokens.openComment < 0 ? bodiesOf(tokens) : undefined;
  if (!bodies) return undefined;
  const counts: Counts = { statements: 0, elements: 0, failures: 0 };
  const module = parseTokens(file, withoutBodies(tokens, bodies), diagnostics, counts);
  const entries = module.items.filter((item): item is PtxFunction => item.kind === 'function' && item.body !== undefined);
  const bracesOf = new Map(entries.map((entry, i) => [entry, bodies[i]]));
  const isOwn = ({ span, nameSpan }: PtxFunction, { open, close }: Braces): boolean =>
    nameSpan.end <= tokens.starts[open]! && tokens.ends[close] === span.end;
  if (entries.length !== bodies.length || !entries.every((entry, i) => isOwn(entry, bodies[i]!))) return undefined;
  const read = (entry: PtxFunction): void => {
    const own = part(tokens, tokenAt(tokens, entry.span.start), bracesOf.get(entry)!.close + 1);
    // The limits are of one entry: the trees of the others are gone by then.
    const ownCounts: Counts = { ...counts };
    for (const item of parseTokens(file, own, diagnostics, ownCounts).items)
      if (item.kind === 'function') for (const statement of item.body ?? []) (entry.body as Statement[]).push(statement);
  };
  return { module, entries, read };
}

/** The braces of the bodies of all entries. */
function bodiesOf(tokens: Tokens): Braces[] | undefined {
  const { kinds, count } = tokens;
  const bodies: Braces[] = [];
  /** The word by which an item has a body or content. */
  let what = '';
  for (let i = 0; i < count; i++) {
    const kind = kinds[i]!;
    if (kind === semicolon) what = '';
    else if (kind === Kind.dotWord) what = opening.get(tokenText(tokens, i)) ?? what;
    else if (kind === closeBrace) return undefined;
    if (kind !== openBrace) continue;
    const close = closing(tokens, i, count);
    if (close >= count || what === '.func') return undefined;
    if (what === '.entry') bodies.push({ open: i, close });
    i = close;
    what = '';
  }
  return bodies;
}

/** The words of items with braces, but for initial values. */
const opening = new Map(['.entry', '.func', '.section'].map((word) => [word, word]));

/** The tokens from one to another. */
const part = ({ text, starts, ends, kinds }: Tokens, from: number, to: number): Tokens => ({
  text,
  count: to - from,
  starts: starts.subarray(from, to),
  ends: ends.subarray(from, to),
  kinds: kinds.subarray(from, to),
  openComment: -1,
});

/** The tokens outside of bodies, and the braces of these. */
function withoutBodies(tokens: Tokens, bodies: readonly Braces[]): Tokens {
  const count = bodies.reduce((left, { open, close }) => left - (close - open - 1), tokens.count);
  const [starts, ends, kinds] = [new Int32Array(count), new Int32Array(count), new Uint8Array(count)];
  let [from, to] = [0, 0];
  for (const { open, close } of [...bodies, { open: tokens.count - 1, close: tokens.count }]) {
    const kept = part(tokens, from, open + 1);
    starts.set(kept.starts, to);
    ends.set(kept.ends, to);
    kinds.set(kept.kinds, to);
    to += kept.count;
    from = close;
  }
  return { text: tokens.text, count, starts, ends, kinds, openComment: -1 };
}

/** The token that starts at an offset of the text. */
function tokenAt({ starts, count }: Tokens, offset: number): number {
  let [low, high] = [0, count - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (starts[middle]! < offset) low = middle + 1;
    else high = middle;
  }
  return low;
}
