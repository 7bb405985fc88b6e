/**
 * The module's own memory: its `.global` variables laid out in one block that outlives launches. A kernel that names one of
 * them has the block as a parameter behind its own, which whoever loads the module binds.
 */
import type { Diagnostics } from '../base/diagnostic.ts';
import { type Kernel, type KernelParam, type ModuleMemory, type ModuleSymbol, moduleMemoryName } from '../ir/index.ts';
import type { Module, Variable } from '../ptx/ast.ts';
import { initialBytes, layoutFault, layoutOf } from './initialiser.ts';
import { slotLimit } from './params.ts';

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

/** The index of the parameter that points to the module's memory, added at the first call. Reports CM2092 where no slot is left. */
export function memoryParam(kernel: Kernel, memory: ModuleMemory, diagnostics: Diagnostics): number {
  const known = kernel.params.findIndex((param) => param.memory !== undefined);
  if (known >= 0) return known;
  return addHiddenParam(kernel, { name: moduleMemoryName, size: 1, align: memory.align, element: undefined, memory }, diagnostics);
}

/** Adds a parameter that no caller hands over, in the first free slot; gives its index. Reports CM2092 where no slot is left. */
export function addHiddenParam(
  kernel: Kernel,
  what: Pick<KernelParam, 'name' | 'size' | 'align' | 'element' | 'memory' | 'faults' | 'formats'>,
  diagnostics: Diagnostics,
): number {
  const slot = kernel.params.length;
  if (slot >= slotLimit) diagnostics.report('CM2092', { kernel: kernel.name, count: slot + 1 });
  kernel.params.push({ ...what, kind: 'pointer', space: 'global', slot, signed: false, access: 'read_write' });
  return slot;
}
