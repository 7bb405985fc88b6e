/** The SIMD path against the scalar path on random kernels, and which kernels are vectorized with how many lanes. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { reflectKernel } from '../../src/air/reflect.ts';
import { floatFormats, fmaFloat } from '../../src/base/float-exact.ts';
import { loadedKernel } from '../../src/device/cpu/launch/make-kernel.ts';
import { compileSimd } from '../../src/engine/simd/emit/module.ts';
import { addBlock, addBlockParam, type Block, type Kernel, standardPasses, type Value } from '../../src/ir/index.ts';
import { splitMix64 } from '../../src/runtime/rand.ts';
import { runOn } from '../support/both-engines.ts';
import { runOnCpu, tryOnCpu } from '../support/cpu.ts';
import { assertEnginesAgree, barrierDifferenceOf, differenceOf } from '../support/engine-difference.ts';
import { plain, type Writer, writeKernel } from '../support/kernel-writer.ts';
import { pointerParam } from '../support/kernels.ts';

const test = suite('engine/lane-groups');

// `bun scripts/compare-engines.ts` runs 2000 kernels; these cover every block size and every kind.
const count = 60;

test(`${count} random kernels have the same results on both paths`, () => {
  const vectorized = assertEnginesAgree(count, (number) => differenceOf(number));
  assert.ok(vectorized > count / 3, `${vectorized} of ${count} were vectorized`);
});

test('a load before a branch is not rematerialized in the blocks after it', () => {
  // In a block of one thread and in a partial lane group, the address of the load is arbitrary where the branch was not taken.
  for (const number of [996, 1295, 1411]) assert.is(differenceOf(number), undefined, `kernel ${number}`);
  assert.is(differenceOf(500_091, 1), undefined);
});

test('a deferred value of one copy of a block is not used in another copy', () => {
  // The loads are vector loads where all lanes are active and per-lane loads after divergence.
  for (const number of [189, 255]) assert.is(barrierDifferenceOf(number), undefined, `kernel ${number}`);
});

const kernelWith = (write: Parameters<typeof writeKernel>[3]) =>
  writeKernel('k', [pointerParam('out', 0, undefined, 'read_write')], [], write);

test('small kernels have 32 lanes, at most as many as a row of the block', () => {
  const kernel = kernelWith((w) => w.put(w.param(0), w.sreg('gid.x'), w.sreg('tid.y')));
  const lanesFor = (block: readonly [number, number, number]): number | string => {
    const simd = compileSimd(kernel, block, { fma: 'exact' });
    return 'why' in simd ? simd.why : simd.plan.lanes;
  };
  assert.is(lanesFor([256, 1, 1]), 32);
  assert.is(lanesFor([64, 4, 1]), 32);
  assert.is(lanesFor([16, 16, 1]), 16);
  assert.is(lanesFor([8, 8, 4]), 8);
});

test('a kernel with warp collectives has 32 lanes', () => {
  const kernel = kernelWith((w) => w.put(w.param(0), w.sreg('gid.x'), w.b.reduce(w.sreg('tid.y'), { fold: 'add' })));
  const simd = compileSimd(kernel, [8, 8, 1], { fma: 'exact' });
  assert.is('why' in simd ? simd.why : simd.plan.lanes, 32);
});

test('a shuffle reads the given lane for uniform, affine and varying lane indices', () => {
  const sources: Readonly<
    Record<string, readonly [of: (w: Writer, lane: Value) => Value, is: (lane: number, block: number, warp: number) => number]>
  > = {
    'the lane': [({ b, i32 }, lane) => b.xor(lane, i32(5)), (lane) => lane ^ 5],
    'the lane and the block': [
      ({ b, sreg }, lane) => b.and(b.add(lane, sreg('ctaid.x')), b.const('i32', 31)),
      (lane, block) => (lane + block) & 31,
    ],
    'the block': [({ sreg }) => sreg('ctaid.x'), (_, block) => block],
    'the size of the block': [({ b, sreg, i32 }) => b.sub(sreg('ntid.x'), i32(60)), () => 4],
    'the warp': [({ sreg }) => sreg('warpid'), (_, __, warp) => warp],
  };
  for (const [name, [of, is]] of Object.entries(sources)) {
    const kernel = kernelWith((w) => {
      const { b, sreg } = w;
      const thread = b.add(b.mul(sreg('ctaid.x'), w.i32(64)), sreg('tid.x'));
      w.put(w.param(0), thread, b.shuffle(b.mul(thread, w.i32(3)), of(w, sreg('laneid'))));
    });
    const { bytes, lanes } = runOn('simd', kernel, 3, 64, 4 * 3 * 64);
    assert.ok(lanes > 1, name);
    const expected = Array.from({ length: 3 * 64 }, (_, i) => {
      const [lane, warp, block] = [i % 32, Math.floor(i / 32), Math.floor(i / 64)];
      return 3 * (32 * warp + is(lane, block, warp % 2));
    });
    assert.equal([...new Uint32Array(bytes.buffer, bytes.byteOffset, 3 * 64)], expected, name);
  }
});

test('a spin loop is run on the scalar path, a loop of atomic additions is vectorized', () => {
  const waiting = kernelWith((w) => {
    w.repeat(
      [w.i32(0)],
      () => w.is(w.b.cas(w.param(0), w.i32(0), w.i32(1)), 'ne', w.i32(0)),
      (x) => [x!],
    );
  });
  const simd = compileSimd(waiting, [64, 1, 1], { fma: 'exact' });
  assert.is('why' in simd ? simd.why : '', 'a spin loop on what other threads write');
  const trying = kernelWith((w) => {
    w.repeat(
      [w.b.load('i32', w.param(0), plain)],
      (seen) => w.is(w.b.cas(w.param(0), seen!, w.b.add(seen!, w.i32(1))), 'ne', seen!),
      (seen) => [w.b.add(seen!, w.i32(1))],
    );
  });
  // The expected value is counted up instead of read back, so the loop may never succeed once another thread has advanced the word.
  assert.ok('why' in compileSimd(trying, [64, 1, 1], { fma: 'exact' }));
  const adding = kernelWith((w) => {
    w.repeat(
      [w.i32(0)],
      (i) => w.is(i!, 'ult', w.i32(4)),
      (i) => {
        w.b.atomic(w.param(0), i!, { rmw: 'add' });
        return [w.b.add(i!, w.i32(1))];
      },
    );
  });
  assert.not('why' in compileSimd(adding, [64, 1, 1], { fma: 'exact' }));
});

test('a compare-and-swap retry loop is vectorized, and every thread succeeds once', () => {
  const counting = kernelWith((w) => {
    let before: Value | undefined;
    w.repeat(
      [w.b.load('i32', w.param(0), plain)],
      (seen) => {
        before = w.b.cas(w.param(0), seen!, w.b.add(seen!, w.i32(1)));
        return w.is(before, 'ne', seen!);
      },
      () => [before!],
    );
  });
  const { bytes, lanes } = runOn('simd', counting, 3, 64, 4);
  assert.ok(lanes > 1);
  assert.equal([...new Uint32Array(bytes.slice().buffer)], [3 * 64]);
});

test('a value from a branch that is uniform at run time is that of the taken side', () => {
  const choosing = kernelWith((w) => {
    const { b, kernel, i32 } = w;
    w.when(w.is(b.and(w.sreg('tid.x'), i32(5)), 'eq', i32(1)), () => {
      const [start, end, sum] = [b.block, addBlock(kernel), addBlock(kernel)];
      const [chosen, counted] = [addBlockParam(kernel, end, 'i32'), addBlockParam(kernel, sum, 'i32')];
      const isOne = w.is(w.sreg('ctaid.x'), 'eq', i32(1));
      start.end = { op: 'condbr', cond: isOne, then: { block: end, args: [i32(5)] }, else: { block: end, args: [i32(7)] } };
      b.block = end;
      end.end = { op: 'br', to: { block: sum, args: [chosen] } };
      // Incremented at the end of each iteration; the value at the start of the last one is used after the loop.
      b.block = sum;
      const after = addBlock(kernel);
      const next = b.add(counted, i32(10));
      const isLess = w.is(next, 'ult', i32(40));
      sum.end = { op: 'condbr', cond: isLess, then: { block: sum, args: [next] }, else: { block: after, args: [] } };
      b.block = after;
      w.put(w.param(0), w.sreg('gid.x'), counted);
    });
  });
  const { bytes, lanes } = runOn('simd', choosing, 2, 8, 64);
  assert.ok(lanes > 1);
  const [first, second] = [
    [0, 37, 0, 37, 0, 0, 0, 0],
    [0, 35, 0, 35, 0, 0, 0, 0],
  ] as const;
  assert.equal([...new Uint32Array(bytes.slice().buffer)], [...first, ...second]);
});

test('the target of an exit from two nested loops is executed once, after both loops', () => {
  const searching = kernelWith((w) => {
    const { b, kernel, i32 } = w;
    const own = w.sreg('tid.x');
    const count = (by: number): void => w.put(w.param(0), own, b.add(w.get(w.param(0), own), i32(by)));
    const [outer, inner, body, next, found, end] = Array.from({ length: 6 }, () => addBlock(kernel)) as [
      Block,
      Block,
      Block,
      Block,
      Block,
      Block,
    ];
    const [i, j] = [addBlockParam(kernel, outer, 'i32'), addBlockParam(kernel, inner, 'i32')];
    b.block.end = { op: 'br', to: { block: outer, args: [i32(0)] } };
    b.block = outer;
    outer.end = {
      op: 'condbr',
      cond: w.is(i, 'ult', i32(3)),
      then: { block: inner, args: [i32(0)] },
      else: { block: end, args: [] },
    };
    b.block = inner;
    inner.end = { op: 'condbr', cond: w.is(j, 'ult', i32(3)), then: { block: body, args: [] }, else: { block: next, args: [] } };
    b.block = body;
    const isIt = w.is(b.add(b.mul(i, i32(3)), j), 'eq', own);
    body.end = { op: 'condbr', cond: isIt, then: { block: found, args: [] }, else: { block: inner, args: [b.add(j, i32(1))] } };
    b.block = next;
    next.end = { op: 'br', to: { block: outer, args: [b.add(i, i32(1))] } };
    b.block = found;
    count(100);
    found.end = { op: 'br', to: { block: end, args: [] } };
    b.block = end;
    count(1);
  });
  const { bytes, lanes } = runOn('simd', searching, 1, 16, 64);
  assert.ok(lanes > 1);
  assert.equal(
    [...new Uint32Array(bytes.slice().buffer)],
    Array.from({ length: 16 }, (_, thread) => (thread < 9 ? 101 : 1)),
  );
});

test('a kernel that is too large to be compiled twice has one predicated copy', () => {
  const large = (): Kernel =>
    kernelWith((w) => {
      const { b, i32 } = w;
      const own = w.sreg('tid.x');
      for (let part = 0; part < 24; part++)
        w.when(w.is(b.and(b.mul(own, i32(2 * part + 5)), i32(7)), 'ult', i32(4)), () => {
          let x = w.get(w.param(0), own);
          for (let i = 0; i < 280; i++) x = i % 2 === 0 ? b.add(b.mul(x, own), own) : b.xor(x, b.sub(x, own));
          w.put(w.param(0), own, x);
        });
    });
  const start = Uint8Array.from({ length: 256 }, (_, i) => (i * 37 + 11) & 0xff);
  const [lane, simd] = (['lane', 'simd'] as const).map((engine) => runOn(engine, large(), 1, 64, 256, start));
  assert.is(simd!.scalarReason, undefined);
  assert.ok(simd!.lanes > 1);
  assert.equal(simd!.bytes, lane!.bytes);
});

test('instructions that passes remove do not keep a kernel from being vectorized, at its first launch or later', () => {
  // As in code of calls in place, of which most is there already.
  const repeated = kernelWith((w) => {
    const own = w.sreg('tid.x');
    for (let i = 0; i < 4000; i++) w.b.add(w.b.mul(own, own), own);
    w.put(w.param(0), own, own);
  });
  const loaded = loadedKernel({ kernel: repeated, reflection: reflectKernel(repeated) }, {}, standardPasses);
  for (let launch = 0; launch < 2; launch++) assert.ok(loaded.compiled([32, 1, 1]).lanes > 1);
});

/** The bits of a single-precision value. */
const single = (value: number): number => new Uint32Array(Float32Array.of(value).buffer)[0]!;

