/**
 * Clusters of which each is one block of the device (`src/compile/cluster-groups.ts`): what is decided while the instructions are lowered. A barrier of a
 * block of the source is one of the whole cluster where all threads reach it together. Elsewhere it is a word of the shared memory of the block, in which
 * threads count themselves, and a loop that waits; those that have ended count as well.
 */
import { groupHead, type Inst, sourceVariance, uniformityOf, type Value, type Variance } from '../ir/index.ts';
import { type Context, lowerWhen } from './context.ts';
import { serviceParam } from './hidden-params.ts';
import { waitWhile } from './named-barriers.ts';
import { hiddenVariable } from './passes/hidden-variables.ts';

/** Where in the word threads that have ended are counted, and barriers that are over; those that have arrived are counted below. */
const [ended, over] = [11, 22];
const countMask = (1 << ended) - 1;
const volatile = { align: 4, volatile: true } as const;

/** A word of what the launch has for clusters, an i32. */
export function clusterWord({ kernel, ir, rows, group }: Context, offset: number): Value {
  if (!group) return ir.load('i32', ir.inttoptr('ptr.global', ir.add(rows.service('cluster'), ir.const('i64', offset))), plain);
  if (offset === groupHead.areaBytes) group.isNeeded = true;
  const given = ir.param('ptr.constant', { index: serviceParam(kernel, 'group') });
  return ir.load('i32', ir.ptradd(given, ir.const('i64', offset)), plain);
}

const plain = { align: 4, volatile: false } as const;

/** The threads of a block wait for each other; gives an instruction that stands for it. */
export function lowerBlockBarrier(c: Context): Value {
  const { ir, group } = c;
  if (group) group.hasBarriers = true;
  if (!group?.hasWords) return ir.barrier();
  const word = wordOf(c);
  const before = ir.atomic(word, ir.const('i32', 1), { rmw: 'add' });
  const number = numberIn(c, before);
  completeIfLast(c, ir.add(before, ir.const('i32', 1)));
  waitWhile(c, () => ir.icmp(numberIn(c, ir.load('i32', wordOf(c), volatile)), number, { pred: 'eq' }));
  return before;
}

/** Where a thread ends: others of its block wait for it no longer. */
export function leaveBlockBarrier(c: Context): void {
  const { ir, group } = c;
  if (!group?.hasWords) return;
  const one = ir.const('i32', 1 << ended);
  completeIfLast(c, ir.add(ir.atomic(wordOf(c), one, { rmw: 'add' }), one));
}

const wordOf = ({ ir, kernel }: Context): Value => ir.variable('ptr.shared', { name: hiddenVariable(kernel, 'block').name });
const numberIn = ({ ir }: Context, word: Value): Value => ir.lshr(word, ir.const('i32', over));

/** Ends the barrier if a thread was the last one that it waited for. */
function completeIfLast(c: Context, now: Value): void {
  const { ir } = c;
  const mask = ir.const('i32', countMask);
  const arrived = ir.and(now, mask);
  const there = ir.add(arrived, ir.and(ir.lshr(now, ir.const('i32', ended)), mask));
  const isLast = ir.icmp(there, threadsOf(c), { pred: 'eq' });
  const isAny = ir.icmp(arrived, ir.const('i32', 0), { pred: 'ne' });
  lowerWhen(c, ir.and(isLast, isAny), () => void ir.atomic(wordOf(c), ir.sub(ir.const('i32', 1 << over), arrived), { rmw: 'add' }));
}

function threadsOf({ ir }: Context): Value {
  const [x, y, z] = (['ntid.x', 'ntid.y', 'ntid.z'] as const).map((name) => ir.sreg('i32', { name }));
  return ir.mul(ir.mul(x!, y!), z!);
}

/** Of a kernel with barriers of its blocks: a barrier that some threads of the cluster may not reach with the others. */
export function unequalBarrier({ kernel, group }: Context): Value | undefined {
  if (!group?.isNeeded || !group.hasBarriers || group.hasWords) return undefined;
  // Blocks of a cluster differ in their places.
  const source = (inst: Inst): Variance => (inst.op === 'sreg' && inst.name.startsWith('ctaid') ? 2 : sourceVariance(inst, kernel));
  const { divergence } = uniformityOf(kernel, undefined, undefined, source);
  for (const { id, body } of kernel.blocks)
    for (const value of body) if (kernel.insts[value]!.op === 'barrier' && divergence[id] !== 0) return value;
  return undefined;
}
