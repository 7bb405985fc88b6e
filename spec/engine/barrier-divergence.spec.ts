/**
 * Barrier divergence in lane groups: a barrier releases its threads when every thread of the block waits at some barrier or has exited.
 * Expected results are worked out by hand, and random kernels are compared with the scalar path. Buffers start as poison.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { insertChecks } from '../../src/device/cpu/sanitizer/fast/insert-checks.ts';
import { checkInstrumentation } from '../../src/device/cpu/sanitizer/fast/instrumentation.ts';
import type { Dim3 } from '../../src/device/index.ts';
import { compileSimd } from '../../src/engine/simd/emit/module.ts';
import { addBlock, addBlockParam, type Kernel, type Value } from '../../src/ir/index.ts';
import { runOn } from '../support/both-engines.ts';
import { assertEnginesAgree, barrierDifferenceOf } from '../support/engine-difference.ts';
import { sharedVariable, type Writer, writeKernel } from '../support/kernel-writer.ts';
import { pointerParam } from '../support/kernels.ts';
import { rigOf, wordsIn } from '../support/workers.ts';

const test = suite('engine/barrier-divergence');

const poison = 0xa5a5_a5a5;
const shapes: readonly Dim3[] = [...[1, 31, 32, 33, 256, 1024].map((size): Dim3 => [size, 1, 1]), [8, 8, 1], [33, 3, 1], [4, 4, 4]];
const blocks = 2;

/** A kernel writer with the linear thread id, rows of shared words, and the output buffer. */
interface BarrierWriter extends Writer {
  readonly tid: Value;
  readonly threads: number;
  show(row: Value, value: Value): void;
  see(row: Value, thread: Value): Value;
  out(value: Value): void;
}

function kernelFor(threads: number, write: (kit: BarrierWriter) => void): Kernel {
  return writeKernel('k', [pointerParam('out', 0, undefined, 'read_write')], [sharedVariable('s', 8 * threads)], (w) => {
    const { b, i32 } = w;
    const tid = w.sreg('tid.linear');
    const at = (row: Value, thread: Value): Value => b.add(b.mul(row, i32(threads)), thread);
    write({
      ...w,
      tid,
      threads,
      show: (row, value) => w.put(w.shared('s'), at(row, tid), value),
      see: (row, thread) => w.get(w.shared('s'), at(row, thread)),
      out: (value) => w.put(w.param(0), b.add(b.mul(w.sreg('ctaid.x'), i32(threads)), tid), value),
    });
  });
}

/** Runs a kernel in blocks of all shapes and lane groups of several sizes; `expected` is the word that a thread writes. */
function assertLaunch(
  write: (kit: BarrierWriter) => void,
  expected: (thread: number, threads: number, block: number) => number,
  of: readonly Dim3[] = shapes,
): void {
  for (const shape of of)
    for (const lanes of [undefined, 4, 32]) {
      const threads = shape[0] * shape[1] * shape[2];
      const size = 4 * threads * blocks;
      const start = new Uint8Array(new Uint32Array(threads * blocks).fill(poison).buffer);
      const ran = runOn('simd', kernelFor(threads, write), blocks, shape, size, start, lanes);
      const where = `blocks of ${shape.join(' x ')}, ${ran.lanes} lanes`;
      assert.equal(ran.messages, [], where);
      assert.is(ran.scalarReason, undefined, where);
      const expectedWords = Array.from(
        { length: threads * blocks },
        (_, i) => expected(i % threads, threads, Math.floor(i / threads)) >>> 0,
      );
      assert.equal([...new Uint32Array(ran.bytes.slice().buffer)], expectedWords, where);
    }
}

const isOdd = ({ b, i32, is, tid }: BarrierWriter): Value => is(b.and(tid, i32(1)), 'eq', i32(1));

/** The id of the thread `count` places before, or the thread's own where there is none. */
const before = ({ b, i32, is, tid }: BarrierWriter, count: number): Value =>
  b.select(is(tid, 'uge', i32(count)), b.sub(tid, i32(count)), tid);
const numberBefore = (thread: number, count: number): number => (thread >= count ? thread - count : thread);

test('only the threads in a divergent branch wait at its barrier', () => {
  assertLaunch(
    (k) => {
      k.when(
        isOdd(k),
        () => {
          k.show(k.i32(0), k.b.mul(k.tid, k.i32(3)));
          k.b.barrier();
          k.out(k.see(k.i32(0), before(k, 2)));
        },
        () => k.out(k.i32(7)),
      );
    },
    (thread) => (thread % 2 === 1 ? 3 * numberBefore(thread, 2) : 7),
  );
});

