/** The header of a module, versions and targets: the diagnostics, strict and not, and agreement with `ptxas`. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { check, parse } from '../../src/ptx/index.ts';
import { need } from '../support/need.ts';
import { ptxasTakes } from '../support/ptxas.ts';

const test = suite('ptx/header');

const entry = '.entry k () { ret; }\n';

/** `CODE severity line:column message`. */
function said(text: string, isStrict = false): string[] {
  const file = new SourceFile('a.ptx', text);
  const diagnostics = new Diagnostics(file);
  check(parse(file, diagnostics), { isStrict }, diagnostics);
  return diagnostics.sorted().map(({ code, severity, labels, message }) => {
    const { line, column } = file.position(labels[0]!.span.start);
    return `${code} ${severity} ${line}:${column} ${message}`;
  });
}

/** Headers without their entry, the diagnostics, and whether ptxas accepts them. */
const headers: readonly (readonly [header: string, takes: boolean, ...said: string[]])[] = [
  ['.version 8.0\n.target sm_90\n.address_size 64\n', true],
  ['.version 8.0\n.target sm_90\n.target sm_80\n', true],
  ['.version 8.0\n.target sm_90, texmode_unified\n', true],
  ['.version 8.0\n.target compute_90\n', true],
  ['', false, 'CM2101 error 1:1 `.version` is missing', 'CM2101 error 1:1 `.target` is missing'],
  ['.version 8.0\n', false, 'CM2101 error 1:1 `.target` is missing'],
  ['.target sm_90\n', false, 'CM2101 error 1:9 `.version` is missing'],
  ['.target sm_90\n.version 8.0\n', false, 'CM2101 error 2:1 `.version` stands after `.target`'],
  ['.version 8.0\n.address_size 64\n.target sm_90\n', false, 'CM2101 error 3:9 `.target` stands after `.address_size`'],
  ['.version 8.0\n.global .u32 x;\n.target sm_90\n', false, 'CM2101 error 3:9 `.target` stands after a declaration'],
  ['.version 8.0\n.target sm_90\n.file 1 "a.cu"\n.address_size 64\n', false, 'CM2101 error 4:1 `.address_size` stands after a declaration'],
  ['.version 8.0\n.target debug\n', false, 'CM2101 error 2:9 `.target` names no architecture'],
  ['.version 8.9\n.target sm_90\n', false, 'CM2102 error 1:1 there is no PTX version 8.9'],
  ['.version 0.9\n.target sm_90\n', false, 'CM2102 error 1:1 there is no PTX version 0.9'],
  ['.version 1.9\n.target sm_10\n', false, 'CM2102 error 1:1 there is no PTX version 1.9'],
  ['.version 8.0\n.target sm_91\n', false, 'CM2103 error 2:9 `sm_91` is not a target'],
  ['.version 8.8\n.target sm_90f\n', false, 'CM2103 error 2:9 `sm_90f` is not a target'],
  ['.version 8.0\n.target sm_90, foo\n', false, 'CM2103 error 2:16 `foo` is not a target'],
  [
    '.version 8.0\n.target sm_90, texmode_independent, texmode_unified\n',
    false,
    'CM2104 error 2:37 `texmode_unified` is invalid in this `.target`: the module has `texmode_independent`',
  ],
  [
    '.version 8.0\n.target sm_90, map_f64_to_f32\n',
    false,
    'CM2104 error 2:16 `map_f64_to_f32` is invalid in this `.target`: `sm_90` has doubles',
  ],
  ['.version 1.4\n.target sm_10, map_f64_to_f32\n.func d () { .reg .f32 a; add.f32 a, a, a; ret; }', true],
  ['.version 9.1\n.target sm_90\n', false, 'CM2105 warning 1:1 PTX 9.1 is newer than 9.0, the newest one that this compiler supports'],
  ['.version 10.0\n.target sm_90\n', false, 'CM2105 warning 1:1 PTX 10.0 is newer than 9.0, the newest one that this compiler supports'],
  [
    '.version 9.0\n.target sm_140\n',
    false,
    'CM2105 warning 2:9 `sm_140` is newer than `sm_121`, the newest one that this compiler supports',
  ],
  ['.version 7.0\n.target sm_90\n', false, 'CM2106 warning 2:9 PTX 7.0 does not support `sm_90`, which was introduced in 7.8'],
  ['.version 7.8\n.target sm_90a\n', false, 'CM2106 warning 2:9 PTX 7.8 does not support `sm_90a`, which was introduced in 8.0'],
  ['.version 8.6\n.target sm_100f\n', false, 'CM2106 warning 2:9 PTX 8.6 does not support `sm_100f`, which was introduced in 8.8'],
  ['.version 8.0\n.target sm_90\n.address_size 48\n', false, 'CM2107 error 3:1 invalid address size of 48 bits'],
];

