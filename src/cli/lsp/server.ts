/**
 * A language server for PTX. Source: Microsoft, Language Server Protocol 3.17. Requests are answered from the functions that they are about;
 * an edit inside of a body checks that function at once, and any other edit the whole text when keys pause.
 */
import {
  type Connection,
  ErrorCodes,
  type InitializeParams,
  type InitializeResult,
  type InlayHint,
  type Location,
  type Range,
  ResponseError,
  TextDocumentSyncKind,
} from 'vscode-languageserver';
import type { TextDocument } from 'vscode-languageserver-textdocument';
import type { Span } from '../../base/source.ts';
import type { CompileOptions } from '../../compile/index.ts';
import {
  completionsAt,
  definitionOf,
  type Found,
  hoverAt,
  mentionsOf,
  nameAt,
  outlineOf,
  renameable,
  renamed,
  tokenKinds,
  tokensIn,
} from '../../editor/index.ts';
import { actionsFor, completionOf, diagnosticOf, editOf, encoded, rangeOf, symbolOf } from './convert.ts';
import { OpenDocument } from './documents.ts';

/** How the server was started. */
export interface ServerOptions {
  readonly version: string;
  readonly compile: CompileOptions;
}

/** Milliseconds without a key after which a whole text is read. */
const pause = 250;
/** Milliseconds without a key after which there is advice, which takes a compilation. */
const adviceDelay = 800;
/** Characters up to which a whole text is read at once. */
const small = 60_000;
/** Instructions behind one of the text from which their number is shown. */
const shownCost = 8;
const maxDiagnostics = 1000;

/** A place in a document, as requests have it. */
interface At {
  readonly textDocument: { readonly uri: string };
  readonly position: { readonly line: number; readonly character: number };
}

/** Serves a connection until it ends. */
export function serve(connection: Connection, options: ServerOptions): void {
  const documents = new Documents(connection);
  connection.onInitialize((params: InitializeParams) => initialized(params, options.version));
  answerAboutNames(connection, documents);
  answerAboutTexts(connection, documents, options.compile);
}

/** The open documents of a connection, whose diagnostics are sent when they change. */
class Documents {
  readonly #connection: Connection;
  readonly #open = new Map<string, OpenDocument>();
  readonly #waiting = new Map<string, ReturnType<typeof setTimeout>>();
  readonly #advising = new Map<string, ReturnType<typeof setTimeout>>();

