/**
 * Generic accesses: each gets the state space that its address is based in. An address that may lie in several, or whose
 * origin is not seen (a pointer loaded from memory), is refused (CM2094). A generic address of shared, constant or local
 * memory is an offset here and another number on an NVIDIA GPU, so an instruction that looks at the number is refused too.
 */
import type { Diagnostics } from '../../base/diagnostic.ts';
import { basesOf, edgesOf, type Inst, type Kernel, operandsOf, type Space, type Value } from '../../ir/index.ts';

/** Rewrites generic pointers in place; `marked` are generic addresses of memory that is not global. */
export function resolveSpaces(kernel: Kernel, marked: ReadonlySet<Value>, diagnostics: Diagnostics): void {
  checkUses(kernel, marked, diagnostics);
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

/** Reports CM2096 for each instruction that takes a marked address, or one based on it, for a number. */
function checkUses(kernel: Kernel, marked: ReadonlySet<Value>, diagnostics: Diagnostics): void {
  if (marked.size === 0) return;
  const { users, handedTo } = usesOf(kernel);
  const seen = new Set<Value>(marked);
  const follow = (value: Value): void => {
    if (seen.has(value)) return;
    seen.add(value);
    work.push(value);
  };
  const work = [...marked];
  for (let value = work.pop(); value !== undefined; value = work.pop()) {
    for (const param of handedTo.get(value) ?? []) follow(param);
    for (const user of users.get(value) ?? []) {
      const use = kernel.insts[user]!;
      if (use.op === 'add' || use.op === 'select' || (use.op === 'sub' && use.b !== value)) follow(user);
      else if (use.op !== 'inttoptr') {
        const span = kernel.locs[user];
        diagnostics.report('CM2096', {}, span ? { span } : {});
      }
    }
  }
}

function usesOf(kernel: Kernel): { users: Map<Value, Value[]>; handedTo: Map<Value, Value[]> } {
  const [users, handedTo] = [new Map<Value, Value[]>(), new Map<Value, Value[]>()];
  const note = (map: Map<Value, Value[]>, key: Value, value: Value): void => {
    const known = map.get(key);
    if (known) known.push(value);
    else map.set(key, [value]);
  };
  for (const { body, end } of kernel.blocks) {
    for (const value of body) for (const operand of new Set(operandsOf(kernel.insts[value]!))) note(users, operand, value);
    for (const edge of edgesOf(end)) for (const [i, arg] of edge.args.entries()) note(handedTo, arg, edge.block.params[i]!);
  }
  return { users, handedTo };
}
