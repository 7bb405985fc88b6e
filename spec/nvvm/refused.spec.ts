/** What the translation refuses, with the line of the `.cu` file (`fixtures/nvvm/refused/refused.cu`); and damaged or foreign bitcode. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { writeModule } from '../../src/bitcode/index.ts';
import { ptxOfBitcode } from '../../src/nvvm/index.ts';

const test = suite('nvvm/refused');
const folder = join(import.meta.dirname, '../../fixtures/nvvm/refused');
const bitcode = (name: string): Uint8Array => new Uint8Array(readFileSync(join(folder, `${name}.bc`)));

function said(bytes: Uint8Array): string[] {
  const diagnostics = new Diagnostics();
  assert.is(ptxOfBitcode(bytes, diagnostics), undefined);
  return diagnostics.list.map(({ code, message }) => `${code} ${message}`);
}

const refused: readonly (readonly [string, readonly string[]])[] = [
  [
    'variadic',
    [
      'the variadic function _Z4manyiz, in `_Z4manyiz` at variadic.cu',
      'a call of a variadic function, _Z4manyiz, in `variadic` at variadic.cu:6:58',
    ],
  ],
  ['undefined', ['a call of elsewhere, which the program does not define, in `undefined` at undefined.cu:14:12']],
  ['wide', ['udiv of integers of 128 bits, in `wide` at wide.cu:17:75']],
];

for (const [name, expected] of refused)
  test(name, () => {
    assert.equal(
      said(bitcode(name)),
      expected.map((words) => `CM4080 no translation to PTX for ${words}`),
    );
  });

test('a module of another target', () => {
  const module = {
    identification: '',
    sourceFilename: 'a.c',
    triple: 'x86_64-unknown-linux-gnu',
    dataLayout: '',
    structs: [],
    globals: [],
    functions: [],
    namedMetadata: [],
    sections: [],
  };
  assert.match(said(writeModule(module))[0]!, /^CM4080 no translation to PTX for a module for `x86_64-unknown-linux-gnu`, .* at a\.c$/);
});

test('damaged bitcode is refused, and never an exception', () => {
  const whole = bitcode('undefined');
  let state = 17;
  const next = (): number => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return state >>> 8;
  };
  let unchanged = 0;
  for (let i = 0; i < 300; i++) {
    const bytes = whole.slice(0, i % 3 === 0 ? next() % whole.length : whole.length);
    for (let k = 0; k < 1 + (i % 4) && bytes.length > 0; k++) bytes[next() % bytes.length]! ^= 1 << (next() % 8);
    const diagnostics = new Diagnostics();
    if (ptxOfBitcode(bytes, diagnostics) !== undefined) unchanged++;
    else assert.ok(diagnostics.hasErrors);
  }
  assert.ok(unchanged < 150);
});

test.run();
