/** Packing takes near linear time, also of one long block whose loads and stores may all be to one address. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { pack } from '../../../src/native/pack/index.ts';
import type { Inst, SsaFunction, SsaType, Value } from '../../../src/native/ssa/types.ts';
import { verifySsa } from '../../../src/native/ssa/verify.ts';

const test = suite('native/pack/time');

/** A function of one block: sums of groups of four vectors, which are loaded from one base and stored to another one. */
function longBlock(groups: number): SsaFunction {
  const types: SsaType[] = ['i32', 'i32'];
  const insts: Inst[] = [];
  const add = (op: string, args: Value[], offset?: number): Value => {
    const result = op === 'v128.store' ? undefined : types.push('v128') - 1;
    insts.push({ op, args, result, ...(offset === undefined ? {} : { offset }) });
    return result ?? -1;
  };
  let sums = [0, 1, 2, 3].map((part) => add('v128.load', [0], 16 * part));
  for (let group = 1; group < groups; group++) {
    const loaded = sums.map((_, part) => add('v128.load', [0], 64 * group + 16 * part));
    sums = sums.map((sum, part) => add('i32x4.add', [sum, loaded[part]!]));
    sums.forEach((sum, part) => void add('v128.store', [1, sum], 64 * group + 16 * part));
  }
  const end = { op: 'return', values: [] } as const;
  return {
    index: 0,
    params: ['i32', 'i32'],
    results: [],
    types,
    blocks: [{ params: [0, 1], insts, end: { ...end, values: [] }, loopDepth: 0 }],
  };
}

/** Milliseconds of processor time that packing takes. */
function timeOf(groups: number): number {
  const fn = longBlock(groups);
  const start = process.cpuUsage();
  pack(fn, 64);
  const { user, system } = process.cpuUsage(start);
  assert.equal(verifySsa(fn), []);
  // A barrier that bounds the comparisons of accesses costs a group now and then.
  const wide = fn.blocks[0]!.insts.filter(({ op }) => op === 'i32x4.add').length;
  assert.ok(wide < 1.1 * groups, `${wide} additions of ${groups} groups`);
  return (user + system) / 1000;
}

test('a block of 48,000 instructions takes at most ten times as long as one of 8,000', () => {
  timeOf(500);
  const [short, long] = [Math.min(timeOf(670), timeOf(670)), timeOf(4000)];
  assert.ok(long < 10 * short + 300, `${long} ms after ${short} ms`);
});

test.run();
