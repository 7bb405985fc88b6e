/**
 * Kernels in the Metal Shading Language, compiled by a C++ compiler over a stand-in of Metal's library and run: the bits are those that an
 * NVIDIA H200 has recorded. `scripts/text.ts` runs all examples and a part of the sweep.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { exampleNames } from '../support/examples.ts';
import { differences, mslOfExample } from '../support/msl/examples.ts';
import { compiler } from '../support/msl/run.ts';
import { need } from '../support/need.ts';

const test = suite('text/msl');

// Atomics and local memory; shuffles, and threadgroup memory of the launch; barriers and early returns.
for (const name of ['energy', 'argmax', 'reduce'])
  need(test, [compiler ?? 'g++'], `${name} has the recorded bits`, () => assert.equal(differences(name), []));

test('every example is printed', () => {
  for (const name of exampleNames) assert.match(mslOfExample(name).text, /^kernel void \w+\(/m, name);
});

test.run();
