/** LLVM text to modules: the inverse of `text/`, for what the disassembler of this room writes. Everything else is refused. */
import type { Diagnostics } from '../../base/diagnostic.ts';
import type { Module } from '../model.ts';
import { types } from '../types.ts';
import { readAttributes } from './attributes.ts';
import { type FunctionText, readBody, readGlobal, readHead, readInit } from './functions.ts';
import { readNode } from './metadata.ts';
import { newSymbols, nodeReference, type Symbols } from './symbols.ts';
import { TextReader, Unreadable } from './text-reader.ts';
import { readBody as readFields } from './types.ts';

/** The modules of a text, each from its `source_filename` on; undefined after reporting CM4072. */
export function parseModules(text: string, diagnostics: Diagnostics): Module[] | undefined {
  try {
    return splitModules(text).map(([start, end]) => new ModuleText(text, start, end).module());
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    diagnostics.report('CM4072', { why: error.message }, { span: { start: error.at, end: error.at + 1 } });
    return undefined;
  }
}

/** The ranges of the modules. The first one starts with the text. */
function splitModules(text: string): [start: number, end: number][] {
  const starts = [...text.matchAll(/^source_filename = /gm)].map(({ index }) => index);
  if (starts.length < 2) return [[0, text.length]];
  return starts.map((start, i) => [i === 0 ? 0 : start, starts[i + 1] ?? text.length]);
}

/** The entities of a module by their first characters, with what follows them. */
interface Entity {
  readonly at: number;
  readonly text: string;
}

class ModuleText {
  private readonly symbols: Symbols = newSymbols();
  private readonly entities: Entity[] = [];
  private readonly text: string;
  private readonly made: Module = {
    identification: '',
    sourceFilename: '',
    triple: '',
    dataLayout: '',
    structs: [],
    globals: [],
    functions: [],
    namedMetadata: [],
    sections: [],
  };

  constructor(text: string, start: number, end: number) {
    // Positions in messages are those of the whole text.
    this.text = text.slice(0, end);
    const line = /^.*$/gm;
    let isInBody = false;
    line.lastIndex = start;
    for (let found = line.exec(this.text); found && found.index < end; found = line.exec(this.text)) {
      const [text] = found;
      if (!isInBody && !/^\s*(;|$)/.test(text)) this.entities.push({ at: found.index, text });
      if (/^define\b/.test(text)) isInBody = true;
      if (text === '}') isInBody = false;
      if (text === '') line.lastIndex = found.index + 1;
    }
  }

  module(): Module {
    this.header();
    this.types();
    this.nodes();
    this.each(/^attributes #/, (reader) => this.group(reader));
    const globals = this.each(/^@/, (reader) => {
      const { global, hasInit } = readGlobal(reader, this.symbols);
      this.claim(reader, this.symbols.globals, global.name);
      this.symbols.globals.set(global.name, global);
      return { reader, global, hasInit };
    });
    const functions = this.each(/^(define|declare)\b/, (reader) => ({ reader, ...this.head(reader) }));
    for (const { reader, global, hasInit } of globals) readInit(reader, this.symbols, global, hasInit);
    for (const { reader, ...head } of functions) if (head.isDefined) readBody(reader, this.symbols, head);
    this.made.globals = globals.map(({ global }) => global);
    this.made.functions = functions.map(({ fn }) => fn);
    this.metadata();
    const known = [...this.made.globals, ...this.made.functions].flatMap(({ section }) => section ?? []);
    this.made.sections = [...new Set(known)];
    this.refuseOthers();
    return this.made;
  }

  private each<T>(pattern: RegExp, read: (reader: TextReader) => T): T[] {
    return this.entities.filter(({ text }) => pattern.test(text)).map(({ at }) => read(new TextReader(this.text, at)));
  }

  private header(): void {
    const { made } = this;
    this.each(/^source_filename = /, (reader) => {
      reader.word();
      reader.expect('=');
      made.sourceFilename = reader.quoted();
    });
    this.each(/^target /, (reader) => {
      reader.word();
      const what = reader.word();
      reader.expect('=');
      if (what === 'triple') made.triple = reader.quoted();
      else if (what === 'datalayout') made.dataLayout = reader.quoted();
      else reader.fail(`unknown property \`${what}\``);
    });
  }

  /** Named structs: first all names, since their fields refer to each other. */
  private types(): void {
    const named = this.each(/^%/, (reader) => {
      const name = reader.name('%');
      this.claim(reader, this.symbols.structs, name);
      reader.expect('=');
      if (!reader.takeWord('type')) reader.fail('expected `type`');
      const packed = reader.peek() === '<';
      const struct = types.namedStruct(name, undefined, packed);
      this.symbols.structs.set(name, struct);
      return { reader, struct };
    });
    for (const { reader, struct } of named) Object.assign(struct, readFields(reader, this.symbols));
    this.made.structs = named.map(({ struct }) => struct);
  }

  private nodes(): void {
    this.each(/^!\d+ = /, (reader) => {
      const number = Number(reader.match(/!(\d+)/y)![1]);
      if (this.symbols.nodes.has(number)) reader.fail(`\`!${number}\` is defined twice`);
      this.symbols.nodes.set(number, {
        kind: 'node',
        distinct: / = distinct /.test(reader.text.slice(reader.at, reader.at + 12)),
        operands: [],
      });
    });
  }

  private metadata(): void {
    this.each(/^!\d+ = /, (reader) => {
      const node = nodeReference(reader, this.symbols);
      reader.expect('=');
      reader.takeWord('distinct');
      readNode(reader, this.symbols, node);
    });
    this.made.namedMetadata = this.each(/^![-a-zA-Z$._]/, (reader) => {
      const name = reader.name('!');
      reader.expect('=');
      reader.expect('!{');
      return { name, nodes: reader.list('}', () => nodeReference(reader, this.symbols)) };
    });
  }

  private group(reader: TextReader): void {
    reader.word();
    const number = Number(reader.match(/#(\d+)/y)?.[1] ?? reader.fail('expected `#` and a number'));
    reader.expect('=');
    reader.expect('{');
    this.symbols.groups.set(number, readAttributes(reader, this.symbols, true));
    reader.expect('}');
  }

  private head(reader: TextReader): FunctionText {
    const isDefined = reader.word() === 'define';
    const head = readHead(reader, this.symbols, isDefined);
    this.claim(reader, this.symbols.functions, head.fn.name);
    this.symbols.functions.set(head.fn.name, head.fn);
    return head;
  }

  private claim(reader: TextReader, known: ReadonlyMap<string, unknown>, name: string): void {
    if (known.has(name)) reader.fail(`\`${name}\` is defined twice`);
  }

  private refuseOthers(): void {
    const other = this.entities.find(({ text }) => !/^(source_filename = |target |[%@!]|attributes #|define\b|declare\b|\}$)/.test(text));
    if (other) throw new Unreadable(other.at, 'this is not supported in LLVM text');
  }
}
