/**
 * Kernels made at random whose threads come to barriers on ways of their own: in sides of branches, in loops of as many turns as each thread has,
 * beside others, and some leave before. Every thread that has not left passes one barrier whenever all others have come to one, so that each
 * knows by its own count in which round all are. What they show each other stands in two rows of shared memory, written in even and in odd
 * rounds and read in the round behind: there are no races, whoever goes first.
 */
import type { Kernel, Value } from '../../src/ir/index.ts';
import { splitMix64 } from '../../src/runtime/rand.ts';
import { sharedVariable, type Writer, writeKernel } from './kernel-writer.ts';
import { pointerParam } from './kernels.ts';
import { mixed } from './random-block.ts';

/** Words that a thread has in the buffer `out`: the last one counts its barriers. */
export const wordsOfApart = 5;
const counter = wordsOfApart - 1;

/** Who goes apart: any lanes; or warps and those who leave, beside what a warp does together. */
export type Who = 'lanes' | 'warps';

interface Maker {
  readonly w: Writer;
  readonly threads: number;
  readonly who: Who;
  readonly pick: (count: number) => number;
  /** Words that are at hand, from before barriers too. */
  pool: Value[];
  /** Statements that may still be made. */
  left: number;
}

interface Place {
  readonly depth: number;
  /** Whether there may be barriers. */
  readonly meets: boolean;
}

/** The kernel of a number, for blocks of so many threads. */
export function randomApart(seed: number, threads: number, who: Who): Kernel {
  const draw = splitMix64(BigInt(seed) * 6151n + 29n);
  const pick = (count: number): number => Number(draw() % BigInt(count));
  return writeKernel('apart', [pointerParam('out', 0, undefined, 'read_write')], [sharedVariable('s', 8 * threads)], (w) => {
    const tid = w.sreg('tid.linear');
    const m: Maker = { w, threads, who, pick, pool: [tid, w.sreg('ctaid.x'), w.b.add(tid, w.i32(pick(100)))], left: 12 };
    for (let i = 0; i < counter; i++) put(m, i, mixed(m, tid));
    put(m, counter, w.i32(0));
    for (const row of [0, 1]) w.put(w.shared('s'), w.b.add(tid, w.i32(row * threads)), mixed(m, tid));
    barrier(m);
    while (m.left > 0) statement(m, { depth: 0, meets: true });
    put(m, 0, mixed(m, taken(m)));
  });
}

const index = ({ w, threads }: Maker, word: number): Value =>
  w.b.add(w.b.mul(w.b.add(w.b.mul(w.sreg('ctaid.x'), w.i32(threads)), w.sreg('tid.linear')), w.i32(wordsOfApart)), w.i32(word));
const get = (m: Maker, word = m.pick(counter)): Value => m.w.get(m.w.param(0), index(m, word));
const put = (m: Maker, word: number, value: Value): void => m.w.put(m.w.param(0), index(m, word), value);
const taken = ({ pool, pick }: Maker): Value => pool[Math.max(pick(pool.length), pick(pool.length))]!;

function statement(m: Maker, place: Place): void {
  m.left--;
  const { w, pick } = m;
  const choice = pick(14);
  if (choice < 2) put(m, pick(counter), mixed(m, w.b.add(get(m), taken(m))));
  else if (choice < 4) m.pool.push(pick(3) === 0 ? get(m) : mixed(m, w.b.add(taken(m), taken(m))));
  else if (choice < 7 && place.depth < 3) branch(m, place);
  else if (choice < 9 && place.depth < 3) loop(m, place);
  else if (choice < 11 && place.meets) exchange(m);
  else if (choice === 11 && place.meets) carry(m);
  else if (choice === 12 && m.who === 'warps') together(m);
  else if (pick(4) === 0 && place.depth > 0) w.leave();
  else if (pick(3) === 0) w.when(condition(m), () => w.leave());
  else if (place.meets) barrier(m);
}

/** What is made inside is not at hand behind. */
function inside(m: Maker, place: Place): void {
  const before = m.pool;
  m.pool = [...before];
  for (let i = 1 + m.pick(3); i > 0; i--) statement(m, place);
  m.pool = before;
}

/** Of the thread's own, or of its number. */
function condition(m: Maker): Value {
  const { b, i32, is, sreg } = m.w;
  const which = m.pick(4);
  if (which === 0) return is(sreg('tid.linear'), 'ult', i32(m.pick(m.threads + 2)));
  if (which === 1) return is(b.and(sreg('laneid'), i32(1 << m.pick(5))), 'ne', i32(0));
  return is(b.and(which === 2 ? get(m) : taken(m), i32(1 << m.pick(8))), 'eq', i32(0));
}

