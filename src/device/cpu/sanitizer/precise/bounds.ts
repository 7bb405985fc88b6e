/** How far an access may reach: what its metallib says, the parameter or variable that its address comes from, or the window of its space. */
import { lineOf } from '../../../../air/index.ts';
import type { Plan } from '../../../../engine/codegen/plan.ts';
import { type Kernel, type PointerType, type Roots, type Space, spaceOf, type Value } from '../../../../ir/index.ts';
import type { Bounds } from '../../observe/sites.ts';

interface Around {
  readonly kernel: Kernel;
  readonly windows: Plan['windows'];
  readonly roots: Roots;
}

/** Nothing where all that is known of is what memory there is. */
export function boundsOf(around: Around, pointer: Value, value: Value): Bounds | undefined {
  const space = spaceOf(around.kernel.insts[pointer]!.type as PointerType);
  return reachOf(around, value, space) ?? boundsOfRoot(around, around.roots(pointer), space);
}

/** The same by what an address comes from alone. */
export function boundsOfRoot({ kernel }: Pick<Around, 'kernel'>, root: Value | undefined, space: Space): Bounds | undefined {
  const inst = root === undefined ? undefined : kernel.insts[root]!;
  const isParted = kernel.params.filter(({ kind }) => kind === 'threadgroup').length > 1;
  // Where there are several, the launch says where each ends.
  const isPart = inst?.op === 'param' && isParted && kernel.params[inst.index]!.kind === 'threadgroup';
  if (inst?.op === 'param' && !isPart) return { kind: 'param', index: inst.index };
  if (inst?.op === 'variable') return { kind: 'variable', name: inst.name };
  return space === 'shared' || space === 'local' ? { kind: 'window', space } : undefined;
}

/** Of an access whose metallib says so: a variable within the window of its space. */
function reachOf({ kernel, windows }: Around, value: Value, of: Space): Bounds | undefined {
  const reach = lineOf(kernel.locs[value])?.reach;
  const space = own.find((each) => each === reach?.space);
  if (!reach || !space || space !== of) return undefined;
  // A library that is wrong about itself is held to the window.
  const { offset, size } = reach;
  return offset < 0 || size < 0 || offset + size > windows[space] ? undefined : { ...reach, kind: 'part', space };
}

const own = ['shared', 'constant', 'local'] as const;
