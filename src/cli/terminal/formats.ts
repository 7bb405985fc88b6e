/** Diagnostics for machines: JSON, SARIF 2.1.0 and GitHub's workflow commands, from the same list as the text. */
import type { Entry } from '../../base/catalogue/entry.ts';
import { type Code, catalogue } from '../../base/catalogue/index.ts';
import { withReadableNames } from '../../base/demangle/index.ts';
import type { Diagnostic, Label } from '../../base/diagnostic.ts';
import { printable, printableText } from '../../base/printable.ts';
import type { SourceFile, Span } from '../../base/source.ts';
import { atOrigin } from './origin.ts';

/** One diagnostic as plain data, lines and columns from 1, columns in code points. */
export function diagnosticJson(diagnostic: Diagnostic): Record<string, unknown> {
  const d = atOrigin(diagnostic);
  const { code, severity, message, file, notes, help } = d;
  const main = d.labels[0];
  return {
    code,
    severity,
    message,
    ...(file ? { file: file.path } : {}),
    ...(file && main ? range(file, main.span) : {}),
    labels: file ? d.labels.map((label) => ({ ...range(file, label.span), text: label.text })) : [],
    notes: [...notes],
    ...(help === undefined ? {} : { help }),
  };
}

function range(file: SourceFile, span: Span) {
  const start = file.position(span.start);
  const end = file.position(span.end);
  return { line: start.line, column: start.column, endLine: end.line, endColumn: end.column };
}

/** What a log says besides its diagnostics. */
export interface SarifFacts {
  readonly version: string;
  /** Warnings that a comment suppresses. */
  readonly suppressed?: readonly Diagnostic[];
}

/**
 * A log with the properties that GitHub requires: help for each rule, and a location with a line for each result.
 * Source: OASIS, Static Analysis Results Interchange Format 2.1.0; GitHub, "SARIF support for code scanning".
 */
export function sarif(list: readonly Diagnostic[], { version, suppressed = [] }: SarifFacts): object {
  const codes = [...new Set([...list, ...suppressed].map((d) => d.code))].sort();
  const resultOf = (compiled: Diagnostic, isSuppressed: boolean): object => {
    const d = atOrigin(compiled);
    const file = d.file?.path ?? '-';
    const more = d.file ? d.labels.slice(1).map((label, id) => relatedLocation(d.file!, label, id)) : [];
    return {
      ruleId: d.code,
      ruleIndex: codes.indexOf(d.code),
      level: d.severity,
      message: { text: textOf(d) },
      locations: [sarifLocation(file, d.file, d.labels[0]?.span)],
      ...(more.length > 0 ? { relatedLocations: more } : {}),
      ...(isSuppressed ? { suppressions: [{ kind: 'inSource' }] } : {}),
      properties: { reasons: d.notes.map(withReadableNames), ...(d.help === undefined ? {} : { hint: withReadableNames(d.help) }) },
    };
  };
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'cumetal', version, semanticVersion: version, rules: codes.map(ruleOf) } },
        automationDetails: { id: 'cumetal/' },
        columnKind: 'unicodeCodePoints',
        results: [...list.map((d) => resultOf(d, false)), ...suppressed.map((d) => resultOf(d, true))],
      },
    ],
  };
}

/** The description of a code, with its page as help. */
function ruleOf(code: Code): object {
  const entry: Entry = catalogue[code];
  const { title, page, help, severity } = entry;
  const hint = help === undefined ? [] : [`What to do: ${help}`];
  const name = title.replace(/(?:^|[^a-zA-Z0-9]+)([a-zA-Z0-9])/g, (_, letter: string) => letter.toUpperCase());
  return {
    id: code,
    name: name.replace(/[^a-zA-Z0-9]/g, ''),
    shortDescription: { text: title },
    fullDescription: { text: page },
    help: { text: [page, ...hint].join('\n\n'), markdown: [`**${code}: ${title}**`, page, ...hint].join('\n\n') },
    defaultConfiguration: { level: severity },
  };
}

function relatedLocation(file: SourceFile, label: Label, id: number): object {
  return { id, ...sarifLocation(file.path, file, label.span), message: { text: withReadableNames(label.text) || 'here' } };
}

/** Message, reasons and hint, one line each. */
const textOf = ({ message, notes, help }: Diagnostic): string => withReadableNames([message, ...notes, ...(help ? [help] : [])].join('\n'));

/** A location; that of a whole file is its first line. */
function sarifLocation(path: string, file: SourceFile | undefined, span: Span | undefined): { physicalLocation: object } {
  const artifactLocation = { uri: uriOf(path) };
  if (!file || !span) return { physicalLocation: { artifactLocation, region: { startLine: 1 } } };
  const place = range(file, span);
  const region = { startLine: place.line, startColumn: place.column, endLine: place.endLine, endColumn: place.endColumn };
  return { physicalLocation: { artifactLocation, region: { ...region, snippet: { text: file.text.slice(span.start, span.end) } } } };
}

/** A relative reference, or a `file:` URI for an absolute path; `#` and `?` in a file name are escaped. */
function uriOf(path: string): string {
  const encoded = plainPath(path).split('/').map(encodeURIComponent).join('/');
  return path.startsWith('/') ? `file://${encoded}` : encoded;
}

/** A path without `./` at its start, as GitHub names the files of a repository. */
const plainPath = (path: string): string => path.replace(/^(?:\.\/+)+(?=.)/, '');

/**
 * One workflow command. The runner ends the properties at the first `::` and the command at the line end, so in properties `:` and `,` are
 * escaped, and `%` and line ends everywhere. A `::` in the message is text.
 * Source: GitHub Actions, "Workflow commands"; `ActionCommand.cs` of the runner.
 */
export function githubLine(diagnostic: Diagnostic): string {
  const d = atOrigin(diagnostic);
  const level = d.severity === 'note' ? 'notice' : d.severity;
  const main = d.labels[0];
  const place = d.file && main ? range(d.file, main.span) : undefined;
  const properties = [
    ...(d.file ? [`file=${property(printable(plainPath(d.file.path)))}`] : []),
    ...(place ? [`line=${place.line}`, `endLine=${place.endLine}`, `col=${place.column}`, `endColumn=${place.endColumn}`] : []),
    `title=${d.code}`,
  ];
  return `::${level} ${properties.join(',')}::${data(printableText(textOf(d)))}`;
}

const data = (text: string): string => text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
const property = (text: string): string => data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
