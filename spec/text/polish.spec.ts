/** Shorter lines that do the same; where they would not, lines stay. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { polished } from '../../src/text/polish.ts';

const test = suite('text/polish');

const loop = ['  while (i < n) {', '    out[i] = 1u;', '    i = i + 1u;', '  }'];

test('a declaration takes the assignment behind it, and a loop that counts is a for', () => {
  assert.equal(polished(['  uint i;', '  uint sum;', '  i = 0u;', '  sum = a;', ...loop]), [
    '  uint i = 0u;',
    '  uint sum = a;',
    '  for (; i < n; i = i + 1u) {',
    '    out[i] = 1u;',
    '  }',
  ]);
  assert.equal(polished(['  uint i;', '  i = 0u;', ...loop]), ['  for (uint i = 0u; i < n; i = i + 1u) {', '    out[i] = 1u;', '  }']);
});

test('a variable that is used behind its loop is not declared in it', () => {
  assert.equal(polished(['  uint i = 0u;', ...loop, '  out[0] = i;']), [
    '  uint i = 0u;',
    '  for (; i < n; i = i + 1u) {',
    '    out[i] = 1u;',
    '  }',
    '  out[0] = i;',
  ]);
});

test('what is read before, or assigned in a branch, stays', () => {
  for (const lines of [
    ['  uint a;', '  b = a;', '  a = 1u;'],
    ['  uint a;', '  if (p) {', '    a = 1u;', '  }'],
    ['  uint a;', '  a = a + 1u;'],
    // The turn that `continue` ends does not count.
    ['  while (i < n) {', '    if (p) continue;', '    i = i + 1u;', '  }'],
    // The last line of another block is no step of the loop.
    ['  while (i < n) {', '    if (p) {', '      i = i + 1u;', '    }', '  }'],
  ])
    assert.equal(polished(lines), lines);
});

test.run();
