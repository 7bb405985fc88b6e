/**
 * A PTX text that changes by keys. What a change can affect is read again: an edit inside of a body affects the diagnostics of that function,
 * so that a key in a file of a megabyte costs what its function costs. Any other edit affects the whole text.
 */
import { type Diagnostic, Diagnostics } from '../base/diagnostic.ts';
import { SourceFile, type Span } from '../base/source.ts';
import { parseAndCheck } from '../compile/index.ts';
import { type Module, type PtxFunction, parse } from '../ptx/index.ts';
import { checkLocally, type Edited, editedBy, type Shift, skeletonOf } from './local.ts';
import { calledIn, type FunctionPlace, isAtPlaces, placesOf, withEmptyBodies } from './places.ts';

/** A change of a text: offsets in the text before it. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** A function of the text, and the module around it with empty bodies. */
export interface Focus {
  readonly fn: PtxFunction;
  readonly module: Module;
}

/** Reports that are made once in a module, at the first place: an edit in a function changes which place that is. */
const oncePerModule: ReadonlySet<string> = new Set(['CM2110', 'CM2111']);

/** Characters of a body from which on a look at it is too long for a key. */
const large = 65_536;

export class PtxDocument {
  /** The name in messages. */
  readonly path: string;
  #text: string;
  #source: SourceFile | undefined;
  /** Undefined where the text has changed in a way that needs a look at all of it. */
  #places: readonly FunctionPlace[] | undefined;
  #found: readonly Diagnostic[] = [];
  /** The function that changed after the last check. */
  #changed: number | undefined;
  #focus: { readonly index: number; readonly focus: Focus } | undefined;
  #module: Module | undefined;
  /** Of a large function that changed by its instructions alone: which. */
  #edited: Edited | undefined;

  constructor(path: string, text: string) {
    this.path = path;
    this.#text = text;
  }

  get text(): string {
    return this.#text;
  }

  /** The current text, for lines and columns. */
  get source(): SourceFile {
    this.#source ??= new SourceFile(this.path, this.#text);
    return this.#source;
  }

  /** Whether only `checkAll` can say what is wrong with the text. */
  get isUnread(): boolean {
    return this.#places === undefined;
  }

  /** Changes the text. Diagnostics are those of the old text until a check. */
  edit({ start, end, text }: Edit): void {
    this.#text = this.#text.slice(0, start) + text + this.#text.slice(end);
    this.#source = undefined;
    const tree = this.#focus?.focus.module ?? this.#module;
    this.#focus = undefined;
    this.#module = undefined;
    const edited = this.#edited;
    this.#edited = undefined;
    const index = this.#places?.findIndex((place) => place.open < start && end < place.end) ?? -1;
    if (!this.#places || index < 0 || (this.#changed !== undefined && this.#changed !== index)) {
      this.#places = undefined;
      return;
    }
    const by = text.length - (end - start);
    const place = this.#places[index]!;
    if (place.end - place.open >= large)
      this.#edited = this.#editedBy(place, { start, end, by }, text, this.#changed === index ? edited : undefined, tree);
    this.#changed = index;
    this.#places = this.#places.map((place, i) => (i < index ? place : i === index ? { ...place, end: place.end + by } : moved(place, by)));
    this.#found = this.#found.map((each) => withMovedLabels(each, end, by));
  }

