/**
 * What each pointer of a kernel was computed from: the one parameter or variable, if there is one, also where the sum was one
 * of integers, as PTX adds addresses.
 */
import { edgesOf, type Kernel, type Value } from '../kernel.ts';
import { operandsOf } from '../operands.ts';

/** The instruction (`param` or `variable`) that a pointer comes from; nothing where it comes from several, or from a number. */
export type Roots = (pointer: Value) => Value | undefined;

/** `open`: not visited yet, any root is possible. `none`: a number that no address is part of. `mixed`: of several, or unknown. */
type Root = Value | 'open' | 'none' | 'mixed';

/** Follows sums, choices and block parameters until nothing changes; each value goes down from `open` at most twice. */
export function rootsOf(kernel: Kernel): Roots {
  const roots: Root[] = kernel.insts.map(() => 'open');
  const named = firstOfName(kernel);
  let changed = true;
  const set = (value: Value, root: Root): void => {
    changed ||= roots[value] !== root;
    roots[value] = root;
  };
  while (changed) {
    changed = false;
    for (const block of kernel.blocks) {
      for (const value of block.body) set(value, join(roots[value]!, rootOf(kernel, value, roots, named)));
      for (const { block: to, args } of edgesOf(block.end))
        for (const [i, arg] of args.entries()) set(to.params[i]!, join(roots[to.params[i]!]!, roots[arg]!));
    }
  }
  return (pointer) => {
    const root = roots[pointer]!;
    return typeof root === 'number' ? root : undefined;
  };
}

const join = (a: Root, b: Root): Root => (a === 'open' ? b : b === 'open' || a === b ? a : 'mixed');

/** Of a sum: an address and a number. */
const sum = (a: Root, b: Root): Root => (a === 'open' || b === 'open' ? 'open' : a === 'none' ? b : b === 'none' ? a : 'mixed');

function rootOf(kernel: Kernel, value: Value, roots: readonly Root[], named: (value: Value) => Value): Root {
  const inst = kernel.insts[value]!;
  switch (inst.op) {
    case 'param':
    case 'variable':
      return named(value);
    case 'ptradd':
      return sum(roots[inst.a]!, 'none');
    case 'ptrtoint':
    case 'trunc':
    case 'zext':
    case 'sext':
      return roots[inst.a]!;
    case 'inttoptr':
      return roots[inst.a] === 'none' ? 'mixed' : roots[inst.a]!;
    case 'add':
    case 'or':
      return sum(roots[inst.a]!, roots[inst.b]!);
    case 'sub':
      return roots[inst.b] === 'none' || roots[inst.b] === 'open' ? sum(roots[inst.a]!, roots[inst.b]!) : 'mixed';
    case 'select':
      return join(roots[inst.a]!, roots[inst.b]!);
    case 'load':
    case 'atomic':
    case 'cas':
      return 'none';
    default:
      return ofOthers(operandsOf(inst).map((operand) => roots[operand]!));
  }
}

/** What is computed of an address otherwise is no address that anything is known of; what is read from memory is a number. */
const ofOthers = (operands: readonly Root[]): Root =>
  operands.some((root) => typeof root === 'number' || root === 'mixed') ? 'mixed' : operands.includes('open') ? 'open' : 'none';

/** By parameter or variable: the first instruction that names it, as several may. */
function firstOfName(kernel: Kernel): (value: Value) => Value {
  const first = new Map<string, Value>();
  const keyOf = (value: Value): string => {
    const inst = kernel.insts[value]!;
    return inst.op === 'param' ? `param ${inst.index}` : inst.op === 'variable' ? `variable ${inst.name}` : '';
  };
  return (value) => {
    const key = keyOf(value);
    const known = first.get(key) ?? value;
    first.set(key, known);
    return known;
  };
}
