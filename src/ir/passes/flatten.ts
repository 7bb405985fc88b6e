/**
 * If-conversion: a branch around a few instructions that may run speculatively becomes those instructions and selects of their results, so
 * that the threads of a warp do not diverge and the code that follows is one block. Loads are never speculated.
 */
import { cfgOf } from '../analysis/cfg.ts';
import { addInst } from '../build.ts';
import { type Block, type Edge, type Kernel, typeOf, type Value } from '../kernel.ts';
import { isPointer } from '../types.ts';
import { type Substitution, substitute, substitution } from './substitution.ts';
import { isSpeculatable, weightOf } from './weight.ts';

/** The weight of both arms and the selects up to which a branch is converted: about the cost of the branch on a GPU. */
const maxWeight = 8;

interface State {
  readonly kernel: Kernel;
  /** Edges into each block, by id. */
  readonly entries: Int32Array;
  /** The arguments that replace the parameters of arms. */
  readonly s: Substitution;
}

/** Turns branches into choices, in place; the arms are left to `cleanup-cfg`. True where there were any. */
export function flattenBranches(kernel: Kernel): boolean {
  const { order, predecessors } = cfgOf(kernel);
  const state: State = { kernel, entries: Int32Array.from(predecessors, (from) => from.length), s: substitution() };
  let changed = false;
  // Inner branches first: a converted branch is a straight arm of the next.
  for (const id of [...order].reverse()) changed = flatten(state, kernel.blocks[id]!) || changed;
  substitute(kernel, state.s);
  return changed;
}

/** One arm of a branch: its block, if any, and its edge to the reconvergence point. */
interface Arm {
  readonly via: Block | undefined;
  readonly to: Edge;
}

/** The arms that an edge may lead into, the shortest first. */
function armsOf({ entries }: State, from: Block, edge: Edge): Arm[] {
  const direct = { via: undefined, to: edge };
  const { block } = edge;
  if (block === from || entries[block.id] !== 1 || block.end.op !== 'br') return [direct];
  return [direct, { via: block, to: block.end.to }];
}

function flatten(state: State, block: Block): boolean {
  const { end } = block;
  if (end.op !== 'condbr') return false;
  for (const then of armsOf(state, block, end.then))
    for (const other of armsOf(state, block, end.else)) {
      if (!reconverge(block, then, other) || !isWorth(state, then, other)) continue;
      joinArms(state, block, { cond: end.cond, edges: [end.then, end.else], arms: [then, other] });
      return true;
    }
  return false;
}

/** Whether both arms lead to one block, and neither is an iteration of a loop. */
function reconverge(from: Block, then: Arm, other: Arm): boolean {
  const { block } = then.to;
  return block === other.to.block && ![from, then.via, other.via].includes(block);
}

function isWorth({ kernel }: State, then: Arm, other: Arm): boolean {
  let weight = 0;
  for (const { via } of [then, other])
    for (const value of via?.body ?? []) {
      const inst = kernel.insts[value]!;
      if (!isSpeculatable(inst)) return false;
      weight += weightOf(kernel, inst);
    }
  for (const [i, arg] of then.to.args.entries()) {
    if (arg === other.to.args[i]) continue;
    const type = typeOf(kernel, arg);
    // A choice of pointers may be one of different buffers, which drivers are bad at.
    if (isPointer(type)) return false;
    weight += type === 'i64' || type === 'f64' ? 2 : 1;
  }
  return weight <= maxWeight;
}

interface Branch {
  readonly cond: Value;
  readonly edges: readonly [Edge, Edge];
  readonly arms: readonly [Arm, Arm];
}

function joinArms({ kernel, entries, s }: State, block: Block, { cond, edges, arms }: Branch): void {
  arms.forEach(({ via }, i) => {
    via?.params.forEach((param, at) => {
      s.replace(param, edges[i]!.args[at]!);
    });
    if (via) block.body.push(...via.body.splice(0));
  });
  const [then, other] = arms;
  const args = then.to.args.map((a, i) => {
    const [ifTrue, ifFalse] = [s.of(a), s.of(other.to.args[i]!)];
    if (ifTrue === ifFalse) return ifTrue;
    const choice = addInst(kernel, { op: 'select', type: typeOf(kernel, ifTrue), cond, a: ifTrue, b: ifFalse }, block.endLoc);
    block.body.push(choice);
    return choice;
  });
  const target = then.to.block;
  block.end = { op: 'br', to: { block: target, args } };
  entries[target.id]!--;
  for (const { via } of arms) {
    if (!via) continue;
    via.end = { op: 'ret' };
    entries[via.id] = 0;
  }
}
