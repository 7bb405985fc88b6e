/**
 * Random programs of warp collectives with member masks (`spec/support/random-warps.ts`), end to end against results of an NVIDIA H200:
 * one in 44 of the recorded ones. `bun scripts/compare-warps.ts check` runs all and counts them by class.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { randomWarps, type WarpClass, warpClasses } from '../support/random-warps.ts';
import { compareWarps, type HowToRun, recordedWarps, textDigest } from '../support/warps/recording.ts';

const test = suite('h200/warps');
const recorded = recordedWarps();
const numbers = [...recorded.keys()];

test('5,000 programs are recorded; the compiler of the GPU gives two of them no single result', () => {
  assert.is(numbers.length, 5000);
  const without = numbers.filter((number) => recorded.get(number)!.output === undefined);
  assert.equal(without, [131, 4114]);
});

test('the generator writes the programs that were recorded', () => {
  // After a change of the generator the programs have to be recorded again: `scripts/record/warps.py`.
  const others = numbers
    .filter((number) => number % 10 === 0)
    .filter((number) => textDigest(randomWarps(number).ptx) !== recorded.get(number)!.text);
  assert.equal(others, [], 'another text than the recorded one');
});

const timeoutMs = 5000;
const engines: readonly HowToRun[] = [{ engine: 'auto' }, { engine: 'lane' }];
const others: readonly HowToRun[] = [{ threads: 2 }, { schedule: { kind: 'reverse' } }, { schedule: { kind: 'rand', seed: 7 } }];
const chosen = numbers.filter((number) => number % 44 === 0 && recorded.get(number)!.output !== undefined);

for (const kind of Object.keys(warpClasses) as WarpClass[]) {
  const some = chosen.filter((number) => randomWarps(number).kind === kind);
  const name = `${kind}: programs ${some.join(', ')}`;
  test(name, () => {
    assert.ok(some.length > 7);
    // Every third program runs with two threads and in other orders too.
    const ways = (i: number): readonly HowToRun[] => (i % 3 === 0 ? [...engines, ...others] : engines);
    const wrong = some.flatMap((number, i) => {
      const how = ways(i).map((way) => ({ timeoutMs, ...way }));
      const found = compareWarps(number, recorded.get(number), how);
      return found.flatMap(({ outcome, why }, j) =>
        outcome === 'same' ? [] : [`${number} ${JSON.stringify(ways(i)[j])}: ${outcome} ${why}`],
      );
    });
    assert.equal(wrong, []);
  });
}

test.run();
