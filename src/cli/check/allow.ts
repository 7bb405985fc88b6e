/**
 * Suppressions: `// cumetal: allow CM2201` on the line of a warning or alone on the line before it, and `// cumetal: allow-file CM2201`
 * for the whole text. A reason may follow after `--`. A suppression must match a warning.
 */
import type { Code } from '../../base/catalogue/index.ts';
import { type Diagnostic, Diagnostics } from '../../base/diagnostic.ts';
import type { SourceFile, Span } from '../../base/source.ts';
import { atOrigin } from '../terminal/origin.ts';
import { codeOf } from './levels.ts';

interface Allowed {
  readonly code: Code;
  /** Undefined for the whole file. */
  readonly line: number | undefined;
  readonly span: Span;
  isUsed: boolean;
}

export interface Kept {
  readonly list: readonly Diagnostic[];
  readonly suppressed: readonly Diagnostic[];
}

/** A comment that is meant as a suppression. Launch lines have `//!`. */
const anySuppression = /(?:\/\/|\/\*)\s*cumetal:/;

/** The diagnostics of a text without the suppressed ones, with those of unused suppressions (CM2220), unknown codes (CM2221) and malformed ones (CM2222). Without advice (`isAdvised`), its codes are not unused. */
export function suppress(list: readonly Diagnostic[], source: SourceFile, isAdvised = false): Kept {
  const files = [source, ...(source.origin ? [source.origin] : [])].filter(({ text }) => anySuppression.test(text));
  if (files.length === 0) return { list, suppressed: [] };
  const reported = new Diagnostics();
  const read = files.map((file) => ({ file, allowed: readAllowed(file, reported) }));
  const [kept, suppressed]: [Diagnostic[], Diagnostic[]] = [[], []];
  for (const each of list) (each.severity !== 'error' && isAllowed(each, read) ? suppressed : kept).push(each);
  // Lints do not run on a text with errors.
  if (list.some(({ severity }) => severity === 'error')) return { list: inOrder([...kept, ...reported.list], source), suppressed };
  for (const { file, allowed } of read) {
    const unused = new Diagnostics(file);
    for (const { code, line, span, isUsed } of allowed)
      if (!isUsed && (isAdvised || !code.startsWith('CM23')))
        unused.report('CM2220', { code, where: line === undefined ? 'in this file' : `on line ${line}` }, { span });
    reported.addAll(unused.list);
  }
  return { list: inOrder([...kept, ...reported.list], source), suppressed };
}

/** Those of the text by their place, then those of the file that it was compiled from. */
function inOrder(list: readonly Diagnostic[], source: SourceFile): Diagnostic[] {
  const [own, others] = [new Diagnostics(source), new Diagnostics()];
  for (const each of list) (each.file === source ? own : others).list.push(each);
  return [...own.sorted(), ...others.sorted()];
}

function isAllowed(diagnostic: Diagnostic, read: readonly { readonly file: SourceFile; readonly allowed: readonly Allowed[] }[]): boolean {
  const places = [diagnostic, atOrigin(diagnostic)];
  for (const { file, allowed } of read) {
    const place = places.find((each) => each.file === file);
    const main = place?.labels[0];
    const line = main && file.position(main.span.start).line;
    const found = allowed.find((each) => each.code === diagnostic.code && (each.line === undefined || each.line === line));
    if (!found || (line === undefined && found.line !== undefined)) continue;
    found.isUsed = true;
    return true;
  }
  return false;
}

function readAllowed(file: SourceFile, reported: Diagnostics): Allowed[] {
  const own = new Diagnostics(file);
  const found: Allowed[] = [];
  const lines = file.text.split('\n');
  lines.forEach((text, i) => {
    const match = anySuppression.exec(text);
    if (!match) return;
    const column = match.index;
    const comment = text.slice(column).trimEnd();
    const [whole = '', scope = '', words = ''] = /^\/\/\s*cumetal:\s*(\S*)\s*(.*)$/.exec(comment) ?? [];
    const why = whole === '' ? 'it is a block comment' : problemOf(scope, words);
    if (why !== undefined) {
      const start = file.lineStarts[i]! + column;
      own.report('CM2222', { why }, { span: { start, end: start + comment.length } });
      return;
    }
    const line = scope === 'allow-file' ? undefined : lineMeant(lines, i, column);
    const at = file.lineStarts[i]! + column + whole.length - words.length;
    for (const { 0: name, index } of words.split('--')[0]!.matchAll(/[^\s,]+/g)) {
      const span = { start: at + index, end: at + index + name.length };
      const code = codeOf(name);
      if (code) found.push({ code, line, span, isUsed: false });
      else own.report('CM2221', { name }, { span });
    }
  });
  reported.addAll(own.list);
  return found;
}

/** Why a comment with this word and these codes is no suppression; undefined for one that is. */
function problemOf(scope: string, words: string): string | undefined {
  if (scope !== 'allow' && scope !== 'allow-file')
    return scope === '' ? 'it has no word' : `\`${scope}\` is not \`allow\` or \`allow-file\``;
  return words.split('--')[0]!.trim() === '' ? 'it names no code' : undefined;
}

/** The line that a comment is about: its own, or the next one with code if it is alone on its line. */
function lineMeant(lines: readonly string[], index: number, column: number): number {
  if (lines[index]!.slice(0, column).trim() !== '') return index + 1;
  const next = lines.findIndex((text, i) => i > index && !/^\s*(\/\/.*)?\r?$/.test(text));
  return next < 0 ? index + 1 : next + 1;
}