/** Single-precision operands as bits: products halfway between two values with a small addend, subnormal results, and arbitrary bits. */
function triples(count: number): [number, number, number][] {
  const draw = splitMix64(77n);
  const bits = single;
  return Array.from({ length: count }, (_, i) => {
    const [x, y, z] = [Number(draw() % 4096n), Number(draw() % 8192n), Number(draw() % 250n)];
    const sign = i % 2 === 0 ? 1 : -1;
    // Odd numbers of 12 and 13 bits have a product of 25 bits whose lowest bit is set.
    if (i % 4 === 0) return [bits(4095 - (x & 0xfe)), bits(8191 - (y & 0xfe)), bits(sign * 2 ** (-z / 2))];
    if (i % 4 === 1) return [bits(x * 2 ** -80), bits(y * 2 ** -75), bits(sign * z * 2 ** -149)];
    if (i % 4 === 2) return [bits(x - 2048), bits(y / 64), bits(sign * z)];
    return [Number(draw() & 0xffff_ffffn), Number(draw() & 0xffff_ffffn), Number(draw() & 0xffff_ffffn)];
  });
}

/** Constant factors; multiplication by a power of two is exact. */
const factors = [undefined, 1, -1, 0.5, -0.25, 2, 2 ** -24, 2 ** -100, -(2 ** 90), 2 ** 100, 3] as const;

