/** Diagnostics of a text that was compiled from another one, at the lines of that one: PTX that nvcc made of a `.cu` file. */
import type { Diagnostic, Label } from '../../base/diagnostic.ts';
import type { SourceFile } from '../../base/source.ts';
import { sourcePlaces } from '../../device/cpu/source-text.ts';

/** The diagnostic at the lines of the origin of its file. It stays as it is if its main place has none, such as an instruction of a header. */
export function atOrigin(diagnostic: Diagnostic): Diagnostic {
  const { file, labels } = diagnostic;
  if (!file?.origin) return diagnostic;
  const found = labels.map((label) => originOf(label, file, file.origin!));
  const [main] = found;
  if (!main) return diagnostic;
  const { line, column } = file.position(labels[0]!.span.start);
  const text = file.line(line).trim().replace(/\s+/g, ' ');
  const more = found.slice(1).filter((label) => label !== undefined);
  // Two places of one line are one label.
  const own = more.filter(({ span }) => span.start !== main.span.start);
  return {
    ...diagnostic,
    file: file.origin,
    labels: [main, ...own],
    notes: [...diagnostic.notes.filter((note) => !note.startsWith('source: ')), `compiled to \`${text}\`, at ${line}:${column} of the PTX`],
  };
}

/** The line of the origin of a text that a line of it was compiled from. */
export function originLine(file: SourceFile, line: number): { readonly line: number; readonly text: string } | undefined {
  const { origin } = file;
  const place = origin && (sourcePlaces(file, line) ?? []).find(({ path }) => isSame(path, origin.path));
  return place && place.line <= origin.lineStarts.length ? { line: place.line, text: origin.line(place.line) } : undefined;
}

/** A label at the line of the origin, from its column to its end. */
function originOf({ span, text }: Label, file: SourceFile, origin: SourceFile): Label | undefined {
  const places = sourcePlaces(file, file.position(span.start).line) ?? [];
  const place = places.find(({ path }) => isSame(path, origin.path));
  if (!place || place.line > origin.lineStarts.length) return undefined;
  const line = origin.line(place.line);
  const column = place.column > 0 ? Math.min(place.column - 1, line.length) : line.search(/\S|$/);
  const start = origin.lineStarts[place.line - 1]! + column;
  return { span: { start, end: start + Math.max(1, line.trimEnd().length - column) }, text };
}

/** Whether a path of a `.file` directive, which compilers make absolute, is that of the origin. */
const isSame = (path: string, origin: string): boolean => {
  const relative = origin.replace(/^(\.\/)+/, '');
  return path === relative || path.endsWith(`/${relative.replace(/^(\.\.\/)+/, '')}`);
};
