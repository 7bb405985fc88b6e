/** TwoSum and rounding to odd of vectors of f32, against sums that are exact as numbers of JavaScript. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { pushRoundedToOdd, twoSum } from '../../src/engine/codegen/error-free.ts';
import { splitMix64 } from '../../src/runtime/rand.ts';
import { newModule } from '../../src/wasm/index.ts';

const test = suite('engine/error-free');

type Sums = (x: number, y: number) => { readonly error: number; readonly odd: number };

/** A module that gives the error and the rounded sum of two f32 values, both in the first lane. */
function sums(): Sums {
  const module = newModule();
  for (const name of ['error', 'odd']) {
    const { code } = module.fn({ params: ['f32', 'f32'], results: ['f32'] }, name);
    const [x, y, sum, rest, error] = Array.from({ length: 5 }, () => code.local('v128')) as [number, number, number, number, number];
    for (const [param, local] of [
      [0, x],
      [1, y],
    ] as const) {
      code.at('local.get', param);
      code.op('f32x4.splat');
      code.at('local.set', local);
    }
    twoSum(code, 'f32x4', [x, y], sum, rest);
    if (name === 'odd') {
      code.at('local.set', error);
      pushRoundedToOdd(code, 'f32x4', sum, error);
    }
    code.lane('f32x4.extract_lane', 0);
  }
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(module.finish() as BufferSource));
  const { error, odd } = exports as Record<'error' | 'odd', (x: number, y: number) => number>;
  return (x, y) => ({ error: error(x, y), odd: odd(x, y) });
}

const word = new Uint32Array(1);
const float = new Float32Array(word.buffer);
const bitsOf = (value: number): number => {
  float[0] = value;
  return word[0]!;
};
const ofBits = (bits: number): number => {
  word[0] = bits;
  return float[0]!;
};

/** By definition: the exact sum truncated toward zero to f32, with the last bit set where that is not exact. */
function roundedToOdd(exact: number): number {
  const near = Math.fround(exact);
  if (near === exact) return near;
  const truncated = Math.abs(near) > Math.abs(exact) ? bitsOf(near) - 1 : bitsOf(near);
  return ofBits(truncated | 1);
}

test('errors of sums are exact, and sums are rounded to odd', () => {
  const add = sums();
  const random = splitMix64(7n);
  const draw = (): number => {
    // Exponents from -12 to 12, so that a sum has at most 49 bits and is exact in 53.
    const bits = Number(random() & 0x807f_ffffn) + (127 - 12 + Number(random() % 25n)) * 2 ** 23;
    return ofBits(bits >>> 0);
  };
  let inexact = 0;
  for (let i = 0; i < 20_000; i++) {
    const [x, y] = [draw(), draw()];
    const { error, odd } = add(x, y);
    assert.is(error, x + y - Math.fround(x + y), `${x} + ${y}`);
    assert.is(odd, roundedToOdd(x + y), `${x} + ${y}`);
    if (error !== 0) inexact++;
  }
  assert.ok(inexact > 5000, `${inexact} sums are inexact`);
});

test('an infinite sum stays', () => {
  const { odd } = sums()(3e38, 3e38);
  assert.is(odd, Number.POSITIVE_INFINITY);
});

test.run();
