/**
 * Which accesses check their bounds, and how far. A check of an address holds in all code that it dominates, since memory never shrinks; and the first one
 * of several in a row checks for all of them.
 */
import { dominatorsOf } from '../ssa/flow.ts';
import type { Block, Inst, SsaFunction, Value } from '../ssa/types.ts';
import { accessOf } from './access.ts';

/** By access: how many bytes from the address in its operand on have to be memory. Accesses that are not there need no check. */
export type BoundsPlan = ReadonlyMap<Inst, number>;

/** Instructions that a check may not be moved across: what has been done before them is seen by others. */
const barrier = /^call$|^global\.set$|atomic|\.(div|rem)_|\.trunc_f/;
const barriers = new Map<string, boolean>();

function isBarrier(op: string): boolean {
  let known = barriers.get(op);
  if (known === undefined) {
    known = barrier.test(op);
    barriers.set(op, known);
  }
  return known;
}

export function planBounds(fn: SsaFunction, constant: (value: Value) => bigint | undefined): BoundsPlan {
  const plan = new Map<Inst, number>();
  /** The extent that is checked, by the value of the address; constants are all under -1, with their extent counted from 0. */
  const checked = new Map<Value, number>();
  const children: number[][] = fn.blocks.map(() => []);
  dominatorsOf(fn.blocks).immediate.forEach((above, block) => {
    if (block !== 0 && above >= 0) children[above]!.push(block);
  });
  const stack: (number | (() => void))[] = [0];
  for (let item = stack.pop(); item !== undefined; item = stack.pop()) {
    if (typeof item === 'function') item();
    else stack.push(visit(fn.blocks[item]!), ...children[item]!);
  }
  return plan;

  function visit(block: Block): () => void {
    const undo: [Value, number | undefined][] = [];
    for (const { inst, base, needed, most } of accessesOf(fn, block, constant)) {
      const before = checked.get(base);
      if (before !== undefined && before >= needed) continue;
      undo.push([base, before]);
      checked.set(base, most);
      plan.set(inst, base < 0 ? most - Number(constant(inst.args[0]!)) : most);
    }
    return () => {
      for (const [base, before] of undo.reverse()) {
        if (before === undefined) checked.delete(base);
        else checked.set(base, before);
      }
    };
  }
}

interface Needed {
  readonly inst: Inst;
  readonly base: Value;
  readonly needed: number;
  /** What this access and those behind it with this address need, up to the next barrier. */
  readonly most: number;
}

function accessesOf(fn: SsaFunction, block: Block, constant: (value: Value) => bigint | undefined): Needed[] {
  const found: Needed[] = [];
  const most = new Map<Value, number>();
  for (let i = block.insts.length - 1; i >= 0; i--) {
    const inst = block.insts[i]!;
    const isOrdered = isBarrier(inst.op);
    if (isOrdered) most.clear();
    const access = accessOf(fn, inst);
    if (!access) continue;
    const known = constant(inst.args[0]!);
    const base = known === undefined ? inst.args[0]! : -1;
    const needed = (inst.offset ?? 0) + access.bytes + (known === undefined ? 0 : Number(known));
    const all = Math.max(most.get(base) ?? 0, needed);
    if (!isOrdered) most.set(base, all);
    found.push({ inst, base, needed, most: all });
  }
  return found.reverse();
}
