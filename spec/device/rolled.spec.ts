/** Long straight code, which strips go through chunk by chunk in loops over their vectors, against the one-lane path. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { compileStrips } from '../../src/device/cpu/strips/module.ts';
import type { Value } from '../../src/ir/index.ts';
import { ranOn } from '../support/both-engines.ts';
import { writeKernel } from '../support/kernel-writer.ts';
import { pointerParam } from '../support/kernels.ts';
import { randomStraight, wordsOfStraight } from '../support/random-straight.ts';

const test = suite('device/rolled');

const bytesOf = (threads: number): Uint8Array =>
  new Uint8Array(Uint32Array.from({ length: wordsOfStraight * threads }, (_, i) => Math.imul(i + 1, 0x9e3779b1)).buffer);

for (const [seed, threads] of [1, 31, 33, 64, 256, 70].entries())
  test(`straight code number ${seed}, ${threads} threads`, () => {
    const run = (engine: 'lane' | 'simd') =>
      ranOn(engine, randomStraight(seed, threads, 700), 1, threads, 4 * wordsOfStraight * threads, bytesOf(threads));
    const [lane, simd] = [run('lane'), run('simd')];
    assert.equal(simd.said, []);
    assert.ok(simd.lanes > 1);
    assert.not.equal(lane.bytes, bytesOf(threads));
    assert.equal(simd.bytes, lane.bytes);
  });

test('straight code is written once, however long strips are', () => {
  const size = (lanes: number): number => {
    const made = compileStrips(randomStraight(1, 256, 2000), [256, 1, 1], { fma: 'exact', lanes });
    return 'why' in made ? Number.NaN : made.bytes.length;
  };
  assert.ok(size(32) < 1.5 * size(8), `${size(32)} bytes for 32 lanes, ${size(8)} for 8`);
});

test('a chain of which each step waits for the one before is written out for every vector', () => {
  const kernel = writeKernel('k', [pointerParam('out', 0, undefined, 'read_write')], [], ({ b, i32, sreg, param, get, put }) => {
    let x = get(param(0), sreg('tid.x'));
    for (let i = 0; i < 400; i++) x = b.xor(b.mul(x, i32(2 * i + 3)), b.lshr(x, i32(1 + (i % 20))));
    put(param(0), sreg('tid.x'), x);
  });
  const size = (lanes: number): number => {
    const made = compileStrips(kernel, [256, 1, 1], { fma: 'exact', lanes });
    return 'why' in made ? Number.NaN : made.bytes.length;
  };
  assert.ok(size(32) > 3 * size(8), `${size(32)} bytes for 32 lanes, ${size(8)} for 8`);
});

// Source: WebKit, maximumOMGCandidateCost: larger functions are never optimised.
test('strips are shorter where that makes code small enough to be optimised', () => {
  // Every step stores, so that nothing is rolled.
  const kernel = writeKernel('k', [pointerParam('out', 0, undefined, 'read_write')], [], ({ b, i32, sreg, param, get, put }) => {
    const place = (word: number): Value => b.add(sreg('tid.x'), i32(256 * word));
    for (let i = 0; i < 600; i++) put(param(0), place(i % 8), b.mul(get(param(0), place((i + 3) % 8)), i32(2 * i + 1)));
  });
  const of = (lanes?: number) => {
    const made = compileStrips(kernel, [256, 1, 1], { fma: 'exact', lanes });
    assert.not('why' in made);
    return made as Exclude<typeof made, { why: string }>;
  };
  const chosen = of();
  assert.ok(of(32).bytes.length > 100_000, `${of(32).bytes.length}`);
  assert.ok(chosen.bytes.length < 110_000 && chosen.plan.lanes < 32, `${chosen.bytes.length} bytes, ${chosen.plan.lanes} lanes`);
});

test.run();
