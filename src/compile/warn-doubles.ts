/** `--fp64=warn` and `--fp64=emulate`: what is said of the instructions of a kernel that compute with doubles, where a target has none. */
import { computedDoubles, emulatedDoubles } from '../air/index.ts';
import type { Diagnostics } from '../base/diagnostic.ts';
import { addTo } from '../base/group.ts';
import type { SourceFile, Span } from '../base/source.ts';
import type { Kernel } from '../ir/index.ts';

/** The instruction that is at a place, with its modifiers. */
const instructionAt = (text: string, { start, end }: Span): string =>
  /^(?:@\S+\s+)?([\w.:]+)/.exec(text.slice(start, end))?.[1] ?? 'instruction';

/** Reports CM2097 once for each form, at its first place and with the number of places. The kernel still holds its doubles. */
export function warnOfDoubles(kernel: Kernel, { text }: SourceFile, target: string, diagnostics: Diagnostics): void {
  const places = new Map<string, Span[]>();
  for (const span of computedDoubles(kernel)) addTo(places, instructionAt(text, span), span);
  for (const [instruction, [first, ...others]] of places) {
    const count = others.length === 0 ? '1 place' : `${others.length + 1} places`;
    diagnostics.report('CM2097', { instruction, target, places: count, kernel: kernel.name }, first ? { span: first } : {});
  }
}

/**
 * Whether what is at a place keeps its result bit for bit where doubles are emulated: what says how it rounds, or is no
 * instruction of doubles and has them between.
 */
export function isExactDouble(text: string, span: Span): boolean {
  const words = instructionAt(text, span).split('.');
  return !words.includes('f64') || words.some((word) => ['rz', 'rm', 'rp', 'approx'].includes(word));
}

/** Reports CM2098, once for what computes with doubles in all kernels, which still hold them. */
export function noteEmulation(kernels: readonly Kernel[], target: string, diagnostics: Diagnostics): void {
  const [first, ...others] = kernels.flatMap(emulatedDoubles);
  if (!first) return;
  const places = others.length === 0 ? '1 place' : `${others.length + 1} places`;
  diagnostics.report('CM2098', { target, places }, { span: first });
}