for (const factor of factors)
  test(`fma of single-precision values rounds once in lane groups${factor === undefined ? '' : `, with the factor ${factor}`}`, () => {
    const count = 4096;
    const given = triples(count);
    const kernel = kernelWith((w) => {
      const { b } = w;
      const at = (word: number) => w.at(w.param(0), b.add(b.mul(w.sreg('gid.x'), w.i32(4)), w.i32(word)));
      const load = (word: number) => b.load('f32', at(word), plain);
      const by = factor === undefined ? load(1) : b.const('f32', single(factor));
      b.store(at(3), b.fma(load(0), by, load(2)), plain);
    });
    const words = new Uint32Array(given.flatMap((triple) => [...triple, 0]));
    const out = new Uint32Array(
      runOnCpu(kernel, [new Uint8Array(words.buffer)], { grid: [count / 256, 1, 1], block: [256, 1, 1] })[0]!.buffer,
    );
    given.forEach(([a, y, c], i) => {
      const b = factor === undefined ? y : single(factor);
      const want = Number(fmaFloat(floatFormats.f32, BigInt(a), BigInt(b), BigInt(c)));
      const got = out[4 * i + 3]!;
      const isNan = (x: number): boolean => (x & 0x7fff_ffff) > 0x7f80_0000;
      assert.ok(
        got === want || (isNan(got) && isNan(want)),
        `${[a, b, c].map((x) => x.toString(16))}: ${got.toString(16)}, not ${want.toString(16)}`,
      );
    });
  });

