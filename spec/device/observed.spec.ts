/** Random kernels with divergence, barriers in loops and early exits: instrumentation and thread order do not change results. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { LaunchRequest } from '../../src/device/device.ts';
import type { Profile } from '../../src/device/profile.ts';
import type { Trace } from '../../src/device/trace.ts';
import { runOnCpu } from '../support/cpu.ts';
import { randomBlock, wordsOfThread } from '../support/random-block.ts';

const test = suite('device/observed');

const blocks = 2;

function run(seed: number, threads: number, watch?: Pick<LaunchRequest, 'schedule' | 'profile' | 'trace'>): string {
  const out = new Uint8Array(4 * wordsOfThread * threads * blocks);
  const shape = { grid: [blocks, 1, 1], block: [threads, 1, 1], ...(watch ? { watch } : {}) } as const;
  return runOnCpu(randomBlock(seed, threads), [out], shape)[0]!.join();
}

function profileOf(seed: number, threads: number, more: Pick<LaunchRequest, 'schedule'> = {}): { profile: Profile; result: string } {
  const found: Profile[] = [];
  const result = run(seed, threads, { profile: { take: (profile) => void found.push(profile) }, ...more });
  return { profile: found[0]!, result };
}

for (const threads of [1, 31, 32, 33, 96])
  test(`kernels in blocks of ${threads}`, () => {
    for (let seed = 0; seed < 8; seed++) {
      const plain = run(seed, threads);
      for (const schedule of [{ kind: 'reverse' }, { kind: 'rand', seed }] as const)
        assert.is(run(seed, threads, { schedule }), plain, `seed ${seed} in the order ${schedule.kind}`);
      const { profile, result } = profileOf(seed, threads);
      assert.is(result, plain, `seed ${seed}, profiled`);
      // Counts do not depend on the order.
      assert.equal(profileOf(seed, threads, { schedule: { kind: 'rand', seed: 9 } }).profile, profile);
      const traces: Trace[] = [];
      const trace = { block: 1, thread: threads - 1, take: (each: Trace) => void traces.push(each) };
      assert.is(run(seed, threads, { trace }), plain, `seed ${seed}, traced`);
      assert.ok(traces.length === 1);
    }
  });

test('in a block of one thread a warp executes the instructions of its thread', () => {
  for (let seed = 0; seed < 8; seed++) {
    const { operations } = profileOf(seed, 1).profile;
    for (const { warps, lanes } of Object.values(operations)) assert.is(warps, lanes);
  }
});

test('warps execute at least as much as their longest thread, and at most as much as all together', () => {
  for (let seed = 0; seed < 8; seed++) {
    const { profile } = profileOf(seed, 32);
    for (const { warps, lanes } of Object.values(profile.operations)) assert.ok(warps <= lanes && lanes <= 32 * warps);
  }
});

test.run();
