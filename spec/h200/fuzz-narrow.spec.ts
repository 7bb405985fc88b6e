/**
 * Random programs of values of which much is known (`spec/support/random-narrow.ts`): against results of an NVIDIA H200, one in forty of the recorded ones, and
 * against their twins, which load what the others have as constants. `bun scripts/fuzz.ts check fixtures/h200/fuzz-narrow.json` runs all.
 */
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { fuzzDigest, fuzzForms, fuzzResult, readRecording } from '../support/fuzz.ts';
import { narrowProgram } from '../support/random-narrow.ts';

const test = suite('h200/fuzz-narrow');
const { kind, from, digests } = readRecording(join(import.meta.dirname, '../../fixtures/h200/fuzz-narrow.json'));
const forms = fuzzForms();
const step = 40;
const each = 25;

test('the recording has a digest per program', () =>
  assert.ok(digests.length === 3000 && digests.every((digest) => /^[0-9a-f]{8}$/.test(digest))));

/** Odd and even numbers: `step` is even, so every other round starts at an odd one. */
const chosen = Array.from({ length: digests.length / step }, (_, i) => i * step + (i % 2));
for (let first = 0; first < chosen.length; first += each) {
  const some = chosen.slice(first, first + each);
  test(`programs ${some[0]} to ${some.at(-1)}`, () => {
    const got = some.map((i) => `${i} ${fuzzDigest(kind.program(from + i, forms), i, kind)}`);
    assert.equal(
      got,
      some.map((i) => `${i} ${digests[i]}`),
    );
  });
}

test('constants that are loaded give what known ones give', () => {
  for (let number = 0; number < 24; number++) {
    const { ptx, constants } = narrowProgram(number, forms, 'loaded');
    const loaded = fuzzResult(ptx, number, kind, [BigUint64Array.from(constants.length > 0 ? constants : [0n])]);
    assert.equal(loaded, fuzzResult(kind.program(number, forms), number, kind), `program ${number}`);
  }
});

test.run();
