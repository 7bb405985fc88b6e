/** Reductions of a block: one value of all its threads. */
import { syncThreads } from './atomic.ts';
import { blockHas } from './block.ts';
import { when } from './control.ts';
import { fail } from './fail.ts';
import type { Operand } from './handle.ts';
import { laneIndex, threadIndex } from './ids.ts';
import { shared } from './memory.ts';
import type { MemoryName, Type } from './types.ts';
import { local, type Value } from './value.ts';
import { warpReduce } from './warp.ts';

/** Options of `blockReduce`. */
export interface BlockReduceOptions<T extends MemoryName> {
  /** The threads of the block, a multiple of 32: blocks have one dimension. A launch with other blocks is CM5020. */
  readonly threads: number;
  /** What changes no value: 0 for sums, the least value for maxima. */
  readonly identity: Operand<T>;
}

/**
 * One value of all threads of the block, by an operation that does not depend on order: every thread has it. Warps reduce by shuffles, and their
 * results through shared memory, in an order that does not change from run to run. All threads of the block take part.
 */
export function blockReduce<T extends MemoryName>(
  value: Value<T>,
  combine: (a: Value<T>, b: Value<T>) => Value<T>,
  { threads, identity }: BlockReduceOptions<T>,
): Value<T> {
  if (!Number.isInteger(threads) || threads < 32 || threads > 1024 || threads % 32 !== 0)
    fail('CM5088', { what: '`blockReduce`', why: `${threads} threads are no multiple of 32 up to 1024` });
  blockHas(threads, '`blockReduce`');
  const whole = warpReduce(value, combine);
  const warps = threads / 32;
  if (warps === 1) return whole;
  const type: Type<T> = { kind: 'scalar', name: value.type };
  const parts = shared(type, warps);
  const lane = laneIndex();
  when(lane.eq(0), () => parts.at(threadIndex().shr(5)).set(whole));
  syncThreads();
  const own = local(type, identity);
  when(lane.lt(warps), () => own.set(parts.at(lane)));
  const result = warpReduce(own.get(), combine);
  // A reduction in a loop uses the same memory again.
  syncThreads();
  return result;
}
