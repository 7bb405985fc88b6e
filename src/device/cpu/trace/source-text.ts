/** Instructions in the text that was compiled. */
import type { SourceFile } from '../../../base/source.ts';

/** The instruction that starts at a line and column, with its guard, as one line; empty where the text has no such place. */
export function instructionAt(source: SourceFile, { line, column }: { readonly line: number; readonly column: number }): string {
  if (line < 1 || line > source.lineStarts.length) return '';
  const from = source.lineStarts[line - 1]! + Math.max(0, column - 1);
  const end = source.text.indexOf(';', from);
  const text = end < 0 ? source.text.slice(from, from + 200) : source.text.slice(from, end + 1);
  return text.replace(/\s+/g, ' ').trim();
}
