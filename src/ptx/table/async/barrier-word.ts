/** Operations on the word of a barrier (`src/ir/mbarrier.ts`). Source: PTX ISA 9.0, 9.7.13.15. */
import type { Value } from '../../../ir/index.ts';
import { barrierFields } from '../../../ir/mbarrier.ts';
import type { AddressOperand, RowBuilder } from '../../model/row.ts';
import { fence } from '../order.ts';
import { spaceOf } from '../spaces.ts';

/** Most arrivals, and most bytes that a phase expects. */
const most = 2 ** 20 - 1;
const [pendingAt, bytesAt, parityAt, tagAt] = [
  barrierFields.pending.at,
  barrierFields.bytes.at,
  barrierFields.parity.at,
  barrierFields.tag.at,
];
const tag = 1;
const low = (bits: number): bigint => (1n << BigInt(bits)) - 1n;
const byteBits = barrierFields.bytes.bits;
const masks = {
  count: low(barrierFields.expected.bits),
  pending: low(barrierFields.pending.bits) << BigInt(pendingAt),
  bytes: low(byteBits) << BigInt(bytesAt),
} as const;

const word = (ir: RowBuilder, bits: bigint | number): Value => ir.const('i64', bits);
const wide = (ir: RowBuilder, value: Value): Value => (ir.typeOf(value) === 'i64' ? value : ir.zext('i64', value));

/** The pointer of a barrier. */
export const barrierAt = (ir: RowBuilder, address: AddressOperand, space: string | undefined): Value => ir.pointer(address, spaceOf(space));

/** Sets a barrier to its first phase, with `count` arrivals in each. */
export function initialize(ir: RowBuilder, barrier: Value, count: Value): void {
  const isOutside = ir.icmp(ir.sub(count, ir.const('i32', 1)), ir.const('i32', most), { pred: 'uge' });
  ir.when(isOutside, () => ir.stop(`an mbarrier with a number of arrivals that is not from 1 to ${most}`));
  const expected = wide(ir, count);
  const both = ir.or(expected, ir.shl(expected, ir.const('i64', pendingAt)));
  ir.barrierWord.set(barrier, ir.or(both, word(ir, BigInt(tag) << BigInt(tagAt))));
}

/** Takes a barrier out of use. */
export function invalidate(ir: RowBuilder, barrier: Value): void {
  stopUnlessValid(ir, ir.barrierWord.peek(barrier));
  ir.barrierWord.set(barrier, word(ir, 0));
}

function stopUnlessValid(ir: RowBuilder, state: Value): void {
  const isOther = ir.icmp(ir.lshr(state, word(ir, tagAt)), word(ir, tag), { pred: 'ne' });
  ir.when(isOther, () => ir.stop('an mbarrier that is not initialized'));
}

/** What an operation does to a barrier. */
export interface Step {
  /** Bytes that it expects, and bytes that have arrived: i32. */
  readonly expects?: Value;
  readonly completes?: Value;
  /** Arrivals, an i32. */
  readonly arrives?: Value;
  /** Whether the barrier has fewer arrivals from the next phase on. */
  readonly drops?: boolean;
  /** Whether the phase must not be complete after it. */
  readonly mustNotComplete?: boolean;
}

/** Performs a step, and begins the next phase if this one is complete. Returns the word before. Bytes that have arrived are visible to all that wait. */
export function step(ir: RowBuilder, barrier: Value, todo: Step): Value {
  if (todo.completes !== undefined) fence(ir, 'cta');
  const before = ir.barrierWord.update(barrier, (old) => nextPhase(ir, applied(ir, old, todo)));
  stopUnlessValid(ir, before);
  const { arrives } = todo;
  if (arrives !== undefined) {
    const isTooMuch = ir.icmp(wide(ir, arrives), pendingOf(ir, before), { pred: todo.mustNotComplete ? 'uge' : 'ugt' });
    const why = todo.mustNotComplete
      ? 'that completes the phase in spite of `.noComplete`'
      : 'that the phase of the mbarrier does not expect';
    ir.when(isTooMuch, () => ir.stop(`an arrival ${why}`));
  }
  const bytes = todo.expects ?? todo.completes;
  if (bytes !== undefined) stopOutside(ir, before, bytes, todo.expects === undefined);
  return before;
}

const pendingOf = (ir: RowBuilder, state: Value): Value => ir.and(ir.lshr(state, word(ir, pendingAt)), word(ir, masks.count));

function applied(ir: RowBuilder, old: Value, { expects, completes, arrives, drops }: Step): Value {
  let state = old;
  const bytes = expects ?? completes;
  if (bytes !== undefined) {
    const moved = ir.shl(wide(ir, bytes), word(ir, bytesAt));
    const sum = expects === undefined ? ir.sub(state, moved) : ir.add(state, moved);
    state = ir.or(ir.and(state, word(ir, ~masks.bytes & low(64))), ir.and(sum, word(ir, masks.bytes)));
  }
  if (arrives === undefined) return state;
  const count = wide(ir, arrives);
  const left = ir.sub(state, ir.shl(count, word(ir, pendingAt)));
  // More than is pending is a fault, and must not change other fields.
  const isTooMuch = ir.icmp(count, pendingOf(ir, old), { pred: 'ugt' });
  return ir.select(isTooMuch, old, drops ? ir.sub(left, count) : left);
}

function nextPhase(ir: RowBuilder, state: Value): Value {
  const isComplete = ir.icmp(ir.and(state, word(ir, masks.pending | masks.bytes)), word(ir, 0), { pred: 'eq' });
  const expected = ir.shl(ir.and(state, word(ir, masks.count)), word(ir, pendingAt));
  return ir.select(isComplete, ir.or(ir.xor(state, word(ir, 1n << BigInt(parityAt))), expected), state);
}

/** Stops where the transaction count leaves its range. */
function stopOutside(ir: RowBuilder, before: Value, bytes: Value, isCompleted: boolean): void {
  const now = ir.ashr(ir.shl(before, word(ir, 64 - bytesAt - byteBits)), word(ir, 64 - byteBits));
  const after = isCompleted ? ir.sub(now, wide(ir, bytes)) : ir.add(now, wide(ir, bytes));
  const isOutside = ir.icmp(ir.add(after, word(ir, most)), word(ir, 2 * most), { pred: 'ugt' });
  ir.when(isOutside, () => ir.stop(`a transaction count of an mbarrier that is not from -${most} to ${most}`));
}

/** The parity of the phase of a state, an i32. */
export const parityOf = (ir: RowBuilder, state: Value): Value => ir.trunc('i32', ir.and(ir.lshr(state, word(ir, parityAt)), word(ir, 1)));

/** Pending arrivals of a state, an i32. */
export const pendingCount = (ir: RowBuilder, state: Value): Value => ir.trunc('i32', pendingOf(ir, state));

/** Whether the phase of a parity, an i32, is complete: an i1. */
export function isComplete(ir: RowBuilder, barrier: Value, parity: Value): Value {
  const now = ir.barrierWord.peek(barrier);
  stopUnlessValid(ir, now);
  return ir.icmp(parityOf(ir, now), parity, { pred: 'ne' });
}
