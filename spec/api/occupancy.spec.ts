/** The estimate of occupancy, against numbers worked out by hand from what a core is taken to have. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { coreModels, Device } from '../../src/api/index.ts';
import { estimate } from '../../src/api/occupancy.ts';
import type { DeviceInfo } from '../../src/device/index.ts';
import { kernels } from '../support/api-contract.ts';
import { kernel } from '../support/fake-device.ts';

const test = suite('api/occupancy');

const info = (kind: DeviceInfo['kind']): DeviceInfo => ({
  kind,
  name: kind,
  limits: { maxThreadsPerThreadgroup: 1024, maxThreadgroupBytes: 49152, maxBufferBytes: 2 ** 30, simdWidth: 32 },
});
const of = (kind: DeviceInfo['kind'], threads: number, shared = 0, more = {}) => {
  const { blocksPerCore, fraction, limitedBy } = estimate(info(kind), kernel('k', [], more), threads, shared);
  return [blocksPerCore, fraction, limitedBy];
};

test('threads, blocks and shared memory, whichever is used up first', () => {
  // 2048 threads, 32 blocks, 228 KiB in steps of 128 bytes and 1 KiB for each block.
  assert.equal(of('cuda', 256), [8, 1, 'threads']);
  assert.equal(of('cuda', 257), [7, (7 * 288) / 2048, 'threads']);
  assert.equal(of('cuda', 32), [32, 0.5, 'blocks']);
  assert.equal(of('cuda', 64, 40_000), [5, (5 * 64) / 2048, 'shared memory']);
  assert.equal(of('cuda', 64, 0, { staticSharedBytes: 40_000 }), [5, (5 * 64) / 2048, 'shared memory']);
  // 3072 threads and 60 KiB.
  assert.equal(of('metal', 1024), [3, 1, 'threads']);
  assert.equal(of('metal', 128, 32_768), [1, 128 / 3072, 'shared memory']);
  assert.equal(of('cpu', 512), [64, 0.5, 'blocks']);
});

test('a launch that the kernel or the device does not take runs nowhere', () => {
  assert.equal(of('cuda', 2048), [0, 0, 'the kernel']);
  assert.equal(of('cuda', 0), [0, 0, 'the kernel']);
  assert.equal(of('metal', 128, 50_000), [0, 0, 'the kernel']);
  assert.equal(of('metal', 128, 0, { maxThreads: 64 }), [0, 0, 'the kernel']);
});

test('a kernel says it of itself, and which block is best', () => {
  const device = Device.open('cpu');
  const saxpy = device.load(kernels.saxpy).kernel();
  assert.equal(saxpy.occupancy([16, 4]).model, coreModels.cpu);
  assert.is(saxpy.occupancy([16, 4]).blocksPerCore, 64);
  assert.is(saxpy.bestBlock(), 1024);
  assert.is(device.load(kernels.demands).kernel().occupancy(9).blocksPerCore, 0);
  device.close();
});

test.run();
