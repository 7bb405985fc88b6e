/** Offsets and diagnostics in the words of the Language Server Protocol 3.17: lines and UTF-16 columns from 0. */
import {
  type CodeAction,
  CodeActionKind,
  type CompletionItem,
  CompletionItemKind,
  DiagnosticSeverity,
  DiagnosticTag,
  type DocumentSymbol,
  type Diagnostic as ProtocolDiagnostic,
  type Range,
  SymbolKind,
  type TextEdit,
} from 'vscode-languageserver';
import type { TextDocument } from 'vscode-languageserver-textdocument';
import { withReadableNames } from '../../base/demangle/index.ts';
import type { Diagnostic } from '../../base/diagnostic.ts';
import type { Span } from '../../base/source.ts';
import type { Completion, Edit, OutlineItem, Token } from '../../editor/index.ts';
import { tokenKinds } from '../../editor/index.ts';

export const rangeOf = (document: TextDocument, { start, end }: Span): Range => ({
  start: document.positionAt(start),
  end: document.positionAt(end),
});

const severities = { error: DiagnosticSeverity.Error, warning: DiagnosticSeverity.Warning, note: DiagnosticSeverity.Information };

/** Lints about what nothing uses, which editors show faded. */
const unused: ReadonlySet<string> = new Set(['CM2204', 'CM2205', 'CM2206']);

/** A diagnostic with its reasons, its help and its other places. One without a place is about the start of the text. */
export function diagnosticOf(document: TextDocument, each: Diagnostic): ProtocolDiagnostic {
  const { code, severity, message, labels, notes, help } = each;
  const [main, ...more] = labels;
  const lines = [message, main?.text ?? '', ...notes.map((note) => `note: ${note}`), help === undefined ? '' : `help: ${help}`];
  return {
    range: rangeOf(document, main?.span ?? { start: 0, end: 0 }),
    severity: severity === 'note' && code.startsWith('CM23') ? DiagnosticSeverity.Hint : severities[severity],
    code,
    source: 'cumetal',
    message: withReadableNames(lines.filter((line) => line !== '').join('\n')),
    ...(unused.has(code) ? { tags: [DiagnosticTag.Unnecessary] } : {}),
    ...(more.length === 0
      ? {}
      : {
          relatedInformation: more.map(({ span, text }) => ({
            location: { uri: document.uri, range: rangeOf(document, span) },
            message: text,
          })),
        }),
  };
}

/** The word that a help suggests in place of the one that is marked. */
const suggestion = /^help: did you mean `([^`\s]+)`\?$/m;

/** What can be done about a diagnostic: the suggested word, or a comment that allows a lint. */
export function actionsFor(document: TextDocument, diagnostic: ProtocolDiagnostic): CodeAction[] {
  const action = (title: string, edit: TextEdit, isPreferred: boolean): CodeAction => ({
    title,
    kind: CodeActionKind.QuickFix,
    diagnostics: [diagnostic],
    isPreferred,
    edit: { changes: { [document.uri]: [edit] } },
  });
  const { message } = diagnostic;
  const word = suggestion.exec(typeof message === 'string' ? message : message.value)?.[1];
  const marked = document.getText(diagnostic.range);
  const actions =
    word !== undefined && /^[\w$%.:]+$/.test(marked)
      ? [action(`Replace with \`${word}\``, { range: diagnostic.range, newText: word }, true)]
      : [];
  if (diagnostic.severity === DiagnosticSeverity.Error || diagnostic.code === undefined) return actions;
  const { line } = diagnostic.range.start;
  const indent = /^[ \t]*/.exec(document.getText({ start: { line, character: 0 }, end: { line, character: 200 } }))![0];
  const start = { line, character: 0 };
  const newText = `${indent}// cumetal: allow ${diagnostic.code}\n`;
  return [...actions, action(`Allow ${diagnostic.code} on this line`, { range: { start, end: start }, newText }, false)];
}

const symbolKinds = {
  entry: SymbolKind.Event,
  function: SymbolKind.Function,
  variable: SymbolKind.Variable,
  label: SymbolKind.Key,
} as const;

export const symbolOf = (document: TextDocument, item: OutlineItem): DocumentSymbol => ({
  name: item.name,
  detail: item.detail,
  kind: symbolKinds[item.kind],
  range: rangeOf(document, item.span),
  selectionRange: rangeOf(document, item.nameSpan),
  children: item.children.map((child) => symbolOf(document, child)),
});

const completionKinds = {
  opcode: CompletionItemKind.Keyword,
  modifier: CompletionItemKind.EnumMember,
  name: CompletionItemKind.Variable,
  'special register': CompletionItemKind.Constant,
} as const;

export const completionOf = (document: TextDocument, span: Span, { word, kind, doc }: Completion): CompletionItem => ({
  label: word,
  kind: completionKinds[kind],
  textEdit: { range: rangeOf(document, span), newText: word },
  ...(doc === undefined ? {} : { documentation: doc }),
});

export const editOf = (document: TextDocument, { start, end, text }: Edit): TextEdit => ({
  range: rangeOf(document, { start, end }),
  newText: text,
});

/** Tokens as five numbers each, relative to the one before. */
export function encoded(document: TextDocument, tokens: readonly Token[]): number[] {
  const data: number[] = [];
  let [line, character] = [0, 0];
  for (const { start, end, kind } of tokens) {
    const at = document.positionAt(start);
    data.push(at.line - line, at.line === line ? at.character - character : at.character, end - start, tokenKinds.indexOf(kind), 0);
    [line, character] = [at.line, at.character];
  }
  return data;
}
