/** A launch of the API that is watched: profile, trace and order of threads come through. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Device } from '../../src/api/index.ts';
import { SourceFile } from '../../src/base/source.ts';
import type { Profile } from '../../src/device/profile.ts';
import type { Trace } from '../../src/device/trace.ts';
import { kernels } from '../support/api-contract.ts';

const test = suite('api/instruments');

test('saxpy of a thousand, counted', async () => {
  const device = Device.open('cpu');
  const source = new SourceFile('saxpy.ptx', kernels.saxpy);
  const module = device.load(source, { compile: { target: 'cpu', marks: true } });
  const kernel = module.kernel('saxpy', ['f32', 'f32*', 'f32*', 'u32']);
  const profiles: Profile[] = [];
  const traces: Trace[] = [];
  const launch = async (watch: NonNullable<Parameters<typeof kernel.launch>[0]['watch']>): Promise<Float32Array> => {
    const [x, y] = [device.bufferOf('f32', new Float32Array(1000).fill(2)), device.bufferOf('f32', new Float32Array(1000).fill(1))];
    await kernel.launch({ grid: 4, block: 256, args: [3, x, y, 1000], watch }).ended();
    return (await y.read()) as Float32Array;
  };
  const results = [
    await launch({ profile: { source, take: (profile) => void profiles.push(profile) } }),
    await launch({ trace: { block: 1, thread: 2, source, take: (trace) => void traces.push(trace) } }),
    await launch({ schedule: { kind: 'rand', seed: 5 } }),
  ];
  for (const each of results) assert.equal([...each], Array(1000).fill(7));
  // 32 warps, of which the last has 8 threads with work.
  assert.is(profiles[0]!.warps, 32);
  assert.is(profiles[0]!.total.flops.f32, 2000);
  assert.equal(profiles[0]!.total.branches, { executed: 32, diverged: 1 });
  assert.is(traces[0]!.count, 18);
  await device.close();
});

test.run();
