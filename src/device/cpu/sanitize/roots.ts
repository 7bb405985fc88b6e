/** What each pointer of a kernel was computed from: the one parameter or variable, where there is one. */
import { edgesOf, isPointer, type Kernel, type Value } from '../../../ir/index.ts';

/** The instruction (`param` or `variable`) that a pointer comes from; nothing where it comes from several, or from a number. */
export type Roots = (pointer: Value) => Value | undefined;

/** `open` is that of block parameters not looked at yet; everything can still be said of them. */
type Root = Value | 'open' | 'unknown';

/** Follows sums, choices and block parameters until nothing changes. */
export function rootsOf(kernel: Kernel): Roots {
  const roots: Root[] = kernel.insts.map(() => 'open');
  const join = (a: Root, b: Root): Root => (a === 'open' ? b : b === 'open' || a === b ? a : 'unknown');
  let changed = true;
  const set = (value: Value, root: Root): void => {
    changed ||= roots[value] !== root;
    roots[value] = root;
  };
  while (changed) {
    changed = false;
    for (const block of kernel.blocks) {
      for (const value of block.body) if (isPointer(kernel.insts[value]!.type)) set(value, rootOf(kernel, value, roots, join));
      for (const { block: to, args } of edgesOf(block.end))
        for (const [i, arg] of args.entries())
          if (isPointer(kernel.insts[arg]!.type)) set(to.params[i]!, join(roots[to.params[i]!]!, roots[arg]!));
    }
  }
  return (pointer) => {
    const root = roots[pointer]!;
    return typeof root === 'number' ? root : undefined;
  };
}

function rootOf(kernel: Kernel, value: Value, roots: readonly Root[], join: (a: Root, b: Root) => Root): Root {
  const inst = kernel.insts[value]!;
  switch (inst.op) {
    case 'param':
    case 'variable':
      return sameAs(kernel, value);
    case 'ptradd':
      return roots[inst.a]!;
    case 'select':
      return join(roots[inst.a]!, roots[inst.b]!);
    default:
      return 'unknown';
  }
}

/** The first instruction that names the same parameter or variable: several may. */
function sameAs(kernel: Kernel, value: Value): Value {
  const own = kernel.insts[value]!;
  const at = kernel.insts.findIndex(
    (inst) =>
      (inst.op === 'param' && own.op === 'param' && inst.index === own.index) ||
      (inst.op === 'variable' && own.op === 'variable' && inst.name === own.name),
  );
  return at as Value;
}
