/** Devices whose launches take turns on the same workers, which keep the memory of their last share: each launch writes the memory of its device. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { f32, globalIndex, kernel, ptr, u32, when } from '../../src/build/index.ts';
import { Device } from '../../src/index.ts';

const test = suite('api/two-memories');

const count = 1000;
/** Adds a number to each element. */
const add = kernel('add', { x: ptr(f32), by: f32, n: u32 }, ({ x, by, n }) => {
  const i = globalIndex();
  when(i.lt(n), () => {
    const place = x.at(i);
    place.set(place.get().add(by));
  });
});
const open = () => {
  const device = Device.open('cpu', { threads: 1, print: false });
  const x = device.bufferOf('f32', new Float32Array(count));
  const launch = (by: number): void => void add.launch(device, { grid: 4, block: 256, args: { x, by, n: count } });
  const assertSum = async (sum: number): Promise<void> => assert.equal(new Set(await x.read()), new Set([sum]));
  return { device, launch, assertSum };
};

test('launches of two devices in turns, of one after the other is closed, and of a new one', async () => {
  const [a, b] = [open(), open()];
  for (let turn = 1; turn <= 5; turn++) {
    a.launch(1);
    await a.device.synchronize();
    b.launch(10);
    b.launch(10);
    await b.device.synchronize();
    await a.assertSum(turn);
    await b.assertSum(20 * turn);
  }
  // Not waited for one by one.
  for (let turn = 0; turn < 20; turn++)
    for (const [each, by] of [
      [a, 1],
      [b, 10],
    ] as const)
      each.launch(by);
  await a.assertSum(25);
  await b.assertSum(300);
  await b.device.close();
  a.launch(1);
  await a.assertSum(26);
  await a.device.close();
  const c = open();
  c.launch(3);
  await c.assertSum(3);
  await c.device.close();
});

test.run();