  constructor(connection: Connection) {
    this.#connection = connection;
    connection.onDidOpenTextDocument(({ textDocument: { uri, languageId, version, text } }) => {
      const document = new OpenDocument(uri, languageId, version, text);
      this.#open.set(uri, document);
      this.#publish(document, document.all());
    });
    connection.onDidChangeTextDocument(({ textDocument: { uri, version }, contentChanges }) => {
      const document = this.#open.get(uri);
      document?.change(contentChanges, version ?? 0);
      if (document) this.#look(document);
    });
    connection.onDidCloseTextDocument(({ textDocument: { uri } }) => {
      clearTimeout(this.#waiting.get(uri));
      clearTimeout(this.#advising.get(uri));
      if (this.#open.delete(uri)) void connection.sendDiagnostics({ uri, diagnostics: [] });
    });
  }

  /** An open document. Throws the error of the protocol for another one. */
  at(uri: string): OpenDocument {
    const document = this.#open.get(uri);
    if (!document) throw new ResponseError(ErrorCodes.InvalidParams, `\`${uri}\` is not open`);
    return document;
  }

  offsetOf({ textDocument, position }: At): number {
    return this.at(textDocument.uri).text.offsetAt(position);
  }

  /** The name at a place. */
  nameAt(at: At): Found | undefined {
    return nameAt(this.at(at.textDocument.uri).ptx, this.offsetOf(at));
  }

  /**
   * Says what is wrong with a changed document: at once if a look at one function or at a small text tells. Of a large function the changed instructions
   * are looked at first, and the whole when keys pause.
   */
  #look(document: OpenDocument): void {
    const { uri } = document.text;
    clearTimeout(this.#waiting.get(uri));
    if (document.isLarge) {
      const edited = document.edited();
      if (edited) this.#send(document, edited);
    } else {
      const list = document.changed() ?? (document.text.getText().length <= small ? document.all() : undefined);
      if (list) return this.#publish(document, list);
    }
    this.#waiting.set(
      uri,
      setTimeout(() => this.#publish(document, document.changed() ?? document.all()), pause),
    );
  }

  /** Sends what is wrong with a text, and later the advice on it if there is some. */
  #publish(document: OpenDocument, list: ReturnType<OpenDocument['all']>): void {
    const { uri } = document.text;
    this.#send(document, list);
    clearTimeout(this.#advising.get(uri));
    if (list.some(({ severity }) => severity === 'error')) return;
    const advise = (): void => {
      const advised = this.#open.has(uri) ? document.advised() : undefined;
      if (advised) this.#send(document, advised);
    };
    this.#advising.set(uri, setTimeout(advise, adviceDelay));
  }

  #send({ text }: OpenDocument, list: ReturnType<OpenDocument['all']>): void {
    const { uri, version } = text;
    const diagnostics = list.slice(0, maxDiagnostics).map((each) => diagnosticOf(text, each));
    void this.#connection.sendDiagnostics({ uri, version, diagnostics });
  }
}

/** Definition, references, highlights and rename. */
function answerAboutNames(connection: Connection, documents: Documents): void {
  const mentions = (at: At, hasDeclaration: boolean): Location[] => {
    const name = documents.nameAt(at);
    const { ptx, text } = documents.at(at.textDocument.uri);
    const list = name ? mentionsOf(ptx, name) : [];
    return list.filter((each) => hasDeclaration || !each.isDeclaration).map(({ span }) => ({ uri: text.uri, range: rangeOf(text, span) }));
  };
  connection.onReferences((at) => mentions(at, at.context.includeDeclaration));
  connection.onDocumentHighlight((at) => mentions(at, true).map(({ range }) => ({ range })));
  connection.onDefinition((at) => {
    const name = documents.nameAt(at);
    const { ptx, text } = documents.at(at.textDocument.uri);
    const span = name && definitionOf(ptx, name);
    return span && { uri: text.uri, range: rangeOf(text, span) };
  });
  connection.onPrepareRename((at) => {
    const name = documents.nameAt(at);
    const { text } = documents.at(at.textDocument.uri);
    const span = name && renameable(name);
    return span && { range: rangeOf(text, span), placeholder: text.getText(rangeOf(text, span)) };
  });
  connection.onRenameRequest((at) => {
    const name = documents.nameAt(at);
    const { ptx, text } = documents.at(at.textDocument.uri);
    const edits = name ? renamed(ptx, name, at.newName) : 'there is no name here';
    if (typeof edits === 'string') throw new ResponseError(ErrorCodes.InvalidRequest, edits);
    return { changes: { [text.uri]: edits.map((each) => editOf(text, each)) } };
  });
}

/** Hover, outline, completion, quick fixes, colors and hints. */
function answerAboutTexts(connection: Connection, documents: Documents, compile: CompileOptions): void {
  connection.onHover((at) => {
    const { ptx, text } = documents.at(at.textDocument.uri);
    const hover = hoverAt(ptx, documents.offsetOf(at));
    return hover && { contents: { kind: 'markdown', value: hover.markdown }, range: rangeOf(text, hover.span) };
  });
  connection.onDocumentSymbol(({ textDocument: { uri } }) => {
    const { ptx, text } = documents.at(uri);
    return outlineOf(ptx).map((item) => symbolOf(text, item));
  });
  connection.onCompletion((at) => {
    const { ptx, text } = documents.at(at.textDocument.uri);
    const { span, list } = completionsAt(ptx, documents.offsetOf(at));
    return { isIncomplete: false, items: list.map((each) => completionOf(text, span, each)) };
  });
  connection.onCodeAction(({ textDocument: { uri }, context }) => {
    const { text } = documents.at(uri);
    return context.diagnostics.flatMap((each) => actionsFor(text, each));
  });
  const { semanticTokens, inlayHint } = connection.languages;
  semanticTokens.on(({ textDocument: { uri } }) => {
    const { ptx, text } = documents.at(uri);
    return { data: encoded(text, tokensIn(ptx, { start: 0, end: ptx.text.length })) };
  });
  semanticTokens.onRange(({ textDocument: { uri }, range }) => {
    const { ptx, text } = documents.at(uri);
    return { data: encoded(text, tokensIn(ptx, spanOf(text, range))) };
  });
  inlayHint.on(({ textDocument: { uri }, range }) => hintsIn(documents.at(uri), range, compile));
}

const spanOf = (text: TextDocument, { start, end }: Range): Span => ({ start: text.offsetAt(start), end: text.offsetAt(end) });

/** The number of operations behind instructions that become many. */
function hintsIn(document: OpenDocument, range: Range, compile: CompileOptions): InlayHint[] {
  const { ptx, text } = document;
  const shown = spanOf(text, range);
  const isShown = ({ start, end }: Span): boolean => start < shown.end && shown.start < end;
  return ptx
    .places()
    .filter(isShown)
    .flatMap((place) => document.costsAt(place.start, compile))
    .filter(({ span, count }) => count >= shownCost && isShown(span))
    .map(({ span, count }) => ({ position: text.positionAt(span.end), label: `${count} operations`, paddingLeft: true }));
}

function initialized({ capabilities }: InitializeParams, version: string): InitializeResult {
  const canPrepare = capabilities.textDocument?.rename?.prepareSupport === true;
  return {
    serverInfo: { name: 'cumetal', version },
    capabilities: {
      textDocumentSync: { openClose: true, change: TextDocumentSyncKind.Incremental },
      hoverProvider: true,
      definitionProvider: true,
      referencesProvider: true,
      documentHighlightProvider: true,
      documentSymbolProvider: true,
      renameProvider: canPrepare ? { prepareProvider: true } : true,
      completionProvider: { triggerCharacters: ['.', '%', '@'] },
      codeActionProvider: true,
      inlayHintProvider: true,
      semanticTokensProvider: { legend: { tokenTypes: [...tokenKinds], tokenModifiers: [] }, full: true, range: true },
    },
  };
}
