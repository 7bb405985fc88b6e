/** Diagnostics as text: severity and code, message, location, the source line with carets, notes and help. */
import { withReadableNames } from '../../base/demangle/index.ts';
import type { Diagnostic, Label, Severity } from '../../base/diagnostic.ts';
import { addTo } from '../../base/group.ts';
import { printable } from '../../base/printable.ts';
import type { SourceFile } from '../../base/source.ts';
import type { Terminal } from './index.ts';
import { atOrigin } from './origin.ts';

/** The maximum number of printed diagnostics; the rest are counted. */
const maxPrinted = 20;

const tab = '    ';
/** The maximum width of a source line in columns; longer lines are cut around the caret. */
const maxWidth = 160;

type Paint = (text: string, style: keyof typeof styles) => string;

const styles = { error: '1;31', warning: '1;33', note: '1;36', bold: '1', frame: '1;34' };

const painter = (color: boolean): Paint => (color ? (text, style) => `\u001b[${styles[style]}m${text}\u001b[0m` : (text) => text);

/** Writes diagnostics to standard error, in color where it supports that. */
export function writeDiagnostics(
  diagnostics: readonly Diagnostic[],
  terminal: Pick<Terminal, 'err' | 'errStyled' | 'color'>,
  max?: number,
): void {
  const text = renderAll(diagnostics, terminal.color.err, max);
  if (terminal.color.err && terminal.errStyled) terminal.errStyled(text);
  else terminal.err(text);
}

/** The first `max` diagnostics and the count of the rest; empty for an empty list. */
export function renderAll(diagnostics: readonly Diagnostic[], color = false, max = maxPrinted): string {
  const shown = diagnostics.slice(0, max).map((d) => renderDiagnostic(d, color));
  const rest = diagnostics.slice(max);
  if (rest.length > 0) shown.push(`and ${countSummary(rest)} more\n`);
  return shown.join('\n');
}

/** `3 errors and 1 warning`. */
export function countSummary(diagnostics: readonly Diagnostic[]): string {
  const parts = (['error', 'warning', 'note'] as const).map((severity) => {
    const count = diagnostics.filter((d) => d.severity === severity).length;
    return count === 0 ? '' : `${count} ${severity}${count === 1 ? '' : 's'}`;
  });
  return parts.filter((part) => part !== '').join(' and ');
}

/** One diagnostic, with a final newline. */
export function renderDiagnostic(diagnostic: Diagnostic, color = false): string {
  const d = atOrigin(diagnostic);
  const paint = painter(color);
  const lines = [`${paint(`${d.severity}[${d.code}]`, d.severity)}${paint(`: ${forPeople(d.message)}`, 'bold')}`];
  const width = d.file && d.labels.length > 0 ? gutterWidth(d.file, d.labels) : 1;
  if (d.file) lines.push(...renderPlaces(d.file, d, width, paint));
  const margin = ' '.repeat(width + 1);
  for (const note of d.notes) lines.push(`${margin}${paint('=', 'frame')} ${paint('note', 'bold')}: ${forPeople(note)}`);
  if (d.help) lines.push(`${margin}${paint('=', 'frame')} ${paint('help', 'bold')}: ${forPeople(d.help)}`);
  return `${lines.join('\n')}\n`;
}

const gutterWidth = (file: SourceFile, labels: readonly Label[]): number =>
  String(Math.max(...labels.map((label) => file.position(label.span.start).line))).length;

function renderPlaces(file: SourceFile, d: Diagnostic, width: number, paint: Paint): string[] {
  const margin = ' '.repeat(width);
  const main = d.labels[0];
  if (!main) return [`${margin}${paint('-->', 'frame')} ${printable(file.path)}`];
  const { line, column } = file.position(main.span.start);
  const lines = [`${margin}${paint('-->', 'frame')} ${printable(file.path)}:${line}:${column}`, `${margin} ${paint('|', 'frame')}`];
  let before: number | undefined;
  for (const [number, labels] of byLine(file, d.labels)) {
    if (before !== undefined && number > before + 1) lines.push(`${margin} ${paint('⋮', 'frame')}`);
    lines.push(...renderLine(file, number, { labels, main, severity: d.severity, width }, paint));
    before = number;
  }
  return lines;
}

function byLine(file: SourceFile, labels: readonly Label[]): [line: number, labels: Label[]][] {
  const lines = new Map<number, Label[]>();
  for (const label of labels) addTo(lines, file.position(label.span.start).line, label);
  return [...lines].sort(([a], [b]) => a - b);
}

interface Marks {
  readonly labels: readonly Label[];
  readonly main: Label;
  readonly severity: Severity;
  readonly width: number;
}

function renderLine(file: SourceFile, number: number, { labels, main, severity, width }: Marks, paint: Paint): string[] {
  const anchor = labels.includes(main) ? main : labels[0]!;
  // Of a line of any length, the part around the label: more of it is never shown, and each of many messages would look at all of it.
  const whole = file.line(number);
  const first = file.lineStarts[number - 1]!;
  const at = Math.min(anchor.span.start - first, whole.length);
  const skipped = Math.max(0, at - reach);
  const text = whole.slice(skipped, at + reach);
  const start = first + skipped;
  const cut = cutAround(columnsOf(text.slice(0, anchor.span.start - start)));
  const lines = [`${paint(`${String(number).padStart(width)} |`, 'frame')} ${windowOf(expand(text), cut)}`.trimEnd()];
  for (const label of labels) {
    if (label.span.start < start) continue;
    const from = columnsOf(text.slice(0, label.span.start - start)) - cut;
    const to = columnsOf(text.slice(0, Math.min(text.length, Math.max(label.span.start, label.span.end) - start))) - cut;
    if (from < 0 || from > maxWidth) continue;
    const mark = (label === main ? '^' : '-').repeat(Math.max(1, Math.min(to, maxWidth) - from));
    const marked = label.text === '' ? mark : `${mark} ${forPeople(label.text)}`;
    lines.push(`${' '.repeat(width)} ${paint('|', 'frame')} ${' '.repeat(from)}${paint(marked, label === main ? severity : 'frame')}`);
  }
  return lines;
}

/** Characters before and behind a label, at least as many as a window shows. */
const reach = 4 * maxWidth;

/** The first visible column of a long line, chosen so that the caret is visible. */
const cutAround = (column: number): number => (column < maxWidth - 20 ? 0 : column - 40);

function windowOf(text: string, cut: number): string {
  const points = [...text];
  if (points.length <= maxWidth && cut === 0) return text;
  const end = cut + maxWidth;
  const shown = points.slice(cut, end);
  if (cut > 0) shown[0] = '…';
  return `${shown.join('')}${points.length > end ? '…' : ''}`;
}

const expand = (text: string): string => printable(text.replaceAll('\t', tab));

/** The width of a text in columns; a tab has four. */
const columnsOf = (text: string): number => [...text.replaceAll('\t', tab)].length;

/** A message with C++ names instead of mangled ones. */
const forPeople = (text: string): string => printable(withReadableNames(text));