/** One for all threads of a warp. */
function ofWarp({ w, pick }: Maker): Value {
  if (pick(3) === 0) return w.is(w.b.and(w.sreg('ctaid.x'), w.i32(1)), 'eq', w.i32(pick(2)));
  return w.is(w.b.and(w.sreg('warpid'), w.i32(1 << pick(3))), pick(2) === 0 ? 'eq' : 'ne', w.i32(0));
}

function branch(m: Maker, { depth, meets }: Place): void {
  const isWarpCollective = m.pick(3) === 0;
  const within = { depth: depth + 1, meets: meets && (isWarpCollective || m.who === 'lanes') };
  m.w.when(isWarpCollective ? ofWarp(m) : condition(m), () => inside(m, within), m.pick(2) === 0 ? () => inside(m, within) : undefined);
}

/** Turns in a number of each thread's own, or of its warp's; what it counts and sums up is at hand inside, and the sum behind. */
function loop(m: Maker, { depth, meets }: Place): void {
  const { b, i32, is, sreg } = m.w;
  const isWarpCollective = m.pick(3) === 0;
  const turns = isWarpCollective ? b.add(i32(1), b.and(sreg(m.pick(2) === 0 ? 'warpid' : 'ctaid.x'), i32(1))) : b.and(get(m), i32(3));
  const step = taken(m);
  const [, sum] = m.w.repeat(
    [i32(0), taken(m)],
    (i) => is(i!, 'ult', turns),
    (i, sum) => {
      const before = m.pool;
      m.pool = [...before, i!, sum!];
      inside(m, { depth: depth + 1, meets: meets && (isWarpCollective || m.who === 'lanes') });
      m.pool = before;
      return [b.add(i!, i32(1)), mixed(m, b.add(sum!, step))];
    },
  );
  m.pool.push(sum!);
}

function barrier(m: Maker): void {
  const { b, i32 } = m.w;
  b.barrier();
  put(m, counter, b.add(get(m, counter), i32(1)));
}

/** A thread shows a word, and behind the barrier sees what another one showed in the same round, or some rounds before. */
function exchange(m: Maker): void {
  const { w, threads } = m;
  const { b, i32 } = w;
  const tid = w.sreg('tid.linear');
  const row = (round: Value): Value => b.mul(b.and(round, i32(1)), i32(threads));
  w.put(w.shared('s'), b.add(tid, row(get(m, counter))), taken(m));
  barrier(m);
  const other = b.urem(b.add(tid, i32(m.pick(threads))), i32(threads));
  const seen = w.get(w.shared('s'), b.add(other, row(b.add(get(m, counter), i32(1)))));
  if (m.pick(2) === 0) m.pool.push(seen);
  else put(m, m.pick(counter), seen);
}

/** Values of other types go over a barrier. */
function carry(m: Maker): void {
  const { b } = m.w;
  const [one, other] = [taken(m), taken(m)];
  const way = m.pick(4);
  const [wide, real, flag, pair] = [b.sext('i64', one), b.sitofp('f64', one), m.w.is(one, 'slt', other), b.vec2('v2.i32', one, other)];
  barrier(m);
  if (way === 0) m.pool.push(b.trunc('i32', b.lshr(b.mul(wide, b.const('i64', 0x9e3779b9)), b.const('i64', 7))));
  else if (way === 1) m.pool.push(b.fptosi('i32', b.fmul(real, b.const('f64', 0x3fe0000000000000n))));
  else if (way === 2) m.pool.push(b.select(flag, one, m.w.i32(m.pick(1000))));
  else m.pool.push(b.xor(b.extract('i32', pair, { lane: 0 }), b.extract('i32', pair, { lane: 1 })));
}

/** What a warp does together; a lane that is not there has nothing to show. */
function together(m: Maker): void {
  const { b, i32, is, sreg } = m.w;
  const way = m.pick(3);
  if (way === 0) m.pool.push(b.ballot('i32', condition(m)));
  else if (way === 1) put(m, m.pick(counter), b.reduce(taken(m), { fold: (['add', 'xor', 'smin', 'umax'] as const)[m.pick(4)]! }));
  else {
    const from = b.and(m.pick(2) === 0 ? taken(m) : b.add(sreg('laneid'), i32(m.pick(32))), i32(31));
    const there = b.ballot('i32', b.const('i1', 1));
    const isThere = is(b.and(b.lshr(there, from), i32(1)), 'eq', i32(1));
    put(m, m.pick(counter), b.select(isThere, b.shuffle(taken(m), from), i32(m.pick(1000))));
  }
}
