/** Errors of the builder: exceptions with a diagnostic whose place is the line of TypeScript that was wrong. */

import { errorOf } from '../api/failures.ts';
import type { Code, Holes } from '../base/catalogue/index.ts';
import { type Diagnostic, Diagnostics } from '../base/diagnostic.ts';
import { SourceFile } from '../base/source.ts';
import { callerPlace, type Place } from './place.ts';

/** A file that has nothing but one text, at a place. Diagnostics show it there: sources of TypeScript are not read. */
export function fileAt({ path, line, column }: Place, text: string): { readonly file: SourceFile; readonly start: number } {
  const before = `${'\n'.repeat(line - 1)}${' '.repeat(column - 1)}`;
  return { file: new SourceFile(path, `${before}${text}\n`), start: before.length };
}

/** Throws a diagnostic at the line of TypeScript that called the builder. */
export function fail<C extends Code>(code: C, holes: Holes<C>, place = callerPlace()): never {
  const at = place && fileAt(place, '');
  const diagnostics = new Diagnostics(at?.file);
  diagnostics.report(code, holes, at ? { span: { start: at.start, end: at.start } } : {});
  throw errorOf(diagnostics);
}

/** Throws diagnostics, of which one is an error. */
export function failWith(list: readonly Diagnostic[]): never {
  const diagnostics = new Diagnostics();
  diagnostics.addAll(list);
  throw errorOf(diagnostics);
}
