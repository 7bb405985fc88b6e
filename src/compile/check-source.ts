/** PTX text to a checked module. Its diagnostics do not depend on the target. */
import type { Diagnostics } from '../base/diagnostic.ts';
import type { SourceFile } from '../base/source.ts';
import { type Checked, type CheckOptions, check, type Module, parse } from '../ptx/index.ts';
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
