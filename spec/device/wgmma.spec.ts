/** Products by warp groups (`wgmma`) against a model in doubles and integers, with random shapes, descriptors and swizzles. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { launchMetallib } from '../support/launch.ts';
import { type Element, eachSum, imageBytes, kernelOf, type Sum } from '../support/wgmma.ts';
import { check, compare, metallibOf, operandsOf, randomFrom, randomTrial } from '../support/wgmma-trials.ts';

const test = suite('device/wgmma');

const kinds: readonly (readonly [Element, Element, Sum])[] = [
  ['f16', 'f16', 'f32'],
  ['f16', 'f16', 'f16'],
  ['bf16', 'bf16', 'f32'],
  ['tf32', 'tf32', 'f32'],
  ['e4m3', 'e5m2', 'f32'],
  ['e5m2', 'e4m3', 'f16'],
  ['s8', 'u8', 's32'],
  ['u8', 's8', 's32'],
  ['b1', 'b1', 's32'],
];
const sizes = process.env.CUMETAL_TRIALS ? [8, 16, 24, 64, 96, 176, 256] : [8, 16, 24];
const trials = Number(process.env.CUMETAL_TRIALS ?? 1);

for (const [a, b, d] of kinds)
  for (const isSparse of a === 'b1' ? [false] : [false, true])
    for (const inRegisters of [false, true])
      test(`${isSparse ? 'sparse ' : ''}${a} by ${b} to ${d}, a in ${inRegisters ? 'registers' : 'shared memory'}`, () => {
        const random = randomFrom(
          a.charCodeAt(0) * 31 + d.charCodeAt(1) * 7 + b.charCodeAt(1) + (inRegisters ? 5 : 0) + (isSparse ? 500 : 0),
        );
        for (let i = 0; i < trials; i++) {
          const n = sizes[random(sizes.length)]!;
          const trial = randomTrial(random, { n, a, b, d, inRegisters, isSparse });
          check(trial, operandsOf(random, trial));
        }
      });

test('products that follow each other add up', () => {
  const random = randomFrom(11);
  const trial = { ...randomTrial(random, { n: 32, a: 'f16', b: 'f16', d: 'f32', inRegisters: false }), isAdded: true };
  const text = kernelOf(trial).replace(/^.*wgmma\.mma_async.*$/m, (line) => [line, line, line].join('\n'));
  check(trial, operandsOf(random, trial), metallibOf(text), 3);
});

test('a product to the registers of the one before, in another order', () => {
  const random = randomFrom(13);
  const trial = { ...randomTrial(random, { n: 32, a: 's8', b: 's8', d: 's32', inRegisters: false }), isAdded: true, isSaturated: false };
  const operands = operandsOf(random, trial);
  // Eight columns have four registers; the second product has the eights from the last to the first.
  const other = (index: number): number => 4 * (3 - Math.floor(index / 4)) + (index % 4);
  const text = kernelOf(trial).replace(
    /^.*wgmma\.mma_async.*$/m,
    (line) => `${line}\n${line.replace(/%d(\d+)/g, (_, i) => `%d${other(Number(i))}`)}`,
  );
  const args = [operands.image, operands.words, operands.before];
  const after = launchMetallib(metallibOf(text), { kernel: 'k', blocks: 1, threads: 128, shared: imageBytes, args })[2]!;
  const got = new Int32Array(after.buffer, after.byteOffset, after.length / 4);
  const sums = new Map<string, { readonly c: number; readonly product: number }>();
  eachSum(trial, operands, (thread, index, c, terms) => {
    sums.set(`${thread} ${index}`, { c, product: terms.reduce((all, each) => all + each, 0) });
  });
  for (const [at, { c, product }] of sums) {
    const [thread, index] = at.split(' ').map(Number) as [number, number];
    assert.is(got[16 * thread + index], c + product + sums.get(`${thread} ${other(index)}`)!.product, at);
  }
});

test('two warp groups of a block', () => {
  const random = randomFrom(14);
  const trial = randomTrial(random, { n: 16, a: 's8', b: 'u8', d: 's32', inRegisters: true });
  const operands = operandsOf(random, trial);
  const twice = (words: Uint32Array): Uint32Array => Uint32Array.of(...words, ...words);
  const args = [operands.image, twice(operands.words), twice(operands.before)];
  const after = launchMetallib(metallibOf(kernelOf(trial, 256)), { kernel: 'k', blocks: 1, threads: 256, shared: imageBytes, args })[2]!;
  for (const group of [0, 1])
    compare(trial, operands, new Uint32Array(after.buffer, after.byteOffset + group * 128 * 32, 128 * 8), `group ${group}`);
});

test('the largest product', () => {
  const random = randomFrom(12);
  const trial = randomTrial(random, { n: 256, a: 'bf16', b: 'bf16', d: 'f32', inRegisters: false });
  check(trial, operandsOf(random, trial));
});

test.run();
