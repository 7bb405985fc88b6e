import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { launchWords, readLaunchFile, splitWords } from '../../src/runtime/index.ts';

const test = suite('runtime/launch-file');

const read = (json: unknown, path = 'case/launch.json') => {
  const diagnostics = new Diagnostics();
  const file = readLaunchFile(path, typeof json === 'string' ? json : JSON.stringify(json), diagnostics);
  return { file, messages: diagnostics.list.map((d) => `${d.code} ${d.message}`) };
};

const whole = {
  $schema: '../launch.schema.json',
  description: 'all of it',
  module: 'kernel.ptx',
  kernel: 'k',
  grid: [4, 1, 1],
  block: [256, 2, 1],
  sharedBytes: 64,
  constants: { table: 'table.npy' },
  args: [
    { name: 'x', buffer: 'f32', shape: [4, 2], init: { file: 'x.npy' } },
    { name: 'y', buffer: 'f32', shape: [8], init: { fill: 2.5 }, expect: { file: 'y.npy', rtol: 1e-6, ulp: 2, recordedOn: 'H200' } },
    { name: 'z', buffer: 'u64', shape: [1], init: { rand: 7 } },
    { name: 'w', buffer: 'u8', shape: [1], init: 'iota' },
    { name: 'n', type: 'u64', value: '0xffffffffffffffff' },
    { name: 'a', type: 'f32', value: '-inf' },
    { name: 'b', type: 'f64', value: 1e300 },
    { name: 'c', type: 'u64', value: 1e15 },
    { name: 's', bytes: 'sub/../params.bin' },
  ],
};

test('a file that uses everything of the schema', () => {
  const { file, messages } = read(whole);
  assert.equal(messages, []);
  assert.equal(file, {
    module: 'case/kernel.ptx',
    kernel: 'k',
    grid: [4, 1, 1],
    block: [256, 2, 1],
    sharedBytes: 64,
    constants: [{ name: 'table', path: 'case/table.npy' }],
    args: [
      { label: 'x: f32:4x2', name: 'x', kind: 'file', element: 'f32', shape: [4, 2], path: 'case/x.npy' },
      {
        label: 'y: f32:8',
        name: 'y',
        kind: 'buffer',
        element: 'f32',
        shape: [8],
        init: { kind: 'fill', value: 2.5 },
        expect: { path: 'case/y.npy', rtol: 1e-6, atol: 0, ulp: 2 },
      },
      { label: 'z: u64:1', name: 'z', kind: 'buffer', element: 'u64', shape: [1], init: { kind: 'rand', seed: 7n } },
      { label: 'w: u8:1', name: 'w', kind: 'buffer', element: 'u8', shape: [1], init: { kind: 'iota' } },
      { label: 'n: u64=0xffffffffffffffff', name: 'n', kind: 'scalar', element: 'u64', value: 2n ** 64n - 1n },
      { label: 'a: f32=-inf', name: 'a', kind: 'scalar', element: 'f32', value: Number.NEGATIVE_INFINITY },
      { label: 'b: f64=1e+300', name: 'b', kind: 'scalar', element: 'f64', value: 1e300 },
      { label: 'c: u64=1000000000000000', name: 'c', kind: 'scalar', element: 'u64', value: 10n ** 15n },
      { label: 's: bytes@sub/../params.bin', name: 's', kind: 'bytes', path: 'case/sub/../params.bin' },
    ],
  });
});

test('a file without a size of shared memory has the default of the schema, and says so', () => {
  const { sharedBytes: _, ...rest } = whole;
  const { file } = read(rest);
  assert.is(file?.sharedBytes, 0);
  assert.is(file?.isSharedDefault, true);
});

test('paths in a file of the current folder stay as they are', () => {
  assert.is(read({ ...whole, args: [] }, 'launch.json').file?.module, 'kernel.ptx');
});

