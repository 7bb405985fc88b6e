/** The first half of the road: PTX text to a checked module. What it finds holds for every target. */
import type { Diagnostics } from '../base/diagnostic.ts';
import type { SourceFile } from '../base/source.ts';
import { type Checked, type CheckOptions, check, parse } from '../ptx/index.ts';
import type { CompileOptions } from './options.ts';

/** Syntax, types, forms that are refused and, where they are asked for, lints; nothing after reporting errors. */
export function judge(source: SourceFile, options: CompileOptions, diagnostics: Diagnostics): Checked | undefined {
  const ast = parse(source, diagnostics);
  // The parsed part is checked too, so that one run reports all errors. Lints would report the missing part.
  const checked = check(ast, checkOptions(diagnostics.hasErrors ? { ...options, lints: false } : options), diagnostics);
  return diagnostics.hasErrors ? undefined : checked;
}

const checkOptions = ({ entries, ptxStrict, lints }: CompileOptions): CheckOptions => ({
  ...(entries ? { entries } : {}),
  ...(ptxStrict ? { isStrict: true } : {}),
  ...(lints ? { lints: true, functions: 'faults' } : {}),
});
