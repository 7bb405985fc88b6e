/** The profiler against Nsight Compute on an H200, for kernels that test one counter each. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { profiledLaunches, profileOf } from '../support/profiled.ts';

const test = suite('h200/profile');

type Counts = Readonly<Record<string, number>>;

const { kernels } = JSON.parse(readFileSync(join(import.meta.dirname, '../../fixtures/h200/profile.json'), 'utf8')) as {
  readonly kernels: Readonly<Record<string, Counts>>;
};

/** The profiler's counts, with the names of the recording. */
function countsOf(kernel: string): Counts {
  const { global, shared, flops } = profileOf(kernel).total;
  return {
    globalLoads: global.load.requests,
    globalStores: global.store.requests,
    loadRequests: global.load.requests,
    loadSectors: global.load.sectors,
    storeRequests: global.store.requests,
    storeSectors: global.store.sectors,
    redSectors: global.atomic.sectors,
    sharedLoads: shared.load.requests,
    sharedStores: shared.store.requests,
    sharedAtoms: shared.atomic.requests,
    sharedLoadWavefronts: shared.load.wavefronts,
    sharedStoreWavefronts: shared.store.wavefronts,
    sharedAtomWavefronts: shared.atomic.wavefronts,
    sharedLoadConflicts: shared.load.wavefronts - shared.load.leastWavefronts,
    sharedStoreConflicts: shared.store.wavefronts - shared.store.leastWavefronts,
    flops: flops.f32,
  };
}

/** NVIDIA's assembler combines the two branches that the PTX has for an `or`. */
const otherwise = new Set(['shared_longs_ends']);

test('every kernel is recorded', () => {
  assert.equal(Object.keys(kernels).sort(), profiledLaunches.map(({ kernel }) => kernel).sort());
  for (const counts of Object.values(kernels)) assert.ok(Object.keys(counts).length >= 20);
});

for (const { kernel } of profiledLaunches)
  test(kernel, () => {
    const recorded = kernels[kernel]!;
    const flops = recorded.fadd! + recorded.fmul! + 2 * recorded.ffma!;
    const expected = { ...recorded, flops };
    const counts = countsOf(kernel);
    const differing = Object.keys(counts).filter((name) => counts[name] !== expected[name as keyof typeof expected]);
    if (otherwise.has(kernel)) assert.ok(differing.length > 0);
    else
      assert.equal(
        differing.map((name) => `${name}: ${counts[name]}, on the GPU ${expected[name as keyof typeof expected]}`),
        [],
      );
  });

test.run();
