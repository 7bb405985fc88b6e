/**
 * Matrix products of floats as simdgroup matrices (`--mma=fast`), end to end: within the bounds of their rows of the results of an NVIDIA
 * H200, equal for integers, and within bounds of the exact sums.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { MmaMode } from '../../src/compile/index.ts';
import { type Form, poolsOf, recording, run, sumType, testForms } from '../support/matrix-recording.ts';
import { judgedExactly, numbersOf } from '../support/matrix-sums.ts';

const test = suite('h200/matrix-fast');

const forms = recording.forms.filter((form) => sumType(form));
/** Results by form; each form is run once per mode. */
const given = new Map<string, Uint8Array>();
function resultsOf(form: Form, mma: MmaMode): Uint8Array {
  const known = given.get(`${form.form} ${mma}`) ?? run(form, mma);
  given.set(`${form.form} ${mma}`, known);
  return known;
}

testForms(test, forms, (form) => resultsOf(form, 'fast'));

test('all matrix products of floats are recorded', () => {
  assert.ok(forms.length >= 100);
});

/** Bits, with all NaNs equal. */
const bitsOf = (type: 'f16' | 'f32', bytes: Uint8Array): string[] =>
  numbersOf(type, bytes).map((x) => (Object.is(x, -0) ? '-0' : String(x)));

/** The layouts of the factors do not affect the result. */
const inRows = forms.filter(({ form }) => form.includes('.row.col.'));

test('on the CPU device both modes add in the same order', () => {
  for (const form of inRows) {
    const [exact, fast] = (['exact', 'fast'] as const).map((mma) => bitsOf(sumType(form)!, resultsOf(form, mma)));
    assert.equal(fast, exact, form.form);
  }
});

test('the sum of one product is the addend of the next', () => {
  const chained = inRows
    .filter((_, i) => i % 4 === 0)
    .flatMap((form): Form[] => {
      const [line] = form.code.filter((each) => /^w?mma\.(mma\.)?sync/.test(each));
      const [d, , , c] = [...line!.matchAll(/\{[^}]*\}/g)].map(([operand]) => operand);
      // A product whose sum has other registers than its addend cannot be chained.
      return d!.length === c!.length
        ? [{ ...form, code: form.code.flatMap((each) => (each === line ? [each, each.replace(c!, d!)] : [each])) }]
        : [];
    });
  assert.ok(chained.length > 6);
  for (const form of chained) {
    const [exact, fast] = (['exact', 'fast'] as const).map((mma) => bitsOf(sumType(form)!, run(form, mma)));
    assert.equal(fast, exact, form.form);
  }
});

const plain = forms.filter(({ form }) => form.startsWith('mma.sync.aligned.m16'));
for (const mode of ['exact', 'fast'] as const)
  for (const form of plain)
    test(`${mode}: ${form.form} is within its bound of the exact sum`, () => {
      const type = sumType(form)!;
      const found = numbersOf(type, resultsOf(form, mode));
      const { kept, broken, open } = judgedExactly(form.form, type, form.count, form.trials, poolsOf(form), found);
      assert.is(broken, 0);
      assert.ok(kept > open, `${kept} of ${kept + open} numbers are finite`);
    });

test.run();
