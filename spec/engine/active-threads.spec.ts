/** Regions that have an effect only in the first threads of a block: the other threads are skipped, with the same results. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { activeThreads } from '../../src/engine/simd/analysis/active-threads.ts';
import { compileSimd } from '../../src/engine/simd/emit/module.ts';
import type { IcmpPredicate, Kernel } from '../../src/ir/index.ts';
import { runOn } from '../support/both-engines.ts';
import { sharedVariable, type Writer, writeKernel } from '../support/kernel-writer.ts';
import { pointerParam } from '../support/kernels.ts';

const test = suite('engine/active-threads');

const out = [pointerParam('out', 0, undefined, 'read_write')];
const poison = 0xdead_beef;

/** A kernel with a barrier, after which the threads whose comparison has the result `holds` add to their word of `out`. */
const guarded = (pred: IcmpPredicate, bound: number, holds: boolean, more: (w: Writer) => void = () => {}): Kernel =>
  writeKernel('k', out, [], (w) => {
    w.b.barrier();
    const cond = w.is(w.sreg('tid.x'), pred, w.i32(bound));
    const act = (): void => {
      const at = w.sreg('gid.x');
      w.put(w.param(0), at, w.b.add(w.get(w.param(0), at), w.i32(7)));
    };
    if (holds) w.when(cond, act);
    else w.when(cond, () => {}, act);
    more(w);
  });

const compare: Record<IcmpPredicate, (a: number, b: number) => boolean> = {
  eq: (a, b) => a === b,
  ne: (a, b) => a !== b,
  slt: (a, b) => a < b,
  sle: (a, b) => a <= b,
  sgt: (a, b) => a > b,
  sge: (a, b) => a >= b,
  ult: (a, b) => a < b >>> 0,
  ule: (a, b) => a <= b >>> 0,
  ugt: (a, b) => a > b >>> 0,
  uge: (a, b) => a >= b >>> 0,
};

test('threads behind a bound are skipped without a change of results, for all comparisons and block sizes', () => {
  for (const pred of Object.keys(compare) as IcmpPredicate[])
    for (const bound of [-1, 0, 1, 3, 4, 5, 8, 17, 32, 33, 100, 255, 256, 0x7fff_ffff])
      for (const [threads, holds] of [
        [256, true],
        [256, false],
        [37, true],
        [5, false],
      ] as const) {
        const start = new Uint32Array(2 * threads).fill(poison);
        const ran = runOn('simd', guarded(pred, bound, holds), 2, threads, 8 * threads, new Uint8Array(start.buffer));
        const expected = start.map((word, i) => (compare[pred](i % threads, bound) === holds ? word + 7 : word));
        assert.equal([...new Uint32Array(ran.bytes.buffer)], [...expected], `${pred} ${bound}, ${threads} threads, ${holds}`);
        assert.equal(ran.scalarReason, undefined);
      }
});

/** The number of active threads of each region, in blocks of 256. */
function activeThreadsOf(kernel: Kernel): number[] {
  const simd = compileSimd(kernel, [256, 1, 1], { fma: 'exact' });
  if ('why' in simd) throw new Error(simd.why);
  return simd.plan.regions.map((region) => activeThreads(simd.plan, region));
}

test('a region covers the threads below a bound when the others have no effect', () => {
  assert.equal(activeThreadsOf(guarded('slt', 16, true)), [256, 16]);
  assert.equal(activeThreadsOf(guarded('sgt', 15, false)), [256, 16]);
  assert.equal(activeThreadsOf(guarded('eq', 0, true)), [256, 1]);
  assert.equal(activeThreadsOf(guarded('ne', 3, false)), [256, 4]);
  assert.equal(activeThreadsOf(guarded('slt', 1000, true)), [256, 256]);
  // The threads below the bound are the inactive ones.
  assert.equal(activeThreadsOf(guarded('slt', 16, false)), [256, 256]);
  // There is a store after the branch.
  assert.equal(activeThreadsOf(guarded('slt', 16, true, (w) => w.put(w.param(0), w.sreg('gid.x'), w.i32(1)))), [256, 256]);
});

test('a value that is live across a barrier is computed by all threads', () => {
  const carried = writeKernel('k', out, [sharedVariable('s', 1024)], (w) => {
    const tid = w.sreg('tid.x');
    w.b.barrier();
    const first = w.is(tid, 'ult', w.i32(8));
    const number = w.b.mul(tid, w.i32(3));
    w.when(first, () => w.put(w.shared('s'), tid, number));
    w.b.barrier();
    w.when(w.is(tid, 'ult', w.i32(100)), () =>
      w.put(w.param(0), w.sreg('gid.x'), w.b.add(number, w.get(w.shared('s'), w.b.and(tid, w.i32(7))))),
    );
  });
  const start = new Uint32Array(256).fill(poison);
  const ran = runOn('simd', carried, 1, 256, 1024, new Uint8Array(start.buffer));
  const expected = start.map((word, i) => (i < 100 ? 3 * i + 3 * (i & 7) : word));
  assert.equal([...new Uint32Array(ran.bytes.buffer)], [...expected]);
});

test('a step of a reduction has half as many active threads as the one before', () => {
  const sums = writeKernel('k', out, [sharedVariable('s', 1024)], (w) => {
    const tid = w.sreg('tid.x');
    w.put(w.shared('s'), tid, w.get(w.param(0), w.sreg('gid.x')));
    for (let step = 128; step > 0; step >>= 1) {
      w.b.barrier();
      w.when(w.is(tid, 'ult', w.i32(step)), () =>
        w.put(w.shared('s'), tid, w.b.add(w.get(w.shared('s'), tid), w.get(w.shared('s'), w.b.add(tid, w.i32(step))))),
      );
    }
    w.b.barrier();
    w.when(w.is(tid, 'eq', w.i32(0)), () => w.put(w.param(0), w.sreg('gid.x'), w.get(w.shared('s'), tid)));
  });
  assert.equal(activeThreadsOf(sums), [256, 128, 64, 32, 16, 8, 4, 2, 1, 1]);
  const start = Uint32Array.from({ length: 512 }, (_, i) => i * i);
  const ran = runOn('simd', sums, 2, 256, 2048, new Uint8Array(start.buffer));
  const words = new Uint32Array(ran.bytes.buffer);
  const sum = (from: number): number => start.slice(from, from + 256).reduce((all, each) => all + each, 0);
  assert.equal([words[0], words[256]], [sum(0), sum(256)]);
});

test.run();
