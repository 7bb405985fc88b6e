/**
 * Products by `mma.sync`, and tiles by `ldmatrix`, `stmatrix` and `movmatrix`, against what an NVIDIA H200 gave to each thread. Moves,
 * integers and doubles are the same bits; sums of other floats are as near as their rows promise, and the same bits where all is whole
 * numbers.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { recording, sumType, testForms } from '../support/matrix-recording.ts';

const test = suite('h200/matrix');

const forms = recording.forms.filter(({ form }) => !form.startsWith('wmma'));
testForms(test, forms);

test('every shape and type was recorded', () => {
  assert.ok(forms.length > 120);
  assert.ok(forms.filter((form) => sumType(form)).length > 30);
});

test.run();
