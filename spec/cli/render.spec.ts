import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Diagnostic, Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { githubLine, sarif } from '../../src/cli/terminal/formats.ts';
import { renderAll, renderDiagnostic } from '../../src/cli/terminal/render.ts';

const test = suite('cli/render');

const text = 'first\n  add.s32 %r3, %r1, %r2;\n\tret;\nlast';
const file = new SourceFile('k.ptx', text);
const spanOf = (word: string, from = text) => ({ start: from.indexOf(word), end: from.indexOf(word) + word.length });
const error = (more: Partial<Diagnostic>): Diagnostic => ({
  code: 'CM1101',
  severity: 'error',
  message: '`%r2` is not declared',
  file,
  labels: [],
  notes: [],
  ...more,
});

const golden: [why: string, diagnostic: Diagnostic, wanted: string[]][] = [
  [
    'a line with its caret, note and help',
    error({ labels: [{ span: spanOf('%r2'), text: 'not found in this scope' }], notes: ['registers end at `%r1`'], help: 'declare it' }),
    [
      'error[CM1101]: `%r2` is not declared',
      ' --> k.ptx:2:21',
      '  |',
      '2 |   add.s32 %r3, %r1, %r2;',
      '  |                     ^^^ not found in this scope',
      '  = note: registers end at `%r1`',
      '  = help: declare it',
      '',
    ],
  ],
  [
    'a tab is four columns on the screen and one in the place',
    error({ severity: 'warning', labels: [{ span: spanOf('ret'), text: '' }] }),
    ['warning[CM1101]: `%r2` is not declared', ' --> k.ptx:3:2', '  |', '3 |     ret;', '  |     ^^^', ''],
  ],
  [
    'labels on several lines, the first being the main one',
    error({
      labels: [
        { span: spanOf('last'), text: 'here' },
        { span: spanOf('first'), text: 'because of this' },
        { span: spanOf('%r1'), text: '' },
      ],
    }),
    [
      'error[CM1101]: `%r2` is not declared',
      ' --> k.ptx:4:1',
      '  |',
      '1 | first',
      '  | ----- because of this',
      '2 |   add.s32 %r3, %r1, %r2;',
      '  |                ---',
      '  ⋮',
      '4 | last',
      '  | ^^^^ here',
      '',
    ],
  ],
  ['a file without a place', error({}), ['error[CM1101]: `%r2` is not declared', ' --> k.ptx', '']],
  [
    'an empty span still has a caret, at the end of the file too',
    error({ labels: [{ span: { start: 999, end: 999 }, text: '' }] }),
    ['error[CM1101]: `%r2` is not declared', ' --> k.ptx:4:5', '  |', '4 | last', '  |     ^', ''],
  ],
];
for (const [why, diagnostic, wanted] of golden) test(why, () => assert.is(renderDiagnostic(diagnostic), wanted.join('\n')));

test('no file at all', () => {
  const diagnostics = new Diagnostics();
  diagnostics.report('CM6001', { name: 'cuda' });
  assert.is(
    renderDiagnostic(diagnostics.list[0]!),
    'error[CM6001]: device `cuda` is not available on this machine\n  = help: `cumetal devices` lists the available devices\n',
  );
});

test('a span over lines is marked to the end of its first', () => {
  const got = renderDiagnostic(error({ labels: [{ span: { start: text.indexOf('%r1'), end: text.length }, text: '' }] }));
  assert.match(got, '  |                ^^^^^^^^^\n');
});

test('columns count code points', () => {
  const wide = new SourceFile('k.ptx', '𝒳𝒳 bad');
  const got = renderDiagnostic(error({ file: wide, labels: [{ span: { start: 5, end: 8 }, text: '' }] }));
  assert.match(got, 'k.ptx:1:4\n');
  assert.match(got, '\n  |    ^^^\n');
});

test('a very long line is cut around the caret', () => {
  const long = new SourceFile('k.ptx', `${'x'.repeat(5000)}bad${'y'.repeat(5000)}`);
  const lines = renderDiagnostic(error({ file: long, labels: [{ span: { start: 5000, end: 5003 }, text: '' }] })).split('\n');
  assert.match(lines[1]!, 'k.ptx:1:5001');
  assert.ok(lines[3]!.length < 180);
  assert.is(lines[3]!.indexOf('bad'), lines[4]!.indexOf('^^^'));
});