test('threads at different barriers are released together', () => {
  assertLaunch(
    (k) => {
      const side = (factor: number, more: number) => (): void => {
        k.show(k.i32(0), k.b.mul(k.tid, k.i32(factor)));
        k.b.barrier();
        k.out(k.b.add(k.see(k.i32(0), before(k, 1)), k.i32(more)));
      };
      k.when(isOdd(k), side(3, 1000), side(5, 2000));
    },
    (thread) => {
      const other = numberBefore(thread, 1);
      return other * (other % 2 === 1 ? 3 : 5) + (thread % 2 === 1 ? 1000 : 2000);
    },
  );
});

test('a loop with a barrier has a trip count per thread', () => {
  assertLaunch(
    (k) => {
      const { b, i32, is, tid } = k;
      const trips = b.and(tid, i32(3));
      const [count, sum] = k.repeat(
        [i32(0), i32(0)],
        (i) => is(i!, 'ult', trips),
        (i, sum) => {
          const row = b.and(i!, i32(1));
          k.show(row, b.add(tid, b.mul(i!, i32(100))));
          b.barrier();
          return [b.add(i!, i32(1)), b.add(sum!, k.see(row, before(k, 4)))];
        },
      );
      k.out(b.add(sum!, b.mul(count!, i32(100_000))));
    },
    (thread) => {
      const trips = thread & 3;
      return trips * (100_000 + numberBefore(thread, 4)) + 100 * ((trips * (trips - 1)) / 2);
    },
  );
});

test('a barrier does not wait for threads that have exited', () => {
  assertLaunch(
    (k) => {
      const { b, i32, is, tid } = k;
      k.when(is(b.urem(tid, i32(5)), 'eq', i32(2)), () => k.leave());
      const square = b.mul(tid, tid);
      k.show(k.i32(0), b.add(tid, i32(1)));
      b.barrier();
      const first = k.see(k.i32(0), before(k, 5));
      k.when(is(b.urem(tid, i32(5)), 'eq', i32(4)), () => k.leave());
      k.show(k.i32(1), b.mul(first, i32(2)));
      b.barrier();
      k.out(b.add(k.see(k.i32(1), before(k, 5)), square));
    },
    (thread) => {
      if (thread % 5 === 2 || thread % 5 === 4) return poison;
      return 2 * (numberBefore(numberBefore(thread, 5), 5) + 1) + thread * thread;
    },
  );
});

test('producer and consumer warps synchronize at different barriers', () => {
  assertLaunch(
    (k) => {
      const { b, i32, is, tid, threads } = k;
      const half = i32(threads / 2);
      const nextTrip = (i: Value): Value[] => [b.add(i, i32(1))];
      k.when(
        is(tid, 'ult', half),
        () =>
          void k.repeat(
            [i32(0)],
            (i) => is(i!, 'ult', i32(4)),
            (i) => {
              k.show(k.i32(0), b.add(b.mul(tid, i32(10)), i!));
              b.barrier();
              b.barrier();
              return nextTrip(i!);
            },
          ),
        () => {
          const [, sum] = k.repeat(
            [i32(0), i32(0)],
            (i) => is(i!, 'ult', i32(4)),
            (i, sum) => {
              b.barrier();
              const word = k.see(k.i32(0), b.sub(tid, half));
              b.barrier();
              return [...nextTrip(i!), b.add(sum!, word)];
            },
          );
          k.out(sum!);
        },
      );
    },
    (thread, threads) => (thread < threads / 2 ? poison : 40 * (thread - threads / 2) + 6),
    [
      [64, 1, 1],
      [256, 1, 1],
      [32, 4, 1],
      [1024, 1, 1],
    ],
  );
});

test('values of all types are live across a divergent barrier', () => {
  assertLaunch(
    (k) => {
      const { b, i32, is, tid } = k;
      const wide = b.mul(b.sext('i64', tid), b.const('i64', 0x1_0000_0001));
      const real = b.sitofp('f64', tid);
      const single = b.sitofp('f32', tid);
      const small = b.trunc('i8', b.mul(tid, i32(7)));
      const flag = is(b.and(tid, i32(2)), 'ne', i32(0));
      const pair = b.vec2('v2.i32', tid, b.mul(tid, i32(11)));
      const shared = b.mul(k.sreg('ctaid.x'), i32(1_000_000));
      const place = k.at(k.param(0), b.add(b.mul(k.sreg('ctaid.x'), i32(k.threads)), tid));
      k.when(is(b.urem(tid, i32(3)), 'ne', i32(0)), () => b.barrier());
      const sum = [
        b.trunc('i32', b.lshr(wide, b.const('i64', 32))),
        b.fptosi('i32', b.fadd(real, real)),
        b.fptosi('i32', single),
        b.zext('i32', small),
        b.select(flag, i32(100_000), i32(0)),
        b.extract('i32', pair, { lane: 1 }),
        shared,
      ].reduce((all, each) => b.add(all, each));
      b.store(place, sum, { align: 4, volatile: false });
    },
    (thread, _, block) =>
      thread + 2 * thread + thread + ((7 * thread) & 255) + (thread & 2 ? 100_000 : 0) + 11 * thread + 1_000_000 * block,
  );
});

