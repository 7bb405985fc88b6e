/** The bounds of an access: a range that the metallib states, the parameter or variable that the address is based on, or the window of its space. */
import { lineOf } from '../../../../air/index.ts';
import type { Plan } from '../../../../engine/codegen/plan.ts';
import { type Kernel, type PointerType, type Roots, type Space, spaceOf, type Value } from '../../../../ir/index.ts';
import type { Bounds } from '../../observe/sites.ts';

interface KernelBounds {
  readonly kernel: Kernel;
  readonly windows: Plan['windows'];
  readonly roots: Roots;
}

/** Undefined if an access is bounded by the allocated memory only. */
export function boundsOf(inputs: KernelBounds, pointer: Value, value: Value): Bounds | undefined {
  const space = spaceOf(inputs.kernel.insts[pointer]!.type as PointerType);
  return reachOf(inputs, value, space) ?? boundsOfRoot(inputs, inputs.roots(pointer), space);
}

/** The bounds by the root of the address alone. */
export function boundsOfRoot({ kernel }: Pick<KernelBounds, 'kernel'>, root: Value | undefined, space: Space): Bounds | undefined {
  const inst = root === undefined ? undefined : kernel.insts[root]!;
  const hasParts = kernel.params.filter(({ kind }) => kind === 'threadgroup').length > 1;
  // If there are several, the launch determines where each ends.
  const isPart = inst?.op === 'param' && hasParts && kernel.params[inst.index]!.kind === 'threadgroup';
  if (inst?.op === 'param' && !isPart) return { kind: 'param', index: inst.index };
  if (inst?.op === 'variable') return { kind: 'variable', name: inst.name };
  return space === 'shared' || space === 'local' ? { kind: 'window', space } : undefined;
}

/** The bounds that the metallib states: a variable within the window of its space. */
function reachOf({ kernel, windows }: KernelBounds, value: Value, of: Space): Bounds | undefined {
  const reach = lineOf(kernel.locs[value])?.reach;
  const space = own.find((each) => each === reach?.space);
  if (!reach || !space || space !== of) return undefined;
  // A wrong range is replaced by the window.
  const { offset, size } = reach;
  return offset < 0 || size < 0 || offset + size > windows[space] ? undefined : { ...reach, kind: 'part', space };
}

const own = ['shared', 'constant', 'local'] as const;
