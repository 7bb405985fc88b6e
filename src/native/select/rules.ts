/** The rules of all instructions. */
import { atomicRules } from './atomics.ts';
import { callRules } from './call.ts';
import { choose } from './choose.ts';
import { convertRules } from './convert.ts';
import { divisionRules } from './division.ts';
import { floatRules } from './float.ts';
import { integerRules } from './integer.ts';
import { memoryRules } from './memory.ts';
import { numberOf, tests } from './test.ts';
import type { Rule } from './types.ts';
import { vectorRules } from './vector/index.ts';

/** Integer constants are made where they are used (`Scope.register`). */
const nothing: Rule = () => {};

export const rules: ReadonlyMap<string, Rule> = new Map<string, Rule>(
  Object.entries({
    ...Object.fromEntries(Object.entries(tests).map(([op, test]) => [op, numberOf(test)])),
    ...integerRules,
    ...divisionRules,
    ...floatRules,
    ...convertRules,
    ...memoryRules,
    ...atomicRules,
    ...callRules,
    ...vectorRules,
    select: choose,
    'i32.const': nothing,
    'i64.const': nothing,
  }),
);
