/**
 * Random programs (`spec/support/random-ptx.ts`), end to end against results of an NVIDIA H200: one in forty of the recorded ones.
 * `bun scripts/fuzz.ts check fixtures/h200/fuzz.json` runs all.
 */
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { fuzzDigest, fuzzForms, readRecording } from '../support/fuzz.ts';
import { randomProgram } from '../support/random-ptx.ts';

const test = suite('h200/fuzz');
const { from, digests } = readRecording(join(import.meta.dirname, '../../fixtures/h200/fuzz.json'));
const forms = fuzzForms();
const step = 40;
const each = 25;

test('the recording has a digest per program', () =>
  assert.ok(digests.length >= 10_000 && digests.every((digest) => /^[0-9a-f]{8}$/.test(digest))));

/** Odd and even numbers: `step` is even, so every other round starts at an odd one. */
const chosen = Array.from({ length: digests.length / step }, (_, i) => i * step + (i % 2));
for (let first = 0; first < chosen.length; first += each) {
  const some = chosen.slice(first, first + each);
  test(`programs ${some[0]} to ${some.at(-1)}`, () => {
    const got = some.map((i) => `${i} ${fuzzDigest(randomProgram(from + i, forms), i)}`);
    assert.equal(
      got,
      some.map((i) => `${i} ${digests[i]}`),
    );
  });
}

/**
 * Programs that failed once: 1660 has a condition that is known as soon as zeros have their signs, and 9823 a generic access that is never of the local
 * memory, which nothing else reads.
 */
const failed = [1660, 9823];
test('programs that failed once', () => {
  const got = failed.map((i) => `${i} ${fuzzDigest(randomProgram(from + i, forms), i)}`);
  assert.equal(
    got,
    failed.map((i) => `${i} ${digests[i]}`),
  );
});

test.run();
