/** `--fp64=warn` and `--fp64=emulate`: warnings about double-precision instructions on targets without doubles. */
import { computedDoubles } from '../air/index.ts';
import type { Diagnostics } from '../base/diagnostic.ts';
import { addTo } from '../base/group.ts';
import type { SourceFile, Span } from '../base/source.ts';
import type { Kernel } from '../ir/index.ts';

/** The instruction at a span, with its modifiers. */
const instructionAt = (text: string, { start, end }: Span): string =>
  /^(?:@\S+\s+)?([\w.:]+)/.exec(text.slice(start, end))?.[1] ?? 'instruction';

/** Reports CM2097 once for each form, at its first use, with the number of uses. Runs before doubles are replaced. */
export function warnOfDoubles(kernel: Kernel, { text }: SourceFile, target: string, diagnostics: Diagnostics): void {
  const places = new Map<string, Span[]>();
  for (const span of computedDoubles(kernel)) addTo(places, instructionAt(text, span), span);
  for (const [instruction, [first, ...others]] of places) {
    const count = others.length === 0 ? '1 place' : `${others.length + 1} places`;
    diagnostics.report('CM2097', { instruction, target, places: count, kernel: kernel.name }, first ? { span: first } : {});
  }
}

/**
 * Whether the instruction at a span keeps its exact result when doubles are emulated: one with a rounding modifier, or one that is not
 * an instruction on doubles and only computes with them internally.
 */
export function isExactDouble(text: string, span: Span): boolean {
  const words = instructionAt(text, span).split('.');
  return !words.includes('f64') || words.some((word) => ['rz', 'rm', 'rp', 'approx'].includes(word));
}

/** Reports CM2098 once for all double-precision instructions of all kernels, by their spans. */
export function noteEmulation([first, ...others]: readonly Span[], target: string, diagnostics: Diagnostics): void {
  if (!first) return;
  const places = others.length === 0 ? '1 place' : `${others.length + 1} places`;
  diagnostics.report('CM2098', { target, places }, { span: first });
}
