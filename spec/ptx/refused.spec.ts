/** Refused rows are legal PTX: NVIDIA's assembler accepts their forms for at least one version and architecture. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Row, refusalOf } from '../../src/ptx/model/row.ts';
import { allRows } from '../../src/ptx/table/index.ts';
import { refusedRows } from '../../src/ptx/table/refused/index.ts';
import { need } from '../support/need.ts';
import { functions } from './forms.ts';
import { refusedDataRows } from './refused-data-forms.ts';
import { declarations, refusedText } from './refused-forms.ts';
import { faultsOf, refusedByAll, sampled, type Trial, testReasons } from './refused-judge.ts';

const test = suite('ptx/refused');

/** The refused rows that `refused-data.spec.ts` does not test. */
const otherRows = (): readonly Row[] => {
  const tested = new Set(refusedDataRows().map(({ syntax }) => syntax));
  return refusedRows().filter(({ syntax }) => !tested.has(syntax));
};

const compiledRows = (): readonly Row[] => allRows().filter((row) => refusalOf(row) === undefined);

const trial: Trial = {
  max: 400,
  textsOf: refusedText,
  functions,
  declarations: `${declarations}\nL:`,
  targets: [
    ['9.0', 'sm_90a', 'sm_90a'],
    ['9.0', 'sm_100a', 'sm_100a'],
    ['9.0', 'sm_103a', 'sm_103a'],
    ['9.0', 'sm_120a', 'sm_120a'],
    ['9.0', 'sm_90a, texmode_independent', 'sm_90a'],
    ['6.3', 'sm_60', 'sm_75'],
    ['6.3', 'sm_75', 'sm_75'],
    ['8.0', 'sm_80', 'sm_80'],
  ],
};

need(test, ['ptxas'], 'every form of a refused row is one that ptxas takes', () => {
  const forms = otherRows().flatMap((row) => sampled(trial, row, 'legal'));
  assert.ok(forms.length > 1500, `${forms.length} forms`);
  assert.equal([...refusedByAll(trial, [...new Set(forms)])], []);
});

need(test, ['ptxas'], 'so is every form of textures and surfaces, whose operands have the same shapes', () => {
  const isImage = ({ source }: { readonly source: string }): boolean => /^9\.7\.1[01]\./.test(source);
  const rows = compiledRows().filter((row) => isImage(row) && row.operands.some(({ inBrackets }) => inBrackets.length > 0));
  assert.ok(rows.length > 7, `${rows.length} rows`);
  const forms = rows.flatMap((row) => sampled({ ...trial, max: 120 }, row, 'legal'));
  assert.equal([...refusedByAll(trial, [...new Set(forms)])], []);
});

need(test, ['ptxas'], 'what a refused row excludes is what ptxas refuses', () => {
  const forms = [...new Set(otherRows().flatMap((row) => (row.excludes.length > 0 ? sampled(trial, row, 'excluded') : [])))];
  const taken = trial.targets.slice(0, 4).flatMap((target) => {
    const faults = faultsOf(trial, forms, target);
    return forms.filter((form) => !faults.has(form)).map((form) => `${target[1]} ${form}`);
  });
  assert.equal(taken, []);
});

testReasons(test, otherRows);

test.run();
