/** Products of matrices by the instruction of the CPU device (`--target cpu`), against results of an NVIDIA H200, as `matrix.spec.ts` and `wmma.spec.ts`. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { recording, run, testForms } from '../support/matrix-recording.ts';

const test = suite('h200/matrix-cpu');

/** One product of each shape and sum, of factors that are drawn from all: the others differ in their layout or in the signs of their factors. */
const products = recording.forms.filter(({ form }) => /^w?mma\.(?!load|store)/.test(form));
const kindOf = (form: string): string =>
  form
    .replace(/\.(row|col)/g, '')
    .replace(/\.[us](?=[48]\b)/g, '.i')
    .replace(/\.e[45]m[23]/g, '.e')
    .replace(/\.(rm|rp|rz)\b/, '.rz');
const forms = [...new Map(products.map((each) => [kindOf(each.form), each])).values()];
testForms(test, forms, (form) => run(form, 'exact', 'cpu'));

test('there are many of them', () => {
  assert.ok(forms.length > 50, String(forms.length));
});

test.run();
