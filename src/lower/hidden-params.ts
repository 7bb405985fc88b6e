/** Hidden parameters, after those of the source, which no caller passes: the metallib describes their purpose. */
import type { Diagnostics } from '../base/diagnostic.ts';
import { dce, type InstOf, isHidden, type Kernel, type KernelParam, type Value } from '../ir/index.ts';
import type { PtxFunction } from '../ptx/syntax/ast.ts';
import { slotLimit } from './params.ts';

/** Adds a parameter in the first free slot; gives its index. `checkSlots` sees whether there is one. */
export function addHiddenParam(
  kernel: Kernel,
  what: Pick<KernelParam, 'name' | 'size' | 'align' | 'element' | 'memory' | 'faults' | 'formats'>,
): number {
  const slot = kernel.params.length;
  kernel.params.push({ ...what, kind: 'pointer', space: 'global', slot, signed: false, access: 'read_write' });
  return slot;
}

/**
 * Takes the parameter for the module's memory away where nothing that the kernel does needs it: strings that are known when it
 * is compiled are handed over by their addresses all the same.
 */
export function dropUnusedMemory(kernel: Kernel): void {
  const known = kernel.params.findIndex((param) => param.memory !== undefined);
  if (known < 0) return;
  dce(kernel);
  const uses = kernel.blocks.flatMap(({ body }) => body.flatMap((value) => useOfParam(kernel, value) ?? []));
  if (uses.some(({ index }) => index === known)) return;
  kernel.params.splice(known, 1);
  // Parameters behind it are hidden too, and take their slots in order.
  for (const param of kernel.params.slice(known)) param.slot--;
  for (const use of uses) if (use.index > known) use.index--;
}

function useOfParam(kernel: Kernel, value: Value): InstOf<'param'> | undefined {
  const inst = kernel.insts[value]!;
  return inst.op === 'param' ? inst : undefined;
}

/** Reports CM2092 where the parameters find no slots, those by value in one. */
export function checkSlots({ name, params }: Kernel, { nameSpan }: PtxFunction, diagnostics: Diagnostics): void {
  if (params.length <= slotLimit) return;
  const hidden = params.filter(isHidden).length;
  const note = `${hidden} of them ${hidden === 1 ? 'is' : 'are'} for global variables, \`trap\`, \`assert\` or \`printf\``;
  diagnostics.report('CM2092', { kernel: name, count: params.length }, { span: nameSpan, notes: hidden > 0 ? [note] : [] });
}
