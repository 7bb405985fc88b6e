/**
 * The forms of the instruction table without memory accesses, in divergent code: each row against the results that an NVIDIA H200 gave for it
 * elsewhere. `bun scripts/sweep.ts divergent fixtures/h200/sweep.json` runs all forms.
 */
import { suite } from 'uvu';
import { hasMemory, testRows } from '../support/sweep/judge.ts';
import { inDivergentCode } from '../support/sweep/kernel.ts';

const test = suite('h200/sweep divergent');

testRows(test, (row) => !hasMemory(row) && !row.isCollective && row.control === undefined, {
  change: (form) => ({ ...form, ptx: inDivergentCode(form.ptx) }),
  most: 1,
});

test.run();
