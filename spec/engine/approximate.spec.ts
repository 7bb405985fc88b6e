/** Approximate functions on the CPU device: within 1 ulp of JavaScript's double-precision result, with the same bits on both paths. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { splitMix64 } from '../../src/runtime/rand.ts';
import { runOn } from '../support/both-engines.ts';
import { plain, writeKernel } from '../support/kernel-writer.ts';
import { pointerParam } from '../support/kernels.ts';

const test = suite('engine/approximate');

const functions = {
  fexp2: (x: number) => 2 ** x,
  flog2: Math.log2,
  fsin: Math.sin,
  fcos: Math.cos,
  ftanh: Math.tanh,
  frsqrt: (x: number) => 1 / Math.sqrt(x),
} as const;

const threads = 256;
const blocks = 32;

/** Random bits, values in the ranges that the functions distinguish, and special values. */
function operands(): Uint32Array {
  const draw = splitMix64(5n);
  const word = (): number => Number(draw() & 0xffff_ffffn);
  const values = new Float32Array(threads * blocks);
  const special = [
    0,
    -0,
    1,
    -1,
    2,
    0.5,
    128,
    -126,
    -149,
    -150,
    127.99999,
    1e-45,
    -1e-45,
    1.17549435e-38,
    3.4028235e38,
    Infinity,
    -Infinity,
    NaN,
  ];
  const within = [1, 0.01, 10, 150, 1000, 2 ** 20, 2 ** 24, 2 ** 40];
  for (let i = 0; i < values.length; i++) {
    const size = within[i % (within.length + 2)];
    const near = Math.round(word() / 2 ** 24) * (Math.PI / 2);
    values[i] = size !== undefined ? size * (word() / 2 ** 31 - 1) : near;
  }
  const bits = new Uint32Array(values.buffer);
  for (let i = 0; i < bits.length; i += 9) bits[i] = word();
  bits.set(new Uint32Array(Float32Array.from(special).buffer));
  return bits;
}

/** The distance of a result from a double in units in the last place, which is the smallest subnormal for subnormal results. */
function ulps(got: number, want: number): number {
  if (Number.isNaN(want)) return Number.isNaN(got) ? 0 : Number.POSITIVE_INFINITY;
  if (got === Math.fround(want)) return 0;
  if (!Number.isFinite(got)) return Math.abs(want) > 3.4028235e38 * (1 - 2 ** -24) ? 1 : Number.POSITIVE_INFINITY;
  const unit = 2 ** Math.max(-149, Math.floor(Math.log2(Math.abs(want))) - 23);
  return Math.abs(got - want) / unit;
}

for (const [op, exact] of Object.entries(functions) as [keyof typeof functions, (x: number) => number][])
  test(`\`${op}\` is within 1 ulp, with the same bits on both paths`, () => {
    const given = operands();
    const make = () =>
      writeKernel('k', [pointerParam('data', 0, undefined, 'read_write')], [], (w) => {
        const at = w.at(w.param(0), w.sreg('gid.x'));
        w.b.store(at, w.b[op](w.b.load('f32', at, plain)), plain);
      });
    const run = (engine: 'lane' | 'simd') => runOn(engine, make(), blocks, threads, given.byteLength, new Uint8Array(given.buffer)).bytes;
    const lane = run('lane');
    assert.equal(run('simd'), lane);
    const results = new Float32Array(lane.slice().buffer);
    new Float32Array(given.buffer).forEach((x, i) => {
      const off = ulps(results[i]!, exact(x));
      assert.ok(off <= 0.6, `${x}: ${results[i]}, not ${exact(x)}`);
      if (x === 0) assert.ok(Object.is(results[i], exact(x)), `the sign of zero for ${x}`);
    });
  });

test.run();
