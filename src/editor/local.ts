/**
 * What is wrong with the statements around an edit in a large function, before the whole function is read: what an instruction is depends on
 * declarations and labels, which stay where they are as long as instructions alone change. Lints follow with the whole function.
 */
import { type Diagnostic, Diagnostics } from '../base/diagnostic.ts';
import { SourceFile, type Span } from '../base/source.ts';
import { parseAndCheck } from '../compile/index.ts';
import type { PtxFunction, Statement } from '../ptx/index.ts';

/** Parts of the text of a body that instructions depend on, and where instructions are. */
export interface Skeleton {
  /** Declarations, labels, lists and the braces of scopes, in order. */
  readonly kept: readonly Span[];
  /** The instructions, in order. */
  readonly instructions: readonly Span[];
}

/** The skeleton of a function. */
export function skeletonOf({ body }: PtxFunction): Skeleton {
  const kept: Span[] = [];
  const instructions: Span[] = [];
  const visit = (statements: readonly Statement[]): void => {
    for (const statement of statements) {
      const { kind, span } = statement;
      if (kind === 'instruction') instructions.push(span);
      else if (kind === 'block') {
        kept.push({ start: span.start, end: span.start + 1 });
        visit(statement.body);
        kept.push({ start: span.end - 1, end: span.end });
      } else if (kind !== 'directive' || !['loc', 'file', 'pragma'].includes(statement.name)) kept.push(span);
    }
  };
  visit(body ?? []);
  return { kept, instructions };
}

/** The first of spans that ends behind an offset. */
function firstBehind(spans: readonly Span[], offset: number): number {
  let [low, high] = [0, spans.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (spans[middle]!.end <= offset) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** An edit: `by` is how much longer the text becomes. */
export interface Shift {
  readonly start: number;
  readonly end: number;
  readonly by: number;
}

/** Instructions that have changed, from the end of the statement before them to the start of the one behind. */
export interface Edited {
  readonly skeleton: Skeleton;
  readonly region: Span;
}

/** The longest region that is looked at by itself. */
const maxRegion = 16_384;

/** What an edit leaves; undefined where it touches what other instructions depend on. */
export function editedBy(
  { kept, instructions }: Skeleton,
  { start, end, by }: Shift,
  text: string,
  before: Span | undefined,
): Edited | undefined {
  if (/[{}"]|\/\*|\*\//.test(text)) return undefined;
  const keptAt = firstBehind(kept, start - 1);
  if (kept[keptAt] && kept[keptAt].start <= end) return undefined;
  const first = firstBehind(instructions, start - 1);
  let last = first;
  while (last < instructions.length && instructions[last]!.start <= end) last++;
  const from = Math.max(instructions[first - 1]?.end ?? 0, kept[keptAt - 1]?.end ?? 0);
  const to = Math.min(instructions[last]?.start ?? Number.POSITIVE_INFINITY, kept[keptAt]?.start ?? Number.POSITIVE_INFINITY);
  if (from === 0 || to === Number.POSITIVE_INFINITY) return undefined;
  const moved = (span: Span): Span => ({ start: span.start + by, end: span.end + by });
  const own = { start: from, end: to + by };
  const region = before ? joined(before, own, { start, end, by }) : own;
  if (region.end - region.start > maxRegion) return undefined;
  return {
    skeleton: {
      kept: [...kept.slice(0, keptAt), ...kept.slice(keptAt).map(moved)],
      instructions: [...instructions.slice(0, first), own, ...instructions.slice(last).map(moved)],
    },
    region,
  };
}

/** A region of before an edit, and one of behind it, as one. */
function joined(before: Span, own: Span, { start, end, by }: Shift): Span {
  const at = (offset: number): number => (offset >= end ? offset + by : Math.min(offset, start));
  return { start: Math.min(at(before.start), own.start), end: Math.max(at(before.end), own.end) };
}

export interface LocalCheck {
  readonly path: string;
  /** The text with empty bodies in place of those of all other functions. */
  readonly alone: string;
  /** The braces of the body. */
  readonly open: number;
  readonly close: number;
  readonly start: number;
  readonly isReached: boolean;
}

/** The errors of changed instructions, and the range that they are of; undefined where only a look at the whole function tells. */
export function checkLocally(
  { skeleton, region }: Edited,
  where: LocalCheck,
): { readonly found: readonly Diagnostic[]; readonly range: Span } | undefined {
  const { alone, open, close, path, start, isReached } = where;
  // What a statement that is not closed runs into is there too.
  const next = skeleton.instructions[firstBehind(skeleton.instructions, region.end)];
  const range = { start: region.start, end: next && next.start - region.end < maxRegion ? next.end : region.end };
  if (/\bcall\b|(?<!:):(?!:)/.test(alone.slice(range.start, range.end).replace(/\/\/.*/g, ''))) return undefined;
  const parts = [alone.slice(0, open + 1)];
  let at = open + 1;
  const keep = (span: Span): void => {
    if (span.start < at) return;
    parts.push(' '.repeat(span.start - at), alone.slice(span.start, span.end));
    at = span.end;
  };
  const behind = firstBehind(skeleton.kept, range.start);
  for (const span of skeleton.kept.slice(0, behind)) keep(span);
  keep(range);
  for (const span of skeleton.kept.slice(behind)) keep(span);
  parts.push(' '.repeat(close - at), alone.slice(close));
  const source = new SourceFile(path, parts.join(''));
  const diagnostics = new Diagnostics(source);
  const { ast } = parseAndCheck(source, { functions: isReached ? true : 'faults' }, diagnostics);
  const fn = ast.items.find((item): item is PtxFunction => item.kind === 'function' && item.span.start === start);
  const isIn = ({ start: place }: Span): boolean => range.start <= place && place < range.end;
  if (!fn || (fn.body ?? []).some(({ kind, span }) => kind !== 'instruction' && isIn(span))) return undefined;
  return { found: diagnostics.list.filter(({ labels: [main] }) => main && isIn(main.span)), range };
}
