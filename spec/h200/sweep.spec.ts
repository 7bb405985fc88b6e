/**
 * The forms of the instruction table with edge values, end to end (PTX, metallib, CPU device) against results of an NVIDIA H200: each
 * row without memory accesses, each of its modifiers, and one in a hundred of the other combinations.
 * `bun scripts/sweep.ts check fixtures/h200/sweep.json` runs all, each for both kinds of target.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type SweepForm, sweepForms } from '../support/sweep/forms.ts';
import { hasMemory, testRows } from '../support/sweep/judge.ts';
import { readSweep } from '../support/sweep/run.ts';
import { isRecordable } from '../support/sweep/unrecorded.ts';

const test = suite('h200/sweep');

test('each form of the table with a kernel is recorded', () => {
  const [recorded, forms] = [readSweep(), sweepForms()];
  assert.ok(forms.length > 6000);
  assert.is(new Set(forms.map(({ name }) => name)).size, forms.length, 'names are unique');
  const isMissing = ({ name }: SweepForm): boolean => !/^[0-9a-f]{8}$/.test(recorded.get(name) ?? '');
  const missing = forms.filter((form) => isMissing(form) && (recorded.has(form.name) || isRecordable(form)));
  assert.equal(
    missing.map(({ name }) => name),
    [],
  );
  assert.is(recorded.size, forms.filter(({ name }) => recorded.has(name)).length, 'the recording has no other forms');
});

testRows(test, (row) => !hasMemory(row));

test.run();
