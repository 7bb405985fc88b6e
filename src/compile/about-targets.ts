/** Errors that are due to the target, so that another one would compile. */
import type { Diagnostic, Diagnostics } from '../base/diagnostic.ts';

/** The first error if all errors are limits of Apple targets, so that compiling for `cpu` may succeed. */
export function beyondTarget({ list }: Diagnostics): Diagnostic | undefined {
  const errors = list.filter(({ severity }) => severity === 'error');
  return errors.every(isOfTarget) ? errors[0] : undefined;
}

/** Whether a text has instructions whose forms for Apple GPUs are long, so that the CPU device takes its own at once. */
export const prefersCpu = (text: string): boolean => /\b(?:(?:wgmma|mbarrier)\.|w?mma\.[\w.]*\.f64\b)/.test(text);

/** Whether an error is a limit of Apple targets: by its code, or an instruction of which it says that `--target cpu` compiles it. */
const isOfTarget = ({ code, help }: Diagnostic): boolean =>
  code.startsWith('CM209') || (code === 'CM2001' && (help?.includes('--target cpu') ?? false));
