/**
 * Barriers for some of the threads of a block, and those with another number than 0: words of shared memory, in which threads count themselves,
 * and loops that wait. Every thread of the CPU device makes progress, so that such a loop ends where the barrier would; on Apple GPUs simdgroups
 * make progress, and lanes of one simdgroup that wait for each other at different places do not.
 * Source: PTX ISA 9.0, 9.7.13.1.
 */
import type { Value } from '../ir/index.ts';
import type { Match } from '../ptx/index.ts';
import { blockFence, peekWord } from './barrier-memory.ts';
import { type Context, enter, lowerWhen } from './context.ts';
import { newFlow } from './flow.ts';
import { hiddenVariable } from './passes/hidden-variables.ts';
import { link } from './ssa/ssa.ts';

/** Words of a barrier: generations that have passed and threads that have arrived, true predicates so far, and those of the last two generations. */
const words = { state: 0, sum: 4, results: 8, bytes: 16 } as const;
/** The lowest bit of the generation; arrived threads are counted below it. */
const generation = 16;

const plain = { align: 4, volatile: false } as const;
const shared = { align: 4, volatile: true } as const;

/** What an instruction does at a barrier. */
export interface NamedBarrier {
  readonly number: Value;
  /** Threads that it is for; undefined for those of the block. */
  readonly count: Value | undefined;
  readonly kind: 'sync' | 'arrive' | 'popc' | 'and' | 'or';
  /** The predicate of a reduction. */
  readonly predicate: Value | undefined;
}

export const barrierKind = ({ row, modifiers }: Match): NamedBarrier['kind'] => {
  if (row.syntax.includes('.arrive')) return 'arrive';
  if (row.syntax.includes('.red.popc')) return 'popc';
  return row.syntax.includes('.red.') ? (modifiers.op as 'and' | 'or') : 'sync';
};

/** Arrives at a barrier, and waits for its threads; gives the result of a reduction. */
export function lowerNamedBarrier(c: Context, { number, count, kind, predicate }: NamedBarrier): Value | undefined {
  const { ir, kernel } = c;
  const constant = (value: number): Value => ir.const('i32', value);
  const isZero = ir.icmp(number, constant(0), { pred: 'eq' });
  // Barrier 0 of the whole block is another thing here.
  lowerWhen(c, isZero, () => c.rows.stop('barrier 0 for some of the threads of a block'));
  const barriers = ir.variable('ptr.shared', { name: hiddenVariable(kernel, 'barriers').name });
  return lowerBarrierAt(c, barriers, ir.and(number, constant(15)), { count, kind, predicate });
}

/** Threads of a warp group. */
const groupThreads = 128;

/** The threads of a warp group wait for each other: those of the block, if it has no others. */
export function lowerGroupBarrier(c: Context): void {
  const { ir, kernel } = c;
  const limit = kernel.requiredThreads ?? kernel.maxThreads;
  const most = typeof limit === 'object' ? limit[0] * limit[1] * limit[2] : limit;
  if (most !== undefined && most <= groupThreads) return void c.rows.barrier();
  const groups = ir.variable('ptr.shared', { name: hiddenVariable(kernel, 'groups').name });
  const own = ir.and(ir.lshr(ir.sreg('i32', { name: 'warpid' }), ir.const('i32', 2)), ir.const('i32', 7));
  lowerBarrierAt(c, groups, own, { count: ir.const('i32', groupThreads), kind: 'sync', predicate: undefined });
}

/** Arrives at one of several barriers in memory, and waits for its threads. */
function lowerBarrierAt(
  c: Context,
  barriers: Value,
  own: Value,
  { count, kind, predicate }: Omit<NamedBarrier, 'number'>,
): Value | undefined {
  const { ir } = c;
  const constant = (value: number): Value => ir.const('i32', value);
  const place = ir.ptradd(barriers, ir.zext('i64', ir.mul(own, constant(words.bytes))));
  const at = (offset: number): Value => ir.ptradd(place, ir.const('i64', offset));
  if (!c.isForCpu) c.rows.adapt();
  const { added, all } = threadsOf(c);
  const wanted = count ?? all;
  blockFence(c);
  if (predicate !== undefined) {
    const isCounted = kind === 'and' ? ir.xor(predicate, ir.const('i1', 1)) : predicate;
    lowerWhen(c, isCounted, () => void ir.atomic(at(words.sum), constant(1), { rmw: 'add' }));
  }
  const before = ir.atomic(at(words.state), added, { rmw: 'add' });
  const mine = ir.lshr(before, constant(generation));
  const arrived = ir.add(ir.and(before, constant(0xffff)), added);
  const resultAt = ir.ptradd(at(words.results), ir.zext('i64', ir.shl(ir.and(mine, constant(1)), constant(2))));
  lowerWhen(c, ir.icmp(arrived, wanted, { pred: 'uge' }), () => {
    if (predicate !== undefined) {
      ir.store(resultAt, ir.load('i32', at(words.sum), plain), shared);
      ir.store(at(words.sum), constant(0), shared);
      blockFence(c);
    }
    ir.atomic(at(words.state), ir.sub(constant(1 << generation), arrived), { rmw: 'add' });
  });
  if (kind === 'arrive') return undefined;
  waitWhile(c, () => ir.icmp(ir.lshr(peekWord(c, at(words.state)), constant(generation)), mine, { pred: 'eq' }));
  blockFence(c);
  if (predicate === undefined) return undefined;
  const found = ir.load('i32', resultAt, shared);
  if (kind === 'popc') return found;
  return ir.icmp(found, constant(0), { pred: kind === 'and' ? 'eq' : 'ne' });
}

/**
 * How many threads a thread stands for, and those of the block. Barriers count whole warps: lane 0 of a warp that the block does not fill stands
 * for the lanes that are missing as well.
 */
function threadsOf({ ir }: Context): { added: Value; all: Value } {
  const axis = (name: 'tid' | 'ntid', of: 'x' | 'y' | 'z'): Value => ir.sreg('i32', { name: `${name}.${of}` });
  const own = ir.add(ir.mul(ir.add(ir.mul(axis('tid', 'z'), axis('ntid', 'y')), axis('tid', 'y')), axis('ntid', 'x')), axis('tid', 'x'));
  const total = ir.mul(ir.mul(axis('ntid', 'x'), axis('ntid', 'y')), axis('ntid', 'z'));
  const [one, warp] = [ir.const('i32', 1), ir.const('i32', 32)];
  const all = ir.and(ir.add(total, ir.const('i32', 31)), ir.const('i32', -32));
  const isFirst = ir.icmp(ir.and(own, ir.const('i32', 31)), ir.const('i32', 0), { pred: 'eq' });
  const isLastWarp = ir.icmp(ir.add(own, warp), total, { pred: 'ugt' });
  const missing = ir.select(ir.and(isFirst, isLastWarp), ir.sub(all, total), ir.const('i32', 0));
  return { added: ir.add(one, missing), all };
}

/** Waits while a condition holds. */
export function waitWhile(c: Context, holds: () => Value): void {
  const [loop, after] = [newFlow(c.kernel, 2), newFlow(c.kernel, 1)];
  c.flow.block.end = { op: 'br', to: link(c.flow, loop) };
  c.flow.block.endLoc = c.ir.loc;
  enter(c, loop);
  const cond = holds();
  c.flow.block.end = { op: 'condbr', cond, then: link(c.flow, loop), else: link(c.flow, after) };
  c.flow.block.endLoc = c.ir.loc;
  enter(c, after);
}
