/** Places in the source of a compiler: the `.loc` that holds at an instruction of PTX, and the files that they name. */
import type { SourceFile, Span } from '../../base/source.ts';

/** The `.loc` line for a place in PTX; undefined if there is none. */
export type LocPlaces = (span: Span | undefined) => string | undefined;

const locPattern = /^[ \t]*\.loc\s+(\d+)\s+(\d+)\s+(\d+)/gm;
const filePattern = /^[ \t]*(\.file\s+\d+\s+"[^"]*").*$/gm;

/** The `.file` lines of a text. */
export const fileLines = ({ text }: SourceFile): string[] => [...text.matchAll(filePattern)].map((found) => found[1]!);

/** The `.loc` lines of a text; undefined for one without any. */
export function locPlaces({ text }: SourceFile): LocPlaces | undefined {
  const places = [...text.matchAll(locPattern)].map((found) => ({ at: found.index, line: `.loc ${found[1]} ${found[2]} ${found[3]}` }));
  if (places.length === 0) return undefined;
  return (span) => {
    if (!span) return undefined;
    let [low, high] = [0, places.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (places[middle]!.at <= span.start) low = middle + 1;
      else high = middle;
    }
    return places[low - 1]?.line;
  };
}
