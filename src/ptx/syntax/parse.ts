/**
 * The parser. Tokens are split into lines (`split.ts`), each line is matched by the grammar or by a template of its shape (`shape.ts`) and
 * added to the scope of the enclosing braces. A line that does not match is reported and skipped.
 */
import { bug } from '../../base/bug.ts';
import type { Diagnostics } from '../../base/diagnostic.ts';
import type { SourceFile, Span } from '../../base/source.ts';
import type { Block, Item, Label, Module, Operand, PtxFunction, SectionData, Statement, Variable, Version, Word } from './ast.ts';
import { type Cursor, enlarged } from './cursor.ts';
import { reportFailure, startOf } from './failure.ts';
import { type Ended, type Frame, nameOf, sectionOf } from './frames.ts';
import { isLessIndented, resumesBody } from './layout.ts';
import { areBeyondLimits, type Counts, limits } from './limits.ts';
import { type BuildLine, type Header, headerWord, type Line, type LineRule } from './line.ts';
import { buildByMatch, buildByShape } from './shape.ts';
import { closing, depths, type Level, lineEnd, listAt, opcodeOf, prefixes, punctuation, startsFunction, tokenText } from './split.ts';
import { Kind, type Tokens, tokenize } from './tokens.ts';

/** The options of `parse`. */
export interface ParseOptions {
  /** False matches every line with Ohm, at a tenth of the speed and with the same tree. Default: true. */
  readonly shapeCache?: boolean;
}

/**
 * Parses a module. Never throws. Reports any number of CM1001 to CM1013; a module with errors holds the lines that could be parsed. CM1014
 * and CM1015 end the parsing; a module that is too large is empty.
 */
export function parse(file: SourceFile, diagnostics: Diagnostics, options: ParseOptions = {}): Module {
  return parseBy(options.shapeCache === false ? buildByMatch : buildByShape, file, diagnostics);
}

/** `parse` with a given way to build lines. */
export const parseBy = (build: BuildLine, file: SourceFile, diagnostics: Diagnostics): Module =>
  new Parser(file, tokenize(file.text), diagnostics, build).module();

/** `parse` of some of a text's tokens, whole items of a module. The counts are those of the tokens that were parsed before. */
export const parseTokens = (file: SourceFile, tokens: Tokens, diagnostics: Diagnostics, counts: Counts): Module =>
  new Parser(file, tokens, diagnostics, buildByShape, counts).module();

const openBrace = punctuation('{');
const closeBrace = punctuation('}');
const comma = punctuation(',');
const openParenthesis = punctuation('(');
const semicolon = punctuation(';');
const question = punctuation('?');

const ruleOf: Record<Level, LineRule> = { module: 'ModuleLine', body: 'BodyLine', section: 'SectionLine' };

class Parser {
  readonly #file: SourceFile;
  readonly #diagnostics: Diagnostics;
  readonly #build: BuildLine;
  readonly #tokens: Tokens;
  readonly #cursor: Cursor;
  readonly #items: Item[] = [];
  readonly #frames: Frame[] = [];
  readonly #targets: Word[] = [];
  readonly #headers: Word[] = [];
  readonly #lost = new Set<string>();
  #ended: Ended | undefined;
  /** The number of splits of the text that ends at a token. */
  #cuts = { end: -1, count: 0 };
  /** An opening brace and a closing brace that is indented less. */
  #suspect: { readonly open: number; readonly close: number } | undefined;
  #version: Version | undefined;
  #addressSize: number | undefined;
  readonly #counts: Counts;

  constructor(file: SourceFile, tokens: Tokens, diagnostics: Diagnostics, build: BuildLine, counts?: Counts) {
    this.#file = file;
    this.#diagnostics = diagnostics;
    this.#build = build;
    this.#tokens = tokens;
    this.#counts = counts ?? { statements: 0, elements: 0, failures: 0 };
    this.#cursor = this.#newCursor();
  }

