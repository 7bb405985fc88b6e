/** The fields of values that share one constant buffer, as the metadata of a module says: all of them, or none where one does not fit. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { node } from '../../src/air/metadata-values.ts';
import { readPacked } from '../../src/air/raise/read-metadata.ts';
import type { Module } from '../../src/bitcode/model.ts';
import { packedValuesName } from '../../src/ir/index.ts';

const test = suite('air/packed-values');

type Field = readonly [position: number, offset: number, size: number, align: number, type: string, name: string];

const read = (fields: readonly Field[] | undefined, size: number) => {
  const namedMetadata = fields ? [{ name: packedValuesName, nodes: fields.map((field) => node(...field)) }] : [];
  return readPacked({ namedMetadata } as unknown as Module, size);
};

const first: Field = [0, 0, 4, 4, 'float', 'a'];
const second: Field = [2, 8, 8, 8, 'ulong', 'b'];

test('fields are read with their places and types', () => {
  const fields = read([first, second, [3, 16, 12, 4, '', 'pair']], 28)!;
  assert.equal(
    fields.map(({ name, position, offset, size, align, element, signed }) => [name, position, offset, size, align, element, signed]),
    [
      ['a', 0, 0, 4, 4, 'f32', false],
      ['b', 2, 8, 8, 8, 'i64', false],
      ['pair', 3, 16, 12, 4, undefined, false],
    ],
  );
  assert.equal(
    read([[0, 0, 4, 4, 'int', 'i']], 4)!.map(({ element, signed }) => [element, signed]),
    [['i32', true]],
  );
});

test('without fields, or with one that is invalid, there are none', () => {
  assert.is(read(undefined, 16), undefined);
  assert.is(read([], 16), undefined);
  assert.ok(read([first, second], 16));
  // Beyond the end, and two for one parameter; integers of metadata have no sign.
  assert.is(read([first, second], 15), undefined);
  assert.is(read([first, [2, -8, 8, 8, 'ulong', 'b']], 16), undefined);
  assert.is(read([first, [2, 8, -1, 8, 'ulong', 'b']], 16), undefined);
  assert.is(read([first, [0, 8, 8, 8, 'ulong', 'b']], 16), undefined);
});

test.run();
