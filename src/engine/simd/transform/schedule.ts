/**
 * Instruction scheduling in a block: each instruction is placed just before its first use, the deepest operand first, so that few values are
 * live at once. PTX has loads far ahead of their uses, for machines with more registers. Loads stay between the same writes.
 * Source: Sethi and Ullman, "The Generation of Optimal Code for Arithmetic Expressions" (1970), for trees.
 */
import {
  type Block,
  elementOf,
  type Inst,
  isAddressCheck,
  isFloat,
  type Kernel,
  operandsOf,
  specOf,
  terminatorOperands,
  type Value,
} from '../../../ir/index.ts';
import { isLeaf } from '../../codegen/plan.ts';

/** Checks: loads may pass them. */
const isCheck = (inst: Inst): boolean => inst.op === 'guard' || inst.op === 'within' || isAddressCheck(inst);

/** Schedules all blocks in place; returns whether the order of one changed. */
export function scheduleBlocks(kernel: Kernel): boolean {
  let changed = false;
  for (const block of kernel.blocks) {
    if (block.body.length <= 2) continue;
    const order = ordered(kernel, block);
    if (maxLiveFloats(kernel, block.body, block.end) < maxLiveFloats(kernel, order, block.end)) continue;
    changed ||= order.some((value, i) => value !== block.body[i]);
    block.body = order;
  }
  return changed;
}

/**
 * The most floats of a body that are live at once. Sums that go over the same values side by side, as in a product of matrices, are computed one after
 * the other in the order of trees, and all that they go over is live until the last one. Integers do not count: most are uniform or addresses.
 */
function maxLiveFloats({ insts }: Kernel, body: readonly Value[], end: Block['end']): number {
  const own = new Set(body.filter((value) => !isLeaf(insts[value]!) && isFloat(elementOf(insts[value]!.type))));
  const live = new Set(terminatorOperands(end).filter((value) => own.has(value)));
  let most = live.size;
  for (const value of [...body].reverse()) {
    live.delete(value);
    for (const operand of operandsOf(insts[value]!)) if (own.has(operand)) live.add(operand);
    most = Math.max(most, live.size);
  }
  return most;
}

/** Whether an instruction keeps its order among others of the kind; plain loads and computations are placed at their uses. */
const isFixed = (inst: Inst): boolean => (inst.op === 'load' ? inst.volatile : specOf(inst.op).effect !== 'pure');

function ordered(kernel: Kernel, { body, end }: Block): Value[] {
  const depths = depthsOf(kernel, body);
  const placed = new Set<Value>();
  const order: Value[] = [];
  const place = (wanted: Value): void => {
    const stack = [wanted];
    for (let at = stack.at(-1); at !== undefined; at = stack.at(-1)) {
      const open =
        placed.has(at) || !depths.has(at) ? [] : operandsOf(kernel.insts[at]!).filter((one) => depths.has(one) && !placed.has(one));
      if (open.length > 0) {
        stack.push(deepest(open, depths));
        continue;
      }
      stack.pop();
      if (placed.has(at) || !depths.has(at)) continue;
      placed.add(at);
      order.push(at);
    }
  };
  body.forEach((value, i) => {
    if (!isFixed(kernel.insts[value]!)) return;
    if (!isCheck(kernel.insts[value]!)) rootsOf(kernel, body.slice(0, i), placed).forEach(place);
    // A region ends with the barrier that ends its last block, so everything else of the block precedes it.
    if (kernel.insts[value]!.op === 'barrier') body.slice(0, i).forEach(place);
    place(value);
  });
  for (const value of sorted(terminatorOperands(end).filter((operand) => depths.has(operand)))) place(value);
  body.forEach(place);
  return order;

  function sorted(values: readonly Value[]): Value[] {
    return [...values].sort((a, b) => depths.get(b)! - depths.get(a)!);
  }
}

/** Of the instructions before a write: the loads that are not placed yet, or the last values computed from them there. */
function rootsOf(kernel: Kernel, before: readonly Value[], placed: ReadonlySet<Value>): Value[] {
  const loaded = new Set<Value>();
  const used = new Set<Value>();
  for (const value of before) {
    if (placed.has(value)) continue;
    const inst = kernel.insts[value]!;
    const own = operandsOf(inst);
    if (inst.op !== 'load' && !own.some((operand) => loaded.has(operand))) continue;
    loaded.add(value);
    for (const operand of own) used.add(operand);
  }
  return [...loaded].filter((value) => !used.has(value));
}

/** By value of a body: how many instructions of it follow from each other up to it. */
function depthsOf(kernel: Kernel, body: readonly Value[]): Map<Value, number> {
  const depths = new Map<Value, number>();
  for (const value of body)
    depths.set(value, 1 + Math.max(0, ...operandsOf(kernel.insts[value]!).map((operand) => depths.get(operand) ?? 0)));
  return depths;
}

const deepest = (values: readonly Value[], depths: ReadonlyMap<Value, number>): Value =>
  values.reduce((best, value) => (depths.get(value)! > depths.get(best)! ? value : best));
