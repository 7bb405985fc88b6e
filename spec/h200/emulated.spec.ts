/**
 * Double-precision values as pairs of floats: every form of the sweep on doubles has the results of the H200, except for those that
 * compute with pairs.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { sweepForms } from '../support/sweep/forms.ts';
import { readSweep, sweepDigest } from '../support/sweep/run.ts';

const test = suite('h200/emulated');

const computed = ['add', 'add.rn', 'sub', 'sub.rn', 'mul', 'mul.rn', 'fma.rn', 'mad.rn', 'div.rn', 'rcp.rn', 'sqrt.rn'];

test('forms that do not compute with pairs have the bits of the GPU', () => {
  const recorded = readSweep();
  const forms = sweepForms().filter(({ name, ptx }) => ptx.includes('f64') && recorded.has(name));
  assert.ok(forms.length > 300);
  const differing = forms.filter((form) => sweepDigest(form, 'macos15', 'emulate') !== recorded.get(form.name));
  const sums = forms.map(({ name }) => name).filter((name) => /^(?:atom|red)\..*add\.f64$/.test(name));
  assert.is(sums.length, 32);
  assert.equal(differing.map(({ name }) => name).sort(), [...computed.map((op) => `${op}.f64`), ...sums].sort());
});

test.run();
