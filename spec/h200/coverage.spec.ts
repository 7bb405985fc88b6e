/**
 * What the recordings of an NVIDIA H200 cover: each row of the instruction table that is compiled, and each word of it, occurs in
 * a kernel that was recorded, or a reason says who judges it instead. The specs beside this one run what was recorded.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Row, refusalOf } from '../../src/ptx/model/row.ts';
import { allRows } from '../../src/ptx/table/index.ts';
import { countedRows, recordedRows } from '../support/sweep/coverage.ts';
import { formsOf } from '../support/sweep/words.ts';

const test = suite('h200/coverage');

/** Who judges what no H200 was asked for. `word`: one word alone. */
const reasons: readonly { readonly applies: (row: Row) => boolean; readonly word?: string; readonly why: string }[] = [
  { applies: ({ since }) => since.sm > 90, why: 'an H200 does not have it: worked examples of the table, exact arithmetic in spec/ptx' },
  {
    applies: ({ name }) => name === 'trap',
    why: 'it ends the launch, and with it what the driver does for the process: spec/device/stop.spec.ts',
  },
  {
    applies: ({ name }) => name === 'cvta',
    word: 'u32',
    why: 'of addresses of 32 bits, for which there is no driver: spec/lower/memory.spec.ts',
  },
];
const reasonFor = (row: Row, word?: string): string | undefined =>
  reasons.find((each) => each.applies(row) && (each.word === undefined || each.word === word))?.why;

const compiled = allRows().filter((row) => !refusalOf(row));
const seen = recordedRows();

/** The words that occur in a form of the row: its exclusions may take all of those of a word away. */
const wordsOf = (row: Row): string[] => [
  ...new Set(formsOf(row).flatMap(({ modifiers }) => Object.entries(modifiers).map(([slot, word]) => `${slot}=${word}`))),
];

test('each row that is compiled was recorded, or it is said who judges it', () => {
  const missing = compiled.filter((row) => !seen.has(row) && !reasonFor(row));
  assert.equal(
    missing.map(({ syntax }) => syntax),
    [],
  );
});

test('so was each word of each row', () => {
  const missing = compiled.flatMap((row) =>
    wordsOf(row)
      .filter((key) => !seen.get(row)?.has(key) && !reasonFor(row, key.slice(key.indexOf('=') + 1)))
      .map((key) => `${row.syntax}: ${key}`),
  );
  assert.equal(missing, []);
});

test('a reason is given only for what was not recorded', () => {
  const idle = reasons.filter(({ applies, word }) =>
    compiled.filter(applies).every((row) => (word ? [...(seen.get(row) ?? [])].some((key) => key.endsWith(`=${word}`)) : seen.has(row))),
  );
  assert.equal(
    idle.map(({ why }) => why),
    [],
  );
});

test.after(() => console.log(countedRows(seen)));
test.run();
