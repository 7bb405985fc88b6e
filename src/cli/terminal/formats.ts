/** Diagnostics for machines: JSON, SARIF 2.1.0 and GitHub's workflow commands, from the same list as the text. */
import { catalogue } from '../../base/catalogue/index.ts';
import { withReadableNames } from '../../base/demangle/index.ts';
import type { Diagnostic } from '../../base/diagnostic.ts';
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

/** Source: OASIS, Static Analysis Results Interchange Format 2.1.0. */
export function sarif(compiled: readonly Diagnostic[], version: string): object {
  const diagnostics = compiled.map(atOrigin);
  const codes = [...new Set(diagnostics.map((d) => d.code))].sort();
  const rules = codes.map((code) => ({
    id: code,
    shortDescription: { text: catalogue[code].title },
    fullDescription: { text: catalogue[code].page },
  }));
  const results = diagnostics.map((d) => ({
    ruleId: d.code,
    ruleIndex: codes.indexOf(d.code),
    level: d.severity,
    message: { text: textOf(d) },
    locations: d.file ? [sarifLocation(d.file, d.labels[0]?.span)] : [],
  }));
  const driver = { name: 'cumetal', version, rules };
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [{ tool: { driver }, columnKind: 'unicodeCodePoints', results }],
  };
}

/** Message, reasons and hint, one line each. */
const textOf = ({ message, notes, help }: Diagnostic): string => withReadableNames([message, ...notes, ...(help ? [help] : [])].join('\n'));

function sarifLocation(file: SourceFile, span: Span | undefined): object {
  const place = span && range(file, span);
  const region = place && { startLine: place.line, startColumn: place.column, endLine: place.endLine, endColumn: place.endColumn };
  return { physicalLocation: { artifactLocation: { uri: uriOf(file.path) }, ...(region ? { region } : {}) } };
}

/** A relative reference, or a `file:` URI for an absolute path; `#` and `?` in a file name are escaped. */
const uriOf = (path: string): string => `${path.startsWith('/') ? 'file://' : ''}${path.split('/').map(encodeURIComponent).join('/')}`;

/** Source: GitHub Actions, "Workflow commands": `%`, line ends and, in properties, `:` and `,` are escaped. */
export function githubLine(diagnostic: Diagnostic): string {
  const d = atOrigin(diagnostic);
  const level = d.severity === 'note' ? 'notice' : d.severity;
  const main = d.labels[0];
  const place = d.file && main ? range(d.file, main.span) : undefined;
  const properties = [
    ...(d.file ? [`file=${property(d.file.path)}`] : []),
    ...(place ? [`line=${place.line}`, `endLine=${place.endLine}`, `col=${place.column}`, `endColumn=${place.endColumn}`] : []),
    `title=${d.code}`,
  ];
  return `::${level} ${properties.join(',')}::${data(textOf(d))}`;
}

const data = (text: string): string => text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
const property = (text: string): string => data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
