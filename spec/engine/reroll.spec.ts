/** Rerolling: long straight-line code is executed in chunks that loop over the vectors of a lane group. Compared with the scalar path. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { compileSimd } from '../../src/engine/simd/emit/module.ts';
import { scheduleBlocks } from '../../src/engine/simd/transform/schedule.ts';
import type { Kernel, Value } from '../../src/ir/index.ts';
import { splitMix64 } from '../../src/runtime/rand.ts';
import { runOn } from '../support/both-engines.ts';
import { functionSizes } from '../support/function-sizes.ts';
import { writeKernel } from '../support/kernel-writer.ts';
import { pointerParam } from '../support/kernels.ts';
import { randomStraight, wordsOfStraight } from '../support/random-straight.ts';

const test = suite('engine/reroll');

const bytesOf = (threads: number): Uint8Array =>
  new Uint8Array(Uint32Array.from({ length: wordsOfStraight * threads }, (_, i) => Math.imul(i + 1, 0x9e3779b1)).buffer);

for (const [seed, threads] of [1, 31, 33, 64, 256, 70].entries())
  test(`straight-line code with seed ${seed}, ${threads} threads`, () => {
    const run = (engine: 'lane' | 'simd') =>
      runOn(engine, randomStraight(seed, threads, 700), 1, threads, 4 * wordsOfStraight * threads, bytesOf(threads));
    const [lane, simd] = [run('lane'), run('simd')];
    assert.equal(simd.messages, []);
    assert.ok(simd.lanes > 1);
    assert.not.equal(lane.bytes, bytesOf(threads));
    assert.equal(simd.bytes, lane.bytes);
  });

/** Words of input for 64 threads. */
const inputs = 256 * 8;

/** One step of a matrix product with register tiles: 8 products are added to each of 4 by 4 sums of contiguous words. */
const tiles = (): Kernel =>
  writeKernel('k', [pointerParam('words', 0, undefined, 'read_write')], [], ({ b, i32, sreg, param, get, put }) => {
    const thread = sreg('tid.x');
    const single = (place: Value): Value => b.bitcast('f32', get(param(0), place));
    const four = [0, 1, 2, 3];
    const mine = (word: number): Value => single(b.add(b.mul(thread, i32(4)), i32(word)));
    let sums = four.map(() => four.map(mine));
    for (let d = 0; d < 8; d++) {
      const [x, y] = [four.map((i) => single(i32(9 * d + i))), four.map((j) => mine(256 * d + j))];
      sums = sums.map((row, i) => row.map((sum, j) => b.fma(x[i]!, y[j]!, sum)));
    }
    for (const [i, row] of sums.entries())
      for (const [j, sum] of row.entries()) put(param(0), b.add(thread, i32(inputs + 64 * (4 * i + j))), b.bitcast('i32', sum));
  });

/** Single-precision bits for which fma needs its slow path: small integers, values of every magnitude, and values with subnormal sums. */
const singles = (count: number): Uint8Array => {
  const draw = splitMix64(99n);
  const pick = (below: number): number => Number(draw() % BigInt(below));
  const word = (): number => {
    const kind = pick(3);
    if (kind === 0) return new Uint32Array(Float32Array.of(pick(31) - 15).buffer)[0]!;
    return (pick(2) << 31) | ((kind === 1 ? 97 + pick(60) : 40 + pick(30)) << 23) | (pick(2) === 0 ? pick(1 << 23) : pick(8) << 20);
  };
  return new Uint8Array(Uint32Array.from({ length: count }, word).buffer);
};

for (const lanes of [8, 16, 32])
  test(`a matrix product with register tiles and exact fma, with ${lanes} lanes`, () => {
    const given = singles(inputs + 16 * 64);
    const run = (engine: 'lane' | 'simd') => runOn(engine, tiles(), 1, 64, given.length, given, lanes);
    const [lane, simd] = [run('lane'), run('simd')];
    assert.equal(simd.messages, []);
    assert.is(simd.lanes, lanes);
    assert.equal(simd.bytes, lane.bytes);
  });

/** Eight FMAs of a thread's words; in one, the factor is a power of two and another operand is the same in all threads. */
const scaledFmas = (factor: number, isUniformAddend: boolean): Kernel =>
  writeKernel('k', [pointerParam('words', 0, undefined, 'read_write')], [], ({ b, i32, sreg, param, get, put }) => {
    const single = (place: Value): Value => b.bitcast('f32', get(param(0), place));
    const mine = (word: number): Value => single(b.add(sreg('tid.x'), i32(64 * (word + 1))));
    const [same, scale] = [single(i32(5)), b.const('f32', BigInt(new Uint32Array(Float32Array.of(factor).buffer)[0]!))];
    const sums = [isUniformAddend ? b.fma(mine(0), scale, same) : b.fma(scale, same, mine(0))];
    for (let i = 1; i < 8; i++) sums.push(b.fma(mine(i), mine(i + 1), mine(i + 2)));
    for (const [i, sum] of sums.entries()) put(param(0), b.add(sreg('tid.x'), i32(64 * (i + 16))), b.bitcast('i32', sum));
  });

for (const factor of [4, -0.5, 1, -1, 2 ** 90, 2 ** -90])
  for (const isUniformAddend of [true, false])
    test(`fma(x, ${factor}, c) in rerolled code, where ${isUniformAddend ? 'c' : 'x'} is uniform`, () => {
      const given = singles(64 * 24);
      const run = (engine: 'lane' | 'simd') => runOn(engine, scaledFmas(factor, isUniformAddend), 1, 64, given.length, given);
      const [lane, simd] = [run('lane'), run('simd')];
      assert.equal(simd.messages, []);
      assert.ok(simd.lanes > 4);
      assert.equal(simd.bytes, lane.bytes);
    });

