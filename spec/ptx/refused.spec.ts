/** Rows that are legal PTX of few versions and architectures: NVIDIA's assembler accepts their forms for at least one of them. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Row, refusalOf } from '../../src/ptx/model/row.ts';
import { allRows } from '../../src/ptx/table/index.ts';
import { need } from '../support/need.ts';
import { functions, instructionText, declarations as plainDeclarations } from './forms.ts';
import { declarations, refusedText } from './refused-forms.ts';
import { faultsOf, refusedByAll, sampled, type Trial } from './refused-judge.ts';

const test = suite('ptx/refused');

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

/** Texts with the operands of the table. */
const plain: Trial = {
  ...trial,
  textsOf: (row, words) => [instructionText(row, words)],
  declarations: `${plainDeclarations.replaceAll('<9>', '<130>')}\nL:`,
};

/** Rows of one architecture, or of old versions alone, which `table.spec.ts` leaves out. */
const isRare = ({ syntax, withdrawn }: Row): boolean => syntax.startsWith('tcgen05.ld.red') || withdrawn?.ptx !== undefined;

need(test, ['ptxas'], 'every form of a rare row is one that ptxas takes', () => {
  const forms = compiledRows()
    .filter(isRare)
    .flatMap((row) => sampled(plain, row, 'legal'));
  assert.ok(forms.length > 150, `${forms.length} forms`);
  assert.equal([...refusedByAll(plain, [...new Set(forms)])], []);
});

need(test, ['ptxas'], 'so is every form of textures and surfaces', () => {
  const isImage = ({ source }: { readonly source: string }): boolean => /^9\.7\.1[01]\./.test(source);
  const rows = compiledRows().filter((row) => isImage(row) && row.operands.some(({ inBrackets }) => inBrackets.length > 0));
  assert.ok(rows.length > 7, `${rows.length} rows`);
  const forms = rows.flatMap((row) => sampled({ ...trial, max: 120 }, row, 'legal'));
  assert.equal([...refusedByAll(trial, [...new Set(forms)])], []);
});

need(test, ['ptxas'], 'what a row of tensor memory excludes is what ptxas refuses', () => {
  const rows = compiledRows().filter(({ name, excludes }) => name === 'tcgen05' && excludes.length > 0);
  const forms = [...new Set(rows.flatMap((row) => sampled({ ...plain, max: 60 }, row, 'excluded')))];
  assert.ok(forms.length > 300, `${forms.length} forms`);
  const taken = trial.targets.slice(1, 3).flatMap((target) => {
    const faults = faultsOf(plain, forms, target);
    return forms.filter((form) => !faults.has(form)).map((form) => `${target[1]} ${form}`);
  });
  assert.equal(taken, []);
});

test('no form of the manual is refused', () => {
  assert.equal(
    allRows().filter((row) => refusalOf(row) !== undefined || !(row.lower || row.control)),
    [],
  );
});

test.run();
