import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { decodeElements, initialContents, splitMix64 } from '../../src/runtime/index.ts';

const test = suite('runtime/rand');

test('SplitMix64 gives the published numbers', () => {
  // Published test vector of splitmix64.c for seed 1234567 (Rosetta Code, "Pseudo-random numbers/Splitmix64").
  const draw = splitMix64(1234567n);
  const wanted = [6457827717110365317n, 3203168211198807973n, 9817491932198370423n, 4593380528125082431n, 16408922859458223821n];
  for (const want of wanted) assert.is(draw(), want);
});

test('the seed 0 gives the well-known first draw', () => {
  assert.is(splitMix64(0n)(), 0xe220a8397b1dcdafn);
});

// 6457827717110365317 = 0x599ed017fb08fc85, worked out by hand from the published draw.
const first = 0x599ed017fb08fc85n;
const rand = (type: Parameters<typeof initialContents>[0]) =>
  decodeElements(type, initialContents(type, [1], { kind: 'rand', seed: 1234567n }))[0]!;

test('integers are the low bits of a draw', () => {
  assert.is(rand('u64'), first);
  assert.is(rand('i64'), first);
  assert.is(rand('u32'), 0xfb08fc85);
  assert.is(rand('i32'), 0xfb08fc85 - 2 ** 32);
  assert.is(rand('u16'), 0xfc85);
  assert.is(rand('i8'), 0x85 - 256);
});

test('floats are the high bits of a draw', () => {
  assert.is(rand('f32'), 0x599ed0 / 2 ** 24);
  assert.is(rand('f64'), Number(0x599ed017fb08fc85n >> 11n) / 2 ** 53);
  // 0x599ed0 has 23 bits, a half keeps 11: 0x599ed0 / 2^12 = 1433.92, so 1434 * 2^12.
  assert.is(rand('f16'), (1434 * 2 ** 12) / 2 ** 24);
  // A bfloat keeps 8: 0x599ed0 / 2^15 = 179.24, so 179 * 2^15.
  assert.is(rand('bf16'), (179 * 2 ** 15) / 2 ** 24);
});

test('iota keeps the low bits, and rounds where a float has fewer', () => {
  const bytes = initialContents('u8', [300], { kind: 'iota' });
  assert.equal([bytes[0], bytes[255], bytes[256], bytes[299]], [0, 255, 0, 43]);
  assert.equal(decodeElements('f16', initialContents('f16', [2052], { kind: 'iota' })).slice(2047), [2047, 2048, 2048, 2050, 2052]);
});

test('zeros, ones and fill', () => {
  assert.equal(decodeElements('i32', initialContents('i32', [2], { kind: 'zeros' })), [0, 0]);
  assert.equal(decodeElements('bf16', initialContents('bf16', [2], { kind: 'ones' })), [1, 1]);
  assert.equal([...initialContents('f16', [2], { kind: 'values', values: [1.5, -2] })], [0x00, 0x3e, 0x00, 0xc0]);
  assert.equal([...initialContents('f32', [1], { kind: 'fill', value: 2.5 })], [0x00, 0x00, 0x20, 0x40]);
  assert.equal(decodeElements('u64', initialContents('u64', [1], { kind: 'fill', value: 2n ** 64n - 1n })), [2n ** 64n - 1n]);
});

test.run();