test('a value that is rematerialized at a barrier keeps its value for threads that have left the loop', () => {
  assertLaunch(
    (k) => {
      const { b, i32, is, kernel, tid } = k;
      const [loop, exit] = [addBlock(kernel), addBlock(kernel)];
      const count = addBlockParam(kernel, loop, 'i32');
      b.block.end = { op: 'br', to: { block: loop, args: [i32(0)] } };
      b.block = loop;
      const value = b.add(b.mul(count, i32(10)), k.sreg('ctaid.x'));
      b.barrier();
      const isLast = is(count, 'eq', b.and(tid, i32(7)));
      const then = { block: exit, args: [] };
      b.block.end = { op: 'condbr', cond: isLast, then, else: { block: loop, args: [b.add(count, i32(1))] } };
      b.block = exit;
      // The value is live across one more barrier, at which threads wait for others that are still in the loop.
      k.when(isOdd(k), () => b.barrier());
      k.out(b.add(value, b.mul(count, i32(1000))));
    },
    (thread, _, block) => 1010 * (thread & 7) + block,
  );
});

test('several barriers in nested loops and branches', () => {
  assertLaunch(
    (k) => {
      const { b, i32, is, tid } = k;
      const [, rounds] = k.repeat(
        [i32(0), i32(0)],
        (i) => is(i!, 'ult', b.and(tid, i32(3))),
        (i, rounds) => {
          const [, inner] = k.repeat(
            [i32(0), rounds!],
            (j) => is(j!, 'ule', i!),
            (j, passed) => {
              k.when(isOdd(k), () => {
                k.when(is(b.and(tid, i32(4)), 'ne', i32(0)), () => b.barrier());
                b.barrier();
              });
              return [b.add(j!, i32(1)), b.add(passed!, i32(1))];
            },
          );
          b.barrier();
          return [b.add(i!, i32(1)), inner!];
        },
      );
      k.out(rounds!);
    },
    (thread) => ((thread & 3) * ((thread & 3) + 1)) / 2,
  );
});

const compiled = (write: (kit: BarrierWriter) => void, threads = 256) =>
  compileSimd(kernelFor(threads, write), [threads, 1, 1], { fma: 'exact' });
const divergenceOf = (write: (kit: BarrierWriter) => void): string | undefined => {
  const simd = compiled(write);
  return 'why' in simd ? simd.why : simd.plan.shapes.barrierDivergence;
};

test('warp collectives work with barriers that diverge by whole warps or by exits only', () => {
  const reduced = (k: BarrierWriter): void => k.out(k.b.reduce(k.tid, { fold: 'add' }));
  const exiting = (k: BarrierWriter): void => {
    k.when(k.is(k.tid, 'ult', k.i32(10)), () => k.leave());
    k.b.barrier();
    reduced(k);
  };
  const ofWarps = (k: BarrierWriter): void => {
    k.when(k.is(k.sreg('warpid'), 'eq', k.i32(1)), () => k.b.barrier());
    reduced(k);
  };
  const ofLanes = (k: BarrierWriter): void => {
    k.when(k.is(k.tid, 'ult', k.i32(10)), () => k.b.barrier());
    reduced(k);
  };
  assert.is(divergenceOf(exiting), 'groups');
  assert.is(divergenceOf(ofWarps), 'groups');
  assert.is(divergenceOf(ofLanes), 'warp collectives with barrier divergence inside a warp');
  const sumOf = (from: number, to: number): number => ((from + to - 1) * (to - from)) / 2;
  const first = (thread: number): number => thread - (thread % 32);
  const end = (thread: number, threads: number): number => Math.min(threads, first(thread) + 32);
  const inLine = shapes.slice(0, 6);
  assertLaunch(exiting, (thread, threads) => (thread < 10 ? poison : sumOf(Math.max(10, first(thread)), end(thread, threads))), inLine);
  assertLaunch(ofWarps, (thread, threads) => sumOf(first(thread), end(thread, threads)), inLine);
});