for (const [header, , ...wanted] of headers) test(JSON.stringify(header), () => assert.equal(said(header + entry), wanted));

test('strictly, what is newer is an error', () => {
  for (const [header, , ...wanted] of headers)
    assert.equal(
      said(header + entry, true),
      wanted.map((one) => one.replace(' warning ', ' error ')),
    );
});

test('CM2112: unknown pragmas, of the module and of functions', () => {
  const text = '.version 8.0\n.target sm_90\n.pragma "fast";\n.entry k () .pragma "nounroll"; .pragma "slow"; { ret; }\n';
  const wanted = ['CM2112 warning 3:1 unknown pragma `fast` is ignored', 'CM2112 warning 4:33 unknown pragma `slow` is ignored'];
  assert.equal(said(text), wanted);
  assert.equal(
    said(text, true),
    wanted.map((one) => one.replace(' warning ', ' error ')),
  );
});

const uses = (version: string, target: string): string =>
  `.version ${version}\n.target ${target}\n.entry k () { .reg .f32 %f<3>; .reg .b32 %r<3>;\nfma.rn.f32 %f1, %f1, %f1, %f2;\nfma.rn.f32 %f1, %f1, %f1, %f2;\nret; }\n`;

test('CM2110 and CM2111: an instruction that came later than the module says, each form once', () => {
  const said13 = said(uses('1.4', 'sm_13'));
  assert.equal(said13, [
    'CM2110 warning 4:1 `fma.rn.f32` requires PTX 2.0, but the module declares 1.4',
    'CM2111 warning 4:1 `fma.rn.f32` requires `sm_20`, but the module declares `sm_13`',
  ]);
  assert.equal(
    said(uses('1.4', 'sm_13'), true),
    said13.map((one) => one.replace(' warning ', ' error ')),
  );
  assert.equal(said(uses('2.0', 'sm_20')), []);
  assert.equal(said(uses('2.0', 'sm_13, sm_20')), [], 'the newest of several');
});

/** The manual computes them in single precision; 1.1 + 3.3 is 4.4 in double precision on an H200 whose driver compiled such a module. */
test('doubles that are to be computed as floats are refused, though ptxas takes them', () => {
  const header = '.version 1.4\n.target sm_11, map_f64_to_f32\n.func d () { .reg .f64 a; { add.f64 a, a, a; } ret; }';
  assert.equal(said(header + entry), [
    'CM2104 error 2:16 `map_f64_to_f32` is invalid in this `.target`: the module uses f64, which the manual and GPUs then compute differently',
  ]);
});

need(test, ['ptxas'], 'ptxas takes and refuses the same headers', async () => {
  const taken = await ptxasTakes(headers.map(([header]) => header + entry));
  assert.equal(
    headers.filter(([, takes], i) => takes !== taken[i]).map(([header]) => header),
    [],
  );
});

/** The version that introduced each architecture, and the one before it. */
const arrivals =
  'sm_20 2.0 1.5, sm_30 3.0 2.3, sm_50 4.0 3.2, sm_53 4.2 4.1, sm_60 5.0 4.3, sm_70 5.1 5.0, sm_75 6.3 6.2, sm_80 7.0 6.5, sm_86 7.1 7.0, sm_87 7.4 7.3, sm_89 7.8 7.7, sm_90 7.8 7.7'
    .split(', ')
    .map((one) => one.split(' ') as [string, string, string]);

need(test, ['ptxas'], 'versions and architectures go together as for ptxas', async () => {
  const texts = arrivals.flatMap(([target, ...versions]) => versions.map((version) => `.version ${version}\n.target ${target}\n${entry}`));
  assert.equal(
    texts.map((text) => said(text, true).length === 0),
    await ptxasTakes(texts),
  );
});

need(test, ['ptxas'], 'there are just the versions that ptxas knows', async () => {
  const versions = Array.from({ length: 100 }, (_, i) => `${Math.floor(i / 10)}.${i % 10}`);
  const texts = versions.map((version) => `.version ${version}\n.target sm_10\n${entry}`);
  const taken = await ptxasTakes(texts);
  assert.equal(
    versions.filter((_, i) => (said(texts[i]!, true).length === 0) !== taken[i]),
    [],
  );
});

test.run();
