/** Loads, stores and products by `wmma` against results of an NVIDIA H200 for each thread; see `matrix.spec.ts` for `mma.sync`. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { recording, sumType, testForms } from '../support/matrix-recording.ts';

const test = suite('h200/wmma');

const forms = recording.forms.filter(({ form }) => form.startsWith('wmma'));
testForms(test, forms);

test('every shape, type and layout is recorded', () => {
  assert.ok(forms.length > 240);
  assert.ok(forms.filter((form) => sumType(form)).length > 50);
});

test.run();
