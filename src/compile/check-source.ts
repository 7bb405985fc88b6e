/** PTX text to a checked module. Its diagnostics do not depend on the target. */
import type { Diagnostics } from '../base/diagnostic.ts';
import type { SourceFile } from '../base/source.ts';
import { type Checked, type CheckOptions, check, type Module, parse } from '../ptx/index.ts';
import { withDeviceRuntime } from './device-runtime.ts';
import { withHeap } from './heap.ts';
import type { CompileOptions } from './options.ts';

/** Parses and checks a source, with lints if requested; returns nothing after reporting errors. */
export function checkSource(source: SourceFile, options: CompileOptions, diagnostics: Diagnostics, hasHeap = true): Checked | undefined {
  const whole = hasHeap ? withHeap(withDeviceRuntime(source)) : source;
  const ast = parse(whole, diagnostics);
  // A module with syntax errors is checked too, so that all errors are reported at once; its lints would be about missing parts.
  const checked = check(ast, checkOptions(diagnostics.hasErrors ? { ...options, lints: false } : options), diagnostics);
  if (whole !== source) removeBehind(diagnostics, source.text.length);
  return diagnostics.hasErrors ? undefined : checked;
}

/** Parses and checks a source; lints also run in a text with syntax errors. After errors the result has what could be parsed and matched. */
export function parseAndCheck(source: SourceFile, options: CheckOptions, diagnostics: Diagnostics): Parsed {
  const whole = withHeap(withDeviceRuntime(source));
  const ast = parse(whole, diagnostics);
  const checked = check(ast, options, diagnostics);
  if (whole !== source) removeBehind(diagnostics, source.text.length);
  return { ast, checked };
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

const checkOptions = ({ entries, ptxStrict, lints }: CompileOptions): CheckOptions => ({
  ...(entries ? { entries } : {}),
  ...(ptxStrict ? { isStrict: true } : {}),
  ...(lints ? { lints: true, functions: 'faults' } : {}),
});
