/** Like `sweep.spec.ts`, for the rows that access memory: loads, stores, atomics and copies, in every state space. */
import { suite } from 'uvu';
import { hasMemory, testRows } from '../support/sweep/judge.ts';

const test = suite('h200/sweep-memory');

testRows(test, hasMemory);

test.run();