  #editedBy(place: FunctionPlace, shift: Shift, text: string, before: Edited | undefined, tree: Module | undefined): Edited | undefined {
    if (before) return editedBy(before.skeleton, shift, text, before.region);
    const fn =
      this.#changed === undefined ? tree?.items.find((item) => item.kind === 'function' && item.span.start === place.start) : undefined;
    return fn?.kind === 'function' ? editedBy(skeletonOf(fn), shift, text, undefined) : undefined;
  }

  /** Whether a look at the function that changed takes long. */
  get isLarge(): boolean {
    const place = this.#changed === undefined ? undefined : this.#places?.[this.#changed];
    return place !== undefined && place.end - place.open >= large;
  }

  /**
   * The errors of the text after edits of instructions in a large function, with the lints of others; undefined where only `checkChanged` tells.
   * The lints of the function itself follow from `checkChanged`.
   */
  checkEdited(): readonly Diagnostic[] | undefined {
    if (!this.#edited || !this.#places || this.#changed === undefined) return undefined;
    const place = this.#places[this.#changed]!;
    const alone = withEmptyBodies(this.#text, this.#places, (each) => each === place);
    const { open, end, start, isReached } = place;
    const local = checkLocally(this.#edited, { path: this.path, alone, open, close: end - 1, start, isReached });
    if (!local || [...local.found, ...this.#found].some(({ code }) => oncePerModule.has(code))) return undefined;
    const isWithin = ({ labels: [main] }: Diagnostic, span: Span): boolean =>
      main !== undefined && span.start <= main.span.start && main.span.start < span.end;
    const kept = this.#found.filter((each) => !isWithin(each, local.range) && !(isWithin(each, place) && each.code.startsWith('CM22')));
    return [...kept, ...local.found];
  }

  /** All errors and lints of the text. */
  checkAll(): readonly Diagnostic[] {
    const diagnostics = new Diagnostics(this.source);
    const { ast, checked } = parseAndCheck(this.source, { lints: true, functions: 'faults' }, diagnostics);
    const reached = new Set([...checked.entries.map(({ fn }) => fn), ...checked.functions.keys()]);
    // The tree of a text with unbalanced braces has functions where there are none.
    const isWhole = !diagnostics.list.some(({ code }) => /^CM10(0[567]|1[45])$/.test(code));
    this.#places = isWhole ? placesOf(ast, (fn) => reached.has(fn)) : undefined;
    this.#module = ast;
    this.#changed = undefined;
    this.#edited = undefined;
    this.#found = withoutLintsOfFaulty(diagnostics.list, this.#places ?? [{ start: 0, end: this.#text.length }]);
    return this.#found;
  }

  /**
   * The errors and lints of the text after edits in one body; undefined where that needs a look at all of it: braces do not match, calls have
   * changed, or something is reported once in a module.
   */
  checkChanged(): readonly Diagnostic[] | undefined {
    if (!this.#places) return undefined;
    if (this.#changed === undefined) return this.#found;
    const place = this.#places[this.#changed]!;
    const isElsewhere = ({ labels: [main] }: Diagnostic): boolean => !main || main.span.start < place.start || main.span.start >= place.end;
    const kept = this.#found.filter(isElsewhere);
    const diagnostics = new Diagnostics(this.source);
    const source = new SourceFile(
      this.path,
      withEmptyBodies(this.#text, this.#places, (each) => each === place),
    );
    const { ast } = parseAndCheck(source, { lints: true, functions: place.isReached ? true : 'faults' }, diagnostics);
    const own = withoutLintsOfFaulty(
      diagnostics.list.filter((each) => !isElsewhere(each)),
      [place],
    );
    const isOnce = [...own, ...this.#found].some(({ code }) => oncePerModule.has(code));
    const fn = ast.items.find((item): item is PtxFunction => item.kind === 'function' && item.span.start === place.start);
    if (!fn || !isAtPlaces(ast, this.#places) || isOnce || calledIn(this.#text, place, this.#places) !== place.calls) {
      this.#places = undefined;
      return undefined;
    }
    this.#focus = { index: this.#changed, focus: { fn, module: ast } };
    this.#changed = undefined;
    this.#edited = undefined;
    this.#found = [...kept, ...own];
    return this.#found;
  }

  /** The function at an offset, read from the current text. */
  focusAt(offset: number): Focus | undefined {
    if (!this.#places) this.checkAll();
    if (!this.#places) return wholeFocus(this.module(), offset);
    const index = this.#places.findIndex(({ start, end }) => start <= offset && offset <= end);
    if (index < 0) return undefined;
    if (this.#focus?.index === index) return this.#focus.focus;
    const place = this.#places[index]!;
    const source = new SourceFile(
      this.path,
      withEmptyBodies(this.#text, this.#places, (each) => each === place),
    );
    const module = parse(source, new Diagnostics(source));
    const focus = wholeFocus(module, offset);
    if (focus) this.#focus = { index, focus };
    return focus;
  }

  /** The place of the function whose body an offset is in, for a text that has been read. */
  placeAt(offset: number): FunctionPlace | undefined {
    return this.#places?.find(({ open, end }) => open < offset && offset < end);
  }

  /** The tree of the whole text. */
  module(): Module {
    this.#module ??= parse(this.source, new Diagnostics(this.source));
    return this.#module;
  }

  /** The places of the functions, for a text that has been read. */
  places(): readonly FunctionPlace[] {
    if (!this.#places) this.checkAll();
    return this.#places ?? [];
  }
}

/** Without the lints of functions with syntax errors, where they would be about missing parts. */
function withoutLintsOfFaulty(list: readonly Diagnostic[], places: readonly Span[]): readonly Diagnostic[] {
  const at = ({ labels: [main] }: Diagnostic): number => main?.span.start ?? -1;
  const isIn = (each: Diagnostic, { start, end }: Span): boolean => start <= at(each) && at(each) < end;
  const errors = list.filter(({ code }) => code.startsWith('CM10'));
  const faulty = errors.length === 0 ? [] : places.filter((place) => errors.some((error) => isIn(error, place)));
  return faulty.length === 0 ? list : list.filter((each) => !each.code.startsWith('CM22') || !faulty.some((place) => isIn(each, place)));
}

function wholeFocus(module: Module, offset: number): Focus | undefined {
  const fn = module.items.find(
    (item): item is PtxFunction =>
      item.kind === 'function' && item.body !== undefined && item.span.start <= offset && offset <= item.span.end,
  );
  return fn && { fn, module };
}

const moved = (place: FunctionPlace, by: number): FunctionPlace => ({
  ...place,
  start: place.start + by,
  open: place.open + by,
  end: place.end + by,
});

function withMovedLabels(diagnostic: Diagnostic, end: number, by: number): Diagnostic {
  if (by === 0 || !diagnostic.labels.some(({ span }) => span.end >= end)) return diagnostic;
  const movedAt = (at: number): number => (at >= end ? at + by : at);
  const labels = diagnostic.labels.map(({ span, text }) => ({ span: { start: movedAt(span.start), end: movedAt(span.end) }, text }));
  return { ...diagnostic, labels };
}
