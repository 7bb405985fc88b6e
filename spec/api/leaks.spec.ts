/** What JavaScript holds after thousands of launches, buffers, streams and events is what it held before: nothing is remembered for ever. */
import { heapStats } from 'bun:jsc';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Device } from '../../src/api/index.ts';
import { openCpuDevice } from '../../src/device/index.ts';
import { kernels } from '../support/api-contract.ts';
import { withoutStart } from '../support/delayed-device.ts';

const test = suite('api/leaks');

test('10 000 launches and 1 000 buffers, streams and events leave no objects behind', async () => {
  const device = Device.over(withoutStart(openCpuDevice()));
  const [bump, counter] = [device.load(kernels.bump).kernel('bump', ['u32*']), device.allocate('u32', 1)];
  const round = async (): Promise<number> => {
    for (let i = 0; i < 10_000; i++) {
      bump.launch({ grid: 1, block: 1, args: [counter] });
      if (i % 500 === 499) await device.synchronize();
    }
    for (let i = 0; i < 1000; i++) {
      using buffer = device.allocate('u8', 64);
      using stream = device.stream();
      using event = device.event();
      stream.copy(buffer, new Uint8Array([Number(buffer.address & 0xffn)]));
      stream.record(event);
      device.perThreadStream.wait(event);
    }
    await device.synchronize();
    Bun.gc(true);
    return heapStats().objectCount;
  };
  const first = await round();
  // A collection may leave some thousands for the next one, and not every time.
  const later = Math.min(await round(), await round(), await round());
  assert.ok(later < first + 4000, `${later - first} more objects`);
  assert.equal([...(await counter.read())], [40_000]);
  device.close();
});

test.run();
