/**
 * The module's own memory: its `.global` variables laid out in one block that outlives launches. A kernel that names one of
 * them has the block as a parameter behind its own, which whoever loads the module binds.
 */
import { type Kernel, type ModuleMemory, type ModuleSymbol, moduleMemoryName } from '../ir/index.ts';
import type { Module, Variable } from '../ptx/ast.ts';
import { addHiddenParam } from './hidden-params.ts';
import { initialBytes, layoutFault, layoutOf } from './initialiser.ts';

export interface GlobalMemory {
  readonly memory: ModuleMemory;
  /** Where each variable lies; absent for those that cannot be laid out, which are refused where they are used. */
  readonly offsets: ReadonlyMap<Variable, number>;
}

/** Lays out the `.global` variables of a module in their order. */
export function globalMemoryOf({ items }: Module): GlobalMemory {
  const offsets = new Map<Variable, number>();
  const symbols: ModuleSymbol[] = [];
  let [size, align] = [0, 1];
  for (const item of items) {
    if (item.kind !== 'variable' || item.space !== 'global' || item.linkage === 'extern') continue;
    const layout = layoutOf(item);
    const init = layout && !layoutFault(item, layout) && layout.size <= mostBytes ? initialBytes(item, layout) : undefined;
    if (!layout || !(init instanceof Uint8Array)) continue;
    const offset = Math.ceil(size / layout.align) * layout.align;
    offsets.set(item, offset);
    symbols.push({ name: item.name, offset, size: layout.size, init: item.init ? init : undefined });
    size = offset + layout.size;
    align = Math.max(align, layout.align);
  }
  return { memory: { size, align, symbols }, offsets };
}

/** Of one variable; a block beyond what buffers hold is refused where it is bound. */
const mostBytes = 2 ** 30;

/** The index of the parameter that points to the module's memory, added at the first call. */
export function memoryParam(kernel: Kernel, memory: ModuleMemory): number {
  const known = kernel.params.findIndex((param) => param.memory !== undefined);
  if (known >= 0) return known;
  return addHiddenParam(kernel, { name: moduleMemoryName, size: 1, align: memory.align, element: undefined, memory });
}
