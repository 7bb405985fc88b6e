/**
 * Accesses to memory that is not there: PTX lets a kernel access a state space by number in which it names no variable. No byte
 * of such a space belongs to the kernel, so that the access is refused (CM2095) and needs no meaning further down.
 */
import type { Diagnostics } from '../../base/diagnostic.ts';
import { isPointer, type Kernel, type Space, spaceOf } from '../../ir/index.ts';
import { isAddressable } from './hidden-variables.ts';

const ownSpaces: readonly Space[] = ['shared', 'local', 'constant'];

/** Reports CM2095 for the first address made of a number in each space without variables. Spaces are resolved by now. */
export function refuseMissingMemory(kernel: Kernel, diagnostics: Diagnostics): void {
  const known = new Set<Space>(kernel.variables.filter(isAddressable).map((variable) => variable.space));
  for (const { body } of kernel.blocks)
    for (const value of body) {
      const { op, type } = kernel.insts[value]!;
      if (op !== 'inttoptr' || !isPointer(type)) continue;
      const space = spaceOf(type);
      if (!ownSpaces.includes(space) || known.has(space)) continue;
      known.add(space);
      const span = kernel.locs[value];
      diagnostics.report('CM2095', { kernel: kernel.name, space: space === 'constant' ? 'const' : space }, span ? { span } : {});
    }
}
