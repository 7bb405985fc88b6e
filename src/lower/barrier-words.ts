/**
 * The 64-bit words of barriers in shared memory (mbarrier). Apple GPUs have atomics of 32 bits alone: there the highest bit of a word, which no field
 * has, is a lock. A thread takes it, updates the word and frees it in one iteration of a loop, so that a lane never waits for another one of its
 * simdgroup. The parity and the tag are in the upper half, so that a thread that waits for a phase reads them without the lock.
 */
import { addBlockParam, type Edge, type Value } from '../ir/index.ts';
import type { BarrierWord } from '../ptx/index.ts';
import { type Context, enter, lowerUpdate } from './context.ts';
import { newFlow } from './flow.ts';
import { type Flow, link } from './ssa/ssa.ts';

const half = { align: 4, volatile: true } as const;
const whole = { align: 8, volatile: true } as const;
const lockBit = 31;

/** How the target accesses the words of barriers. */
export const barrierWordOf = (context: () => Context): BarrierWord => ({
  update(pointer, compute) {
    const c = context();
    if (c.isForCpu) return lowerUpdate(c, pointer, compute, 'i64');
    c.rows.adapt();
    return updateLocked(c, pointer, compute);
  },
  peek(pointer) {
    const { ir, isForCpu } = context();
    if (isForCpu) return ir.load('i64', pointer, whole);
    const upper = ir.atomic(upperHalf(context(), pointer), ir.const('i32', 0), { rmw: 'or' });
    return joined(context(), ir.const('i32', 0), upper);
  },
  set(pointer, word) {
    const { ir, isForCpu } = context();
    if (isForCpu) return void ir.store(pointer, word, whole);
    const [low, high] = halvesOf(context(), word);
    ir.store(pointer, low, half);
    ir.store(upperHalf(context(), pointer), high, half);
  },
});

const upperHalf = ({ ir }: Context, pointer: Value): Value => ir.ptradd(pointer, ir.const('i64', 4));

/** The halves of a word. */
const halvesOf = ({ ir }: Context, word: Value): [low: Value, high: Value] => [
  ir.trunc('i32', word),
  ir.trunc('i32', ir.lshr(word, ir.const('i64', 32))),
];

/** The word of two halves, without its lock. */
function joined({ ir }: Context, low: Value, high: Value): Value {
  const free = ir.and(high, ir.const('i32', 2 ** lockBit - 1));
  return ir.or(ir.zext('i64', low), ir.shl(ir.zext('i64', free), ir.const('i64', 32)));
}

/**
 * Updates a word with its lock; gives the old word. The loop ends when the lock was taken before it was freed, which a driver's compiler does not
 * know, so that it cannot move the update behind the loop, where lanes that have left it wait for those that have not.
 */
function updateLocked(c: Context, pointer: Value, compute: (old: Value) => Value): Value {
  const { ir } = c;
  const [attempt, locked, after, done] = [newFlow(c.kernel, 2), newFlow(c.kernel, 1), newFlow(c.kernel, 2), newFlow(c.kernel, 1)];
  const [state, found] = [addBlockParam(c.kernel, after.block, 'i32'), addBlockParam(c.kernel, after.block, 'i64')];
  const [high, bit, one] = [upperHalf(c, pointer), ir.const('i32', lockBit), ir.const('i32', 1)];
  goTo(c, attempt);
  enter(c, attempt);
  const seen = ir.atomic(high, ir.const('i32', 2 ** lockBit), { rmw: 'or' });
  const taken = ir.lshr(seen, bit);
  // 0, because the lock of another thread is 1.
  const failed = ir.sub(taken, one);
  const isFree = ir.icmp(taken, ir.const('i32', 0), { pred: 'eq' });
  branch(c, isFree, link(c.flow, locked), to(c, after, failed, ir.const('i64', 0)));
  enter(c, locked);
  ir.fence({ scope: 'block' });
  const before = joined(c, ir.load('i32', pointer, half), seen);
  const [newLow, newHigh] = halvesOf(c, compute(before));
  ir.store(pointer, newLow, half);
  ir.fence({ scope: 'block' });
  const held = ir.atomic(high, newHigh, { rmw: 'exch' });
  c.flow.block.end = { op: 'br', to: to(c, after, ir.lshr(held, bit), before) };
  enter(c, after);
  branch(c, ir.icmp(state, ir.const('i32', 0), { pred: 'ne' }), link(c.flow, done), link(c.flow, attempt));
  enter(c, done);
  return found;
}

function to(c: Context, flow: Flow, ...args: readonly Value[]): Edge {
  const edge = link(c.flow, flow);
  edge.args.push(...args);
  return edge;
}

function goTo(c: Context, flow: Flow): void {
  c.flow.block.end = { op: 'br', to: link(c.flow, flow) };
  c.flow.block.endLoc = c.ir.loc;
}

function branch(c: Context, cond: Value, then: Edge, otherwise: Edge): void {
  c.flow.block.end = { op: 'condbr', cond, then, else: otherwise };
  c.flow.block.endLoc = c.ir.loc;
}
