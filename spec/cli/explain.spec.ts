/** What `cumetal explain` says of instructions: every form that the words may mean, and none that they cannot. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { explainForms } from '../../src/ptx/index.ts';

const test = suite('cli/explain');

/** The syntax lines of what is explained. */
function linesOf(word: string): string[] {
  const forms = explainForms(word);
  assert.ok(Array.isArray(forms), String(forms));
  return forms.map(({ syntax }) => syntax);
}

test('a form of one row', () => {
  assert.equal(linesOf('fma.rn.f32'), ['fma.rn{.ftz}{.sat}.f32 d, a, b, c']);
  assert.equal(linesOf('bar.sync'), ['bar{.cta}.sync a{, b}']);
});

test('all forms that share words and differ in the number of their operands', () => {
  assert.equal(linesOf('min.f32'), ['min{.ftz}{.NaN}.type d, a, b', 'min{.ftz}{.NaN}{.abs}.f32 d, a, b, c']);
  assert.equal(linesOf('max.NaN.f32'), ['max{.ftz}{.NaN}.type d, a, b', 'max{.ftz}{.NaN}{.abs}.f32 d, a, b, c']);
  assert.equal(linesOf('min.abs.f32'), ['min{.ftz}{.NaN}{.abs}.f32 d, a, b, c']);
});

test('all calls, which differ in the lists of their operands', () => {
  assert.equal(linesOf('call.uni'), [
    'call{.uni} (d), f, (a)',
    'call{.uni} f, (a)',
    'call{.uni} f',
    'call{.uni} (d), f, (a), t',
    'call{.uni} f, (a), t',
    'call{.uni} f, t',
  ]);
});

test('a row that is refused does not stand beside the exact one that takes as many operands', () => {
  const forms = explainForms('atom.add.f32');
  assert.equal(Array.isArray(forms) && forms.map(({ syntax, status }) => [syntax, status]), [
    ['atom{.sem}{.scope}{.space}.op.type d, [a], b', 'Exact'],
  ]);
});

test('an opcode alone, or with words that it does not take, is all of its forms', () => {
  assert.is(linesOf('min').length, linesOf('min.nonsense').length);
  assert.ok(linesOf('min').length > 4);
});

test('what is no opcode has a suggestion', () => {
  assert.match(String(explainForms('mni.f32')), /^`mni\.f32` .*did you mean `min`\?/);
});

test.run();
