/** Conditions that hold in a block because of the branches that lead to it, and what they say of an integer. */
import { type Block, type Edge, edgesOf, type Kernel, type Value } from '../kernel.ts';
import type { IcmpPredicate } from '../ops.ts';
import type { Cfg } from './cfg.ts';
import type { DominatorTree } from './dominators.ts';
import { type Interval, whereCompared } from './interval.ts';

export interface Condition {
  readonly cond: Value;
  readonly holds: boolean;
}

/** The conditions that hold in a block, as all paths to it take one side of a branch. */
export function conditionsOf(kernel: Kernel, cfg: Cfg, dominators: DominatorTree, block: number): Condition[] {
  const found: Condition[] = [];
  for (let id = block; id >= 0; id = dominators.parent[id]!) {
    const [from, other] = cfg.predecessors[id]!;
    if (from === undefined || other !== undefined) continue;
    const edge = edgesOf(kernel.blocks[from]!.end).find((each) => each.block.id === id);
    const condition = edge && conditionOf(kernel.blocks[from]!, edge);
    if (condition) found.push(condition);
  }
  return found;
}

/** The condition with which a block takes an edge. */
export function conditionOf({ end }: Block, edge: Edge): Condition | undefined {
  if (end.op !== 'condbr' || end.then.block === end.else.block) return undefined;
  return { cond: end.cond, holds: end.then === edge };
}

/** The interval of a value where a condition holds, or where it does not. */
export function rangeWhere(
  kernel: Kernel,
  of: (value: Value) => Interval,
  value: Value,
  range: Interval,
  { cond, holds }: Condition,
): Interval {
  const inst = kernel.insts[cond]!;
  if (inst.op === (holds ? 'and' : 'or'))
    return [inst.a, inst.b].reduce((now, each) => rangeWhere(kernel, of, value, now, { cond: each, holds }), range);
  if (inst.op !== 'icmp' || (inst.a !== value && inst.b !== value) || inst.a === inst.b) return range;
  const pred = holds ? inst.pred : negated[inst.pred];
  return inst.a === value ? whereCompared(range, pred, of(inst.b)) : whereCompared(range, mirrored[pred], of(inst.a));
}

/** The predicate that holds where another one does not. */
export const negated: Readonly<Record<IcmpPredicate, IcmpPredicate>> = {
  eq: 'ne',
  ne: 'eq',
  slt: 'sge',
  sge: 'slt',
  sgt: 'sle',
  sle: 'sgt',
  ult: 'uge',
  uge: 'ult',
  ugt: 'ule',
  ule: 'ugt',
};

/** The predicate with its operands exchanged. */
export const mirrored: Readonly<Record<IcmpPredicate, IcmpPredicate>> = {
  eq: 'eq',
  ne: 'ne',
  slt: 'sgt',
  sgt: 'slt',
  sle: 'sge',
  sge: 'sle',
  ult: 'ugt',
  ugt: 'ult',
  ule: 'uge',
  uge: 'ule',
};
