/**
 * Random kernels with barrier divergence: barriers in branches and in loops with per-thread trip counts, and threads that exit early.
 * All threads that have not exited pass each barrier in the same phase, so every thread knows the current phase from its own counter. Threads
 * exchange words through two rows of shared memory: a phase writes the row of its parity, and the next phase reads it. Hence there are no
 * data races in any order of threads.
 */
import type { Kernel, Value } from '../../src/ir/index.ts';
import { splitMix64 } from '../../src/runtime/rand.ts';
import { sharedVariable, type Writer, writeKernel } from './kernel-writer.ts';
import { pointerParam } from './kernels.ts';
import { mixed } from './random-block.ts';

/** Words of a thread in the buffer `out`; the last one counts its barriers. */
export const wordsPerThread = 5;
const counter = wordsPerThread - 1;

/** What diverges at barriers: single lanes, or only whole warps, in which case warp collectives occur too. */
export type Granularity = 'lanes' | 'warps';

interface Maker {
  readonly w: Writer;
  readonly threads: number;
  readonly granularity: Granularity;
  readonly pick: (count: number) => number;
  /** Words in scope, some defined before barriers. */
  pool: Value[];
  /** Statements left to generate. */
  left: number;
}

interface Place {
  readonly depth: number;
  /** Whether barriers are allowed here. */
  readonly allowsBarriers: boolean;
}

/** The kernel with a given seed, for blocks of `threads` threads. */
export function randomBarriers(seed: number, threads: number, granularity: Granularity): Kernel {
  const draw = splitMix64(BigInt(seed) * 6151n + 29n);
  const pick = (count: number): number => Number(draw() % BigInt(count));
  return writeKernel('barriers', [pointerParam('out', 0, undefined, 'read_write')], [sharedVariable('s', 8 * threads)], (w) => {
    const tid = w.sreg('tid.linear');
    const m: Maker = { w, threads, granularity, pick, pool: [tid, w.sreg('ctaid.x'), w.b.add(tid, w.i32(pick(100)))], left: 12 };
    for (let i = 0; i < counter; i++) put(m, i, mixed(m, tid));
    put(m, counter, w.i32(0));
    for (const row of [0, 1]) w.put(w.shared('s'), w.b.add(tid, w.i32(row * threads)), mixed(m, tid));
    barrier(m);
    while (m.left > 0) statement(m, { depth: 0, allowsBarriers: true });
    put(m, 0, mixed(m, takeFrom(m)));
  });
}

const index = ({ w, threads }: Maker, word: number): Value =>
  w.b.add(w.b.mul(w.b.add(w.b.mul(w.sreg('ctaid.x'), w.i32(threads)), w.sreg('tid.linear')), w.i32(wordsPerThread)), w.i32(word));
const get = (m: Maker, word = m.pick(counter)): Value => m.w.get(m.w.param(0), index(m, word));
const put = (m: Maker, word: number, value: Value): void => m.w.put(m.w.param(0), index(m, word), value);
const takeFrom = ({ pool, pick }: Maker): Value => pool[Math.max(pick(pool.length), pick(pool.length))]!;

function statement(m: Maker, place: Place): void {
  m.left--;
  const { w, pick } = m;
  const choice = pick(14);
  if (choice < 2) put(m, pick(counter), mixed(m, w.b.add(get(m), takeFrom(m))));
  else if (choice < 4) m.pool.push(pick(3) === 0 ? get(m) : mixed(m, w.b.add(takeFrom(m), takeFrom(m))));
  else if (choice < 7 && place.depth < 3) branch(m, place);
  else if (choice < 9 && place.depth < 3) loop(m, place);
  else if (choice < 11 && place.allowsBarriers) exchange(m);
  else if (choice === 11 && place.allowsBarriers) carry(m);
  else if (choice === 12 && m.granularity === 'warps') warpCollective(m);
  else if (pick(4) === 0 && place.depth > 0) w.leave();
  else if (pick(3) === 0) w.when(condition(m), () => w.leave());
  else if (place.allowsBarriers) barrier(m);
}

/** Generates statements whose values are out of scope afterwards. */
function inside(m: Maker, place: Place): void {
  const before = m.pool;
  m.pool = [...before];
  for (let i = 1 + m.pick(3); i > 0; i--) statement(m, place);
  m.pool = before;
}

/** A varying condition. */
function condition(m: Maker): Value {
  const { b, i32, is, sreg } = m.w;
  const which = m.pick(4);
  if (which === 0) return is(sreg('tid.linear'), 'ult', i32(m.pick(m.threads + 2)));
  if (which === 1) return is(b.and(sreg('laneid'), i32(1 << m.pick(5))), 'ne', i32(0));
  return is(b.and(which === 2 ? get(m) : takeFrom(m), i32(1 << m.pick(8))), 'eq', i32(0));
}

