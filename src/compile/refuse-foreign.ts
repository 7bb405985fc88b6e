/** What kernels for the CPU device do in ways of its own, so that their IR is of no use to another device of NVIDIA. */
import type { Diagnostics } from '../base/diagnostic.ts';
import type { Checked, CheckedFunction } from '../ptx/index.ts';

const descriptor = 'its descriptor is that of the CPU device';

/** Instructions by their first words, and why they are not written again. */
const foreign: readonly (readonly [pattern: RegExp, why: string])[] = [
  [/^(?:tex|tld4|txq|suld|sust|sured|suq|istypep)\b/, descriptor],
  [/^(?:cp\.(?:async|reduce)\S*\.tensor|tensormap\.|prefetch\.tensormap)/, descriptor],
  [/^griddepcontrol\.wait/, 'each launch on the CPU device waits by itself'],
  [/^tcgen05\./, 'tensor memory is that of the CPU device'],
];

/** Reports CM2090 for the instructions of a module that cannot be written as PTX again. */
export function refuseForeign({ entries, functions }: Checked, sm: number, diagnostics: Diagnostics): void {
  const bodies = new Set<CheckedFunction>([...entries, ...functions.values()]);
  for (const { items } of bodies)
    for (const item of items) {
      if (item.kind !== 'instruction') continue;
      const { opcode, modifiers, opcodeSpan } = item.match.instruction;
      const text = [opcode, ...modifiers].join('.');
      const found = foreign.find(([pattern]) => pattern.test(text));
      if (!found) continue;
      const help = 'without `--arch`, `--emit ptx` writes PTX as it is in its file';
      diagnostics.report('CM2090', { what: `\`${text}\``, target: `PTX of sm_${sm}`, why: found[1] }, { span: opcodeSpan, help });
    }
}
