/** C++ names: against the output of `c++filt`, and the spellings by which a person names a kernel. */
import { readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { demangle, namesMeant, readableName, withReadableNames } from '../../src/base/demangle/index.ts';
import { withinCpuSeconds } from '../support/cpu-time.ts';

const test = suite('base/demangle');

const rows = readFileSync(new URL('../../fixtures/demangle/names.txt', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => line.split('\t') as [mangled: string, name: string]);

/** After an empty pack, c++filt forgets the space between two closing brackets. */
const closed = (text: string): string => text.replaceAll('> >', '>>').replaceAll('> >', '>>');

test('names of nvcc, g++ and clang are spelled as c++filt spells them', () => {
  assert.ok(rows.length > 400, `${rows.length} names`);
  const wrong = rows.filter(([mangled, name]) => closed(demangle(mangled) ?? '') !== closed(name));
  assert.equal(
    wrong.map(([mangled, name]) => ({ mangled, name, got: demangle(mangled) })),
    [],
  );
});

test('other names are none', () => {
  for (const name of ['scale', '_Z', '_Z5scal', '_Z5scaleIfEvPT_S9_', '_Z1fT_', '_Zxx', 'Z1fv', '_Z1fv junk', '_Z99999999999f', ''])
    assert.is(demangle(name), undefined, name);
  assert.is(readableName('scale'), 'scale');
  assert.is(readableName('_Z5scal'), '_Z5scal');
});

test('hostile names end soon', () => {
  const twice = (n: number): string =>
    `_Z1fP1AIS_S_E${Array.from({ length: n }, (_, i) => `1AIS${i.toString(36).toUpperCase()}_S${i.toString(36).toUpperCase()}_E`).join('')}`;
  withinCpuSeconds(5, () => {
    for (const name of [
      `_Z1f${'P'.repeat(10_000)}i`,
      `_Z${'N'.repeat(10_000)}`,
      `_Z1f${'I'.repeat(9000)}`,
      twice(40),
      `_Z1fF${'F'.repeat(5000)}`,
    ])
      demangle(name);
  });
});

test('every prefix and every damaged letter of a name is either a name or none', () => {
  for (const [mangled] of rows.filter((_, i) => i % 40 === 0))
    for (let i = 0; i < mangled.length; i++) {
      demangle(mangled.slice(0, i));
      demangle(`${mangled.slice(0, i)}${'IEST_N'[i % 6]}${mangled.slice(i + 1)}`);
    }
});

test('signatures in messages', () => {
  assert.is(readableName('_Z5scaleIfLi3EEvPT_N2ns1VIS0_EE'), 'scale<float, 3>(float*, ns::V<float>)');
  assert.is(readableName('_Z5scalePfi_param_1'), 'param_1');
  assert.is(readableName('_Zbad_param_1'), '_Zbad_param_1');
  assert.is(readableName('scale_param_1'), 'scale_param_1');
  assert.is(
    withReadableNames('kernel `_Z5scaleIfEvPT_S0_` reads `_Z`, `x` and _Z1fv'),
    'kernel `scale<float>(float*, float)` reads `_Z`, `x` and _Z1fv',
  );
});

const kernels = [
  '_Z5scaleIfEvPT_S0_',
  '_Z5scaleIdEvPT_S0_',
  '_ZN1a2v15scaleIiEEvPT_',
  '_ZN12_GLOBAL__N_14onlyEPf',
  'plain',
  '_Z1gPf',
  '_Z1gPd',
];

test('a person names a kernel', () => {
  const meant = (name: string): string[] => namesMeant(name, kernels);
  assert.equal(meant('plain'), ['plain']);
  assert.equal(meant('_Z1gPf'), ['_Z1gPf']);
  assert.equal(meant('only'), ['_ZN12_GLOBAL__N_14onlyEPf']);
  assert.equal(meant('scale<float>'), ['_Z5scaleIfEvPT_S0_']);
  assert.equal(meant('scale< float >( float *, float )'), ['_Z5scaleIfEvPT_S0_']);
  assert.equal(meant('void scale<double>(double*, double)'), ['_Z5scaleIdEvPT_S0_']);
  for (const name of ['a::v1::scale', 'v1::scale', 'v1::scale<int>', 'scale<int>', 'a::v1::scale<int>(int*)'])
    assert.equal(meant(name), ['_ZN1a2v15scaleIiEEvPT_'], name);
  assert.equal(meant('scale'), kernels.slice(0, 3));
  assert.equal(meant('g'), ['_Z1gPf', '_Z1gPd']);
  assert.equal(meant('g(float*)'), ['_Z1gPf']);
  for (const name of ['cale', 'a::scale', 'scale<long>', 'g()', 'v1']) assert.equal(meant(name), [], name);
});

test.run();
