/** Products of matrices by the instruction of the CPU device (`--target cpu`), against results of an NVIDIA H200, as `matrix.spec.ts` and `wmma.spec.ts`. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { recording, run, testForms } from '../support/matrix-recording.ts';

const test = suite('h200/matrix-cpu');

/** Half of the products that differ in shape, sum or kind of factors; `CUMETAL_PRODUCERS=all` takes all of them. */
const products = recording.forms.filter(({ form }) => /^w?mma\.(?!load|store)/.test(form));
const kindOf = (form: string): string =>
  form
    .replace(/\.(row|col)/g, '')
    .replace(/\.[us](?=[48]\b)/g, '.i')
    .replace(/\.e[45]m[23]/g, '.e')
    .replace(/\.(rn|rm|rp|rz)\b/, '')
    .replace(/\.(bf16|f16|e)(?=\.(bf16|f16|e))/g, '.h')
    .replace(/\.(xor|and)\b/, '');
const isWhole = process.env.CUMETAL_PRODUCERS === 'all';
const kinds = [...new Map(products.map((each) => [kindOf(each.form), each])).values()];
const forms = isWhole ? products : kinds.filter((_, i) => i % 2 === 0);
testForms(test, forms, (form) => run(form, 'exact', 'cpu'));

test('there are many of them', () => {
  assert.ok(forms.length >= 30, String(forms.length));
});

test.run();
