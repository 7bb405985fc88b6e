/**
 * Bounds on nesting: a few bytes can describe types and constants of enormous text or size. Within these bounds every recursive
 * walk over a module that was read ends soon.
 */

import { Malformed } from '../malformed.ts';
import type { Constant } from '../model.ts';
import { typeParts } from '../operands.ts';
import { spell, type Type, type TypeOf } from '../types.ts';

/** Levels of nested types, and of nested constants. */
const maxDepth = 200;
/** Parts of a type or constant, counted once for each occurrence. */
const maxParts = 2 ** 22;

interface Extent {
  readonly depth: number;
  readonly parts: number;
}

const leaf: Extent = { depth: 1, parts: 1 };

function around(parts: Iterable<Extent>, bit: number, block: string): Extent {
  let extent = leaf;
  for (const part of parts) extent = { depth: Math.max(extent.depth, part.depth + 1), parts: extent.parts + part.parts };
  if (extent.depth > maxDepth) throw new Malformed(bit, block, 'a type or constant that is nested too deep');
  if (extent.parts > maxParts) throw new Malformed(bit, block, 'a type or constant with too many parts');
  return extent;
}

/** Refuses types that hold themselves by value or are too large. Pointers to named structs end the walk. */
export function checkTypes(list: readonly Type[], bit: number): void {
  const known = new Map<Type, Extent>();
  const open = new Map<Type, number>();
  const extentOf = (type: Type, pointers: number): Extent => {
    const before = known.get(type);
    if (before) return before;
    const entered = open.get(type);
    if (entered !== undefined) return entered < pointers ? leaf : holdsItself(type, bit);
    if (open.size > maxDepth) throw new Malformed(bit, 'types', 'a type or constant that is nested too deep');
    open.set(type, pointers);
    const parts = typeParts(type).map((part) =>
      isNamed(part) && type.kind === 'pointer' ? leaf : extentOf(part, pointers + (type.kind === 'pointer' ? 1 : 0)),
    );
    const extent = around(parts, bit, 'types');
    open.delete(type);
    known.set(type, extent);
    return extent;
  };
  for (const type of list) extentOf(type, 0);
}

function holdsItself(type: Type, bit: number): never {
  throw new Malformed(bit, 'types', `${spell(type)} holds itself`);
}

const isNamed = (type: Type): type is TypeOf<'struct'> => type.kind === 'struct' && type.name !== undefined;

/** Checks constants as they are made. */
export interface ConstantLimits {
  check(constant: Constant, parts: readonly Constant[], bit: number): void;
}

export function constantLimits(): ConstantLimits {
  const known = new WeakMap<Constant, Extent>();
  return {
    check(constant, parts, bit) {
      if (parts.length === 0) return;
      const extents = parts.map((part) => known.get(part) ?? leaf);
      known.set(constant, around(extents, bit, 'constants'));
    },
  };
}
