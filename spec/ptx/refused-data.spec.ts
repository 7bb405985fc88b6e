/**
 * Forms of copies of tensors are legal PTX: NVIDIA's assembler accepts each for at least one version and architecture.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { tensorRows } from '../../src/ptx/table/async/tensor.ts';
import { tensorLoadRows } from '../../src/ptx/table/async/tensor-loads.ts';
import { tensorMapRows } from '../../src/ptx/table/async/tensor-map-rows.ts';
import { need } from '../support/need.ts';
import { declarations, refusedTexts } from './refused-data-forms.ts';
import { refusedByAll, sampled, type Trial } from './refused-judge.ts';

const test = suite('ptx/refused-data');

const trial: Trial = {
  max: 60,
  textsOf: refusedTexts,
  functions: '',
  declarations,
  targets: [
    ['9.0', 'sm_100a', 'sm_100a'],
    ['9.0', 'sm_90a', 'sm_90a'],
    ['6.3', 'sm_60', 'sm_75'],
    ['2.3', 'sm_13', 'sm_90'],
  ],
};

need(test, ['ptxas'], 'every form of a row of tensors is one that ptxas takes', () => {
  const rows = [...tensorRows(), ...tensorLoadRows(), ...tensorMapRows()];
  const forms = [...new Set(rows.flatMap((row) => sampled({ ...trial, max: 30 }, row, 'legal')))];
  assert.ok(forms.length > 200, `${forms.length} forms`);
  assert.equal([...refusedByAll(trial, forms)], []);
});

need(test, ['ptxas'], 'what a row of tensors excludes is what ptxas refuses', () => {
  const rows = tensorLoadRows().filter(({ excludes }) => excludes.length > 0);
  const forms = [...new Set(rows.flatMap((row) => sampled(trial, row, 'excluded')))];
  assert.ok(forms.length > 100, `${forms.length} forms`);
  const refused = refusedByAll(trial, forms);
  assert.equal(
    forms.filter((form) => !refused.has(form)),
    [],
  );
});

test.run();