test('uniform barriers are not barrier divergence, and access checks require them', () => {
  assert.is(
    divergenceOf((k) => k.b.barrier()),
    undefined,
  );
  const kernel = kernelFor(256, (k) => {
    k.when(isOdd(k), () => k.b.barrier());
    k.out(k.tid);
  });
  const guards = insertChecks(kernel, new Set(['memory']));
  if ('why' in guards) return assert.unreachable(guards.why);
  const simd = compileSimd(kernel, [256, 1, 1], { fma: 'exact', checks: checkInstrumentation(guards) });
  assert.is('why' in simd ? simd.why : '', 'barrier divergence');
});

test('lanes in different iterations of a loop with a barrier diverge', () => {
  // All of them reach the last barrier, each in an iteration of its own.
  assert.is(barrierDifferenceOf(12700), undefined);
});

test('a branch on the warp number is uniform per warp, and its collectives work', () => {
  const numbers: readonly ((w: Writer) => Value)[] = [
    (w) => w.b.lshr(w.sreg('tid.x'), w.i32(5)),
    (w) => w.b.lshr(w.b.and(w.sreg('tid.x'), w.i32(-32)), w.i32(5)),
  ];
  for (const number of numbers) {
    const kernel = writeKernel('k', [pointerParam('out', 0, undefined, 'read_write')], [], (w) => {
      const even = w.is(w.b.and(w.sreg('tid.x'), w.i32(1)), 'eq', w.i32(0));
      w.when(
        w.is(number(w), 'eq', w.i32(1)),
        () => {
          w.b.barrier();
          w.put(w.param(0), w.sreg('gid.x'), w.b.ballot('i32', even));
        },
        () => {
          w.put(w.param(0), w.sreg('gid.x'), w.i32(5));
          w.b.barrier();
        },
      );
    });
    const ran = runOn('simd', kernel, 1, 96, 384, new Uint8Array(new Uint32Array(96).fill(poison).buffer));
    assert.is(ran.scalarReason, undefined);
    const expectedWords = Array.from({ length: 96 }, (_, thread) => (thread >> 5 === 1 ? 0x5555_5555 : 5));
    assert.equal([...new Uint32Array(ran.bytes.buffer)], expectedWords);
  }
});

const count = 150;

test(`${count} random kernels have the same results on both paths`, () => {
  const vectorized = assertEnginesAgree(count, barrierDifferenceOf);
  assert.ok(vectorized > 0.9 * count, `${vectorized} of ${count} were vectorized`);
});

const text = `.visible .entry k(.param .u64 out, .param .u32 n)
{
  .reg .pred p; .reg .b32 t, i, m, x, y; .reg .b64 o, a; .shared .align 4 .b8 s[256];
  ld.param.u64 o, [out]; ld.param.u32 m, [n]; mov.u32 t, %tid.x; mov.u32 i, %ctaid.x; mad.lo.u32 i, i, 64, t;
  setp.ge.u32 p, i, m; @p ret;
  shl.b32 x, t, 2; mov.u32 y, s; add.u32 y, y, x; st.shared.u32 [y], i;
  bar.sync 0;
  xor.b32 x, x, 124; mov.u32 y, s; add.u32 y, y, x; ld.shared.u32 x, [y];
  mul.wide.u32 a, i, 4; add.u64 a, o, a; st.global.u32 [a], x;
  ret;
}
.visible .entry ever(.param .u64 out)
{
  .reg .pred p; .reg .b32 t; .reg .b64 o;
  ld.param.u64 o, [out]; mov.u32 t, 1; st.global.u32 [o], t;
  mov.u32 t, %tid.x; setp.lt.u32 p, t, 5;
again:
  @p bar.sync 0;
  @p bra again;
  ret;
}`;

test('blocks with barrier divergence run on workers', () => {
  // Only the first 32 threads of the last block are in bounds.
  const n = 64 * 400 - 32;
  const rig = rigOf(text, { engine: 'simd', threads: 3 });
  const out = rig.words(64 * 400, ...new Array<number>(64 * 400).fill(poison));
  for (let i = 0; i < 3; i++) assert.ok(rig.launch('k', { blocks: 400, threads: 64 }, out, n), rig.said().join('; '));
  assert.equal(
    [...wordsIn(out)],
    Array.from({ length: 64 * 400 }, (_, i) => (i < n ? i - (i % 64) + ((i % 64) ^ 31) : poison)),
  );
});

test('an endless loop over a barrier is stopped', () => {
  const rig = rigOf(text, { engine: 'simd', threads: 1 });
  assert.is(rig.launch('ever', { blocks: 1, threads: 64, timeoutMs: 50 }, rig.words(1)), undefined);
  assert.match(rig.said().join(), /CM6010/);
});

test.run();
