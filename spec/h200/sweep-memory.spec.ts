/** As `sweep.spec.ts`, of the rows that read and write memory: loads, stores, atomics, copies, in every space. */
import { suite } from 'uvu';
import { hasMemory, testRows } from '../support/sweep/judge.ts';

const test = suite('h200/sweep-memory');

testRows(test, hasMemory);

test.run();
