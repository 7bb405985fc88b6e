/**
 * Common subexpressions: an instruction that a dominating one already computed is that one. Blocks are walked down the dominator tree; the
 * expressions of a subtree are forgotten when it is left.
 */
import { cfgOf } from '../analysis/cfg.ts';
import { type DominatorTree, dominatorsOf } from '../analysis/dominators.ts';
import type { Block, Inst, Kernel, Value } from '../kernel.ts';
import { argsOf, attrsOf, mapOperands } from '../operands.ts';
import { specOf } from '../ops.ts';
import { isPointer, spaceOf } from '../types.ts';
import { type Substitution, substitute, substitution } from './substitution.ts';
import { mirrored } from './symmetry.ts';

interface State {
  readonly kernel: Kernel;
  readonly s: Substitution;
  /** The value of each expression that is available, by its key. */
  readonly available: Map<string, Value>;
}

/** Merges equal expressions in place; true where there were any. */
export function cse(kernel: Kernel): boolean {
  const state: State = { kernel, s: substitution(), available: new Map() };
  walkTree(dominatorsOf(cfgOf(kernel)), (id) => mergeInBlock(state, kernel.blocks[id]!));
  substitute(kernel, state.s);
  return state.s.count() > 0;
}

/** Visits a tree of blocks depth first; `visit` returns the function that undoes it when the subtree is left. Iterative: kernels nest deeply. */
export function walkTree({ children, root }: DominatorTree, visit: (id: number) => () => void): void {
  const stack: (number | (() => void))[] = [root];
  for (let item = stack.pop(); item !== undefined; item = stack.pop()) {
    if (typeof item === 'function') item();
    else {
      stack.push(visit(item));
      stack.push(...children[item]!);
    }
  }
}

function mergeInBlock({ kernel, s, available }: State, block: Block): () => void {
  const added: string[] = [];
  const kept: Value[] = [];
  for (const value of block.body) {
    const inst = kernel.insts[value]!;
    if (s.count() > 0) mapOperands(inst, s.of);
    const key = isMergeable(kernel, inst) ? keyOf(inst) : undefined;
    const earlier = key === undefined ? undefined : available.get(key);
    if (earlier !== undefined) {
      s.replace(value, earlier);
      continue;
    }
    kept.push(value);
    if (key === undefined) continue;
    available.set(key, value);
    added.push(key);
  }
  block.body = kept;
  return () => {
    for (const key of added) available.delete(key);
  };
}

/** Memory that is never written while a kernel runs reads the same each time. */
function isMergeable(kernel: Kernel, inst: Inst): boolean {
  if (inst.op !== 'load') return specOf(inst.op).effect === 'pure';
  const type = kernel.insts[inst.addr]!.type;
  return !inst.volatile && isPointer(type) && (spaceOf(type) === 'param' || spaceOf(type) === 'constant');
}

/** Equal keys, equal results. An op that allows it has its lower operand first; the alignment of a load does not change its result. */
function keyOf(inst: Inst): string {
  const form = 'a' in inst && 'b' in inst && inst.a > inst.b ? (mirrored(inst) ?? inst) : inst;
  const fields = form as unknown as Record<string, unknown>;
  let key = `${form.op} ${form.type}`;
  for (const name of argsOf(form.op)) key += ` ${fields[name]}`;
  if (form.op !== 'load') for (const name of attrsOf(form.op)) key += ` ${fields[name]}`;
  return key;
}
