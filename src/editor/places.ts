/** Where the functions of a text are, so that one of them can be read without the others. */
import type { SourceFile } from '../base/source.ts';
import type { Module, PtxFunction } from '../ptx/index.ts';

/** A function with a body. Offsets are those of the text that the place is of. */
export interface FunctionPlace {
  readonly name: string;
  readonly isEntry: boolean;
  /** Whether an entry calls it, or it is one. */
  readonly isReached: boolean;
  readonly start: number;
  /** Of the brace that opens the body. */
  readonly open: number;
  /** Behind the brace that closes it. */
  readonly end: number;
  /** The functions that its text names, which decide what entries reach. */
  readonly calls: string;
}

/** The functions with a body, in order; undefined where a body has no brace that could be found. */
export function placesOf(module: Module, isReached: (fn: PtxFunction) => boolean): FunctionPlace[] | undefined {
  const places: Omit<FunctionPlace, 'calls'>[] = [];
  for (const item of bodiesOf(module)) {
    const open = braceOf(item, module.file);
    if (open === undefined) return undefined;
    places.push({ name: item.name, isEntry: item.isEntry, isReached: isReached(item), start: item.span.start, open, end: item.span.end });
  }
  return places.map((place) => ({ ...place, calls: calledIn(module.file.text, place, places) }));
}

/** The names of functions in the text of one. */
export function calledIn(
  text: string,
  place: Pick<FunctionPlace, 'open' | 'end'>,
  all: readonly Pick<FunctionPlace, 'name' | 'isEntry'>[],
): string {
  const body = text.slice(place.open, place.end);
  return all.flatMap(({ name, isEntry }) => (!isEntry && body.includes(name) ? [name] : [])).join(' ');
}

/** The first brace behind the head of a function. */
function braceOf(fn: PtxFunction, { text }: SourceFile): number | undefined {
  const parts = [...fn.params, ...fn.results, ...fn.directives].map(({ span }) => span.end);
  const head = /\/\/.*|\/\*[\s\S]*?\*\/|\{/g;
  head.lastIndex = Math.max(fn.nameSpan.end, ...parts);
  for (let found = head.exec(text); found && found.index < fn.span.end; found = head.exec(text)) if (found[0] === '{') return found.index;
  return undefined;
}

/** The text with empty bodies in place of all but the kept ones, and every offset where it was. */
export function withEmptyBodies(text: string, places: readonly FunctionPlace[], isKept: (place: FunctionPlace) => boolean): string {
  const parts: string[] = [];
  let at = 0;
  for (const place of places) {
    if (isKept(place)) continue;
    parts.push(text.slice(at, place.open + 1), ' '.repeat(place.end - place.open - 2));
    at = place.end - 1;
  }
  parts.push(text.slice(at));
  return parts.join('');
}

/** Whether the functions of a module are at these places. */
export function isAtPlaces(module: Module, places: readonly FunctionPlace[]): boolean {
  const found = bodiesOf(module);
  return (
    found.length === places.length &&
    found.every(({ name, span }, i) => name === places[i]!.name && span.start === places[i]!.start && span.end === places[i]!.end)
  );
}

const bodiesOf = ({ items }: Module): PtxFunction[] =>
  items.filter((item): item is PtxFunction => item.kind === 'function' && item.body !== undefined);