type Edit = [why: string, json: unknown, message: RegExp];
const minimal = { module: 'k.ptx', kernel: 'k', grid: [1, 1, 1], block: [1, 1, 1], args: [] as unknown[] };
const arg = (argument: unknown) => ({ ...minimal, args: [argument] });
const buffer = { name: 'x', buffer: 'f32', shape: [4] };
const bad: Edit[] = [
  ['not JSON', '{ "module": ', /^CM5040 launch file `case\/launch.json` is not JSON/],
  ['not an object', '[]', /`the file` must be an object, found a list of 0/],
  ['a missing key', { ...minimal, kernel: undefined }, /`kernel` is missing/],
  ['an unknown key', { ...minimal, gird: 1 }, /`gird` is not a key of this object, did you mean `grid`/],
  ['grid of two', { ...minimal, grid: [1, 1] }, /`grid` must be a list of three integers/],
  ['block of zero', { ...minimal, block: [1, 0, 1] }, /`block\[1\]` must be an integer of at least 1, found 0/],
  ['a fraction', { ...minimal, grid: [1.5, 1, 1] }, /`grid\[0\]` must be an integer of at least 1, found 1.5/],
  ['negative shared memory', { ...minimal, sharedBytes: -1 }, /`sharedBytes` must be an integer of at least 0, found -1/],
  ['module a number', { ...minimal, module: 3 }, /`module` must be a string, found 3/],
  ['args an object', { ...minimal, args: {} }, /`args` must be a list, found an object/],
  ['an argument without kind', arg({ name: 'x' }), /`args\[0\]` must have one of/],
  ['an argument of two kinds', arg({ ...buffer, type: 'f32', value: 1 }), /`args\[0\]` must have one of/],
  ['an unknown type', arg({ ...buffer, buffer: 'f33' }), /`args\[0\].buffer` must be an element type, found "f33", did you mean `f32`/],
  ['a shape of zero', arg({ ...buffer, shape: [4, 0] }), /`args\[0\].shape\[1\]` must be an integer of at least 1/],
  ['no shape', arg({ ...buffer, shape: [] }), /`args\[0\].shape` must be a list of at least one integer/],
  ['an unknown init', arg({ ...buffer, init: 'random' }), /`args\[0\].init` must be "zeros"/],
  ['an init of two', arg({ ...buffer, init: { fill: 1, rand: 2 } }), /`args\[0\].init` must be "zeros"/],
  ['fill of words', arg({ ...buffer, init: { fill: 'one' } }), /`args\[0\].init.fill` must be a number/],
  [
    'fill that does not fit',
    arg({ ...buffer, buffer: 'u8', init: { fill: 256 } }),
    /`args\[0\].init.fill` cannot be read: 256 does not fit in u8/,
  ],
  ['a fraction for a seed', arg({ ...buffer, init: { rand: 0.5 } }), /`args\[0\].init.rand` must be an integer, found 0.5/],
  ['an expectation without file', arg({ ...buffer, expect: { rtol: 1 } }), /`args\[0\].expect.file` is missing/],
  ['a negative tolerance', arg({ ...buffer, expect: { file: 'x', atol: -1 } }), /`args\[0\].expect.atol` must be a number of at least 0/],
  ['an unknown key of an expectation', arg({ ...buffer, expect: { file: 'x', rtoll: 1 } }), /`args\[0\].expect.rtoll` is not a key/],
  [
    'a scalar that does not fit',
    arg({ name: 'n', type: 'i32', value: 2 ** 31 }),
    /`args\[0\].value` cannot be read: 2147483648 does not fit in i32/,
  ],
  ['a number that JSON does not hold', arg({ name: 'n', type: 'u64', value: 2 ** 60 }), /too large for a JSON number/],
  ['a scalar of true', arg({ name: 'n', type: 'u32', value: true }), /`args\[0\].value` must be a number or a string, found true/],
];
for (const [why, json, message] of bad) {
  test(`refused: ${why}`, () => {
    const { file, messages } = read(json);
    assert.is(file, undefined);
    assert.match(messages[0]!, message);
  });
}

test('all faults of a file are told at once', () => {
  assert.is(read({ ...minimal, module: 3, grid: [0, 1, 1], args: [{ name: 'x' }] }).messages.length, 3);
});

test('launch lines are joined in order', () => {
  const text = '//\n//! cumetal: --grid 4 --block 256\n.version 8.0\n  //!cumetal: --arg f32:4=iota\r\n// cumetal: no\n';
  const words = launchWords(text, new Diagnostics())!;
  assert.equal(
    words.map((word) => word.text),
    ['--grid', '4', '--block', '256', '--arg', 'f32:4=iota'],
  );
  for (const { text: word, span } of words) assert.is(text.slice(span.start, span.end), word);
});

test('a file without launch lines has no words', () => {
  assert.is(launchWords('.version 8.0\n', new Diagnostics()), undefined);
});

test('an open quote is told with its line', () => {
  const diagnostics = new Diagnostics();
  assert.is(launchWords('\n//! cumetal: --out "0=a\n', diagnostics), undefined);
  assert.is(diagnostics.list[0]!.message, 'launch line 2: the quote " is not closed');
});

const splits: [line: string, words: string[]][] = [
  ['', []],
  ['  a   b\t', ['a', 'b']],
  [`'a b'c`, ['a bc']],
  [`"a \\" b" ''`, ['a " b', '']],
  [`a\\ b`, ['a b']],
  [`'a\\b' "a\\b"`, ['a\\b', 'a\\b']],
  [`--arg f32:4=fill(2.5)`, ['--arg', 'f32:4=fill(2.5)']],
];
for (const [line, words] of splits) test(`words of ${line}`, () => assert.equal(splitWords(line), words));

test.run();
