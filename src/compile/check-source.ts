/** PTX text to a checked module. Its diagnostics do not depend on the target. */
import { Diagnostics } from '../base/diagnostic.ts';
import type { SourceFile } from '../base/source.ts';
import { type Checked, type CheckedFunction, type CheckOptions, check, type Module, openCheck, parse, parsePieces } from '../ptx/index.ts';
import { withDeviceRuntime } from './device-runtime.ts';
import { withHeap } from './heap.ts';
import type { CompileOptions } from './options.ts';

/** Parses and checks a source, with lints if requested; returns nothing after reporting errors. */
export function checkSource(
  source: SourceFile,
  options: CompileOptions & Pick<CheckOptions, 'keepsExternal' | 'share'>,
  diagnostics: Diagnostics,
): Checked | undefined {
  const whole = options.keepsExternal ? source : withRuntime(source);
  // A module with syntax errors is checked too, so that all errors are reported at once; its lints would be about missing parts.
  const optionsFor = (isFaulty: boolean): CheckOptions => checkOptions(isFaulty ? { ...options, lints: false } : options);
  const { checked } = parseAndCheckWhole(source, whole, optionsFor, diagnostics);
  return diagnostics.hasErrors ? undefined : checked;
}

/** Characters from which on the trees of all entries are more than the rest of a compilation takes. */
const minLengthOfPieces = 2 ** 19;

/** A checked module whose entries are parsed and checked one by one. */
export interface CheckedPieces {
  readonly checked: Checked;
  /** The entries, each in turn; it ends before one of which there is something to say. */
  readonly entries: Iterable<CheckedFunction>;
  /** Whether there was something to say of an entry; then the source is to be checked as a whole, which says it in its order. */
  readonly hasFindings: () => boolean;
}

/**
 * A large source whose entries are parsed and checked when they are asked for, so that only the tree of one is in memory. Undefined for one of which there
 * is something to say, or whose entries share functions, and with options by which entries depend on each other.
 */
export function checkPieces(source: SourceFile, options: CompileOptions): CheckedPieces | undefined {
  const { entries: names, lints, afterPass } = options;
  if (source.text.length < minLengthOfPieces || names || lints || afterPass || withRuntime(source) !== source) return undefined;
  const found = new Diagnostics(source);
  const pieces = parsePieces(source, found);
  if (!pieces || found.list.length > 0) return undefined;
  const { checked, check: checkEntry } = openCheck(pieces.module, checkOptions(options), found);
  const hasFindings = (): boolean => found.list.length > 0;
  function* entries(): Generator<CheckedFunction> {
    for (const entry of pieces!.entries) {
      pieces!.read(entry);
      const one = hasFindings() ? undefined : checkEntry(entry);
      if (!one || hasFindings()) return;
      yield one;
    }
  }
  return hasFindings() ? undefined : { checked, entries: entries(), hasFindings };
}

/** Parses and checks a source; lints also run in a text with syntax errors. After errors the result has what could be parsed and matched. */
export const parseAndCheck = (source: SourceFile, options: CheckOptions, diagnostics: Diagnostics): Parsed =>
  parseAndCheckWhole(source, withRuntime(source), () => options, diagnostics);

/** A source with the functions of the device runtime behind it that it declares. */
const withRuntime = (source: SourceFile): SourceFile => withHeap(withDeviceRuntime(source));

/** `whole` is the source, or the source and more text behind it, of which nothing is said and which is not in the tree. */
function parseAndCheckWhole(
  source: SourceFile,
  whole: SourceFile,
  optionsFor: (isFaulty: boolean) => CheckOptions,
  diagnostics: Diagnostics,
): Parsed {
  const { length } = source.text;
  const all = parse(whole, diagnostics);
  const checked = check(all, optionsFor(diagnostics.hasErrors), diagnostics);
  if (whole === source) return { ast: all, checked };
  removeBehind(diagnostics, length);
  return { ast: { ...all, items: all.items.filter(({ span }) => span.start < length) }, checked };
}

/** A source as a tree, and with the rows of its instructions. */
export interface Parsed {
  readonly ast: Module;
  readonly checked: Checked;
}

/** Removes what is said about the text behind a source. */
function removeBehind({ list }: Diagnostics, end: number): void {
  const own = list.filter(({ labels }) => !labels.some(({ span }) => span.start >= end));
  list.splice(0, list.length, ...own);
}

const checkOptions = ({
  entries,
  ptxStrict,
  lints,
  keepsExternal,
  share,
}: CompileOptions & Pick<CheckOptions, 'keepsExternal' | 'share'>): CheckOptions => ({
  ...(share ? { share } : {}),
  ...(keepsExternal ? { keepsExternal } : {}),
  ...(entries ? { entries } : {}),
  ...(ptxStrict ? { isStrict: true } : {}),
  ...(lints ? { lints: true, functions: 'faults' } : {}),
});
