/** Lines and instructions of the compiled PTX text. */
import type { SourceFile } from '../../base/source.ts';

/** The instruction that starts at a line and column, with its predicate, as one line; empty if the text has no such place. */
export function instructionAt(source: SourceFile, { line, column }: { readonly line: number; readonly column: number }): string {
  if (line < 1 || line > source.lineStarts.length) return '';
  const from = source.lineStarts[line - 1]! + Math.max(0, column - 1);
  const end = source.text.indexOf(';', from);
  const text = end < 0 ? source.text.slice(from, from + 200) : source.text.slice(from, end + 1);
  return text.replace(/\s+/g, ' ').trim();
}

/** A place in the source of a PTX text. */
export interface SourcePlace {
  readonly path: string;
  readonly line: number;
  /** 0 if unknown. */
  readonly column: number;
}

/** FILE:LINE of the source of the PTX, from the `.loc` before an instruction; for an inlined instruction that of the call. */
export function sourceLine(source: SourceFile, line: number): string | undefined {
  const places = sourcePlaces(source, line);
  return (
    places &&
    [...places]
      .reverse()
      .map(({ path, line }) => `${path}:${line}`)
      .join(', by way of ')
  );
}

/** The place of an instruction in the source of the PTX, and for an inlined instruction that of the call behind it. */
export function sourcePlaces(source: SourceFile, line: number): readonly SourcePlace[] | undefined {
  for (let at = line; at > 0; at--) {
    const text = source.line(at);
    if (/^\s*\{?\s*$/.test(text)) continue;
    if (/^\s*\}|\.entry\b|\.func\b/.test(text)) return undefined;
    const own = placeIn(source, /^\s*\.loc\s+(\d+)\s+(\d+)(?:\s+(\d+))?/.exec(text));
    if (!own) continue;
    const call = placeIn(source, /inlined_at\s+(\d+)\s+(\d+)(?:\s+(\d+))?/.exec(text));
    return call ? [own, call] : [own];
  }
  return undefined;
}

/** The place of a directive: the number of its file, the line, the column. */
function placeIn({ text }: SourceFile, found: RegExpExecArray | null): SourcePlace | undefined {
  const [, file, line, column = '0'] = found ?? [];
  if (file === undefined || line === undefined) return undefined;
  const [, path = `file ${file}`] = new RegExp(String.raw`^\s*\.file\s+${file}\s+"([^"]*)"`, 'm').exec(text) ?? [];
  return { path, line: Number(line), column: Number(column) };
}
