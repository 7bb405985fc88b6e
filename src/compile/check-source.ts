/** PTX text to a checked module. Its diagnostics do not depend on the target. */
import type { Diagnostics } from '../base/diagnostic.ts';
import type { SourceFile } from '../base/source.ts';
import { type Checked, type CheckOptions, check, parse } from '../ptx/index.ts';
import type { CompileOptions } from './options.ts';

/** Parses and checks a source, with lints if requested; returns nothing after reporting errors. */
export function checkSource(source: SourceFile, options: CompileOptions, diagnostics: Diagnostics): Checked | undefined {
  const ast = parse(source, diagnostics);
  // A module with syntax errors is checked too, so that all errors are reported at once; its lints would be about missing parts.
  const checked = check(ast, checkOptions(diagnostics.hasErrors ? { ...options, lints: false } : options), diagnostics);
  return diagnostics.hasErrors ? undefined : checked;
}

const checkOptions = ({ entries, ptxStrict, lints }: CompileOptions): CheckOptions => ({
  ...(entries ? { entries } : {}),
  ...(ptxStrict ? { isStrict: true } : {}),
  ...(lints ? { lints: true, functions: 'faults' } : {}),
});
