/**
 * Long random straight-line code, as in ciphers and unrolled loops: every thread loads words of its own and combines them in hundreds of
 * instructions on words, 64-bit integers, floats and conditions, with loads in between, under a varying guard and in a loop. The lower half
 * of the buffer is written, with word i of all threads contiguous; the upper half is only read, with several layouts, and some of its words
 * are the same for all threads.
 */
import type { Kernel, Value } from '../../src/ir/index.ts';
import { splitMix64 } from '../../src/runtime/rand.ts';
import { type Writer, writeKernel } from './kernel-writer.ts';
import { pointerParam } from './kernels.ts';

/** Words of a thread in the buffer. */
export const wordsOfStraight = 8;

interface Pools {
  readonly words: Value[];
  readonly longs: Value[];
  readonly flags: Value[];
}

/** The kernel with a given seed, for a block of `threads` threads and `length` random steps. */
export function randomStraight(seed: number, threads: number, length: number): Kernel {
  const draw = splitMix64(BigInt(seed) * 104729n + 7n);
  const pick = (count: number): number => Number(draw() % BigInt(count));
  return writeKernel('straight', [pointerParam('out', 0, undefined, 'read_write')], [], (w) => {
    const { b, i32 } = w;
    const thread = w.sreg('tid.linear');
    const place = (word: number): Value => b.add(b.mul(i32(word), i32(threads)), thread);
    const half = wordsOfStraight / 2;
    const inSteps = (word: number): Value => b.add(b.mul(thread, i32(half)), i32(half * threads + word));
    const alike = (): Value => i32(half * threads + pick(half * threads));
    const take = (): Value =>
      w.get(w.param(0), [() => inSteps(pick(half)), alike, () => place(pick(wordsOfStraight))][Math.min(pick(5), 2)]!());
    const mix = (start: Value): Value => mixture(w, { pick, length, start, take });
    const put = (value: Value): void => w.put(w.param(0), place(pick(half)), value);
    w.when(w.is(thread, 'ult', i32(threads - pick(Math.min(threads, 20)))), () => {
      put(mix(thread));
      if (pick(2) === 0) return;
      const [, last] = w.repeat(
        [i32(0), thread],
        (i) => w.is(i!, 'ult', pick(2) === 0 ? i32(2) : b.and(thread, i32(3))),
        (i, sum) => [b.add(i!, i32(1)), mix(sum!)],
      );
      put(last!);
    });
  });
}

interface Mixture {
  readonly pick: (count: number) => number;
  readonly length: number;
  readonly start: Value;
  /** Loads a word of the thread's own. */
  readonly take: () => Value;
}

function mixture(w: Writer, { pick, length, start, take }: Mixture): Value {
  const { b, i32 } = w;
  const pools: Pools = {
    words: [take(), start, b.add(start, i32(1))],
    longs: [b.zext('i64', take())],
    flags: [w.is(take(), 'ult', start)],
  };
  const one = (from: readonly Value[]): Value => from[from.length - 1 - pick(Math.min(from.length, 12))]!;
  const word = (): Value => one(pools.words);
  const long = (): Value => one(pools.longs);
  const steps: readonly (() => void)[] = [
    () => pools.words.push(b.add(word(), word())),
    () => pools.words.push(b.xor(word(), i32(pick(1 << 30)))),
    () => pools.words.push(b.sub(b.mul(word(), word()), word())),
    () => pools.words.push(b.or(b.and(word(), word()), b.lshr(word(), i32(1 + pick(31))))),
    () => pools.words.push(b.or(b.shl(word(), i32(7)), b.lshr(word(), i32(25)))),
    () => pools.words.push(b.select(one(pools.flags), word(), word())),
    () => pools.words.push(take()),
    () => pools.longs.push(b.add(long(), b.zext('i64', word()))),
    () => pools.longs.push(b.xor(long(), b.shl(long(), b.const('i64', 1 + pick(40))))),
    () => pools.words.push(b.trunc('i32', b.lshr(long(), b.const('i64', pick(33))))),
    () => pools.longs.push(b.select(one(pools.flags), long(), long())),
    () => pools.flags.push(w.is(word(), 'slt', word())),
    // 16-bit values, so that no result is a NaN.
    () => {
      const [x, y] = [b.sitofp('f32', b.and(word(), i32(0xffff))), b.sitofp('f32', b.and(word(), i32(0xfff)))];
      pools.words.push(b.fptosi('i32', b.fadd(b.fmul(x, y), x)));
    },
    // fma with factors that use all significand bits.
    () => {
      const [x, y, z] = [0xffff, 0xfff, 0xff_ffff].map((mask) => b.sitofp('f32', b.and(word(), i32(mask)))) as [Value, Value, Value];
      if (pick(4) > 0) return;
      pools.words.push(b.fptosi('i32', b.fma(b.fmul(x, b.const('f32', 0x3ebd_70a4n)), y, z)));
    },
  ];
  for (let i = 0; i < length; i++) steps[pick(steps.length)]!();
  return [...pools.words.slice(-4), b.trunc('i32', long())].reduce((sum, value) => b.xor(sum, value));
}
