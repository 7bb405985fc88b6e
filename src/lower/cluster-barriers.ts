/**
 * The barrier of a cluster of blocks: where a whole cluster is one block of the device, that of the block. On the CPU device it is a 64-bit word of the launch for each cluster, in which threads count themselves, and a loop
 * that waits. All blocks of a cluster run on one thread of the host, by turns, and change only where they wait. A thread that has ended is waited for
 * no longer. Source: PTX ISA 9.0, 9.7.13.3.
 */
import type { Value } from '../ir/index.ts';
import {
  type CheckedFunction,
  callsOf,
  clusterBarrierWord,
  clusterRank,
  clusterThreads,
  endedThreads,
  type PtxFunction,
  type Register,
  type Row,
} from '../ptx/index.ts';
import { leaveBlockBarrier } from './cluster-groups.ts';
import { type Context, enter, lowerWhen } from './context.ts';
import { newFlow } from './flow.ts';
import { link } from './ssa/ssa.ts';

/** Where in the word those that have ended are counted, and barriers that are over; those that have arrived are counted below. */
const [ended, over] = [20n, 40n];
const countMask = (1n << ended) - 1n;

/** The register that holds the number of the barrier at which a thread has arrived and not waited yet, plus 1; 0 for none. */
export const arrivalRegister = (): Register => ({ name: 'cluster barrier', declared: 'b64', type: 'i64' });

/** Whether a kernel or a function that it calls has an instruction of some kind. */
export function hasRow(
  entry: CheckedFunction,
  functions: ReadonlyMap<PtxFunction, CheckedFunction>,
  isWanted: (row: Row) => boolean,
): boolean {
  const seen = new Set([entry]);
  for (const fn of seen) {
    if (fn.items.some((item) => item.kind === 'instruction' && isWanted(item.match.row))) return true;
    for (const call of callsOf(fn)) {
      const callee = functions.get(call.fn);
      if (callee) seen.add(callee);
    }
  }
  return false;
}

/** Arrives at the barrier of the cluster, or waits for the one that the thread has arrived at. */
export function lowerClusterBarrier(c: Context, step: 'arrive' | 'wait'): void {
  const { ir, arrival } = c;
  if (!arrival) {
    // All wait where the wait is: no thread is past it before all have arrived.
    if (step === 'wait') ir.barrier();
    return;
  }
  const word = clusterBarrierWord(c.rows);
  if (step === 'arrive') {
    const before = ir.atomic(word, ir.const('i64', 1), { rmw: 'add' });
    c.registers.write(c.flow, arrival, ir.add(numberIn(c, before), ir.const('i64', 1)));
    completeIfLast(c, word, ir.add(before, ir.const('i64', 1)));
    return;
  }
  const awaited = c.registers.read(c.flow, arrival);
  const [loop, after] = [newFlow(c.kernel, 2), newFlow(c.kernel, 1)];
  c.flow.block.end = { op: 'br', to: link(c.flow, loop) };
  c.flow.block.endLoc = ir.loc;
  enter(c, loop);
  const now = numberIn(c, ir.load('i64', word, { align: 8, volatile: true }));
  const isOver = ir.icmp(now, awaited, { pred: 'uge' });
  c.flow.block.end = { op: 'condbr', cond: isOver, then: link(c.flow, after), else: link(c.flow, loop) };
  c.flow.block.endLoc = ir.loc;
  enter(c, after);
  c.registers.write(c.flow, arrival, ir.const('i64', 0));
}

const numberIn = ({ ir }: Context, word: Value): Value => ir.lshr(word, ir.const('i64', over));
const countIn = ({ ir }: Context, word: Value, at: bigint): Value => ir.and(ir.lshr(word, ir.const('i64', at)), ir.const('i64', countMask));

/** Ends the barrier if a thread was the last one that it waited for. */
function completeIfLast(c: Context, word: Value, now: Value): void {
  const { ir } = c;
  const arrived = countIn(c, now, 0n);
  const there = ir.add(arrived, countIn(c, now, ended));
  const isLast = ir.icmp(there, ir.zext('i64', clusterThreads(c.rows)), { pred: 'eq' });
  const isAny = ir.icmp(arrived, ir.const('i64', 0), { pred: 'ne' });
  lowerWhen(c, ir.and(isLast, isAny), () => {
    ir.atomic(word, ir.sub(ir.const('i64', 1n << over), arrived), { rmw: 'add' });
  });
}

/** Where a thread ends: others may not reach the memory of a block of which all threads have ended, and barriers wait for it no longer. The last one of a cluster clears the word. */
export function lowerClusterExit(c: Context): void {
  const { ir, arrival, remote } = c;
  leaveBlockBarrier(c);
  if (remote?.over) ir.atomic(endedThreads(ir, remote.over, ir.zext('i64', clusterRank(c.rows))), ir.const('i32', 1), { rmw: 'add' });
  if (!arrival) return;
  const word = clusterBarrierWord(c.rows);
  const awaited = c.registers.read(c.flow, arrival);
  const number = numberIn(c, ir.load('i64', word, { align: 8, volatile: true }));
  // One that has arrived at a barrier which is not over counts there no longer.
  const counts = ir.icmp(number, awaited, { pred: 'ult' });
  const change = ir.sub(ir.const('i64', 1n << ended), ir.zext('i64', counts));
  const now = ir.add(ir.atomic(word, change, { rmw: 'add' }), change);
  const areAll = ir.icmp(countIn(c, now, ended), ir.zext('i64', clusterThreads(c.rows)), { pred: 'eq' });
  lowerWhen(c, areAll, () => void ir.atomic(word, ir.const('i64', 0), { rmw: 'exch' }));
  const left = ir.select(areAll, ir.const('i64', 0), now);
  completeIfLast(c, word, left);
}
