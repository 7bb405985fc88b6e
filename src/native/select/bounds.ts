/**
 * Where accesses find their memory, and which of them check bounds. Addresses that differ by a constant have one check, for all of them that follow in a
 * row; and a check holds in all code that it dominates, since memory never shrinks.
 *
 * A check is one of the least address, `low` behind a common root, for the most bytes that any access needs behind it. Memory is taken for one of at most
 * `maxMemoryBytes`. So if a check succeeds, none of the sums wraps around, and constants become displacements of operands. If it fails, an access is out of
 * bounds: the furthest one or, where the sum for that one wraps around, that of the least address, which is then above all memory.
 */
import { dominatorsOf } from '../ssa/flow.ts';
import type { Block, Inst, SsaFunction, Value } from '../ssa/types.ts';
import { accessOf } from './access.ts';

/** What addresses are relative to: `root` itself, or its sum with `low` modulo 2^32 where that is positive. */
export interface Anchor {
  readonly root: Value;
  /** The least constant behind the root that an access has. */
  readonly low: number;
}

/** A check that `high` bytes behind the root are in memory. */
export interface Check {
  readonly high: number;
  /** Whether it is the first one with its anchor; else it is known that the least address does not wrap around. */
  readonly isFirst: boolean;
}

export interface Placement {
  readonly anchor: Anchor;
  /** Bytes from the anchor to the memory. */
  readonly displacement: number;
  /** What is checked before the access. */
  readonly check: Check | undefined;
}

/** Placements by access. Those with a constant address have the root -1, and the anchor is address 0. */
export type BoundsPlan = ReadonlyMap<Inst, Placement>;

/** Constants behind a root are less. Two of them are less than what `maxMemoryBytes` leaves. */
const maxShift = 2 ** 22;

/** Larger offsets are not merged with others. */
const maxOffset = 2 ** 30;

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

export type Definition = (value: Value) => Inst | undefined;

/** What has been checked behind a root. */
interface Known {
  readonly anchor: Anchor;
  readonly high: number;
}

export function planBounds(fn: SsaFunction, definition: Definition): BoundsPlan {
  const plan = new Map<Inst, Placement>();
  const checked = new Map<Value, Known>();
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
    const undo: [Value, Known | undefined][] = [];
    for (const access of accessesOf(fn, block, definition)) {
      const { inst, root, shift, high } = access;
      const before = checked.get(root);
      const isLowKnown = before !== undefined && before.anchor.low <= shift;
      if (isLowKnown && before.high >= high) {
        plan.set(inst, placementOf(access, before.anchor, undefined));
        continue;
      }
      // With a known anchor only the bytes behind it are new.
      const isFirst = before === undefined || before.anchor.low > access.lowest;
      const anchor = isFirst ? { root, low: access.lowest } : before.anchor;
      plan.set(inst, placementOf(access, anchor, { high: access.highest, isFirst }));
      undo.push([root, before]);
      const isRelated = before !== undefined && (!isFirst || (isRoot(anchor) && isRoot(before.anchor)));
      checked.set(root, { anchor, high: isRelated ? Math.max(before.high, access.highest) : access.highest });
    }
    return () => {
      for (const [root, before] of undo.reverse()) {
        if (before === undefined) checked.delete(root);
        else checked.set(root, before);
      }
    };
  }
}

/** Whether an anchor is the root itself. If the least constant is negative, its check shows that the root is not less than what is taken from it. */
export const isRoot = ({ low }: Anchor): boolean => low <= 0;

const placementOf = ({ shift, offset }: AccessSum, anchor: Anchor, check: Check | undefined): Placement => ({
  anchor,
  displacement: shift + offset - (isRoot(anchor) ? 0 : anchor.low),
  check,
});

/** An access with its address as a root and constants. */
interface AccessSum {
  readonly inst: Inst;
  readonly root: Value;
  readonly shift: number;
  readonly offset: number;
  /** The end of the access behind the root. */
  readonly high: number;
  /** The least constant and the furthest end of this access and those behind it with this root, up to the next barrier. */
  lowest: number;
  highest: number;
}

function accessesOf(fn: SsaFunction, block: Block, definition: Definition): AccessSum[] {
  const found: AccessSum[] = [];
  const later = new Map<Value, AccessSum>();
  for (let i = block.insts.length - 1; i >= 0; i--) {
    const inst = block.insts[i]!;
    const isOrdered = isBarrier(inst.op);
    if (isOrdered) later.clear();
    const access = accessOf(fn, inst);
    if (!access) continue;
    const offset = inst.offset ?? 0;
    const { root, shift } = offset > maxOffset ? constantOrItself(inst.args[0]!, definition) : sumOf(inst.args[0]!, definition);
    const high = shift + offset + access.bytes;
    const next = later.get(root);
    const sum: AccessSum = {
      inst,
      root,
      shift,
      offset,
      high,
      lowest: next ? Math.min(next.lowest, shift) : shift,
      highest: next ? Math.max(next.highest, high) : high,
    };
    if (root < 0) sum.lowest = 0;
    if (!isOrdered) later.set(root, sum);
    found.push(sum);
  }
  return found.reverse();
}

const constantOrItself = (value: Value, definition: Definition): { root: Value; shift: number } => {
  const inst = definition(value);
  return inst?.op === 'i32.const' ? { root: -1, shift: Number(inst.bits) } : { root: value, shift: 0 };
};

/** An address as a root and the sum of the constants that are added to it. */
function sumOf(value: Value, definition: Definition): { root: Value; shift: number } {
  let { root, shift } = constantOrItself(value, definition);
  if (root < 0) return { root, shift };
  for (;;) {
    const next = summandOf(root, definition);
    if (!next || Math.abs(shift + next.constant) >= maxShift) return { root, shift };
    root = next.rest;
    shift += next.constant;
  }
}

/** The constant that is added to a value, and what it is added to. */
function summandOf(value: Value, definition: Definition): { rest: Value; constant: number } | undefined {
  const inst = definition(value);
  if (inst?.op !== 'i32.add' && inst?.op !== 'i32.sub') return undefined;
  const [a, b] = inst.args as [Value, Value];
  const right = signedConstant(b, definition);
  if (right !== undefined) return { rest: a, constant: inst.op === 'i32.add' ? right : -right };
  const left = inst.op === 'i32.add' ? signedConstant(a, definition) : undefined;
  return left === undefined ? undefined : { rest: b, constant: left };
}

function signedConstant(value: Value, definition: Definition): number | undefined {
  const inst = definition(value);
  return inst?.op === 'i32.const' ? Number(BigInt.asIntN(32, inst.bits!)) : undefined;
}
