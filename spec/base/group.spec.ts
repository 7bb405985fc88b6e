import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { addTo } from '../../src/base/group.ts';

const test = suite('base/group');

test('members by key, in the order in which they were added', () => {
  const lists = new Map<string, number[]>();
  for (const [key, member] of [
    ['a', 1],
    ['b', 2],
    ['a', 3],
    ['a', 1],
  ] as const)
    addTo(lists, key, member);
  assert.equal(
    [...lists],
    [
      ['a', [1, 3, 1]],
      ['b', [2]],
    ],
  );
});

test.run();
