/** The open texts: each in the words of the protocol and as a PTX text, which change together. */
import type { TextDocumentContentChangeEvent } from 'vscode-languageserver';
import { TextDocument } from 'vscode-languageserver-textdocument';
import type { Diagnostic } from '../../base/diagnostic.ts';
import type { CompileOptions } from '../../compile/index.ts';
import { adviceOn, type Cost, costsAt, PtxDocument } from '../../editor/index.ts';
import { suppress } from '../check/allow.ts';

export class OpenDocument {
  #text: TextDocument;
  readonly ptx: PtxDocument;
  /** By the start of an entry. Editors ask at every scroll, and an answer compiles the entry. */
  readonly #costs = new Map<number, readonly Cost[]>();

  constructor(uri: string, languageId: string, version: number, text: string) {
    this.#text = TextDocument.create(uri, languageId, version, text);
    this.ptx = new PtxDocument(pathOf(uri), text);
  }

  /** Lines and columns of the current text. */
  get text(): TextDocument {
    return this.#text;
  }

  /** Changes of a client, in order; each is about the text that the one before left. */
  change(changes: readonly TextDocumentContentChangeEvent[], version: number): void {
    this.#costs.clear();
    for (const change of changes) {
      const before = this.#text;
      const range =
        'range' in change ? change.range : { start: { line: 0, character: 0 }, end: before.positionAt(before.getText().length) };
      this.ptx.edit({ start: before.offsetAt(range.start), end: before.offsetAt(range.end), text: change.text });
      this.#text = TextDocument.update(before, [change], version);
    }
  }

  /** The costs of the instructions of an entry that starts at an offset. */
  costsAt(start: number, options: CompileOptions): readonly Cost[] {
    const known = this.#costs.get(start);
    if (known) return known;
    const costs = costsAt(this.ptx, start, options);
    this.#costs.set(start, costs);
    return costs;
  }

  /** What is wrong with the text; undefined if only a look at all of it can tell. */
  changed(): readonly Diagnostic[] | undefined {
    return this.#kept(this.ptx.checkChanged());
  }

  /** Whether a look at what has changed takes longer than a key. */
  get isLarge(): boolean {
    return this.ptx.isLarge;
  }

  /** The errors of the text, as far as those of changed instructions tell; undefined if more of it has to be looked at. */
  edited(): readonly Diagnostic[] | undefined {
    return this.#kept(this.ptx.checkEdited());
  }

  /** What is wrong with the text. */
  all(): readonly Diagnostic[] {
    return this.#kept(this.ptx.checkAll())!;
  }

  /** What is wrong with the text, and the advice on it; undefined without advice. */
  advised(): readonly Diagnostic[] | undefined {
    const advice = adviceOn(this.ptx);
    return advice.length === 0 ? undefined : this.#kept([...this.ptx.checkAll(), ...advice], true);
  }

  /** Without what comments allow. */
  #kept(list: readonly Diagnostic[] | undefined, isAdvised = false): readonly Diagnostic[] | undefined {
    if (!list) return undefined;
    const { source } = this.ptx;
    return suppress(
      list.map((each) => ({ ...each, file: source })),
      source,
      isAdvised,
    ).list;
  }
}

/** The path of a file, for messages. */
function pathOf(uri: string): string {
  try {
    return decodeURIComponent(new URL(uri).pathname);
  } catch {
    return uri;
  }
}
