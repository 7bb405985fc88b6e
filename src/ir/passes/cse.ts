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
  /** The expressions that are available. */
  readonly available: Expressions;
}

/** Merges equal expressions in place; true where there were any. */
export function cse(kernel: Kernel): boolean {
  const state: State = { kernel, s: substitution(), available: expressions() };
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
  const start = available.count();
  const kept: Value[] = [];
  for (const value of block.body) {
    const inst = kernel.insts[value]!;
    if (s.count() > 0) mapOperands(inst, s.of);
    const earlier = isMergeable(kernel, inst) ? available.find(inst, value) : undefined;
    if (earlier === undefined) kept.push(value);
    else s.replace(value, earlier);
  }
  block.body = kept;
  return () => available.forget(start);
}

/** Memory that is never written while a kernel runs reads the same each time. */
function isMergeable(kernel: Kernel, inst: Inst): boolean {
  if (inst.op !== 'load') return specOf(inst.op).effect === 'pure';
  const type = kernel.insts[inst.addr]!.type;
  return !inst.volatile && isPointer(type) && (spaceOf(type) === 'param' || spaceOf(type) === 'constant');
}

interface Expressions {
  /** The value of an equal expression; undefined for one that is new, which then has the given value. */
  find(inst: Inst, value: Value): Value | undefined;
  /** How many there are. */
  count(): number;
  /** Forgets all but so many of the first. */
  forget(count: number): void;
}

/** A step on the way to the expressions of one form: by op, then by type, then by each attribute. */
type Step = Map<unknown, Step | Level>;
/** The values of expressions of one form by a key of their operands: of two a number, of several a text. */
type Level = Map<number | string, Value>;

/**
 * No expression yet. Equal keys, equal results: an op that allows it has its lower operand first; the alignment of a load does not change its
 * result.
 */
function expressions(): Expressions {
  const forms: Step = new Map();
  const levels: Level[] = [];
  const keys: (number | string)[] = [];
  return {
    find(inst, value) {
      const form = 'a' in inst && 'b' in inst && inst.a > inst.b ? (mirrored(inst) ?? inst) : inst;
      const level = levelOf(forms, form);
      const key = keyOf(form);
      const earlier = level.get(key);
      if (earlier !== undefined) return earlier;
      level.set(key, value);
      levels.push(level);
      keys.push(key);
      return undefined;
    },
    count: () => keys.length,
    forget(count) {
      while (keys.length > count) levels.pop()!.delete(keys.pop()!);
    },
  };
}

function levelOf(forms: Step, form: Inst): Level {
  let step = stepTo(stepTo(forms, form.op), form.type);
  if (form.op !== 'load') for (const name of attrsOf(form.op)) step = stepTo(step, (form as unknown as Record<string, unknown>)[name]);
  return step as unknown as Level;
}

function stepTo(from: Step, by: unknown): Step {
  let to = from.get(by);
  if (to === undefined) {
    to = new Map() as Step;
    from.set(by, to);
  }
  return to as Step;
}

/** Values are below this number, so that two of them are one exact number. */
const manyValues = 2 ** 26;

function keyOf(form: Inst): number | string {
  const fields = form as unknown as Record<string, number>;
  const names = argsOf(form.op);
  if (names.length === 0) return 0;
  const first = fields[names[0]!]!;
  if (names.length === 1) return first;
  const both = first * manyValues + fields[names[1]!]!;
  if (names.length === 2) return both;
  let key = `${both}`;
  for (let i = 2; i < names.length; i++) key += ` ${fields[names[i]!]}`;
  return key;
}
