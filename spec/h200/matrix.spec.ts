/**
 * Products by `mma.sync`, and tiles by `ldmatrix`, `stmatrix` and `movmatrix`, against results of an NVIDIA H200 for each thread. Moves,
 * integers and doubles are bit-exact; sums of other floats are within the bounds of their rows, and bit-exact for integers.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { recording, sumType, testForms } from '../support/matrix-recording.ts';

const test = suite('h200/matrix');

const forms = recording.forms.filter(({ form }) => !form.startsWith('wmma'));
testForms(test, forms);

test('every shape and type is recorded', () => {
  assert.ok(forms.length > 120);
  assert.ok(forms.filter((form) => sumType(form)).length > 30);
});

test.run();
