/** Errors that are due to the target, so that another one would compile. */
import type { Diagnostic, Diagnostics } from '../base/diagnostic.ts';

/** The first error if all errors are limits of Apple targets, so that compiling for `cpu` may succeed. */
export function beyondTarget({ list }: Diagnostics): Diagnostic | undefined {
  const errors = list.filter(({ severity }) => severity === 'error');
  return errors.every(({ code }) => code.startsWith('CM209') || code === 'CM2041') ? errors[0] : undefined;
}
