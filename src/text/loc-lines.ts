/** Places in the source of a compiler, as `.file` and `.loc` give them in PTX. */
import type { SourceFile, Span } from '../base/source.ts';

/** `saxpy.cu:12` for a place in PTX; nothing where the text has no `.loc`. */
export type LocLines = (span: Span | undefined) => string | undefined;

const locPattern = /^[ \t]*\.loc\s+(\d+)\s+(\d+)/gm;
const filePattern = /^[ \t]*\.file\s+(\d+)\s+"([^"]*)"/gm;

/** The lines of a text. */
export function locLines({ text }: SourceFile): LocLines {
  const files = new Map([...text.matchAll(filePattern)].map(([, number, path]) => [number!, path!.replace(/^.*[\\/]/, '')]));
  const places = [...text.matchAll(locPattern)].map((found) => ({ at: found.index, file: found[1]!, line: found[2]! }));
  return (span) => {
    if (!span || places.length === 0) return undefined;
    let [low, high] = [0, places.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (places[middle]!.at <= span.start) low = middle + 1;
      else high = middle;
    }
    const found = places[low - 1];
    return found && found.line !== '0' ? `${files.get(found.file) ?? `file ${found.file}`}:${found.line}` : undefined;
  };
}
