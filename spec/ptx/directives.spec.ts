/** Directives of entries that would change the computation are refused, and others are not; ptxas accepts all of them. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { compile } from '../../src/compile/index.ts';
import { need } from '../support/need.ts';
import { ptxasTakes } from '../support/ptxas.ts';

const test = suite('ptx/directives');

const textOf = (directives: string): string =>
  `.version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n${directives}\n{ ret; }\n`;

function said(directives: string, target: 'macos15' | 'cpu' = 'macos15'): string[] {
  const file = new SourceFile('a.ptx', textOf(directives));
  const diagnostics = new Diagnostics(file);
  compile(file, { target }, diagnostics);
  return diagnostics.sorted().map(({ code, labels, message, help }) => {
    const { line, column } = file.position(labels[0]!.span.start);
    assert.match(help ?? '', 'cluster');
    return `${code} ${line}:${column} ${message}`;
  });
}

const honoured = [
  '.maxclusterrank 8',
  '.reqnctapercluster 1',
  '.reqnctapercluster 1, 1, 1',
  '.reqnctapercluster 2',
  '.reqnctapercluster 1, 2, 1',
  '.explicitcluster',
  '.minnctapersm 2',
  '.maxntid 32, 4, 1',
  '',
];
const refused: readonly (readonly [string, ...string[]])[] = [
  [
    '.reqntid 32, 1, 1\n.reqnctapercluster 2, 1, 1\n.blocksareclusters',
    'CM2055 7:1 `.blocksareclusters` is not supported: the grid of a launch counts blocks, and not clusters',
  ],
];

for (const directives of honoured)
  test(`${directives || 'none'} is taken`, () => assert.equal([said(directives), said(directives, 'cpu')], [[], []]));
for (const [directives, ...messages] of refused) test(`${directives} is refused`, () => assert.equal(said(directives), messages));

need(test, ['ptxas'], 'ptxas takes them all', async () => {
  const all = [...honoured, ...refused.map(([directives]) => directives)];
  assert.equal(
    await ptxasTakes(all.map(textOf)),
    all.map(() => true),
  );
});

test.run();
