/**
 * Rematerialization: values a few steps from constants, parameters and special registers are computed again after a barrier, where they would be
 * spilled and reloaded otherwise. Most are addresses that were hoisted out of loops.
 */
import {
  addInst,
  type Block,
  cfgOf,
  dce,
  type Inst,
  isWide,
  type Kernel,
  livenessOf,
  mapOperands,
  mapTerminator,
  type Op,
  operandsOf,
  reversePostorder,
  type Value,
} from '../../../ir/index.ts';
import { isLeaf } from '../../codegen/plan.ts';
import { behindBarrier, endsInBarrier } from '../analysis/regions.ts';

/** Steps from free values up to which a value is rematerialized. */
const maxSteps = 4;

const steps = new Set<Op>(['add', 'sub', 'mul', 'shl', 'and', 'zext', 'sext', 'trunc', 'ptradd', 'ptrtoint', 'inttoptr']);

/** Rewrites a kernel that is split at barriers, in place; returns whether it changed. Values of 64 bits stay. */
export function rematerialize(kernel: Kernel): boolean {
  const cfg = cfgOf(kernel);
  const { liveIn } = livenessOf(kernel, cfg);
  const within = cfg.successors.map((next, id) => (endsInBarrier(kernel, id) ? [] : [...next]));
  const entries = new Set(cfg.order.filter((id) => endsInBarrier(kernel, id)).map((id) => behindBarrier(kernel, id)));
  /** By block: the cheap values that are live into it from before a barrier. */
  const liveOver = new Map<number, Set<Value>>();
  for (const entry of entries) {
    const cheap = [...liveIn[entry]!].filter((value) => stepsTo(kernel, value, maxSteps) !== undefined);
    for (const id of reversePostorder(within, entry)) liveOver.set(id, new Set([...(liveOver.get(id) ?? []), ...cheap]));
  }
  let isChanged = false;
  for (const [id, values] of liveOver) if (values.size > 0) isChanged = rewrite(kernel, kernel.blocks[id]!, values) || isChanged;
  if (isChanged) dce(kernel);
  return isChanged;
}

/** The steps from free values to a value that is not free; nothing where there are more than `left`, or steps of another kind. */
function stepsTo(kernel: Kernel, value: Value, left: number): number | undefined {
  const inst = kernel.insts[value]!;
  if (!steps.has(inst.op) || left === 0 || isWide(kernel, value)) return undefined;
  let count = 1;
  for (const operand of operandsOf(inst)) {
    if (isLeaf(kernel.insts[operand]!)) continue;
    const more = stepsTo(kernel, operand, left - count);
    if (more === undefined) return undefined;
    count += more;
  }
  return count > left ? undefined : count;
}

/** Makes a block compute some values itself. */
function rewrite(kernel: Kernel, block: Block, values: ReadonlySet<Value>): boolean {
  const own = new Set(block.body);
  const copies = new Map<Value, Value>();
  const start: Value[] = [];
  const copyOf = (value: Value): Value => {
    const inst = kernel.insts[value]!;
    const known = copies.get(value);
    if (known !== undefined || isLeaf(inst)) return known ?? value;
    const fresh = { ...inst } as Inst;
    mapOperands(fresh, copyOf);
    const copy = addInst(kernel, fresh);
    start.push(copy);
    copies.set(value, copy);
    return copy;
  };
  const seen = (value: Value): Value => (values.has(value) && !own.has(value) ? copyOf(value) : value);
  for (const value of block.body) mapOperands(kernel.insts[value]!, seen);
  mapTerminator(block.end, seen);
  block.body.unshift(...start);
  return start.length > 0;
}