test('a fault names the first thread of the lane group and the number of candidates', () => {
  const kernel = kernelWith((w) => {
    const far = w.b.select(w.is(w.sreg('tid.x'), 'eq', w.i32(37)), w.b.const('i64', 1n << 31n), w.b.const('i64', 0));
    w.b.store(w.b.ptradd(w.at(w.param(0), w.sreg('tid.x')), far), w.i32(1), plain);
  });
  const { diagnostics } = tryOnCpu(kernel, [new Uint8Array(256)], { block: [64, 1, 1] });
  assert.match(diagnostics.list[0]?.message ?? '', /at thread \(32, 0, 0\) or one of the next (7|15|31) threads$/);
});

test('shifts by every constant count', () => {
  const counts = Array.from({ length: 32 }, (_, n) => n);
  const word = (i: number): number => Math.imul(i + 1, i ^ 0x9e37_79b1);
  const kernel = kernelWith((w) => {
    const { b, i32 } = w;
    const thread = w.sreg('tid.x');
    const x = b.mul(b.add(thread, i32(1)), b.xor(thread, i32(0x9e37_79b1)));
    for (const n of counts)
      for (const [at, shift] of (['shl', 'lshr', 'ashr'] as const).entries())
        w.put(w.param(0), b.add(thread, i32(64 * (3 * n + at))), b[shift](x, i32(n)));
  });
  const { bytes, lanes } = runOn('simd', kernel, 1, 64, 4 * 64 * 96);
  assert.ok(lanes > 1);
  const threads = Array.from({ length: 64 }, (_, i) => word(i));
  const expected = counts.flatMap((n) => [threads.map((x) => x << n), threads.map((x) => x >>> n), threads.map((x) => x >> n)]).flat();
  assert.equal(
    [...new Int32Array(bytes.slice().buffer)],
    expected.map((x) => x | 0),
  );
});

test.run();
