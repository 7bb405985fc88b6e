/** Hidden parameters, after those of the source, which no caller passes: the metallib describes their purpose. */
import type { Diagnostics } from '../base/diagnostic.ts';
import type { Span } from '../base/source.ts';
import { addHiddenParam, dce, type InstOf, isHidden, type Kernel, type Service, serviceNames } from '../ir/index.ts';
import { slotLimit } from './params.ts';
import { packValues } from './passes/pack-values.ts';

/**
 * Takes the parameter for the module's memory away where nothing that the kernel does needs it: strings that are known when it
 * is compiled are handed over by their addresses all the same.
 */
export function dropUnusedMemory(kernel: Kernel): void {
  const known = kernel.params.findIndex((param) => param.memory !== undefined);
  if (known < 0) return;
  dce(kernel);
  const uses = usesOfParams(kernel);
  if (uses.some(({ index }) => index === known)) return;
  kernel.params.splice(known, 1);
  // Parameters behind it are hidden too, and take their slots in order.
  for (const param of kernel.params.slice(known)) param.slot--;
  for (const use of uses) if (use.index > known) use.index--;
}

function usesOfParams({ blocks, insts }: Kernel): InstOf<'param'>[] {
  const uses: InstOf<'param'>[] = [];
  for (const { body } of blocks)
    for (const value of body) {
      const inst = insts[value]!;
      if (inst.op === 'param') uses.push(inst);
    }
  return uses;
}

/** The parameter of a service, which is added if there is none. */
export function serviceParam(kernel: Kernel, service: Service): number {
  const known = kernel.params.findIndex((param) => param.service === service);
  if (known >= 0) return known;
  const index = addHiddenParam(kernel, { name: serviceNames[service], size: 4, align: 16, element: undefined, service });
  // No thread writes it, so that it is the same for all threads.
  if (service === 'group') Object.assign(kernel.params[index]!, { space: 'constant', access: 'read' });
  return index;
}

/** Reports CM2092 where the parameters find no slots, those by value in one. */
export function checkSlots({ name, params }: Kernel, span: Span | undefined, diagnostics: Diagnostics): void {
  if (params.length <= slotLimit) return;
  const hidden = params.filter(isHidden).length;
  const note = `${hidden} of them ${hidden === 1 ? 'is' : 'are'} for global variables, \`trap\`, \`assert\`, \`printf\` or 64-bit atomics`;
  diagnostics.report('CM2092', { kernel: name, count: params.length }, { ...(span ? { span } : {}), notes: hidden > 0 ? [note] : [] });
}

/** Finds slots for parameters that were added after lowering; reports CM2092 where there are none. */
export function fitSlots(kernel: Kernel, span: Span | undefined, diagnostics: Diagnostics): void {
  packValues(kernel, slotLimit);
  checkSlots(kernel, span, diagnostics);
}
