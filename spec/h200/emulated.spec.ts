/**
 * Doubles as pairs of floats: every form of the sweep that has doubles leaves what the H200 left, but for those that are computed
 * with pairs.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { sweepForms } from '../support/sweep/forms.ts';
import { readSweep, sweepDigest } from '../support/sweep/run.ts';

const test = suite('h200/emulated');

const computed = ['add', 'add.rn', 'sub', 'sub.rn', 'mul', 'mul.rn', 'fma.rn', 'mad.rn', 'div.rn', 'rcp.rn', 'sqrt.rn'];

test('what is not computed with pairs is what the GPU left, bit for bit', () => {
  const recorded = readSweep();
  const forms = sweepForms().filter(({ ptx }) => ptx.includes('f64'));
  assert.ok(forms.length > 300);
  const differing = forms.filter((form) => sweepDigest(form, 'macos15', 'emulate') !== recorded.get(form.name));
  assert.equal(differing.map(({ name }) => name).sort(), computed.map((op) => `${op}.f64`).sort());
});

test.run();