/** A condition that is uniform per warp. */
function ofWarp({ w, pick }: Maker): Value {
  if (pick(3) === 0) return w.is(w.b.and(w.sreg('ctaid.x'), w.i32(1)), 'eq', w.i32(pick(2)));
  return w.is(w.b.and(w.sreg('warpid'), w.i32(1 << pick(3))), pick(2) === 0 ? 'eq' : 'ne', w.i32(0));
}

function branch(m: Maker, { depth, allowsBarriers }: Place): void {
  const isWarpCollective = m.pick(3) === 0;
  const within = { depth: depth + 1, allowsBarriers: allowsBarriers && (isWarpCollective || m.granularity === 'lanes') };
  m.w.when(isWarpCollective ? ofWarp(m) : condition(m), () => inside(m, within), m.pick(2) === 0 ? () => inside(m, within) : undefined);
}

/** A loop whose trip count is per thread or uniform per warp. The counter and the sum are in scope inside, the sum also afterwards. */
function loop(m: Maker, { depth, allowsBarriers }: Place): void {
  const { b, i32, is, sreg } = m.w;
  const isWarpCollective = m.pick(3) === 0;
  const trips = isWarpCollective ? b.add(i32(1), b.and(sreg(m.pick(2) === 0 ? 'warpid' : 'ctaid.x'), i32(1))) : b.and(get(m), i32(3));
  const step = takeFrom(m);
  const [, sum] = m.w.repeat(
    [i32(0), takeFrom(m)],
    (i) => is(i!, 'ult', trips),
    (i, sum) => {
      const before = m.pool;
      m.pool = [...before, i!, sum!];
      inside(m, { depth: depth + 1, allowsBarriers: allowsBarriers && (isWarpCollective || m.granularity === 'lanes') });
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

/** Writes a word to shared memory and reads, after a barrier, the word another thread wrote in the same phase. */
function exchange(m: Maker): void {
  const { w, threads } = m;
  const { b, i32 } = w;
  const tid = w.sreg('tid.linear');
  const row = (round: Value): Value => b.mul(b.and(round, i32(1)), i32(threads));
  w.put(w.shared('s'), b.add(tid, row(get(m, counter))), takeFrom(m));
  barrier(m);
  const other = b.urem(b.add(tid, i32(m.pick(threads))), i32(threads));
  const word = w.get(w.shared('s'), b.add(other, row(b.add(get(m, counter), i32(1)))));
  if (m.pick(2) === 0) m.pool.push(word);
  else put(m, m.pick(counter), word);
}

/** Keeps values of other types live across a barrier. */
function carry(m: Maker): void {
  const { b } = m.w;
  const [one, other] = [takeFrom(m), takeFrom(m)];
  const kind = m.pick(4);
  const [wide, real, flag, pair] = [b.sext('i64', one), b.sitofp('f64', one), m.w.is(one, 'slt', other), b.vec2('v2.i32', one, other)];
  barrier(m);
  if (kind === 0) m.pool.push(b.trunc('i32', b.lshr(b.mul(wide, b.const('i64', 0x9e3779b9)), b.const('i64', 7))));
  else if (kind === 1) m.pool.push(b.fptosi('i32', b.fmul(real, b.const('f64', 0x3fe0000000000000n))));
  else if (kind === 2) m.pool.push(b.select(flag, one, m.w.i32(m.pick(1000))));
  else m.pool.push(b.xor(b.extract('i32', pair, { lane: 0 }), b.extract('i32', pair, { lane: 1 })));
}

/** A warp collective. A shuffle from an inactive lane is replaced by a constant. */
function warpCollective(m: Maker): void {
  const { b, i32, is, sreg } = m.w;
  const kind = m.pick(3);
  if (kind === 0) m.pool.push(b.ballot('i32', condition(m)));
  else if (kind === 1) put(m, m.pick(counter), b.reduce(takeFrom(m), { fold: (['add', 'xor', 'smin', 'umax'] as const)[m.pick(4)]! }));
  else {
    const from = b.and(m.pick(2) === 0 ? takeFrom(m) : b.add(sreg('laneid'), i32(m.pick(32))), i32(31));
    const active = b.ballot('i32', b.const('i1', 1));
    const isActive = is(b.and(b.lshr(active, from), i32(1)), 'eq', i32(1));
    put(m, m.pick(counter), b.select(isActive, b.shuffle(takeFrom(m), from), i32(m.pick(1000))));
  }
}