test('the size of straight-line code does not depend on the number of lanes', () => {
  const size = (lanes: number): number => {
    const compiled = compileSimd(randomStraight(1, 256, 2000), [256, 1, 1], { fma: 'exact', lanes });
    return 'why' in compiled ? Number.NaN : compiled.bytes.length;
  };
  assert.ok(size(32) < 1.5 * size(8), `${size(32)} bytes for 32 lanes, ${size(8)} for 8`);
});

test('strided loads are rerolled', () => {
  const size = (lanes: number): number => {
    const compiled = compileSimd(tiles(), [64, 1, 1], { fma: 'exact', lanes });
    return 'why' in compiled ? Number.NaN : compiled.bytes.length;
  };
  assert.ok(size(32) < 1.7 * size(8), `${size(32)} bytes for 32 lanes, ${size(8)} for 8`);
});

test('sums before a barrier are scheduled one after the other, not interleaved', () => {
  const sums: Value[][] = [];
  const kernel = writeKernel('k', [pointerParam('words', 0, undefined, 'read_write')], [], ({ b, i32, sreg, param, get, put }) => {
    const of = (word: number): Value => b.bitcast('f32', get(param(0), b.add(sreg('tid.x'), i32(64 * word))));
    const factors = [0, 1, 2, 3, 4, 5, 6, 7].map(of);
    let now = [0, 1, 2].map(of);
    for (const factor of factors) {
      now = now.map((sum) => b.fma(factor, factor, sum));
      sums.push(now);
    }
    b.barrier();
    for (const [i, sum] of now.entries()) put(param(0), b.add(sreg('tid.x'), i32(64 * i)), b.bitcast('i32', sum));
  });
  scheduleBlocks(kernel);
  const places = new Map(kernel.blocks.flatMap(({ body }) => body).map((value, at) => [value, at]));
  const [last, first] = [places.get(sums.at(-1)![0]!)!, places.get(sums[0]![1]!)!];
  assert.ok(last < first, `the first sum ends at ${last}, the second starts at ${first}`);
});

test('sums that go over the same values side by side stay so, and few of these are live at once', () => {
  const sums: Value[][] = [];
  const kernel = writeKernel('k', [pointerParam('words', 0, undefined, 'read_write')], [], ({ b, i32, sreg, param, get, put }) => {
    const of = (word: number): Value => b.bitcast('f32', get(param(0), b.add(sreg('tid.x'), i32(64 * word))));
    let now = [0, 1].map(of);
    for (let step = 2; step < 10; step++) {
      const factor = of(step);
      now = now.map((sum) => b.fma(factor, factor, sum));
      sums.push(now);
    }
    for (const [i, sum] of now.entries()) put(param(0), b.add(sreg('tid.x'), i32(64 * i)), b.bitcast('i32', sum));
  });
  scheduleBlocks(kernel);
  const places = new Map(kernel.blocks.flatMap(({ body }) => body).map((value, at) => [value, at]));
  const of = (values: readonly Value[]): number[] => values.map((value) => places.get(value)!);
  for (const [i, step] of sums.slice(0, -1).entries()) assert.ok(Math.max(...of(step)) < Math.min(...of(sums[i + 1]!)), `step ${i}`);
});

test('each chunk has a function of its own, which is short enough to be optimized', () => {
  const compiled = compileSimd(tiles(), [64, 1, 1], { fma: 'exact', lanes: 16 });
  assert.not('why' in compiled);
  const sizes = functionSizes((compiled as Exclude<typeof compiled, { why: string }>).bytes);
  const all = sizes.reduce((sum, size) => sum + size);
  assert.ok(all > 80_000 && Math.max(...sizes) < all / 4, sizes.join(' '));
});

test('a dependent chain is not rerolled but unrolled for every vector', () => {
  const kernel = writeKernel('k', [pointerParam('out', 0, undefined, 'read_write')], [], ({ b, i32, sreg, param, get, put }) => {
    let x = get(param(0), sreg('tid.x'));
    for (let i = 0; i < 400; i++) x = b.xor(b.mul(x, i32(2 * i + 3)), b.lshr(x, i32(1 + (i % 20))));
    put(param(0), sreg('tid.x'), x);
  });
  const size = (lanes: number): number => {
    const compiled = compileSimd(kernel, [256, 1, 1], { fma: 'exact', lanes });
    return 'why' in compiled ? Number.NaN : compiled.bytes.length;
  };
  assert.ok(size(32) > 3 * size(8), `${size(32)} bytes for 32 lanes, ${size(8)} for 8`);
});

// Source: WebKit, maximumOMGCandidateCost: larger functions are never optimised.
test('the number of lanes is reduced where that makes the code small enough to be optimized', () => {
  // Every step stores, which prevents rerolling.
  const kernel = writeKernel('k', [pointerParam('out', 0, undefined, 'read_write')], [], ({ b, i32, sreg, param, get, put }) => {
    const place = (word: number): Value => b.add(sreg('tid.x'), i32(256 * word));
    for (let i = 0; i < 600; i++) put(param(0), place(i % 8), b.mul(get(param(0), place((i + 3) % 8)), i32(2 * i + 1)));
  });
  const of = (lanes?: number) => {
    const compiled = compileSimd(kernel, [256, 1, 1], { fma: 'exact', lanes });
    assert.not('why' in compiled);
    return compiled as Exclude<typeof compiled, { why: string }>;
  };
  const chosen = of();
  assert.ok(of(32).bytes.length > 100_000, `${of(32).bytes.length}`);
  assert.ok(chosen.bytes.length < 110_000 && chosen.plan.lanes < 32, `${chosen.bytes.length} bytes, ${chosen.plan.lanes} lanes`);
});

test.run();
