/** Tests of the sweep: some forms of each row, against the results of an NVIDIA H200. */
import type { Test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Row } from '../../../src/ptx/model/row.ts';
import { type SweepForm, someForms } from './forms.ts';
import { readSweep, sweepDigest } from './run.ts';
import { isRecordable } from './unrecorded.ts';

/** Beside those that every word needs, one form in so many is tried. */
const step = 100;

/**
 * Adds a test for each requested row with every modifier of it. Forms are compiled alternately for macOS 15 and for `cpu`; `change` may put
 * them in another kernel with the same results, and `most` limits the forms of a row.
 */
export function testRows(
  test: Test,
  isAsked: (row: Row) => boolean,
  { change = (form: SweepForm): SweepForm => form, most = Number.POSITIVE_INFINITY } = {},
): void {
  const recorded = readSweep();
  let turn = 0;
  for (const [row, all] of someForms(step)) {
    if (!isAsked(row)) continue;
    const some = all.filter((form) => recorded.has(form.name) || isRecordable(form)).slice(0, most);
    if (some.length === 0) continue;
    test(row.syntax, () => {
      const got = some.map((form) => `${sweepDigest(change(form), turn++ % 2 === 0 ? 'macos15' : 'cpu')} ${form.name}`);
      assert.equal(
        got,
        some.map(({ name }) => `${recorded.get(name)} ${name}`),
      );
    });
  }
}

/** Whether a row reads or writes memory. */
export const hasMemory = ({ operands }: Row): boolean => operands.some(({ isAddress }) => isAddress);