test('a label at either end of a very long line, and two labels far apart', () => {
  const long = new SourceFile('k.ptx', `${'é'.repeat(30_000)}`);
  const shown = (labels: readonly [number, number][]): string[] =>
    renderDiagnostic(error({ file: long, labels: labels.map(([start, end]) => ({ span: { start, end }, text: '' })) }))
      .split('\n')
      .slice(3);
  assert.equal(shown([[2, 4]]).slice(0, 2), [`1 | ${'é'.repeat(160)}…`, '  |   ^^']);
  assert.equal(shown([[29_999, 30_000]]).slice(0, 2), [`1 | …${'é'.repeat(40)}`, `  | ${' '.repeat(40)}^`]);
  const both = shown([
    [15_000, 15_001],
    [3, 4],
  ]);
  assert.equal(both.slice(0, 2), [`1 | …${'é'.repeat(159)}…`, `  | ${' '.repeat(40)}^`]);
  assert.is(both[2], '', 'what is out of sight is not marked');
});

test('control characters of the input do not reach the terminal', () => {
  const evil = new SourceFile('k.ptx', '\u001b[31mred\u0007');
  const got = renderDiagnostic(error({ file: evil, message: 'found \u001b[2J', labels: [{ span: { start: 0, end: 1 }, text: '' }] }));
  assert.not.match(got, '\u001b');
  assert.match(got, 'found \ufffd[2J');
});

test('color is there when asked for, and changes nothing else', () => {
  const one = error({ labels: [{ span: spanOf('%r2'), text: 'here' }], notes: ['n'], help: 'h' });
  const painted = renderDiagnostic(one, true);
  assert.match(painted, '\u001b[1;31merror[CM1101]\u001b[0m');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: removing the color codes
  assert.is(painted.replace(/\u001b\[[\d;]*m/g, ''), renderDiagnostic(one));
});

test('twenty are printed, the rest are counted', () => {
  const list = Array.from({ length: 24 }, (_, i) => error({ severity: i === 22 ? 'warning' : 'error' }));
  const got = renderAll(list);
  assert.is(got.split('error[CM1101]').length - 1, 20);
  assert.ok(got.endsWith('\nand 3 errors and 1 warning more\n'));
  assert.is(renderAll([]), '');
});

test('a SARIF log has what the standard requires', () => {
  const log = JSON.parse(JSON.stringify(sarif([error({ labels: [{ span: spanOf('%r2'), text: '' }] })], { version: '1.2.3' })));
  assert.is(log.version, '2.1.0');
  assert.is(log.runs[0].tool.driver.name, 'cumetal');
  const [result] = log.runs[0].results;
  assert.equal([result.ruleId, result.level, result.message.text], ['CM1101', 'error', '`%r2` is not declared']);
  assert.is(log.runs[0].tool.driver.rules[result.ruleIndex].id, 'CM1101');
  assert.equal(result.locations[0].physicalLocation, {
    artifactLocation: { uri: 'k.ptx' },
    region: { startLine: 2, startColumn: 21, endLine: 2, endColumn: 24, snippet: { text: '%r2' } },
  });
});

test('files of the current folder are named without `./`, as GitHub names those of a repository', () => {
  const labels = [{ span: spanOf('%r2'), text: '' }];
  const paths = { './k.ptx': 'k.ptx', '././a/k.ptx': 'a/k.ptx', '../k.ptx': '../k.ptx', '.k.ptx': '.k.ptx' };
  for (const [path, name] of Object.entries(paths)) {
    const one = error({ file: new SourceFile(path, text), labels });
    assert.match(JSON.stringify(sarif([one], { version: '1.2.3' })), `"uri":"${name}"`);
    assert.match(githubLine(one), `file=${name},`);
  }
});

test('a GitHub command escapes what would end it', () => {
  const odd = new SourceFile('a,b:c.ptx', text);
  const got = githubLine(error({ file: odd, message: '50%\nmore', labels: [{ span: spanOf('%r2'), text: '' }] }));
  assert.is(got, '::error file=a%2Cb%3Ac.ptx,line=2,endLine=2,col=21,endColumn=24,title=CM1101::50%25%0Amore');
});

test.run();
