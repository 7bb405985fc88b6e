/**
 * Diagnostics: errors and warnings as values. A room adds to the `Diagnostics` list that it is given and continues. `src/cli` prints the
 * list once, sorted by position.
 */
import { type Code, catalogue, type Holes } from './catalogue/index.ts';
import type { SourceFile, Span } from './source.ts';

export type Severity = 'error' | 'warning' | 'note';

/** A source range and its message. The first label of a diagnostic is its main position. */
export interface Label {
  readonly span: Span;
  readonly text: string;
}

/** An error, a warning or a note as a value: its code in the catalogue, its message, and its place in a source. */
export interface Diagnostic {
  readonly code: Code;
  readonly severity: Severity;
  readonly message: string;
  /** The file of the labels; absent for diagnostics without source text (a binary file, a launch). */
  readonly file?: SourceFile;
  readonly labels: readonly Label[];
  readonly notes: readonly string[];
  readonly help?: string;
}

/** What a report adds to the catalogue's entry. */
export interface Where {
  readonly span?: Span;
  /** The message at the caret of `span`. */
  readonly label?: string;
  readonly more?: readonly Label[];
  readonly notes?: readonly string[];
  /** Replaces the catalogue's own help. */
  readonly help?: string;
  /** Replaces the catalogue's own severity, where an option such as `--ptx-strict` asks for it. */
  readonly severity?: Severity;
}

/** A growing list of diagnostics about one file (or about none). */
export class Diagnostics {
  /** The diagnostics in order of report. */
  readonly list: Diagnostic[] = [];
  /** The source of the labels. */
  readonly file: SourceFile | undefined;

  constructor(file?: SourceFile) {
    this.file = file;
  }

  /** Adds the catalogue's message for `code` and fills its `{holes}`. */
  report<C extends Code>(code: C, holes: Holes<C>, where: Where = {}): void {
    const entry: { severity: Severity; message: string; help?: string } = catalogue[code];
    const message = fill(entry.message, holes);
    const labels = where.span ? [{ span: where.span, text: where.label ?? '' }, ...(where.more ?? [])] : [...(where.more ?? [])];
    const help = where.help ?? (entry.help === undefined ? undefined : fill(entry.help, holes));
    this.list.push({
      code,
      severity: where.severity ?? entry.severity,
      message,
      labels,
      notes: where.notes ?? [],
      ...(this.file ? { file: this.file } : {}),
      ...(help === undefined ? {} : { help }),
    });
  }

  /** Whether an error was reported. */
  get hasErrors(): boolean {
    return this.list.some((d) => d.severity === 'error');
  }

  /** Adds the diagnostics of another list, for example of another file. */
  addAll(others: Iterable<Diagnostic>): void {
    for (const d of others) this.list.push(d);
  }

  /**
   * Adds the diagnostics that are not in the list yet. A function's body is compiled for every call of it, and a fault in it is reported
   * once.
   */
  addNew(others: Iterable<Diagnostic>): void {
    const keyOf = ({ code, message, labels }: Diagnostic): string => `${code} ${labels[0]?.span.start} ${labels[0]?.span.end} ${message}`;
    const seen = new Set(this.list.map(keyOf));
    for (const d of others) {
      const key = keyOf(d);
      if (!seen.has(key)) this.list.push(d);
      seen.add(key);
    }
  }

  /** Sorted by position, then by order of report; diagnostics without a position come last. */
  sorted(): Diagnostic[] {
    const at = (d: Diagnostic) => d.labels[0]?.span.start ?? Number.POSITIVE_INFINITY;
    return [...this.list].sort((a, b) => (at(a) === at(b) ? 0 : at(a) - at(b)));
  }
}

function fill(template: string, holes: Record<string, string | number>): string {
  return template.replace(/\{(\w+)\}/g, (_, hole: string) => String(holes[hole]));
}
