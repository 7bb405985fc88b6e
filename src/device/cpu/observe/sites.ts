/** The instructions of a kernel that reports name, by number. */
import { type Line, lineOf, type Reach } from '../../../air/index.ts';
import { accessOf, bytesOf, type Kernel, type Value } from '../../../ir/index.ts';

/** What an access may reach: the memory of a parameter, a variable, or all of a space that the kernel has. */
export type Bounds =
  | { readonly kind: 'param'; readonly index: number }
  | { readonly kind: 'variable'; readonly name: string }
  | { readonly kind: 'window'; readonly space: 'shared' | 'local' }
  | (Reach & { readonly kind: 'part'; readonly space: 'shared' | 'local' | 'constant' });

interface AccessOfSite {
  readonly bounds: Bounds | undefined;
  /** What the address has to be a multiple of. */
  readonly align: number;
}

export interface Site {
  readonly value: Value;
  /** What the instruction is, in words. */
  readonly what: string;
  readonly line: Line | undefined;
  /** Bytes of an element that it accesses; 0 where it accesses none. */
  readonly size: number;
  readonly isWrite: boolean;
  readonly access: AccessOfSite | undefined;
}

export interface Sites {
  readonly list: readonly Site[];
  /** The number of an instruction, from 1 on. */
  of(value: Value, access?: AccessOfSite): number;
}

/** No site yet; those asked for are added, up to a limit, behind which all have the last number. */
export function newSites(kernel: Kernel, limit: number): Sites {
  const list: Site[] = [];
  const known = new Map<Value, number>();
  return {
    list,
    of(value, access) {
      const before = known.get(value);
      if (before !== undefined) return before;
      if (list.length < limit) list.push(siteOf(kernel, value, access));
      known.set(value, list.length);
      return list.length;
    },
  };
}

function siteOf(kernel: Kernel, value: Value, made: AccessOfSite | undefined): Site {
  const inst = kernel.insts[value]!;
  const access = accessOf(kernel, inst);
  const type = inst.op === 'store' ? kernel.insts[inst.value]!.type : inst.type;
  return {
    value,
    what: access ? `${inst.op} ${type}` : inst.op,
    line: lineOf(kernel.locs[value]),
    size: access ? bytesOf(access.element) : 0,
    isWrite: inst.op !== 'load' && access !== undefined,
    access: made,
  };
}
