/** `--fp64=warn`: says which instructions of a kernel compute with doubles, which a target without them takes many operations for. */
import { computedDoubles } from '../air/index.ts';
import type { Diagnostics } from '../base/diagnostic.ts';
import type { SourceFile, Span } from '../base/source.ts';
import type { Kernel } from '../ir/index.ts';

/** Reports CM2097 once for each form, at its first place and with the number of places. The kernel still holds its doubles. */
export function warnOfDoubles(kernel: Kernel, { text }: SourceFile, target: string, diagnostics: Diagnostics): void {
  const places = new Map<string, Span[]>();
  for (const span of computedDoubles(kernel)) {
    const instruction = /^(?:@\S+\s+)?([\w.:]+)/.exec(text.slice(span.start, span.end))?.[1] ?? 'instruction';
    places.set(instruction, [...(places.get(instruction) ?? []), span]);
  }
  for (const [instruction, [first, ...others]] of places) {
    const count = others.length === 0 ? '1 place' : `${others.length + 1} places`;
    diagnostics.report('CM2097', { instruction, target, places: count, kernel: kernel.name }, first ? { span: first } : {});
  }
}
