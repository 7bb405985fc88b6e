import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { compareElements, type ElementType, elements } from '../../src/runtime/index.ts';

const test = suite('runtime/compare');

function pack(type: ElementType, values: readonly (number | bigint)[]): Uint8Array {
  const { size, set } = elements[type];
  const bytes = new Uint8Array(values.length * size);
  for (const [i, value] of values.entries()) set(new DataView(bytes.buffer), i * size, value);
  return bytes;
}

const exact = { rtol: 0, atol: 0, ulp: 0 };
type Row = [
  why: string,
  type: ElementType,
  got: (number | bigint)[],
  want: (number | bigint)[],
  tolerance: Partial<typeof exact>,
  pass: boolean,
];

const { NaN: nan, POSITIVE_INFINITY: inf } = Number;
const next = 1 + 2 ** -23;
const rows: Row[] = [
  ['equal bits', 'f32', [1, 2], [1, 2], {}, true],
  ['any NaN equals any NaN', 'f32', [nan], [nan], {}, true],
  ['the zeros differ in bits', 'f32', [0], [-0], {}, false],
  ['the zeros are equal with a tolerance', 'f32', [0], [-0], { atol: 1e-9 }, true],
  ['the zeros are 0 ulp apart', 'f32', [0], [-0], { ulp: 1 }, true],
  ['one ulp, exactly', 'f32', [next], [1], {}, false],
  ['one ulp', 'f32', [next], [1], { ulp: 1 }, true],
  ['two ulp are not one', 'f32', [next + 2 ** -23], [1], { ulp: 1 }, false],
  ['ulp counts across a power of two', 'f32', [1 - 2 ** -24], [next], { ulp: 2 }, true],
  ['ulp counts across zero', 'f32', [2 ** -149], [-(2 ** -149)], { ulp: 2 }, true],
  ['ulp counts across zero, no further', 'f32', [2 ** -149], [-(2 ** -149)], { ulp: 1 }, false],
  ['ulp of a half', 'f16', [1 + 2 ** -10], [1], { ulp: 1 }, true],
  ['ulp of a bfloat', 'bf16', [1 + 2 ** -7], [1], { ulp: 1 }, true],
  ['ulp of a double', 'f64', [1 + 2 ** -52], [1], { ulp: 1 }, true],
  ['absolute, at the bound', 'f32', [1.5], [1], { atol: 0.5 }, true],
  ['absolute, beyond', 'f32', [1.5], [1], { atol: 0.49 }, false],
  ['relative to the wanted', 'f32', [110], [100], { rtol: 0.1 }, true],
  ['relative to the wanted, not the got', 'f32', [100], [110], { rtol: 0.0905 }, false],
  ['absolute and relative add', 'f32', [111], [100], { rtol: 0.1, atol: 1 }, true],
  ['NaN passes only against NaN', 'f32', [nan], [1], { atol: 1e30, ulp: 1e9 }, false],
  ['a number does not pass against NaN', 'f32', [1], [nan], { atol: 1e30, ulp: 1e9 }, false],
  ['infinity only against itself', 'f32', [inf], [3.4e38], { rtol: 9, ulp: 1e9 }, false],
  ['a number is not infinity, whatever the relative tolerance', 'f32', [1], [inf], { rtol: 1 }, false],
  ['infinities of two signs', 'f32', [inf], [-inf], { rtol: 1, atol: 1, ulp: 1e10 }, false],
  ['infinity against itself', 'f32', [inf], [inf], { ulp: 1 }, true],
  ['integers, exact', 'i32', [-1], [1], {}, false],
  ['integers, absolute', 'i32', [-1], [1], { atol: 2 }, true],
  ['64-bit integers differ in the last bit', 'u64', [2n ** 63n + 1n], [2n ** 63n], {}, false],
  ['64-bit integers by ulp', 'u64', [2n ** 63n + 1n], [2n ** 63n], { ulp: 1 }, true],
  ['64-bit signed extremes', 'i64', [-(2n ** 63n)], [2n ** 63n - 1n], { atol: 1e19 }, false],
];
for (const [why, type, got, want, tolerance, pass] of rows) {
  test(`${type}: ${why}`, () => {
    assert.is(compareElements(type, pack(type, got), pack(type, want), { ...exact, ...tolerance }).pass, pass);
  });
}

test('the largest differences and the first mismatch', () => {
  const got = pack('f32', [1, 2.5, 4, nan]);
  const found = compareElements('f32', got.subarray(0, 12), pack('f32', [1, 2, 5]), exact);
  assert.is(found.maxAbs, 1);
  assert.is(found.maxRel, 0.25);
  // 2.5 is 2^21 floats above 2; 4 to 5 is 2^21 floats in the next binade: equally many.
  assert.is(found.maxUlp, 2 ** 21);
  assert.is(found.firstMismatch, 1);
  assert.is(found.mismatches, 2);
});

test('differences are told even when all pass', () => {
  const found = compareElements('f32', pack('f32', [1.25]), pack('f32', [1]), { ...exact, atol: 1 });
  assert.equal([found.pass, found.maxAbs, found.firstMismatch], [true, 0.25, undefined]);
});

test.run();
