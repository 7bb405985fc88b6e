/** What is refused for the sake of a target, and compiles for another. */
import type { Diagnostic, Diagnostics } from '../base/diagnostic.ts';

/** The first error, where all of them say what Apple targets cannot do, so that it is worth compiling for `cpu`. */
export function beyondTarget({ list }: Diagnostics): Diagnostic | undefined {
  const errors = list.filter(({ severity }) => severity === 'error');
  return errors.every(({ code }) => code.startsWith('CM209')) ? errors[0] : undefined;
}
