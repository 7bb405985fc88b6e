/**
 * Coverage of the H200 recordings: each compiled row of the instruction table, and each of its modifiers, occurs in a recorded kernel,
 * or has a reason that names another test. The specs in this folder run the recorded kernels.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Row, refusalOf } from '../../src/ptx/model/row.ts';
import { allRows } from '../../src/ptx/table/index.ts';
import { countedRows, recordedRows } from '../support/sweep/coverage.ts';
import { reasonFor, reasons } from '../support/sweep/unrecorded.ts';
import { formsOf } from '../support/sweep/words.ts';

const test = suite('h200/coverage');

const compiled = allRows().filter((row) => !refusalOf(row));
const recorded = recordedRows();

/** Modifiers that occur in a form of the row: exclusions may rule one out completely. */
const wordsOf = (row: Row): string[] => [
  ...new Set(formsOf(row).flatMap(({ modifiers }) => Object.entries(modifiers).map(([slot, word]) => `${slot}=${word}`))),
];

test('each compiled row is recorded, or has a reason', () => {
  const missing = compiled.filter((row) => !recorded.has(row) && !reasonFor(row));
  assert.equal(
    missing.map(({ syntax }) => syntax),
    [],
  );
});

test('so is each modifier of each row', () => {
  const missing = compiled.flatMap((row) =>
    wordsOf(row)
      .filter((key) => !recorded.get(row)?.has(key) && !reasonFor(row, key.slice(key.indexOf('=') + 1)))
      .map((key) => `${row.syntax}: ${key}`),
  );
  assert.equal(missing, []);
});

test('reasons are given only for what is not recorded', () => {
  const idle = reasons.filter(({ applies, word }) =>
    compiled
      .filter(applies)
      .every((row) => (word ? [...(recorded.get(row) ?? [])].some((key) => key.endsWith(`=${word}`)) : recorded.has(row))),
  );
  assert.equal(
    idle.map(({ why }) => why),
    [],
  );
});

test.after(() => console.log(countedRows(recorded)));
test.run();
