/** Loads, stores and products by `wmma` against what an NVIDIA H200 gave to each thread, as `matrix.spec.ts` has it of `mma.sync`. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { recording, sumType, testForms } from '../support/matrix-recording.ts';

const test = suite('h200/wmma');

const forms = recording.forms.filter(({ form }) => form.startsWith('wmma'));
testForms(test, forms);

test('every shape, type and layout was recorded', () => {
  assert.ok(forms.length > 240);
  assert.ok(forms.filter((form) => sumType(form)).length > 50);
});

test.run();
