/**
 * Kernels in the Metal Shading Language, compiled by a C++ compiler over a stand-in of Metal's library and run: the bits are those that an
 * NVIDIA H200 has recorded. `scripts/text.ts` runs all examples and a part of the sweep.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ptx } from '../support/async.ts';
import { handed, handedExpected, ring, ringExpected } from '../support/barrier-kernels.ts';
import { exampleNames } from '../support/examples.ts';
import { differences, mslOf, mslOfExample } from '../support/msl/examples.ts';
import { buildStandIn, compiler } from '../support/msl/run.ts';
import { need } from '../support/need.ts';
import { ops, opsExpected } from '../support/warp-ops.ts';

const test = suite('text/msl');

// Atomics and local memory; shuffles, and threadgroup memory of the launch; barriers and early returns.
for (const name of ['energy', 'argmax', 'reduce'])
  need(test, [compiler ?? 'g++'], `${name} has the recorded bits`, () => assert.equal(differences(name), []));

need(test, [compiler ?? 'g++'], 'shifts, quotients and warp operations', () => {
  const printed = mslOf('ops', ops);
  if (typeof printed === 'string') throw new Error(printed);
  const built = buildStandIn(printed.text, printed.kernel);
  if (typeof built === 'string') throw new Error(built);
  const expected = opsExpected();
  const [after] = built.run({ grid: [1, 1, 1], block: [32, 1, 1], bytes: [new Uint8Array(4 * expected.length)] });
  built.remove();
  assert.equal([...new Uint32Array(after!.slice().buffer)], expected);
});

const waiting = {
  'barriers in memory': { body: ring, threads: 96, expected: ringExpected },
  'barriers for some of the threads': { body: handed, threads: 128, expected: handedExpected },
} as const;

for (const [name, { body, threads, expected }] of Object.entries(waiting))
  need(test, [compiler ?? 'g++'], name, () => {
    const printed = mslOf('k', ptx(body, { shared: 512 }));
    if (typeof printed === 'string') throw new Error(printed);
    const built = buildStandIn(printed.text, printed.kernel);
    if (typeof built === 'string') throw new Error(built);
    const [after] = built.run({ grid: [1, 1, 1], block: [threads, 1, 1], bytes: [new Uint8Array(4 * expected.length), new Uint8Array(4)] });
    built.remove();
    assert.equal([...new Int32Array(after!.slice().buffer)], expected);
  });

test('every example is printed', () => {
  for (const name of exampleNames) assert.match(mslOfExample(name).text, /^kernel void \w+\(/m, name);
});

test.run();
