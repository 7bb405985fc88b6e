/** The instructions of a kernel that reports name, by number. A number is part of the instrumented code. */
import { type Line, lineOf, type Reach } from '../../../air/index.ts';
import { accessOf, bytesOf, type Kernel, type Value } from '../../../ir/index.ts';

/** The memory that an access may reach: that of a parameter, a variable, or a whole window. */
export type Bounds =
  | { readonly kind: 'param'; readonly index: number }
  | { readonly kind: 'variable'; readonly name: string }
  | { readonly kind: 'window'; readonly space: 'shared' | 'local' }
  | (Reach & { readonly kind: 'part'; readonly space: 'shared' | 'local' | 'constant' });

interface AccessOfSite {
  readonly bounds: Bounds | undefined;
  /** The alignment that the address must have. */
  readonly align: number;
}

export interface Site {
  readonly value: Value;
  /** The op and type of the instruction, for messages. */
  readonly what: string;
  readonly line: Line | undefined;
  /** Bytes of the accessed element; 0 without access. */
  readonly size: number;
  readonly isWrite: boolean;
  readonly access: AccessOfSite | undefined;
}

export interface Sites {
  readonly list: readonly Site[];
  /** The number of an instruction, from 1 on. */
  of(value: Value, access?: AccessOfSite): number;
}

/** No sites. Sites are added on demand up to a limit, after which all have the last number. */
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
