/**
 * Generic accesses: each gets the state space that its address is based in. An address that may lie in several, or whose
 * origin is not seen (a pointer loaded from memory), is refused (CM2094).
 */
import type { Diagnostics } from '../../base/diagnostic.ts';
import { basesOf, type Inst, type Kernel, type Space, type Value } from '../../ir/index.ts';

/** Rewrites generic pointers in place. */
export function resolveSpaces(kernel: Kernel, diagnostics: Diagnostics): void {
  const casts = kernel.blocks.flatMap(({ body }) => body.filter((value) => isGenericCast(kernel.insts[value]!)));
  if (casts.length === 0) return;
  const bases = basesOf(kernel);
  const spaces = new Map<Value, Space>();
  for (const cast of casts) {
    const inst = kernel.insts[cast] as Inst & { op: 'inttoptr' };
    const base = bases[inst.a];
    const isSpace = base !== undefined && base !== 'none' && base !== 'mixed' && base !== 'generic';
    if (isSpace) spaces.set(cast, base);
    else {
      const span = kernel.locs[cast];
      diagnostics.report('CM2094', {}, span ? { span } : {});
    }
  }
  retype(kernel, spaces);
}

const isGenericCast = (inst: Inst): boolean => inst.op === 'inttoptr' && inst.type === 'ptr.generic';

/** Casts and the offsets on them take the type of their space. */
function retype(kernel: Kernel, spaces: Map<Value, Space>): void {
  for (const { body } of kernel.blocks)
    for (const value of body) {
      const inst = kernel.insts[value]!;
      if (inst.op === 'ptradd' && spaces.has(inst.a)) spaces.set(value, spaces.get(inst.a)!);
      const space = spaces.get(value);
      if (space) inst.type = `ptr.${space}`;
    }
}
