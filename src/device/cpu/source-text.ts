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

/** FILE:LINE of the source of the PTX, from the `.loc` before an instruction; for an inlined instruction that of the call. */
export function sourceLine(source: SourceFile, line: number): string | undefined {
  for (let at = line; at > 0; at--) {
    const text = source.line(at);
    if (/^\s*\{?\s*$/.test(text)) continue;
    if (/^\s*\}|\.entry\b|\.func\b/.test(text)) return undefined;
    const [, file, row] = /^\s*\.loc\s+(\d+)\s+(\d+)/.exec(text) ?? [];
    if (file === undefined || row === undefined) continue;
    const [, callFile, callRow] = /inlined_at\s+(\d+)\s+(\d+)/.exec(text) ?? [];
    const own = fileLine(source, file, row);
    return callFile === undefined || callRow === undefined ? own : `${fileLine(source, callFile, callRow)}, by way of ${own}`;
  }
  return undefined;
}

function fileLine({ text }: SourceFile, file: string, row: string): string {
  const [, path = `file ${file}`] = new RegExp(String.raw`^\s*\.file\s+${file}\s+"([^"]*)"`, 'm').exec(text) ?? [];
  return `${path}:${row}`;
}
