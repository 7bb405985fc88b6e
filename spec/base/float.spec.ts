import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { bf16Bits, bf16Value, exponentOf, f16Bits, f16Value, f32Bits, f64Bits } from '../../src/base/float.ts';

const test = suite('base/float');

// IEEE 754 binary16: 1 sign, 5 exponent (bias 15), 10 mantissa bits.
const halves: [value: number, bits: number, why: string][] = [
  [0, 0x0000, 'zero'],
  [-0, 0x8000, 'negative zero'],
  [1, 0x3c00, 'one'],
  [-2, 0xc000, 'minus two'],
  [65504, 0x7bff, 'the largest half'],
  [65519.99, 0x7bff, 'just below the tie with infinity'],
  [65520, 0x7c00, 'the tie rounds to even, which is infinity'],
  [Number.POSITIVE_INFINITY, 0x7c00, 'infinity'],
  [Number.NEGATIVE_INFINITY, 0xfc00, 'negative infinity'],
  [Number.NaN, 0x7e00, 'a quiet NaN'],
  [2 ** -14, 0x0400, 'the smallest normal'],
  [2 ** -24, 0x0001, 'the smallest subnormal'],
  [2 ** -25, 0x0000, 'half of it ties to even, which is zero'],
  [2 ** -25 * (1 + 2 ** -20), 0x0001, 'just above that tie'],
  [3 * 2 ** -25, 0x0002, 'a subnormal tie goes to even'],
  [2 ** -14 - 2 ** -26, 0x0400, 'a subnormal rounds up into the normals'],
  [1 + 2 ** -11, 0x3c00, 'a tie stays at even'],
  [1 + 3 * 2 ** -11, 0x3c02, 'a tie goes up to even'],
  [1 + 2 ** -11 + 2 ** -30, 0x3c01, 'above the tie only in the double: one rounding, not two'],
  [2047.5, 0x6800, 'rounding carries into the exponent'],
  [Number.MIN_VALUE, 0x0000, 'the smallest double vanishes'],
];
for (const [value, bits, why] of halves) test(`half: ${why}`, () => assert.is(f16Bits(value), bits));

const bfloats: [value: number, bits: number, why: string][] = [
  [1, 0x3f80, 'one'],
  [1 + 2 ** -8, 0x3f80, 'a tie stays at even'],
  [1 + 3 * 2 ** -8, 0x3f82, 'a tie goes up to even'],
  [3.3895313892515355e38, 0x7f7f, 'the largest bfloat'],
  [3.4e38, 0x7f80, 'beyond it, infinity'],
  [2 ** -133, 0x0001, 'the smallest subnormal'],
  [2 ** -134, 0x0000, 'half of it ties to zero'],
  [Number.NaN, 0x7fc0, 'a quiet NaN'],
  [-0, 0x8000, 'negative zero'],
];
for (const [value, bits, why] of bfloats) test(`bfloat: ${why}`, () => assert.is(bf16Bits(value), bits));

test('every half and bfloat that is not NaN goes to a number and back', () => {
  for (let bits = 0; bits < 65536; bits++) {
    if (!Number.isNaN(f16Value(bits))) assert.is(f16Bits(f16Value(bits)), bits);
    if (!Number.isNaN(bf16Value(bits))) assert.is(bf16Bits(bf16Value(bits)), bits);
  }
});

test('a bfloat is the upper half of a float', () => {
  for (let bits = 0; bits < 65536; bits++) {
    const value = bf16Value(bits);
    if (!Number.isNaN(value)) assert.is(f32Bits(value), bits * 65536);
  }
});

test('bits of float and double', () => {
  assert.is(f32Bits(-1.5), 0xbfc00000);
  assert.is(f64Bits(1), 0x3ff0000000000000n);
});

test('the exponent is exact at powers of two and for subnormals', () => {
  for (const e of [-1074, -1073, -1023, -1022, -1, 0, 1, 52, 1023]) assert.is(exponentOf(2 ** e), e);
  assert.is(exponentOf(2 ** 53 - 1), 52);
  assert.is(exponentOf(0.9999999999999999), -1);
});

test.run();
