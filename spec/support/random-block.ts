/**
 * Random kernels whose threads interact: divergent branches and loops, words passed through shared memory between barriers (in loops
 * too), votes and shuffles, and early exits. The behavior of a thread depends on its own words in memory. No two threads write
 * one place between barriers, so there is a single correct result.
 */
import type { Kernel, Value } from '../../src/ir/index.ts';
import { splitMix64 } from '../../src/runtime/rand.ts';
import { sharedVariable, type Writer, writeKernel } from './kernel-writer.ts';
import { pointerParam } from './kernels.ts';

/** Words of a thread in the buffer `out`. */
export const wordsOfThread = 4;

interface Maker {
  readonly w: Writer;
  readonly threads: number;
  readonly pick: (count: number) => number;
  /** Statements left to generate. */
  left: number;
}

/** The kernel with a given seed, for blocks of `threads` threads. */
export function randomBlock(seed: number, threads: number): Kernel {
  const draw = splitMix64(BigInt(seed) * 7919n + 13n);
  const pick = (count: number): number => Number(draw() % BigInt(count));
  return writeKernel('block', [pointerParam('out', 0, undefined, 'read_write')], [sharedVariable('s', 4 * threads)], (w) => {
    const m: Maker = { w, threads, pick, left: 14 };
    for (let i = 0; i < 4; i++) put(m, i, mixed(m, w.sreg('tid.linear')));
    while (m.left > 0) statement(m, { depth: 0, isTogether: true });
  });
}

interface Place {
  readonly depth: number;
  /** Whether control flow is uniform in the block. */
  readonly isTogether: boolean;
}

const index = ({ w }: Maker, word: number): Value =>
  w.b.add(w.b.mul(w.b.add(w.b.mul(w.sreg('ctaid.x'), w.sreg('ntid.x')), w.sreg('tid.linear')), w.i32(wordsOfThread)), w.i32(word));
const get = (m: Maker, word = m.pick(wordsOfThread)): Value => m.w.get(m.w.param(0), index(m, word));
const put = (m: Maker, word: number, value: Value): void => m.w.put(m.w.param(0), index(m, word), value);

/** A word whose bits depend on all bits of another. */
export function mixed({ w: { b, i32 }, pick }: Pick<Maker, 'w' | 'pick'>, value: Value): Value {
  const x = b.add(b.mul(value, i32(2 * pick(500) + 1)), i32(pick(1000)));
  return b.xor(x, b.lshr(x, i32(1 + pick(20))));
}

function statement(m: Maker, place: Place): void {
  m.left--;
  const { w, pick } = m;
  const choice = pick(place.isTogether ? 12 : 9);
  if (choice < 2) put(m, pick(wordsOfThread), mixed(m, w.b.add(get(m), get(m))));
  else if (choice < 4 && place.depth < 3) branch(m, place);
  else if (choice < 6 && place.depth < 3) loop(m, place);
  else if (choice === 6) vote(m);
  else if (choice === 7) fold(m);
  else if (choice === 8) shuffle(m);
  else if (choice < 11 && place.isTogether) exchange(m);
  else if (place.depth === 0 && pick(4) === 0) w.when(condition(m), () => w.leave());
  else put(m, pick(wordsOfThread), get(m));
}

function several(m: Maker, place: Place): void {
  for (let i = 1 + m.pick(3); i > 0; i--) statement(m, place);
}

/** Varying by the thread's words or its id, or uniform by the block's index. */
function condition(m: Maker): Value {
  const { b, i32, is, sreg } = m.w;
  const which = m.pick(4);
  if (which === 0) return is(sreg('tid.linear'), 'ult', i32(m.pick(m.threads + 2)));
  if (which === 1) return is(b.and(sreg('laneid'), i32(1 << m.pick(5))), 'ne', i32(0));
  return is(b.and(get(m), i32(1 << m.pick(8))), 'eq', i32(0));
}

const uniformCondition = ({ w, pick }: Maker): Value => w.is(w.b.and(w.sreg('ctaid.x'), w.i32(1)), 'eq', w.i32(pick(2)));

function branch(m: Maker, { depth, isTogether }: Place): void {
  const isUniform = m.pick(3) === 0;
  const inside = { depth: depth + 1, isTogether: isTogether && isUniform };
  const cond = isUniform ? uniformCondition(m) : condition(m);
  m.w.when(cond, () => several(m, inside), m.pick(2) === 0 ? () => several(m, inside) : undefined);
}

/** A loop with a uniform trip count, or one per thread. */
function loop(m: Maker, { depth, isTogether }: Place): void {
  const { b, i32, is } = m.w;
  const isUniform = m.pick(2) === 0;
  const turns = isUniform ? i32(1 + m.pick(4)) : b.and(get(m), i32(7));
  const [, sum] = m.w.repeat(
    [i32(0), get(m)],
    (i) => is(i!, 'ult', turns),
    (i, sum) => {
      several(m, { depth: depth + 1, isTogether: isTogether && isUniform });
      return [b.add(i!, i32(1)), mixed(m, b.add(sum!, get(m)))];
    },
  );
  put(m, m.pick(wordsOfThread), sum!);
}

function vote(m: Maker): void {
  const { b, i32 } = m.w;
  const votes = b.ballot('i32', m.w.is(b.and(get(m), i32(1)), 'eq', i32(0)));
  put(m, m.pick(wordsOfThread), b.add(votes, get(m)));
}

function fold(m: Maker): void {
  const folds = ['add', 'and', 'or', 'xor', 'smin', 'smax', 'umin', 'umax'] as const;
  put(m, m.pick(wordsOfThread), m.w.b.reduce(get(m), { fold: folds[m.pick(folds.length)]! }));
}

/** A shuffle; the result from an inactive lane is not used. */
function shuffle(m: Maker): void {
  const { b, i32, sreg } = m.w;
  const lane = sreg('laneid');
  const from = [
    () => b.xor(lane, i32(1 << m.pick(5))),
    () => b.and(b.add(lane, i32(1 + m.pick(31))), i32(31)),
    () => b.and(get(m), i32(31)),
    () => i32(m.pick(32)),
  ][m.pick(4)]!();
  const taking = b.ballot('i32', b.const('i1', 1));
  const isThere = m.w.is(b.and(b.lshr(taking, from), i32(1)), 'eq', i32(1));
  put(m, m.pick(wordsOfThread), b.select(isThere, b.shuffle(get(m), from), get(m)));
}

/** Each thread reads what another one stored. */
function exchange(m: Maker): void {
  const { w, threads } = m;
  const tid = w.sreg('tid.linear');
  w.put(w.shared('s'), tid, get(m));
  w.b.barrier();
  const other = w.b.urem(w.b.add(tid, w.i32(m.pick(threads))), w.i32(threads));
  const word = w.get(w.shared('s'), other);
  w.b.barrier();
  put(m, m.pick(wordsOfThread), word);
}
