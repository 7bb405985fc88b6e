/** What kernels for the CPU device do in ways of its own, so that their IR is of no use to another device of NVIDIA that has not the instruction itself. */
import type { Diagnostics } from '../base/diagnostic.ts';
import { type Architecture, nativeInstructions } from '../lower/index.ts';
import type { Checked, CheckedFunction } from '../ptx/index.ts';

/** Instructions by their first words, and why they are not written in another way. */
const foreign: readonly (readonly [pattern: RegExp, why: string])[] = [
  [/^(?:tex|tld4|txq|suld|sust|sured|suq|istypep)\b/, 'textures are read by that instruction alone'],
  [/^(?:cp\.(?:async|reduce)\S*\.tensor|prefetch\S*\.tensormap)/, 'copies of tensor maps need sm_90'],
  [/^tensormap\./, 'tensor maps are written in kernels from sm_90a on'],
  [/^(?:mapa|getctarank|barrier\.cluster)\b/, 'clusters of blocks need sm_90'],
  [/^griddepcontrol\.wait/, 'a kernel waits for the one before it from sm_90 on'],
  [/^(?:alloca|stacksave|stackrestore)\b/, 'the stack is reached from sm_52 on'],
  [/^tcgen05\./, 'tensor memory is that of the CPU device'],
];

/** Reports CM2090 for the instructions of a module that cannot be written as PTX again. */
export function refuseForeign(checked: Checked, architecture: Architecture, diagnostics: Diagnostics): void {
  const keeps = nativeInstructions(checked, architecture);
  const target = `PTX of sm_${architecture.sm}${architecture.isSpecific ? 'a' : ''}`;
  const bodies = new Set<CheckedFunction>([...checked.entries, ...checked.functions.values()]);
  for (const { items } of bodies)
    for (const item of items) {
      if (item.kind !== 'instruction' || keeps(item.match)) continue;
      const { opcode, modifiers, opcodeSpan } = item.match.instruction;
      const text = [opcode, ...modifiers].join('.');
      const found = foreign.find(([pattern]) => pattern.test(text));
      if (!found) continue;
      const help = 'without `--arch`, `--emit ptx` writes PTX as it is in its file';
      diagnostics.report('CM2090', { what: `\`${text}\``, target, why: found[1] }, { span: opcodeSpan, help });
    }
}