  #newCursor(): Cursor {
    return {
      tokens: this.#tokens,
      index: new Int32Array(64),
      count: 0,
      elided: new Map(),
      report: (code, holes, span) => this.#diagnostics.report(code, holes, { span }),
    };
  }

  module(): Module {
    const { count } = this.#tokens;
    let isStopped = false;
    for (let at = 0; at < count && !isStopped; ) {
      const next = this.#step(at);
      if (next <= at) bug(`the parser makes no progress at token ${at}`);
      at = next;
      this.#counts.statements++;
      isStopped = areBeyondLimits(this.#counts, this.#spanOf(Math.min(at, count - 1)), this.#diagnostics);
    }
    // Names of the rest are unknown, so nothing is said about the names in the part that was read.
    if (isStopped) this.#items.length = 0;
    else this.#atEnd();
    return {
      file: this.#file,
      version: this.#version,
      targets: this.#targets,
      addressSize: this.#addressSize,
      headers: this.#headers,
      items: this.#items,
      ...(this.#lost.size > 0 ? { lost: this.#lost } : {}),
    };
  }

  /** Parses one line or brace. Returns the token after it. */
  #step(at: number): number {
    const kind = this.#tokens.kinds[at];
    const frame = this.#frames.at(-1);
    if (kind === closeBrace) return this.#close(at);
    if (kind === openBrace && (frame?.kind === 'function' || frame?.kind === 'block')) return this.#openBlock(at);
    if (frame && frame.kind !== 'section' && startsFunction(this.#tokens, at)) this.#abandonFrames(at);
    else if (!frame && this.#ended && resumesBody(this.#tokens, at)) this.#reopen(this.#ended, at);
    return this.#line(at);
  }

  #level(): Level {
    const frame = this.#frames.at(-1);
    if (!frame) return 'module';
    return frame.kind === 'section' ? 'section' : 'body';
  }

  #line(at: number): number {
    const level = this.#level();
    const end = lineEnd(this.#tokens, at, level);
    const before = this.#diagnostics.list.length;
    const isGathered = this.#gather(this.#cursor, at, end, ruleOf[level]);
    const line = isGathered ? this.#build(this.#cursor, ruleOf[level]) : undefined;
    if (line) {
      // The declarations of a faulty parameter list are unknown, and so are the arguments of the function.
      if (this.#diagnostics.list.length > before) this.#lose(at, end);
      this.#place(line, end);
      return end;
    }
    const cut = isGathered ? this.#fail(this.#cursor, ruleOf[level]) : undefined;
    if (cut !== undefined && at < cut && cut < end && this.#mayCut(end)) return this.#cutShort(at, cut, end, before);
    this.#lose(at, end);
    if (level === 'module' && this.#tokens.kinds[end - 1] === openBrace) this.#openUnread(end - 1);
    return end;
  }

  /** Every split re-reads the text up to the same end, so that their number needs a bound. */
  #mayCut(end: number): boolean {
    this.#cuts = this.#cuts.end === end ? { end, count: this.#cuts.count + 1 } : { end, count: 1 };
    return this.#cuts.count <= limits.cuts;
  }

  /** The statement at `at` has no semicolon before `cut`: it is parsed as if its terminator were there. */
  #cutShort(at: number, cut: number, end: number, before: number): number {
    const cursor = this.#cursor;
    const { list } = this.#diagnostics;
    const start = this.#tokens.starts[cut]!;
    // Reports about lists after the split are removed, because they are reported again.
    list.push(...list.splice(before).filter(({ labels }) => (labels[0]?.span.start ?? 0) < start));
    while (cursor.count > 0 && cursor.index[cursor.count - 1]! >= cut) cursor.elided.delete(cursor.index[--cursor.count]!);
    // A bare opcode is skipped: the tokens up to the next statement would be its modifiers.
    const isBare = cursor.index[cursor.count - 1] === opcodeOf(this.#tokens, at);
    cursor.index[cursor.count++] = end - 1;
    const line = !isBare && this.#tokens.kinds[end - 1] === semicolon ? this.#build(cursor, ruleOf[this.#level()]) : undefined;
    if (line) this.#place(line, cut);
    else this.#lose(at, cut);
    return cut;
  }

  /** Builds an element of a list, or reports a failure. */
  #read(cursor: Cursor, from: number, to: number, rule: LineRule): Line | undefined {
    const line = this.#gather(cursor, from, to, rule) ? this.#build(cursor, rule) : undefined;
    if (line) return line;
    if (cursor.count > 0) this.#fail(cursor, rule);
    this.#lose(from, to);
    return undefined;
  }

  /** Reports the failure of a line. If only the terminator is missing, returns the token before which it belongs. */
  #fail(cursor: Cursor, rule: LineRule): number | undefined {
    // The rest of the text is an unclosed comment, which is already reported; the truncated statement before it is not reported again.
    const last = (cursor.index[cursor.count - 1] ?? 0) + 1;
    if (this.#tokens.openComment >= 0 && last === this.#tokens.count) return undefined;
    if (++this.#counts.failures > limits.errors) return undefined;
    return reportFailure(cursor, rule, this.#diagnostics);
  }

  /** Records the words between two tokens as unparsed. */
  #lose(from: number, to: number): void {
    this.#lost.add(tokenText(this.#tokens, from));
    for (let i = from; i < to; i++) if (this.#tokens.kinds[i] === Kind.word) this.#lost.add(tokenText(this.#tokens, i));
  }

  /** Fills the cursor with the tokens of a line, without modifiers and initializers. Returns false if the line exceeds the limits. */
  #gather(cursor: Cursor, from: number, to: number, rule: LineRule): boolean {
    const { kinds } = this.#tokens;
    const opcode = rule === 'BodyLine' ? opcodeOf(this.#tokens, from) : -1;
    if (cursor.elided.size > 0) cursor.elided.clear();
    let [count, depth, signs, deepest] = [0, 0, 0, 0];
    for (let i = from; i < to; i++) {
      const kind = kinds[i]!;
      if (count >= cursor.index.length) cursor.index = enlarged(cursor.index);
      cursor.index[count++] = i;
      if (i === opcode) while (i + 1 < to && kinds[i + 1] === Kind.dotWord) i++;
      // Names and numbers, which are most tokens, need no action.
      if (kind >= Kind.word) {
        signs = 0;
        continue;
      }
      depth += depths[kind]!;
      signs = prefixes[kind] === 1 ? signs + 1 : 0;
      if (depth > deepest) deepest = depth;
      if (signs > deepest) deepest = signs;
      if (kind !== openBrace && kind !== openParenthesis) continue;
      const rule = listAt(this.#tokens, i, from);
      const close = rule ? closing(this.#tokens, i, to) : to;
      if (!rule || close >= to || close === i + 1) continue;
      cursor.elided.set(i, this.#elements(i, close, depth, rule));
      i = close - 1;
    }
    cursor.count = count;
    const span = this.#spanOf(from);
    return this.#isWithin('long', count, limits.tokens, span) && this.#isWithin('deeply nested', deepest, limits.nesting, span);
  }

  #isWithin(what: string, count: number, limit: number, span: Span): boolean {
    if (count > limit) this.#diagnostics.report('CM1009', { what, count, limit }, { span });
    return count <= limit;
  }

  /** The elements of a list. */
  #elements(open: number, close: number, depth: number, rule: 'Initializer' | 'Parameter'): (Operand | Variable)[] {
    const elements: (Operand | Variable)[] = [];
    if (!this.#isWithin('deeply nested', depth, limits.nesting, this.#spanOf(open))) return elements;
    const cursor = this.#newCursor();
    for (let at = open + 1; at <= close && ++this.#counts.elements <= limits.elements; ) {
      const end = this.#elementEnd(at, close);
      const element = at === end ? this.#expectElement(end, rule) : this.#element(cursor, at, end, depth, rule);
      if (element) elements.push(element);
      at = end + 1;
    }
    return elements;
  }

  #element(cursor: Cursor, from: number, to: number, depth: number, rule: 'Initializer' | 'Parameter'): Operand | Variable | undefined {
    const { kinds, starts, ends } = this.#tokens;
    if (rule === 'Parameter' || kinds[from] !== openBrace || closing(this.#tokens, from, to) !== to - 1)
      return this.#read(cursor, from, to, rule) as Operand | Variable | undefined;
    const elements = to - from === 2 ? [] : this.#elements(from, to - 1, depth + 1, rule);
    return { kind: 'vector', elements: elements as Operand[], span: { start: starts[from]!, end: ends[to - 1]! } };
  }

  #expectElement(at: number, rule: LineRule): undefined {
    const span = this.#spanOf(at);
    const found = `\`${this.#file.text.slice(span.start, span.end)}\``;
    this.#diagnostics.report('CM1001', { expected: startOf[rule], found }, { span });
  }

  #spanOf(token: number): Span {
    return { start: this.#tokens.starts[token]!, end: this.#tokens.ends[token]! };
  }

  /** The comma after the element at `at`, or `end`. */
  #elementEnd(at: number, end: number): number {
    const { kinds } = this.#tokens;
    let depth = 0;
    for (let i = at; i < end; i++) {
      const kind = kinds[i]!;
      if (kind === comma && depth <= 0) return i;
      if (kind !== question) depth += depths[kind]!;
    }
    return end;
  }

  /** Adds a line to the tree. */
  #place(line: Line, end: number): void {
    const isHead = !isList(line) && (line.kind === 'function' || line.kind === 'sectionStart');
    if (isHead) this.#ended = undefined;
    if (isList(line)) {
      for (const variable of line) this.#add(variable);
      this.#counts.statements += Math.max(0, line.length - 1);
    } else if (line.kind === 'function') this.#placeFunction(line, end);
    else if (line.kind === 'sectionStart') this.#frames.push({ kind: 'section', head: line, open: end - 1, items: [] });
    else if (line.kind === 'version' || line.kind === 'target' || line.kind === 'addressSize') this.#placeHeader(line);
    else this.#add(line as Statement | Label | SectionData);
  }

  #placeFunction(head: PtxFunction, end: number): void {
    if (head.body) this.#frames.push({ kind: 'function', head, open: end - 1, body: [] });
    else this.#items.push(head);
  }

  #placeHeader(line: Header): void {
    this.#headers.push(headerWord(line));
    if (line.kind === 'target') this.#targets.push(...line.targets);
    else if (line.kind === 'version') this.#placeVersion(line.text, line.span);
    else if (this.#addressSize !== undefined) this.#diagnostics.report('CM1010', { name: '.address_size' }, { span: line.span });
    else this.#addressSize = line.bits;
  }

  #placeVersion(text: string, span: Span): void {
    const parts = /^(\d{1,9})\.(\d{1,9})$/.exec(text);
    if (!parts) this.#diagnostics.report('CM1011', { text }, { span });
    else if (this.#version) this.#diagnostics.report('CM1010', { name: '.version' }, { span });
    else this.#version = { major: Number(parts[1]), minor: Number(parts[2]), span };
  }

  #add(node: Item | Statement | SectionData): void {
    const frame = this.#frames.at(-1);
    if (!frame) this.#items.push(node as Item);
    else if (frame.kind === 'section') frame.items.push(node as Label | SectionData);
    else frame.body.push(node as Statement);
  }

  /** A body without a parsable head is still parsed for its errors. */
  #openUnread(open: number): void {
    this.#frames.push({ kind: 'function', head: undefined, open, body: [] });
  }

  #openBlock(at: number): number {
    if (this.#frames.length <= limits.scopes) {
      this.#frames.push({ kind: 'block', open: at, body: [] });
      return at + 1;
    }
    const span = this.#spanOf(at);
    this.#isWithin('deeply nested', this.#frames.length, limits.scopes, span);
    this.#finishAll(span.end);
    return this.#tokens.count;
  }

  #close(at: number): number {
    const frame = this.#frames.pop();
    if (!frame) this.#diagnostics.report('CM1007', {}, { span: this.#spanOf(at) });
    else this.#finish(frame, this.#tokens.ends[at]!);
    this.#ended = undefined;
    if (frame?.kind === 'function') this.#ended = { frame, close: at, item: this.#items.length - 1 };
    if (frame?.kind === 'block' && isLessIndented(this.#tokens, at, frame.open)) this.#suspect ??= { open: frame.open, close: at };
    else if (this.#frames.length === 0) this.#suspect = undefined;
    return at + 1;
  }

  /** Statements after the `}` of a function mean that the brace is too early: the body continues. */
  #reopen({ frame, close, item }: Ended, at: number): void {
    const more = [{ span: this.#spanOf(at), text: 'statements follow it' }];
    this.#diagnostics.report('CM1013', { what: nameOf(frame) }, { span: this.#spanOf(close), more });
    if (frame.head) this.#items.splice(item, 1);
    this.#frames.push(frame);
    this.#ended = undefined;
  }

  #finish(frame: Frame, end: number): void {
    const start = this.#tokens.starts[frame.open]!;
    if (frame.kind === 'block') this.#add({ kind: 'block', body: frame.body, span: { start, end } } satisfies Block);
    else if (frame.kind === 'section') this.#items.push(sectionOf(frame.head, frame.items, end));
    else if (frame.head) this.#items.push({ ...frame.head, body: frame.body, span: { start: frame.head.span.start, end } });
  }

  /** The next function starts at `at`, or the text ends, with open braces: reports this once and closes them all. */
  #abandonFrames(at: number): void {
    const outermost = this.#frames[0]!;
    const opened = { span: this.#spanOf(outermost.open), text: 'opened here' };
    const found = at < this.#tokens.count ? `\`${tokenText(this.#tokens, at)}\`` : 'the end of the file';
    const suspect = this.#suspect;
    const end = this.#tokens.ends[(suspect ? suspect.close : at) - 1]!;
    const more = suspect
      ? [
          { span: this.#spanOf(suspect.open), text: 'this brace may be the unclosed one' },
          { span: this.#spanOf(suspect.close), text: 'closed by this one, which is indented less' },
        ]
      : [];
    const label = suspect ? 'a `}` may be missing here' : '`}` expected here';
    this.#diagnostics.report('CM1006', { what: nameOf(outermost), found }, { span: { start: end, end }, label, more: [opened, ...more] });
    // Variables after the missing brace belong to the module.
    for (const each of this.#frames)
      for (const node of each.kind === 'section' ? [] : each.body)
        if (node.kind === 'variable' && node.space !== 'reg') this.#lost.add(node.name);
    this.#suspect = undefined;
    this.#finishAll(this.#tokens.ends[at - 1]!);
  }

  #finishAll(end: number): void {
    for (let frame = this.#frames.pop(); frame; frame = this.#frames.pop()) this.#finish(frame, end);
  }

  #atEnd(): void {
    const { openComment, count, ends } = this.#tokens;
    if (openComment >= 0) {
      this.#diagnostics.report('CM1005', {}, { span: { start: openComment, end: openComment + 2 } });
      for (const [word] of this.#file.text.slice(openComment).matchAll(/[\w$%]+/g)) this.#lost.add(word);
      this.#finishAll(ends[count - 1] ?? 0);
    } else if (this.#frames.length > 0) this.#abandonFrames(count);
  }
}

const isList = (line: Line): line is Extract<Line, readonly unknown[]> => Array.isArray(line);
