/** What an instruction becomes: the number of instructions of the IR after all passes, for the target that is compiled for. */
import { Diagnostics } from '../base/diagnostic.ts';
import { SourceFile, type Span } from '../base/source.ts';
import { type CompileOptions, toLegalIr } from '../compile/index.ts';
import type { PtxDocument } from './document.ts';
import { statementsOf } from './names.ts';
import { type FunctionPlace, withEmptyBodies } from './places.ts';

/** The number of instructions behind one of the text. */
export interface Cost {
  /** Of the instruction. */
  readonly span: Span;
  readonly count: number;
}

/** A body with more characters is not compiled for its costs. */
const maxBody = 200_000;

/** The costs of the instructions of an entry at an offset; none for a function that does not compile by itself. */
export function costsAt(document: PtxDocument, offset: number, options: CompileOptions): Cost[] {
  const places = document.places();
  const place = places.find(({ start, end }) => start <= offset && offset <= end);
  const focus = place && document.focusAt(offset);
  if (!place?.isEntry || !focus || place.end - place.open > maxBody) return [];
  const kept = reachedFrom(place, places);
  const source = new SourceFile(
    document.path,
    withEmptyBodies(document.text, places, (each) => kept.has(each)),
  );
  const ir = toLegalIr(source, { ...options, entries: [place.name] }, new Diagnostics(source));
  const kernel = ir?.kernels[0];
  if (!kernel) return [];
  const counts = new Map<number, number>();
  for (const block of kernel.blocks)
    for (const value of block.body) {
      const start = kernel.locs[value]?.start;
      if (start !== undefined) counts.set(start, (counts.get(start) ?? 0) + 1);
    }
  return [...statementsOf(focus.fn.body ?? [])].flatMap((statement) => {
    const count = statement.kind === 'instruction' ? countIn(counts, statement.span) : 0;
    return count > 0 ? [{ span: statement.span, count }] : [];
  });
}

/** Parts of an instruction have places of their own. */
function countIn(counts: ReadonlyMap<number, number>, { start, end }: Span): number {
  let sum = 0;
  for (let at = start; at < end; at++) sum += counts.get(at) ?? 0;
  return sum;
}

/** A function and those that its text names, and so on. */
function reachedFrom(place: FunctionPlace, places: readonly FunctionPlace[]): Set<FunctionPlace> {
  const reached = new Set([place]);
  for (const each of reached) {
    const names = new Set(each.calls.split(' '));
    for (const other of places) if (names.has(other.name)) reached.add(other);
  }
  return reached;
}
