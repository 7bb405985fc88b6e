/**
 * Common subexpressions: an instruction that a dominating one already computed is that one. Blocks are walked down the dominator tree; the
 * expressions of a subtree are forgotten when it is left.
 */
import { cfgOf } from '../analysis/cfg.ts';
import { type DominatorTree, dominatorsOf } from '../analysis/dominators.ts';
import type { Block, Inst, Kernel, Value } from '../kernel.ts';
import { argsOf, attrsOf, mapOperands, mapTerminator } from '../operands.ts';
import { specOf } from '../ops.ts';
import { isPointer, spaceOf } from '../types.ts';
import { type Substitution, substitute, substitution } from './substitution.ts';
import { isSymmetric, mirroredPredicate } from './symmetry.ts';

interface State {
  readonly kernel: Kernel;
  readonly s: Substitution;
  readonly known: Expressions;
  /** By value that is known: its block. */
  readonly home: Int32Array;
  /** By block: 1 for those that dominate the block at hand. */
  readonly isAbove: Uint8Array;
}

/** Merges equal expressions in place; true where there were any. */
export function cse(kernel: Kernel): boolean {
  const { length } = kernel.blocks;
  const state: State = {
    kernel,
    s: substitution(kernel.insts.length),
    known: new Expressions(),
    home: new Int32Array(kernel.insts.length),
    isAbove: new Uint8Array(length),
  };
  const cfg = cfgOf(kernel);
  walkTree(dominatorsOf(cfg), (id) => mergeInBlock(state, kernel.blocks[id]!));
  // Definitions were visited before their uses, but for those in unreachable code.
  if (cfg.order.length < length) substitute(kernel, state.s);
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

function mergeInBlock({ kernel, s, known, home, isAbove }: State, block: Block): () => void {
  const kept: Value[] = [];
  isAbove[block.id] = 1;
  for (const value of block.body) {
    const inst = kernel.insts[value]!;
    if (s.count() > 0) mapOperands(inst, s.of);
    const place = isMergeable(kernel, inst) ? known.placeOf(inst) : undefined;
    const earlier = place === undefined ? undefined : known.at(place);
    if (earlier !== undefined && isAbove[home[earlier]!]) {
      s.replace(value, earlier);
      continue;
    }
    kept.push(value);
    if (place === undefined) continue;
    // The block of an earlier one that is not above has been left for good.
    known.set(place, value);
    home[value] = block.id;
  }
  block.body = kept;
  if (s.count() > 0) mapTerminator(block.end, s.of);
  return () => {
    isAbove[block.id] = 0;
  };
}

/** Memory that is never written while a kernel runs reads the same each time. */
function isMergeable(kernel: Kernel, inst: Inst): boolean {
  if (inst.op !== 'load') return specOf(inst.op).effect === 'pure';
  const type = kernel.insts[inst.addr]!.type;
  return !inst.volatile && isPointer(type) && (spaceOf(type) === 'param' || spaceOf(type) === 'constant');
}

/** A step on the way to the expressions of one form: by op, then by type, then by each attribute. */
type Step = Map<unknown, Step | Form>;
/** The places of expressions of one form by their operands: of two a number, of several a text. */
type Form = Map<number | string, number>;

/** Values are below this number, so that two of them are one exact number. */
const manyValues = 2 ** 26;

/**
 * The last value of each expression. Equal places, equal results: an op that allows it has its lower operand first; the alignment of a load does not
 * change its result.
 */
class Expressions {
  readonly #forms: Step = new Map();
  /** By place. */
  readonly #values: (Value | undefined)[] = [];

  at(place: number): Value | undefined {
    return this.#values[place];
  }

  set(place: number, value: Value): void {
    this.#values[place] = value;
  }

  placeOf(inst: Inst): number {
    const isTurned = 'a' in inst && 'b' in inst && inst.a > inst.b && isSymmetric(inst.op);
    const form = this.#formOf(inst, isTurned);
    const key = keyOf(inst, isTurned);
    let place = form.get(key);
    if (place === undefined) {
      place = this.#values.push(undefined) - 1;
      form.set(key, place);
    }
    return place;
  }

  #formOf(inst: Inst, isTurned: boolean): Form {
    let step = stepTo(stepTo(this.#forms, inst.op), inst.type);
    if (inst.op === 'icmp' || inst.op === 'fcmp') step = stepTo(step, isTurned ? mirroredPredicate(inst) : inst.pred);
    else if (inst.op !== 'load')
      for (const name of attrsOf(inst.op)) step = stepTo(step, (inst as unknown as Record<string, unknown>)[name]);
    return step as unknown as Form;
  }
}

function stepTo(from: Step, by: unknown): Step {
  let to = from.get(by);
  if (to === undefined) {
    to = new Map() as Step;
    from.set(by, to);
  }
  return to as Step;
}

function keyOf(inst: Inst, isTurned: boolean): number | string {
  const fields = inst as unknown as Record<string, number>;
  const names = argsOf(inst.op);
  if (names.length === 0) return 0;
  const first = fields[names[0]!]!;
  if (names.length === 1) return first;
  const second = fields[names[1]!]!;
  const both = isTurned ? second * manyValues + first : first * manyValues + second;
  if (names.length === 2) return both;
  let key = `${both}`;
  for (let i = 2; i < names.length; i++) key += ` ${fields[names[i]!]}`;
  return key;
}
