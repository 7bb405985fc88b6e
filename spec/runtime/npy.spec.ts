import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { readNpy, writeNpy } from '../../src/runtime/index.ts';

const test = suite('runtime/npy');

/** A file as numpy's format.py documents it: magic, version, length of the header, header, data. */
function file(version: number, header: string, data: readonly number[]): Uint8Array {
  const length = version === 1 ? [header.length & 255, header.length >> 8] : [header.length & 255, header.length >> 8, 0, 0];
  return Uint8Array.from(
    [0x93, ...'NUMPY']
      .map((c) => (typeof c === 'number' ? c : c.charCodeAt(0)))
      .concat(
        [version, 0],
        length,
        [...header].map((c) => c.charCodeAt(0)),
        data,
      ),
  );
}

const header = (descr: string, shape: string, order = 'False') => `{'descr': '${descr}', 'fortran_order': ${order}, 'shape': ${shape}, }\n`;

test('what numpy.save writes for np.arange(3, dtype="<i2")', () => {
  // Recorded from the layout numpy documents: 10 bytes, header padded with spaces so that data starts at byte 128.
  const text = "{'descr': '<i2', 'fortran_order': False, 'shape': (3,), }";
  const want = file(1, `${text}${' '.repeat(128 - 10 - text.length - 1)}\n`, [0, 0, 1, 0, 2, 0]);
  const got = writeNpy({ descr: '<i2', shape: [3], data: Uint8Array.from([0, 0, 1, 0, 2, 0]) });
  // Any padding to a multiple of 64 is legal; numpy's own writer reserves room for growth, ours does not.
  assert.is((got.length - 6) % 64, 0);
  assert.equal(
    got.subarray(0, 10 + text.length),
    Uint8Array.from([...want.subarray(0, 8), got[8]!, got[9]!, ...want.subarray(10, 10 + text.length)]),
  );
  assert.is(got[got.length - 7], 0x0a);
  assert.equal(readNpy(want), { descr: '<i2', shape: [3], data: Uint8Array.from([0, 0, 1, 0, 2, 0]) });
});

test('versions 1, 2 and 3', () => {
  for (const version of [1, 2, 3])
    assert.equal(readNpy(file(version, header('|u1', '(2, 1)'), [7, 8])), { descr: '|u1', shape: [2, 1], data: Uint8Array.from([7, 8]) });
});

test('a scalar array, other key order, other quotes and `<u1`', () => {
  assert.equal(readNpy(file(1, '{"shape": (), "fortran_order": False, "descr": "<u1"}', [9])), {
    descr: '|u1',
    shape: [],
    data: Uint8Array.from([9]),
  });
});

test('one-dimensional Fortran order is C order', () => {
  assert.equal(readNpy(file(1, header('|u1', '(2,)', 'True'), [7, 8])), { descr: '|u1', shape: [2], data: Uint8Array.from([7, 8]) });
});

const bad: [why: string, bytes: Uint8Array, words: RegExp][] = [
  ['not npy', Uint8Array.from([1, 2, 3]), /does not start with/],
  ['version 4', file(4, header('<f4', '(1,)'), [0, 0, 0, 0]), /version 4.0 is not known/],
  ['big-endian', file(1, header('>f4', '(1,)'), [0, 0, 0, 0]), /big-endian \(>f4\)/],
  ['objects', file(1, header('|O', '(1,)'), [0, 0, 0, 0]), /Python objects/],
  ['a structure', file(1, "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", [0, 0, 0, 0]), /a structure or an object/],
  ['complex', file(1, header('<c8', '(1,)'), [0, 0, 0, 0, 0, 0, 0, 0]), /<c8 is not a plain number/],
  ['a name of JavaScript', file(1, header('constructor', '(1,)'), [0]), /constructor is not a plain number/],
  ['Fortran order', file(1, header('|u1', '(2, 2)', 'True'), [0, 0, 0, 0]), /Fortran order/],
  ['missing data', file(1, header('<f4', '(2,)'), [0, 0, 0, 0]), /needs 8 bytes of data, and it has 4/],
  ['data left over', file(1, header('<f4', '(1,)'), [0, 0, 0, 0, 0]), /needs 4 bytes of data, and it has 5/],
  ['a truncated header', file(1, header('<f4', '(1,)'), []).subarray(0, 30), /header is truncated/],
  ['a broken shape', file(1, header('<f4', '(1, , 2)'), [0, 0, 0, 0]), /shape in the header is malformed/],
  ['no shape', file(1, "{'descr': '<f4', 'fortran_order': False}", []), /lacks/],
];
for (const [why, bytes, words] of bad) {
  test(`refused: ${why}`, () => {
    const got = readNpy(bytes);
    assert.type(got, 'string');
    assert.match(got as string, words);
  });
}

test('no prefix of a file is read as an array, nor does it throw', () => {
  const whole = writeNpy({ descr: '<f4', shape: [2], data: new Uint8Array(8) });
  for (let i = 0; i < whole.length; i++) assert.type(readNpy(whole.subarray(0, i)), 'string');
});

test.run();
