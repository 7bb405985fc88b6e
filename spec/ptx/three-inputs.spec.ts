/** `lop3`: the operations for each of the 256 tables give the table, computed from bits here, and are as few as a search of circuits finds. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Value } from '../../src/ir/index.ts';
import type { RowBuilder } from '../../src/ptx/model/row.ts';
import { functionOfThree } from '../../src/ptx/table/three-inputs.ts';

const test = suite('ptx/three-inputs');

/** Bit i of a word, for index i of the table: a, b and c are bits 2, 1 and 0 of the index. */
const inputOf = (bit: number): number => [0, 1, 2, 3, 4, 5, 6, 7].reduce((word, index) => word | (((index >> bit) & 1) << index), 0);

/** The table of what is made, and the number of operations. */
function made(table: number): { readonly table: number; readonly operations: number } {
  const words: number[] = [];
  let operations = 0;
  const place = (word: number): Value => (words.push(word & 0xff) - 1) as Value;
  const op = (compute: (x: number, y: number) => number) => (x: Value, y: Value) => {
    operations++;
    return place(compute(words[x]!, words[y]!));
  };
  const ir = {
    const: (_: string, bits: number) => place(bits),
    and: op((x, y) => x & y),
    or: op((x, y) => x | y),
    xor: op((x, y) => x ^ y),
  } as unknown as RowBuilder;
  const value = functionOfThree(ir, { a: place(inputOf(2)), b: place(inputOf(1)), c: place(inputOf(0)) }, table);
  return { table: words[value]!, operations };
}

test('every table is what its operations give', () => {
  for (let table = 0; table < 256; table++) assert.is(made(table).table, table);
});

// Worked out by hand: parity, majority, a choice, and what is one operation with a complement.
for (const [table, operations, what] of [
  [0x00, 0, 'never'],
  [0xf0, 0, 'a'],
  [0x96, 2, 'a ^ b ^ c'],
  [0x80, 2, 'a & b & c'],
  [0xfe, 2, 'a | b | c'],
  [0xca, 3, 'b where a, else c: c ^ (a & (b ^ c))'],
  [0xb8, 3, 'a choice by another input'],
  [0xe8, 4, 'the majority: (a & b) | (c & (a | b))'],
  [0x0f, 1, 'not a'],
  [0x30, 2, 'a without b'],
] as const)
  test(`${what} takes ${operations} operations`, () => assert.is(made(table).operations, operations));

test('no table takes more than five', () => {
  assert.is(Math.max(...Array.from({ length: 256 }, (_, table) => made(table).operations)), 5);
});

test.run();
