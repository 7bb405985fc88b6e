/** Products by warp groups (`wgmma`) against a model in doubles and integers, with random shapes, descriptors and swizzles. */
import { suite } from 'uvu';
import { type Element, kernelOf, type Sum } from '../support/wgmma.ts';
import { check, metallibOf, operandsOf, randomFrom, randomTrial } from '../support/wgmma-trials.ts';

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

test('the largest product', () => {
  const random = randomFrom(12);
  const trial = randomTrial(random, { n: 256, a: 'bf16', b: 'bf16', d: 'f32', inRegisters: false });
  check(trial, operandsOf(random, trial));
});

test.run();
